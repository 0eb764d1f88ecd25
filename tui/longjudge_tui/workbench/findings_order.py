"""Which findings are shown, and in which order: pure, for the list and for its title."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.disputes import RuleFinding
from longjudge.marks import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.result import ResultFinding


class FindingFilter(Enum):
    """Which findings are shown; the value is the word for it.

    What the offline rules say beside a clean verdict is only among `RULES`.
    """

    ALL = "all"
    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    MARKED_RIGHT = "marked right"
    MARKED_WRONG = "marked wrong"
    NOT_MARKED = "not marked"
    RULES = "rules disagree"

    def takes(self, shown: ShownFinding) -> bool:
        """Whether it lets a finding through."""
        if isinstance(shown.finding, RuleFinding):
            return self is FindingFilter.RULES
        match self:
            case FindingFilter.ALL:
                return True
            case FindingFilter.UNVERIFIED:
                return not shown.finding.verified
            case FindingFilter.VERIFIED:
                return shown.finding.verified
            case FindingFilter.MARKED_RIGHT:
                return shown.mark is Mark.RIGHT
            case FindingFilter.MARKED_WRONG:
                return shown.mark is Mark.WRONG
            case FindingFilter.NOT_MARKED:
                return shown.mark is None
            case FindingFilter.RULES:
                return False


def count_filters(marked: Sequence[ShownFinding]) -> dict[FindingFilter, int]:
    """How many findings each filter lets through."""
    found = [each for each in marked if not isinstance(each.finding, RuleFinding)]
    verified = sum(each.finding.verified for each in found)
    marks = Counter(each.mark for each in found)
    return {
        FindingFilter.ALL: len(found),
        FindingFilter.UNVERIFIED: len(found) - verified,
        FindingFilter.VERIFIED: verified,
        FindingFilter.MARKED_RIGHT: marks[Mark.RIGHT],
        FindingFilter.MARKED_WRONG: marks[Mark.WRONG],
        FindingFilter.NOT_MARKED: marks[None],
        FindingFilter.RULES: len(marked) - len(found),
    }


def filter_after(only: FindingFilter, counts: Mapping[FindingFilter, int]) -> FindingFilter | None:
    """The next filter that lets anything through; None where there is none.

    A filter can always be taken away.
    """
    filters = [*FindingFilter]
    place = filters.index(only)
    others = filters[place + 1 :] + filters[:place]
    found = next((each for each in others if counts[each]), None)
    if found is None and only is not FindingFilter.ALL:
        return FindingFilter.ALL
    return found


class FindingOrder(Enum):
    """How findings are ordered; the value is the word for it."""

    PART = "part"
    CRITERION = "criterion"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding with the mark that it has."""

    finding: ResultFinding
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A row above the findings of one criterion."""

    criterion: str
    count: int


FindingRow = ShownFinding | Heading


def arrange(
    marked: Sequence[ShownFinding],
    criteria: Sequence[str],
    *,
    only: FindingFilter,
    order: FindingOrder,
) -> list[FindingRow]:
    """The rows of the list; `marked` comes by part, `criteria` in the rubric's order."""
    shown = [each for each in marked if only.takes(each)]
    if order is FindingOrder.UNVERIFIED:
        shown.sort(key=lambda each: each.finding.verified)
        return [*shown]
    if order is FindingOrder.PART:
        return [*shown]
    counts = Counter(each.finding.criterion for each in shown)
    known = {criterion: place for place, criterion in enumerate(criteria)}
    rows: list[FindingRow] = []
    for criterion in sorted(counts, key=lambda name: (known.get(name, len(known)), name)):
        rows.append(Heading(criterion, counts[criterion]))
        rows += [each for each in shown if each.finding.criterion == criterion]
    return rows


def place_around(spots: Sequence[tuple[int, int]], here: tuple[int, int], direction: int) -> int:
    """Which of the findings in order of parts is the first from a chunk and its event on.

    Backwards the last before it; -1 and one too many stand for the other end.
    """
    if direction > 0:
        return next((place for place, spot in enumerate(spots) if spot >= here), len(spots))
    before = (place for place in range(len(spots) - 1, -1, -1) if spots[place] < here)
    return next(before, -1)
