"""What the store knows of a batch, as rows and as the rest of the program has it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

from longjudge.prices import Price, Usage
from longjudge.store.store import KeyParts
from longjudge.text import without_surrogates

KEPT: Final = "kept"
"""The outcome of a question whose verdict is in the store; any other is a gap's reason."""


class BatchState(StrEnum):
    """How far a batch is.

    `intent`: about to be sent, or sent and nobody knows. `submitted`: the provider has named it.
    `ended`: at the provider; its results are not all here. `harvested`: everything is.
    `lost`: the provider knows nothing of it.
    """

    INTENT = "intent"
    SUBMITTED = "submitted"
    ENDED = "ended"
    HARVESTED = "harvested"
    LOST = "lost"

    @property
    def live(self) -> bool:
        """Whether it is still held."""
        return self in (BatchState.INTENT, BatchState.SUBMITTED, BatchState.ENDED)


class CancelCause(StrEnum):
    """Why a batch is to end early; what has no answer then is a gap of that reason."""

    NONE = ""
    CANCEL = "cancelled"
    LIMIT = "timed_out"


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch. Times are in seconds since 1970, 0 where they are not known.

    `submitted` of an intent is when its sender was last heard of, where it was left running.

    `id` is ours, `provider_id` empty until it is known. `profile` names the profile of the
    configuration that it was sent by, empty without one. `deadline` is when it is cancelled
    (infinity: never). `owner` is the id of who follows it, empty where nobody does: it was left
    running on purpose. `problem` is the last thing that went wrong, for people.
    """

    id: str
    endpoint: str
    model: str
    rubric: str
    rubric_version: str
    rubric_toml: str
    parts: KeyParts
    count: int
    created: float
    owner: str
    profile: str = ""
    provider_id: str = ""
    state: BatchState = BatchState.INTENT
    cancel: CancelCause = CancelCause.NONE
    cancel_sent: bool = False
    submitted: float = 0.0
    ended: float = 0.0
    deadline: float = math.inf
    problem: str = ""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One question of a batch: its verdict key, the judgment and part (from 1) that asked it.

    `chunk_digest` is hexadecimal. `disputed` says that the offline rules flag the text, which is
    known only while that is at hand.
    """

    key: str
    judgment: str
    part: int
    chunk_digest: str
    disputed: bool


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What came of a question: `reason` is empty where its verdict is in the store, else a gap's.

    `reply` is what the judge said where that is no verdict; `replied` is false where nothing came.
    `batch` is our id of the batch that it was in, empty where it was in none or that is known.
    """

    key: str
    reason: str = ""
    problem: str = ""
    reply: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    replied: bool = True
    batch: str = ""


def to_row(batch: Batch) -> tuple[str | int | float, ...]:
    """A batch as the values of its columns."""
    parts = batch.parts
    return (
        batch.id,
        batch.provider_id,
        batch.endpoint,
        batch.profile,
        batch.model,
        batch.state.value,
        batch.cancel.value,
        int(batch.cancel_sent),
        batch.count,
        batch.created,
        batch.submitted,
        batch.ended,
        batch.deadline if math.isfinite(batch.deadline) else 0.0,
        batch.owner,
        without_surrogates(batch.problem),
        without_surrogates(batch.rubric),
        batch.rubric_version,
        without_surrogates(batch.rubric_toml),
        parts.parameters,
        parts.prompt,
        parts.rendering,
        parts.redactor,
        _price_json(batch.price),
    )


def from_row(row: tuple[object, ...]) -> Batch | None:
    """What a row holds; None where nobody here wrote it."""
    numbers = row[7:13]
    texts = (*row[:7], *row[13:])
    if not all(isinstance(text, str) for text in texts):
        return None
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    given = [str(text) for text in row[:7]]
    rest = [str(text) for text in row[13:]]
    times = [float(str(number)) for number in row[9:13]]
    try:
        return Batch(
            id=given[0],
            provider_id=given[1],
            endpoint=given[2],
            profile=given[3],
            model=given[4],
            state=BatchState(given[5]),
            cancel=CancelCause(given[6]),
            cancel_sent=bool(row[7]),
            count=int(str(row[8])),
            created=times[0],
            submitted=times[1],
            ended=times[2],
            deadline=times[3] or math.inf,
            owner=rest[0],
            problem=rest[1],
            rubric=rest[2],
            rubric_version=rest[3],
            rubric_toml=rest[4],
            parts=KeyParts("", rest[5], rest[6], rest[7], rest[8]),
            price=msgspec.json.decode(rest[9], type=Price | None) if rest[9] else None,
        )
    except (ValueError, msgspec.ValidationError):
        return None


def outcome_from_row(row: tuple[object, ...]) -> ItemOutcome:
    """What came of a question: its key, outcome, problem, reply, usage and cost."""
    key, outcome, problem, reply, usage, cost = (
        str(row[0]),
        str(row[1]),
        str(row[2]),
        str(row[3]),
        row[4],
        row[5],
    )
    told = _Told()
    try:
        told = msgspec.json.decode(usage if isinstance(usage, str) else "", type=_Told)
    except (ValueError, msgspec.ValidationError):
        told = _Told()
    reason = "" if outcome == KEPT else outcome
    paid = cost if isinstance(cost, float) else None
    return ItemOutcome(key, reason, problem, reply, told.usage, paid, told.replied)


class _Told(msgspec.Struct):
    usage: Usage = Usage()
    replied: bool = True


def usage_json(outcome: ItemOutcome) -> str:
    """What an answer used, as its column holds it."""
    return msgspec.json.encode(_Told(outcome.usage, outcome.replied)).decode()


def _price_json(price: Price | None) -> str:
    return msgspec.json.encode(price).decode() if price is not None else ""
