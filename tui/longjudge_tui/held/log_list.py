"""One row for each line of the log, the newest at the end."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import fit, line

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge_tui.bench.event_log import LogLine
    from longjudge_tui.bench.log_view import LogView

WIDE = 70
KIND_CELLS, PART_CELLS = 9, 10
_LOOKS: Final = {
    LogKind.VERDICT: ("✓", "clean"),
    LogKind.GAP: ("✗", "gap"),
    LogKind.RETRY: ("↻", "active"),
    LogKind.WAIT: ("◷", "active"),
    LogKind.RUN: ("▸", "strong"),
    LogKind.HOLD: ("◆", "active"),
    LogKind.STORE: ("▤", "gap"),
    LogKind.SETTING: ("≡", "dim"),
    LogKind.SESSION: ("▫", "dim"),
    LogKind.FORCED: ("!", "gap"),
    LogKind.SAID: ("›", "dim"),
    LogKind.ERROR: ("✗", "flagged"),
}
_NOTHING, _NONE_FITS = "nothing has happened yet", "no line fits"


class LogList(LineList):
    """Shows a view of the log; at its end it stays at its end as lines come."""

    def __init__(self, view: LogView, *, id: str) -> None:
        super().__init__(id=id)
        self.view = view

    def on_mount(self) -> None:
        """Begin at the end."""
        self.view.follow()
        self.show_rows(at_end=True)

    @property
    def at_end(self) -> bool:
        """Whether the cursor stands on the last line."""
        return self.cursor >= self.row_count - 1

    @property
    def here(self) -> LogLine | None:
        """The line under the cursor."""
        rows = self.view.rows
        return self.view.log.line(rows[self.cursor]) if self.cursor < len(rows) else None

    def follow(self) -> None:
        """Show what is new; the cursor stays on its line, or at the end."""
        at_end, rows = self.at_end, self.view.rows
        here = rows[self.cursor] if self.cursor < len(rows) else None
        if self.view.follow():
            self.show_rows(at_end=at_end, here=here)

    def show_rows(self, *, at_end: bool, here: int | None = None) -> None:
        """Show the rows of the view, with the cursor at the end or on the line of a number."""
        rows = self.view.rows
        row = len(rows) - 1 if at_end else bisect_left(rows, here or 0)
        self.reset_rows(max(1, len(rows)), max(0, row), follow=at_end or self.cursor_in_sight)

    def row_facts(self, row: int) -> Hashable:
        """The line, and how often it happened; what stands instead where there is none."""
        rows = self.view.rows
        if row >= len(rows):
            return self.view.filters
        found = self.view.log.line(rows[row])
        return rows[row], found.times if found is not None else 0

    def row_cells(self, row: int, width: int) -> Cells:
        """When, what kind, which part, and what happened."""
        rows = self.view.rows
        if row >= len(rows):
            return [(_NONE_FITS if self.view.filters else _NOTHING, "dim")]
        found = self.view.log.line(rows[row])
        if found is None:
            return []
        glyph, look = _LOOKS[found.kind]
        if found.kind is LogKind.VERDICT and found.words.startswith("flagged"):
            glyph, look = "⚑", "flagged"
        cells: Cells = [(f"{found.clock} ", "dim"), (f"{glyph} ", look)]
        if width >= WIDE:
            cells.append((fit(found.kind.value, KIND_CELLS), look))
        if found.part is not None:
            cells.append((fit(f"part {found.part.number}", PART_CELLS), "strong"))
        times = f" ×{found.times:,}" if found.times > 1 else ""
        return [*cells, (f"{line(found.words, 500)}{times}", "plain")]
