"""Which findings are shown, and in which order: pure, for the list and for its title."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.marks import Mark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.result import ResultFinding


class FindingFilter(Enum):
    """Which findings are shown; the value is the word for it."""

    ALL = "all"
    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    MARKED_RIGHT = "marked right"
    MARKED_WRONG = "marked wrong"
    NOT_MARKED = "not marked"

    def takes(self, shown: ShownFinding) -> bool:
        """Whether it lets a finding through."""
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
    findings: Sequence[ResultFinding],
    mark_of: Callable[[ResultFinding], Mark | None],
    criteria: Sequence[str],
    *,
    only: FindingFilter,
    order: FindingOrder,
) -> list[FindingRow]:
    """The rows of the list; `findings` come by part, `criteria` in the rubric's order."""
    marked = [ShownFinding(finding, mark_of(finding)) for finding in findings]
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
