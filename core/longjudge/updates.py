"""What a running judgment tells its listener: small frozen facts, in the order they happened.

A listener is a plain function that is called on the judgment's event loop; it must be quick
and must not raise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge.result import Result
    from longjudge.states import ChunkState, GapReason


@dataclass(frozen=True, slots=True)
class ChunkUpdate:
    """A chunk went from one state to the next.

    `reason` is set for a `gap`, and while `retrying`: what it would be if nothing better came.
    `attempt` counts the questions sent for it so far. `wait` is the seconds until it is asked
    again (`retrying`), else 0. `stored` is false where the store would not take the verdict.
    `seconds` is how long it has been worked on, `waited` how long it has been in `waiting` and
    `retrying`. `note` is the first finding's note, or what went wrong.
    """

    part: int
    state: ChunkState
    reason: GapReason | None = None
    from_cache: bool = False
    stored: bool = True
    attempt: int = 0
    wait: float = 0.0
    seconds: float = 0.0
    note: str = ""
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class AskedBy:
    """Another process asks what a `waiting` part waits for; `who` it is was not known before."""

    part: int
    who: str


@dataclass(frozen=True, slots=True)
class Paused:
    """The provider lets nothing be asked for `wait` seconds from now, for what `note` says.

    Told to every judgment of the endpoint when such a wait begins or grows, and to one that begins
    meanwhile.
    """

    wait: float
    note: str


@dataclass(frozen=True, slots=True)
class PausedByHand:
    """Nothing is asked until somebody lets the judgment go on; answers on their way still come."""


@dataclass(frozen=True, slots=True)
class WentOn:
    """The judgment asks again after a pause by hand."""


@dataclass(frozen=True, slots=True)
class BatchSaid:
    """How far a batch of the judgment is: `batch` is the provider's name of it, or ours.

    `state` is that of `store.batch_rows.BatchState`, `problem` what went wrong with the last look,
    or why there is no batch of its `questions` at all.
    """

    batch: str
    state: str
    questions: int
    problem: str


@dataclass(frozen=True, slots=True)
class StoreFailed:
    """The store cannot be written: judging goes on and nothing is kept meanwhile."""

    message: str


@dataclass(frozen=True, slots=True)
class StoreTakes:
    """The store can be written again, and has everything that it had not taken."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """Nothing new is started: the limit, a cancel, a fatal error, or the budget's end.

    Answers on their way may still arrive; for `budget` they are awaited to the last.
    """

    cause: str


@dataclass(frozen=True, slots=True)
class JudgmentEnded:
    """The judgment is over, and everything it held is released."""

    result: Result


Update = (
    ChunkUpdate
    | AskedBy
    | Paused
    | PausedByHand
    | WentOn
    | BatchSaid
    | StoreFailed
    | StoreTakes
    | Stopping
    | JudgmentEnded
)
Listener = Callable[[Update], None]


def ignore_updates(update: Update) -> None:
    """A listener that does nothing."""
