"""The rows of a comparison as lines of a list: one for each finding, else one for the row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge.comparison.compare import FLIPS, ONE_SIDED
from longjudge.marks import Mark
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.compare import Comparison, Row
    from longjudge.comparison.pairing import Pair
    from longjudge.comparison.sides import SideFinding

_MARK_WORDS = {Mark.RIGHT: "✔ right", Mark.WRONG: "✘ wrong"}


Place = tuple[str, int, int, int]
"""A thread, an event and a part of one side, and which finding there."""


class Shown(StrEnum):
    """Which rows are listed."""

    FLIPS = "flips"
    ONE_SIDED = "only one side judged"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Line:
    """A row, or one finding of it; `number` is which of the row's findings it is."""

    row: Row
    pair: Pair | None
    number: int

    @property
    def is_flip(self) -> bool:
        """Whether the sides contradict one another there."""
        return self.row.kind in FLIPS

    @property
    def finding(self) -> SideFinding | None:
        """What is meant by a mark: that of B, else that of A."""
        return (self.pair.other or self.pair.one) if self.pair is not None else None

    @property
    def place(self) -> Place:
        """Where it is, whatever becomes of the states there."""
        cell = self.row.one or self.row.other
        first, part = (cell.first, cell.parts[0]) if cell is not None else (0, 0)
        return (self.row.thread, first, part, self.number)


@dataclass(frozen=True, slots=True)
class Lines:
    """A comparison with its lines by what is shown."""

    comparison: Comparison | None
    by_filter: Mapping[Shown, tuple[Line, ...]]
    _places: Mapping[Shown, Mapping[Place, int]]
    _stretches: Mapping[Shown, int]

    @classmethod
    def nothing(cls) -> Lines:
        """Nothing is compared yet."""
        nowhere = dict[Shown, dict[Place, int]]()
        return cls(None, dict.fromkeys(Shown, ()), nowhere, dict.fromkeys(Shown, 0))

    @classmethod
    def of(cls, comparison: Comparison) -> Lines:
        """All lines; for a thread, as there may be very many."""
        lines = [each for row in comparison.rows for each in _lines(row)]
        kinds = {Shown.FLIPS: FLIPS, Shown.ONE_SIDED: ONE_SIDED}
        by_filter = {
            shown: tuple(each for each in lines if each.row.kind in some)
            for shown, some in kinds.items()
        }
        by_filter[Shown.ALL] = tuple(lines)
        places = {
            shown: {each.place: number for number, each in enumerate(some)}
            for shown, some in by_filter.items()
        }
        stretches = {
            shown: sum(each.number == 0 for each in some) for shown, some in by_filter.items()
        }
        return cls(comparison, by_filter, places, stretches)

    def row_of(self, shown: Shown, each: Line | None) -> int:
        """Where a line of an earlier comparison is now; the first row where it is not shown."""
        return self._places.get(shown, {}).get(each.place, 0) if each is not None else 0

    def count(self, shown: Shown) -> int:
        """How many lines there are."""
        return len(self.by_filter[shown])

    def stretches(self, shown: Shown) -> int:
        """How many rows of the comparison these lines are of, as its summary counts them."""
        return self._stretches[shown]

    def mark_words(self, each: Line) -> str:
        """What a person says about the finding of a line."""
        finding = each.finding
        if finding is None or self.comparison is None:
            return ""
        mark = self.comparison.mark_of(finding)
        return _MARK_WORDS[mark] if mark else ""

    def cell_text(self, cell: Cell | None, here: Line) -> tuple[str, tuple[tuple[int, int], ...]]:
        """All that a side says about a row, and which stretches of that are heads.

        What the line `here` is about comes first.
        """
        text, heads = "", list[tuple[int, int]]()
        first = (here.pair.one, here.pair.other) if here.pair is not None else ()
        findings = cell.findings if cell is not None else ()
        for finding in sorted(findings, key=lambda each: not any(each is one for one in first)):
            head = " · ".join(self._facts(finding))
            heads.append((len(text), len(text) + len(head)))
            quote = f"\n“{finding.quote}”" if finding.quote else ""
            text += f"{head}\n{finding.note}{quote}\n\n"
        return text.rstrip("\n"), tuple(heads)

    def _facts(self, finding: SideFinding) -> list[str]:
        event = "no event" if finding.event is None else f"event {finding.event}"
        verified = "verified" if finding.verified else "not verified"
        mark = self.comparison.mark_of(finding) if self.comparison is not None else None
        marked = [_MARK_WORDS[mark]] if mark else []
        return [line(finding.criterion, 80), event, verified, *marked]


def _lines(row: Row) -> list[Line]:
    if not row.pairs:
        return [Line(row, None, 0)]
    return [Line(row, pair, number) for number, pair in enumerate(row.pairs)]
