"""What a provider's batch queue is to the rest of the program, whoever keeps it.

A batch has no name of its own there, so each question carries an id that names our batch and the
verdict key. Nothing here retries: a lost answer does not say whether the batch was accepted.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from longjudge.states import GapReason

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from longjudge.judges.base import Answer, Question

BATCH_SHARE: Final = 0.5
"""What a batch costs, of the price of live answers [the provider's documents]."""

ID_CHARS: Final = 10
"""Characters of our own id of a batch, before the dash in the ids of its questions."""

_KEY_BYTES = 32


class Trouble(Enum):
    """What an error means for the next step.

    `REFUSED`: not accepted, and never will be. `TOO_LARGE`: not accepted, a smaller one may be.
    `LATER`: not accepted now. `UNSURE`: nobody knows whether it was accepted, or what asks for no
    decision may be asked again. `GONE`: the provider knows no such batch. `END`: no other call
    would fare better.
    """

    REFUSED = "refused"
    TOO_LARGE = "too_large"
    LATER = "later"
    UNSURE = "unsure"
    GONE = "gone"
    END = "end"


class BatchError(Exception):
    """A call about a batch that failed; data for whoever made it, never shown as a traceback.

    `wait` is what the provider asked to wait, in seconds, None where it said nothing. `reason` is
    what the questions of a batch that was not accepted end as.
    """

    def __init__(
        self,
        message: str,
        trouble: Trouble,
        *,
        wait: float | None = None,
        reason: GapReason = GapReason.PROVIDER_ERROR,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.trouble = trouble
        self.wait = wait
        self.reason = reason


class RemoteStatus(StrEnum):
    """How far a batch is at its provider."""

    IN_PROGRESS = "in_progress"
    CANCELING = "canceling"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as its provider describes it; times are seconds since 1970 by its clock.

    `created` and `ended` are 0 where it did not say. `count` is all of its questions.
    """

    id: str
    status: RemoteStatus
    count: int
    created: float = 0.0
    ended: float = 0.0
    results_url: str = ""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """One question on its way into a batch; `body` is the judge's own, of `size` bytes."""

    key: str
    body: object
    size: int


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One line of a batch's results: an answer, or the reason for a gap and what was said."""

    custom_id: str
    answer: Answer | None = None
    reason: GapReason = GapReason.PROVIDER_ERROR
    problem: str = ""


class BatchApi(Protocol):
    """A provider's queue. Every call may raise `BatchError`, `prepare` a `CredentialError`."""

    @property
    def endpoint(self) -> str:
        """The judge's endpoint."""
        ...

    async def prepare(self) -> None:
        """Get ready for calls; called before the first."""
        ...

    def request(self, key: str, question: Question, *, max_tokens: int) -> BatchRequest:
        """What goes into a batch for a question; `max_tokens` caps the answer."""
        ...

    async def create(self, batch: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Send a batch, once; `batch` is our id of it."""
        ...

    async def retrieve(self, provider_id: str) -> RemoteBatch:
        """How far a batch is."""
        ...

    async def cancel(self, provider_id: str) -> RemoteBatch:
        """Have a batch end; what is being answered may still be. One that has ended is no error."""
        ...

    def listed(self, since: float) -> AsyncGenerator[RemoteBatch]:
        """All batches that were created since then, whoever sent them, newest first."""
        ...

    def results(self, batch: RemoteBatch) -> AsyncGenerator[ItemResult]:
        """The results of a batch that has ended, in any order."""
        ...


def custom_id(batch: str, key: str) -> str:
    """The id of a question: our batch, a dash, and the 32 bytes of the key; 54 characters.

    The provider takes letters, digits, `-` and `_`, 64 of them at most.
    """
    return f"{batch}-{base64.urlsafe_b64encode(bytes.fromhex(key)).decode().rstrip('=')}"


def batch_of(custom_id: str) -> str:
    """Our id of the batch that a question's id names; empty where it is none of ours."""
    return custom_id[:ID_CHARS] if key_of(custom_id) else ""


def key_of(custom_id: str) -> str:
    """The verdict key in a question's id; empty where it is none of ours."""
    if len(custom_id) <= ID_CHARS or custom_id[ID_CHARS] != "-":
        return ""
    try:
        key = base64.b64decode(custom_id[ID_CHARS + 1 :] + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return ""
    return key.hex() if len(key) == _KEY_BYTES else ""
