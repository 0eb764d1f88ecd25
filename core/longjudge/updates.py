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

    `attempt` counts the questions sent for it so far. `wait` is the seconds until it is asked
    again (`retrying`), else 0. `stored` is false where the store would not take the verdict.
    `seconds` is how long it has been worked on. `note` is the first finding's note, or what went
    wrong.
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


@dataclass(frozen=True, slots=True)
class StoreFailed:
    """The store cannot be written: judging goes on and nothing more is kept."""

    message: str


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


Update = ChunkUpdate | StoreFailed | Stopping | JudgmentEnded
Listener = Callable[[Update], None]


def ignore_updates(update: Update) -> None:
    """A listener that does nothing."""
