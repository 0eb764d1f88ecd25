"""The rows of a comparison: what flipped, where, and what was found there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.comparison.compare import RowKind
from longjudge.comparison.words import KIND_WORDS, place_words, state_words
from longjudge.states import ChunkState
from longjudge_tui.bench.compared_lines import Lines, Shown
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import STATE_GLYPHS, fit, line

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge.comparison.alignment import Cell
    from longjudge_tui.bench.compared_lines import Line

KIND_CELLS, SIDE_CELLS = 16, 16
PLACE_CELLS, PLACE_CELLS_WIDE = 16, 21
NARROW = 100
"""Below, the states of the two sides have no room in the row; they stand below it."""

_LOOKS: dict[RowKind, str] = {
    RowKind.TO_FLAGGED: "flagged",
    RowKind.TO_CLEAN: "clean",
    RowKind.ONLY_ONE: "gap",
    RowKind.ONLY_OTHER: "gap",
    RowKind.BOTH_FLAGGED: "active",
    RowKind.BOTH_CLEAN: "dim",
    RowKind.NEITHER: "gap",
}


class RowList(LineList):
    """Shows some of the lines of a comparison; the cursor stays where it is as they change."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines = Lines.nothing()
        self.shown = Shown.FLIPS
        self._chosen = self._moved = False
        self._settled: Hashable = None

    @property
    def here(self) -> Line | None:
        """The line under the cursor."""
        lines = self._all
        return lines[self.cursor] if self.cursor < len(lines) else None

    @property
    def _all(self) -> tuple[Line, ...]:
        return self._lines.by_filter[self.shown]

    def show_lines(self, lines: Lines) -> None:
        """Show another comparison; without a flip, and where nobody has chosen, all of it.

        What is shown stays while the same sides are judged: rows that somebody reads do not vanish.
        """
        here = self.here
        self._lines = lines
        both = lines.comparison
        sides = frozenset((both.one.by, both.other.by)) if both is not None else None
        if not self._chosen and sides != self._settled:
            self.shown = Shown.FLIPS if lines.count(Shown.FLIPS) else Shown.ALL
        self._settled = sides
        # What flips while a side is asked comes to the top: it is seen until somebody reads on.
        self._place(here if self._moved else None)

    def watch_cursor(self, before: int, after: int) -> None:
        """Note that somebody has moved it."""
        super().watch_cursor(before, after)
        self._moved |= before != after

    def next_filter(self) -> bool:
        """Show other rows, of what holds any or all; False where nothing else does."""
        names = list(Shown)
        here, before, self._chosen = self.here, self.shown, True
        start = names.index(before) + 1
        after = [*names[start:], *names[:start]]
        self.shown = next(each for each in after if each is Shown.ALL or self._lines.count(each))
        self._place(here)
        return self.shown is not before

    def step_flip(self, direction: int) -> bool:
        """Go to the next flip; False where there is none."""
        if not self._lines.count(Shown.FLIPS):
            return False
        if self.shown is Shown.ONE_SIDED:
            here, self.shown, self._chosen = self.here, Shown.FLIPS, True
            self._place(here)
        lines, count = self._all, self._lines.count(Shown.FLIPS)
        # Flips stand first, whatever is shown.
        place = self.cursor + direction if self.cursor < count else (0, count - 1)[direction < 0]
        self.move_to(place % count, middle=True)
        return bool(lines)

    def _place(self, here: Line | None) -> None:
        self.reset_rows(len(self._all), self._lines.row_of(self.shown, here))

    def row_facts(self, row: int) -> Hashable:
        """Which line it is, and its mark."""
        each = self._all[row]
        return id(self._lines), each.place, self._lines.mark_words(each)

    def row_cells(self, row: int, width: int) -> Cells:
        """What became of it, where, who found what."""
        each = self._all[row]
        kind = each.row.kind
        place_cells = PLACE_CELLS_WIDE if width >= NARROW else PLACE_CELLS
        cells: Cells = [
            (fit(KIND_WORDS[kind], KIND_CELLS), _LOOKS[kind]),
            (fit(place_words(each.row), place_cells - 1) + " ", "plain"),
        ]
        if width >= NARROW:
            cells += [_side("A", each.row.one), _side("B", each.row.other)]
        if each.pair is None or each.finding is None:
            return cells
        who = "both" if each.pair.one and each.pair.other else "A" if each.pair.one else "B"
        mark = self._lines.mark_words(each)
        found = each.finding
        return [
            *cells,
            (f"{fit(who, 5)}", "strong"),
            (f"{mark} " if mark else "", "active"),
            (f"{line(found.criterion, 40)} ", "dim"),
            (line(found.note), "plain"),
        ]


def _side(name: str, cell: Cell | None) -> tuple[str, str]:
    if cell is None:
        return fit(f"{name} not there", SIDE_CELLS), "dim"
    words = "gap" if cell.state is ChunkState.GAP else state_words(cell)
    look = words if words in ("clean", "flagged") else "gap"
    return fit(f"{name} {STATE_GLYPHS[cell.state]} {words}", SIDE_CELLS - 1) + " ", look
