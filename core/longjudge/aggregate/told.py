"""What is told of many judgments: the sums, and what recurs with its note and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge.aggregate.sums import Totals


@dataclass(frozen=True, slots=True)
class Example:
    """A place where a recurring finding was found."""

    judgment: str
    path: str
    part: int | None
    event: int | None
    quote: str | None


@dataclass(frozen=True, slots=True)
class ToldRecurrence:
    """Similar findings; `note` is the one that stands for them all."""

    criterion: str
    note: str
    count: int
    sessions: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """All that is told.

    `since` is the age that was asked for, and `start` the moment it reaches back to, in seconds
    since 1970. `recurring` are the first of `groups`, most often found first, and `repeated`
    findings are in all of them; `alone` and `marked_wrong` are in none.
    """

    since: str | None
    start: float | None
    totals: Totals
    recurring: tuple[ToldRecurrence, ...]
    groups: int
    repeated: int
    alone: int
    marked_wrong: int
