"""What every judge is: something that is asked one question about one chunk and answers in text.

A judge never decides what its answer means: `reply.read_reply` turns the text into a verdict or
a gap, and the judgment decides about asking again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from longjudge.prices import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.prices import Price
    from longjudge.rubric import Rubric
    from longjudge.sessions.model import EventKind
    from longjudge.states import GapReason


MAX_WAIT = 120.0
"""The longest wait, in seconds, that a provider may order.

So short that the default time limit leaves room for three attempts and more.
"""


@dataclass(frozen=True, slots=True)
class QuestionEvent:
    """One event (or piece of one) as it stands in a question; `number` counts from 1."""

    number: int
    kind: EventKind
    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that one call sends: `system` and `user` are the exact texts.

    `events` holds the same chunk in structure, for judges that are no models. `tag` is the fence
    of the chunk's text. `part` is the chunk's number; no judge is told of it.
    """

    system: str
    user: str
    events: tuple[QuestionEvent, ...]
    rubric: Rubric
    tag: str
    part: int = 0


class Stop(StrEnum):
    """Why the judge stopped writing."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the text of all text blocks, why it ended, what it used.

    `detail` says more where `stop` is not `COMPLETE`, for a person. A `forced` one is made up: no
    judge gave it, and it is never a verdict.
    """

    text: str
    stop: Stop
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    forced: bool = False


class Again(StrEnum):
    """What an error means for the next step."""

    SOON = "soon"
    """A connection error or a 5xx: asked again by this chunk, a few times within 30 seconds."""
    WHEN_TOLD = "when_told"
    """A 429 or 529: every worker waits as told, then the chunk is asked again."""
    NEVER = "never"
    """The chunk is a gap at once."""
    END = "end"
    """The judgment stops: no other chunk would fare better."""


class AskError(Exception):
    """A question that got no answer; data for the judgment, never shown as a traceback.

    `wait` is what the provider asked to wait, in seconds, None where it said nothing. `replied`
    is False where no reply of any kind arrived. `free` is True where certainly nothing was charged:
    nothing was sent, or the reply is an error. `discouraged` is True where the provider says that
    asking again will not help, of something that usually passes; `fatal` where it says that it
    would help, of something that would fail every other chunk too: given up, it ends the judgment.
    `forced` is True where a fault made it up.
    """

    def __init__(
        self,
        message: str,
        *,
        again: Again,
        reason: GapReason,
        wait: float | None = None,
        replied: bool = True,
        free: bool = False,
        discouraged: bool = False,
        fatal: bool = False,
        forced: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.again = again
        self.reason = reason
        self.wait = wait
        self.replied = replied
        self.free = free
        self.discouraged = discouraged
        self.fatal = fatal
        self.forced = forced


class Judge(Protocol):
    """Something that answers questions.

    `model`, `endpoint` and `parameters` decide the answer and enter the verdict key;
    `label` is what people see.
    """

    @property
    def model(self) -> str:
        """Model name, or `offline`."""
        ...

    @property
    def label(self) -> str:
        """Name for people, e.g. `offline rules`."""
        ...

    @property
    def endpoint(self) -> str:
        """Base URL without credentials, or `offline`."""
        ...

    @property
    def parameters(self) -> Mapping[str, str]:
        """Request parameters that decide the answer; the token cap is none of them."""
        ...

    @property
    def price(self) -> Price | None:
        """A price that the user set; None where the table's price holds."""
        ...

    @property
    def judges_meaning(self) -> bool:
        """Whether a model answers; the offline rules cannot disagree with themselves."""
        ...

    def check_rubric(self, rubric: Rubric) -> None:
        """Raise `RubricError` where this judge cannot answer a criterion."""
        ...

    async def prepare(self) -> None:
        """Get ready to be asked; called once before the first question, never without one.

        Raises:
            CredentialError: nothing to authenticate with was found.
        """
        ...

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        """Ask once; no retries.

        Raises:
            AskError: no answer came.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; safe to call twice, and without `prepare`."""
        ...
