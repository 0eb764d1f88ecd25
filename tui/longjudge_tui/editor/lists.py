"""The lists of the rubric editor: faults, versions, and what the text has beside one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from longjudge_tui.bench.rubric_diff import Side
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.widgets.wrapping import drawn, wrap
from longjudge_tui.wording import fit, line, widest

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from longjudge_tui.bench.edit_session import Past
    from longjudge_tui.bench.rubric_check import Fault
    from longjudge_tui.bench.rubric_diff import DiffLine

_LOOKS = {Side.ADDED: "clean", Side.GONE: "flagged", Side.BOTH: "plain", Side.PLACE: "dim"}


class FaultList(LineList):
    """One row per fault: its line and what to do."""

    OPEN_ON_CLICK: ClassVar[bool] = True
    faults: tuple[Fault, ...] = ()

    def show_faults(self, faults: tuple[Fault, ...]) -> None:
        """Show other faults."""
        if faults != self.faults:
            self.faults = faults
            self.reset_rows(len(faults), min(self.cursor, max(0, len(faults) - 1)))

    def row_facts(self, row: int) -> Hashable:
        """The fault."""
        return self.faults[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """Where it is and what it is."""
        fault = self.faults[row]
        place = f"line {fault.line}" if fault.line else "text"
        look = "active" if fault.warning else "gap"
        glyph = "!" if fault.warning else "✗"
        words = [line(each, 500) for each in (fault.words, fault.brief) if each]
        head = f"{glyph} {place:<9}"
        return [(head, look), (widest(words, max(0, width - len(head))).rstrip(), "plain")]


class PastList(LineList):
    """One row per text that can be taken back."""

    past: tuple[Past, ...] = ()
    standing: str = ""

    def show_past(self, past: tuple[Past, ...], standing: str) -> None:
        """Show other texts; `standing` is the version of what is in the editor."""
        if (past, standing) != (self.past, self.standing):
            self.past, self.standing = past, standing
            self.reset_rows(len(past), min(self.cursor, max(0, len(past) - 1)))

    def row_facts(self, row: int) -> Hashable:
        """The text, and which one stands."""
        past = self.past[row]
        return past, past.version == self.standing

    def row_cells(self, row: int, width: int) -> Cells:
        """Its version, when, and what it has judged."""
        past = self.past[row]
        same = "● " if past.version and past.version == self.standing else "  "
        return [
            (same, "active"),
            (fit(past.version or "draft", 9), "strong"),
            (f"{line(past.facts, 120)} · {line(past.name, 60)}", "plain"),
        ]


class DiffList(LineList):
    """Lines of a comparison, wrapped; what was added and what is gone have glyph and colour."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: Sequence[DiffLine] = ()
        self._rows_drawn: list[tuple[Side, str, bool]] = []

    def show_lines(self, lines: Sequence[DiffLine]) -> None:
        """Show another comparison."""
        if lines is not self._lines:
            self._lines = lines
            self._layout()

    def on_resize(self) -> None:
        """Wrap for the new width."""
        self._layout()

    def _layout(self) -> None:
        width = max(8, self.container_size.width - 5)
        rows: list[tuple[Side, str, bool]] = []
        for each in self._lines:
            text = drawn(each.text)
            places = wrap(text, 0, len(text), width) or [(0, 0)]
            rows += [(each.side, text[a:b], not at) for at, (a, b) in enumerate(places)]
        self._rows_drawn = rows
        self.reset_rows(len(rows), min(self.cursor, max(0, len(rows) - 1)))
        self.refresh()

    def row_facts(self, row: int) -> Hashable:
        """The piece of a line."""
        return self._rows_drawn[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """The glyph of its side, and the piece."""
        side, text, first = self._rows_drawn[row]
        glyph = side.value if first else " "
        return [(f"{glyph} ", _LOOKS[side]), (line(text, 500), _LOOKS[side])]
