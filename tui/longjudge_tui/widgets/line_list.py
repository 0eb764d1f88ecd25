"""A list that draws only the rows in sight, from whatever holds them; the base of every list here.

Rows are one line each. A subclass says how many there are, what a row depends on, and its cells;
drawn rows are cached by exactly that, so that a repaint costs a look-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from longjudge_tui.commands import Scope, bindings
from longjudge_tui.widgets.looks import (
    GLYPH_CONTRAST,
    TEXT_CONTRAST,
    part_style,
    readable_style,
)
from longjudge_tui.wording import fit

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from textual import events
    from textual.app import App
    from textual.binding import BindingType
    from textual.timer import Timer

BAR_SECONDS = 0.1
"""How much later than the rows the thumb of the scroll bar may follow: it takes long to draw."""

KEPT_STRIPS = 256
"""Drawn rows that a list keeps: some screens full. Each holds several kilobytes."""

Cells = list[tuple[str, str]]
"""A row's cells: text that is safe to show, and the word for how it looks: `plain`, or a `look--…`
of the stylesheet."""

_OWN_GROUND = frozenset({"quote", "hit"})
_GLYPHS = frozenset({"bar"})
"""Looks of what is no text, which may stand out less."""

_KNOWN: dict[Hashable, Style] = {}
"""How looks turned out, by all that they depend on; few themes are used by one process."""


class LineList(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows with a cursor, moved by keys and mouse."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.LIST)]
    ALLOW_SELECT = False
    OPEN_ON_CLICK: ClassVar[bool] = False

    cursor: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, lines: LineList, row: int) -> None:
            super().__init__()
            self.lines = lines
            self.row = row

        @property
        def control(self) -> LineList:
            """The list that sent it."""
            return self.lines

    class Opened(Moved):
        """Enter, or a click where a click opens."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._strips: LRUCache[Hashable, Strip] = LRUCache(KEPT_STRIPS)
        self._drawn: dict[int, Hashable] = {}
        self._bar_timer: Timer | None = None
        self._rows = 0
        self._styles_by_look: dict[tuple[str, str], Style] = {}

    def row_facts(self, row: int) -> Hashable:
        """Everything that a row's picture depends on, beside width and cursor."""
        raise NotImplementedError

    def row_cells(self, row: int, width: int) -> Cells:
        """The cells of a row; the last one is cut or padded to the width."""
        raise NotImplementedError

    @property
    def bar_keys(self) -> tuple[str, ...]:
        """Commands that stand first in the bar at the bottom while the list has the keys."""
        return ()

    @property
    def bar_words(self) -> Mapping[str, str]:
        """What commands are called there then, where that is another word; empty: not there."""
        return {}

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self._rows

    @property
    def cursor_in_sight(self) -> bool:
        """Whether the row under the cursor is on the screen."""
        top = self.scroll_offset.y
        return top <= self.cursor < top + max(1, self.scrollable_content_region.height)

    def reset_rows(self, rows: int, cursor: int = 0, *, follow: bool = True) -> None:
        """Show other rows: `rows` of them, with the cursor at the given one.

        With `follow` false the list stays scrolled as it is.
        """
        self._rows = rows
        self._resize_rows(Size(1, rows))
        target = max(0, min(cursor, rows - 1))
        self.set_reactive(LineList.cursor, target)
        if follow:
            self._show_row(target)
        self._refresh_changed()

    def _refresh_changed(self) -> None:
        """Draw the lines again that look different now: a repaint of all takes much longer."""
        top, width = self.scroll_offset.y, self._row_width
        changed = [
            Region(0, y, self.size.width, 1)
            for y in range(self.size.height)
            if y not in self._drawn or self._drawn[y] != self._key(y + top, width)
        ]
        if changed:
            self.refresh(*changed)

    def _key(self, row: int, width: int) -> Hashable:
        """Everything that the line of a row depends on; None where there is no row."""
        if row >= self._rows:
            return None
        return (row, width, self._mark(row), self.row_facts(row))

    def _mark(self, row: int) -> str:
        if row != self.cursor:
            return ""
        return "row--cursor" if self.has_focus else "row--cursor-blurred"

    def _resize_rows(self, size: Size) -> None:
        if size == self.virtual_size:
            return
        height = self.container_size.height
        if height and (size.height > height) == self.show_vertical_scrollbar:
            # The scroll bar stays where it is, or away, so that no widget moves: laying the whole
            # screen out again would take longer than painting it. The bar's thumb may come later.
            self.set_reactive(Widget.virtual_size, size)  # pyright: ignore[reportArgumentType]
            self.scroll_y = self.validate_scroll_y(self.scroll_y)
            if self._bar_timer is None:
                self._bar_timer = self.set_timer(BAR_SECONDS, self._show_bar)
        else:
            self.virtual_size = size

    def _show_bar(self) -> None:
        self._bar_timer = None
        self._scroll_update(self.virtual_size)

    def move_to(self, row: int, *, middle: bool = False) -> None:
        """Put the cursor on a row; `middle` brings it to the middle of the list."""
        target = max(0, min(row, self._rows - 1))
        self.cursor = target
        self._show_row(target, middle=middle)

    def refresh_rows(self, rows: Sequence[int]) -> None:
        """Draw some rows again, those in sight."""
        first = self.scroll_offset.y
        last = first + self.size.height
        for row in rows:
            if first <= row < last:
                self.refresh_line(row)

    def render_line(self, y: int) -> Strip:
        """Draw one line in sight."""
        width = self._row_width
        row = y + self.scroll_offset.y
        return self._line(row, width, self._key(row, width))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines for the screen, and remember what was drawn.

        A row fills its line and has no border, so that the way of other widgets, which keep every
        line once more and lay a frame around it, would only take time.
        """
        filters, background = self.get_line_filters(), self.background_colors[1]
        top, width = self.scroll_offset.y, self._row_width
        strips: list[Strip] = []
        for y in crop.line_range:
            key = self._drawn[y] = self._key(y + top, width)
            strip = self._line(y + top, width, key)
            for each in filters:
                strip = strip.apply_filter(each, background)
            strips.append(strip.crop(crop.x, crop.right))
        return strips

    @property
    def _row_width(self) -> int:
        return self.scrollable_content_region.width

    def _line(self, row: int, width: int, key: Hashable) -> Strip:
        if key is None:
            return Strip.blank(self.size.width, self._style("plain", ""))
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(row, width, self._mark(row))
            # The scroll bar's own column, while the bar is not there.
            strip = strip.adjust_cell_length(self.size.width, self._style("plain", ""))
            self._strips[key] = strip
        return strip

    def _draw(self, row: int, width: int, mark: str) -> Strip:
        pointer = {"": " ", "row--cursor": "▶", "row--cursor-blurred": "▷"}[mark]
        cells = [(pointer, "strong"), *self.row_cells(row, width - 1)]
        segments: list[Segment] = []
        used = 0
        for text, look in cells:
            wide = cell_len(text)
            if used + wide > width:
                text = fit(text, width - used)
                wide = cell_len(text)
            used += wide
            segments.append(Segment(text, self._style(look, mark)))
        if used < width:
            segments.append(Segment(" " * (width - used), self._style("plain", mark)))
        return Strip(segments, width)

    @property
    def _host(self) -> App[object]:
        return self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def _style(self, look: str, mark: str) -> Style:
        style = self._styles_by_look.get((look, mark))
        if style is None:
            known = (type(self), self._host.theme, self.rich_style, look, mark)
            style = _KNOWN.get(known)
            if style is None:
                style = _KNOWN[known] = self._look_style(look, mark)
            self._styles_by_look[look, mark] = style
        return style

    def _look_style(self, look: str, mark: str) -> Style:
        # Whole styles are taken apart, since only these resolve colours that depend on what they
        # stand on, such as `$text-muted`.
        style = self.part_style(mark) if mark else self.rich_style
        if look != "plain":
            own = self.part_style(f"look--{look}")
            style += Style(
                color=own.color,
                bgcolor=own.bgcolor if look in _OWN_GROUND else None,
                bold=own.bold,
                underline=own.underline,
                reverse=own.reverse,
            )
        # The theme made its colours for its own ground, and not for the one under the cursor.
        return readable_style(style, GLYPH_CONTRAST if look in _GLYPHS else TEXT_CONTRAST)

    def part_style(self, name: str) -> Style:
        """How the stylesheet has a part of the list."""
        return part_style(self, name)

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._strips.clear()
        self._drawn.clear()
        self._styles_by_look.clear()

    def watch_cursor(self, before: int, after: int) -> None:
        """Redraw the two rows that changed."""
        self.refresh_line(before)
        self.refresh_line(after)
        if before != after:
            self.post_message(self.Moved(self, after))

    def on_focus(self) -> None:
        """The cursor looks different in the list that has the keys."""
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        """The cursor looks different in a list without the keys."""
        self.refresh_line(self.cursor)

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._show_row(self.cursor)

    def _show_row(self, row: int, *, middle: bool = False) -> None:
        # By force: a list that has just become longer does not show its scroll bar yet.
        height = max(1, self.scrollable_content_region.height)
        top = self.scroll_offset.y
        if middle:
            self.scroll_to(y=max(0, row - height // 2), animate=False, force=True)
        elif not top <= row < top + height:
            self.scroll_to_region(Region(0, row, 1, 1), animate=False, force=True)

    def action_up(self) -> None:
        """One row up."""
        self.move_to(self.cursor - 1)

    def action_down(self) -> None:
        """One row down."""
        self.move_to(self.cursor + 1)

    def action_page_up(self) -> None:
        """One page up."""
        self.move_to(self.cursor - max(1, self.size.height - 1))

    def action_page_down(self) -> None:
        """One page down."""
        self.move_to(self.cursor + max(1, self.size.height - 1))

    def action_first(self) -> None:
        """The first row."""
        self.move_to(0)

    def action_last(self) -> None:
        """The last row."""
        self.move_to(self._rows - 1)

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self._rows:
            self.post_message(self.Opened(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is; a second click (or the first, by class) opens."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = offset.y + self.scroll_offset.y
        if not 0 <= row < self._rows:
            return
        if self.clicked(row, offset.x):
            return
        self.move_to(row)
        if self.OPEN_ON_CLICK or event.chain == 2:
            self.action_open()

    def clicked(self, row: int, x: int) -> bool:
        """Whether a click at a column of a row was for something in it."""
        return False
