"""All chunks of the plan in one line: what has become of each, and where one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from longjudge_tui.bench.chunk_codes import ChunkCodes, Code
from longjudge_tui.bench.strip_layout import StripLayout
from longjudge_tui.commands import Scope, binding_of, bindings
from longjudge_tui.widgets.looks import GLYPH_CONTRAST, part_style, readable_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events
    from textual.binding import BindingType

GLYPHS: dict[Code, tuple[str, str, str]] = {
    Code.FLAGGED: ("█", "flagged", "flagged"),
    Code.GAP: ("▚", "gap", "gap"),
    Code.DISPUTED: ("▀", "gap", "rules disagree"),
    Code.RUNNING: ("▓", "active", "running"),
    Code.RETRYING: ("▒", "active", "retrying"),
    Code.IN_BATCH: ("▤", "active", "in batch"),
    Code.WAITING: ("╌", "dim", "waiting"),
    Code.QUEUED: ("░", "dim", "queued"),
    Code.TO_ASK: ("·", "dim", "to ask"),
    Code.CLEAN: ("▄", "clean", "clean"),
    Code.KEPT: ("▁", "clean", "kept"),
    Code.NOT_ASKED: ("–", "dim", "not asked"),
}
"""Glyph, look and word of each state: shapes differ, so that no colour is needed."""

_SEPARATOR = ("│", "dim")
_SPACE = (" ", "dim")
_LEAST_LEGEND = 12


class Timeline(Widget, can_focus=True):
    """One line for all chunks; a cell of several shows the most urgent of them.

    It knows no chunk of its own: `follow` is told which one the cursor is on and which are in
    sight, and `Wanted` says where somebody wants to go.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Scope.TIMELINE),
        *map(binding_of, ("open", "page_up", "page_down")),
    ]

    class Opened(Message):
        """What is known about the chunk under the cursor is wanted."""

    class Wanted(Message):
        """A chunk to go to; of several on their way the last one counts."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

        def can_replace(self, message: Message) -> bool:
            """Whether this one makes an earlier message needless."""
            return isinstance(message, Timeline.Wanted)

    def __init__(self, codes: ChunkCodes, *, id: str) -> None:
        super().__init__(id=id)
        self._codes = codes
        self._starts: Sequence[int] = ()
        self._layout = StripLayout(0, (), 0)
        self._urgent: list[Code | None] = []
        self._columns: list[tuple[str, str]] = []
        self._marks = (0, (0, 0))
        self._drawn: list[tuple[str, str, bool, bool]] = []
        self._styles: dict[tuple[str, bool, bool], Style] = {}
        self._dragging = False

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return len(self._codes.codes)

    def show_plan(self, starts: Sequence[int]) -> None:
        """Draw another plan, or another judgment of it; threads begin at `starts`."""
        self._starts = starts
        self._lay_out()

    def follow(self, changed: Iterable[int], cursor: int, in_sight: tuple[int, int]) -> None:
        """Draw the cells again that look different now."""
        cells = {number for each in changed for number in self._layout.cells_of(each)}
        for number in cells:
            self._look(number)
        if cells:
            self._add_legend()
        if cells or self._marks != (cursor, in_sight):
            self._marks = cursor, in_sight
            self._refresh_changed()

    def render_line(self, y: int) -> Strip:
        """The line, drawn in one go from what each column holds."""
        self._drawn = self._picture()
        segments: list[Segment] = []
        start = 0
        for end in range(1, len(self._drawn) + 1):
            if end == len(self._drawn) or self._drawn[end][1:] != self._drawn[start][1:]:
                text = "".join(glyph for glyph, *_ in self._drawn[start:end])
                segments.append(Segment(text, self._style(*self._drawn[start][1:])))
                start = end
        return Strip(segments, len(self._drawn))

    def on_resize(self) -> None:
        """Other cells stand for the chunks."""
        self._lay_out()

    def on_focus(self) -> None:
        """The cursor looks different while the line has the keys."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor looks different without the keys."""
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget other colours."""
        super().notify_style_update()
        self._styles.clear()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go where the mouse is, and along with it."""
        if event.button == 1:
            self._dragging = True
            self.capture_mouse()
            self._want_at(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow; without a button, the mouse was let go where nobody saw it."""
        if self._dragging and not event.button:
            self.on_mouse_up()
        elif self._dragging:
            self._want_at(event)

    def on_mouse_up(self) -> None:
        """Let go."""
        self._dragging = False
        self.release_mouse()

    def on_hide(self) -> None:
        """Let go of the mouse where the line is not shown any more."""
        self.on_mouse_up()

    def on_mouse_release(self) -> None:
        """Somebody else has the mouse now."""
        self._dragging = False

    def action_part_before(self) -> None:
        """The chunk before."""
        self._want(self._marks[0] - 1)

    def action_part_after(self) -> None:
        """The chunk after."""
        self._want(self._marks[0] + 1)

    def action_first_part(self) -> None:
        """The first chunk."""
        self._want(0)

    def action_last_part(self) -> None:
        """The last chunk."""
        self._want(self.chunks - 1)

    def action_page_up(self) -> None:
        """As many chunks back as are in sight."""
        self._want(self._marks[0] - self._in_sight)

    def action_page_down(self) -> None:
        """As many chunks on as are in sight."""
        self._want(self._marks[0] + self._in_sight)

    def action_open(self) -> None:
        """Go to the row of the chunk."""
        self.post_message(self.Opened())

    def action_trouble_before(self) -> None:
        """The flagged chunk or the gap before."""
        self._want_trouble(-1)

    def action_trouble_after(self) -> None:
        """The next flagged chunk or gap."""
        self._want_trouble(1)

    @property
    def _in_sight(self) -> int:
        first, last = self._marks[1]
        return max(1, last - first)

    def _want_trouble(self, direction: int) -> None:
        found = self._codes.trouble(self._marks[0], direction)
        if found is None:
            self.notify("no chunk is flagged, and there is no gap", markup=False)
        else:
            self._want(found)

    def _want_at(self, event: events.MouseEvent) -> None:
        event.stop()
        # Terminals that report pixels say where inside a cell the mouse is.
        column = event.pointer_x - self.content_region.x + self.region.x
        found = self._layout.position_at(max(0, int(column)))
        if found is not None:
            self._want(found)

    def _want(self, position: int) -> None:
        if self.chunks:
            self.post_message(self.Wanted(max(0, min(position, self.chunks - 1))))

    def _lay_out(self) -> None:
        width = self.content_size.width
        self._layout = layout = StripLayout(self.chunks, self._starts, width)
        self._columns = [_SPACE] * width
        for column in layout.separators:
            self._columns[column] = _SEPARATOR
        self._urgent = [None] * len(layout.cells)
        for number in range(len(layout.cells)):
            self._look(number)
        self._add_legend()
        self.refresh()

    def _add_legend(self) -> None:
        """What the glyphs mean that are there, as far as there is room behind the chunks."""
        width, used = len(self._columns), self._layout.used
        if not used or width - used < _LEAST_LEGEND:
            return
        self._columns[used:] = [_SPACE] * (width - used)
        at = used + 3
        for code, (glyph, look, word) in GLYPHS.items():
            told = f"{glyph} {word}"
            if not self._codes.counts(0, self.chunks, code) or width - at < len(told):
                continue
            for place, each in enumerate(told):
                self._columns[at + place] = each, look if not place else "dim"
            at += len(told) + 2

    def _look(self, number: int) -> None:
        cell = self._layout.cells[number]
        code = self._urgent[number] = self._codes.most_urgent(cell.low, cell.high)
        if code is not None:
            self._columns[cell.at] = GLYPHS[code][:2]

    def _picture(self) -> list[tuple[str, str, bool, bool]]:
        """Glyph and look of every column, whether it is in sight, and has the cursor."""
        cursor, (first, last) = self._marks
        picture = [(glyph, look, False, False) for glyph, look in self._columns]
        here = self._layout.cells_of(cursor)
        # Where all chunks are in sight, that says nothing.
        partly = last - first + 1 < self.chunks
        for number, cell in enumerate(self._layout.cells):
            in_sight = partly and cell.low <= last and cell.high > first
            if in_sight or number in here:
                glyph, look, *_ = picture[cell.at]
                picture[cell.at] = glyph, look, in_sight, number in here
        return picture

    def _refresh_changed(self) -> None:
        picture, drawn = self._picture(), self._drawn
        if len(picture) != len(drawn):
            self.refresh()
            return
        changed = [at for at, each in enumerate(picture) if each != drawn[at]]
        if changed:
            x = self.content_region.x - self.region.x
            self.refresh(*(Region(x + low, 0, high - low, 1) for low, high in _runs(changed)))

    def _style(self, look: str, in_sight: bool, is_here: bool) -> Style:
        known = self._styles.get((look, in_sight, is_here))
        if known is None:
            known = self.rich_style
            if in_sight:
                known += Style(bgcolor=part_style(self, "strip--in-sight").bgcolor)
            own = part_style(self, f"look--{look}")
            known += Style(color=own.color, bold=own.bold, reverse=is_here or None)
            known = readable_style(known, GLYPH_CONTRAST)
            self._styles[look, in_sight, is_here] = known
        return known


def _runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Columns that lie beside each other as stretches, the ends exclusive."""
    runs: list[tuple[int, int]] = []
    for column in columns:
        if runs and runs[-1][1] == column:
            runs[-1] = runs[-1][0], column + 1
        else:
            runs.append((column, column + 1))
    return runs
