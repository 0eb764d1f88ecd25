"""The widget that draws a curve, and says where the mouse points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from longjudge_tui.curve.drawing import AXIS_CELLS, Figure, picture
from longjudge_tui.widgets.looks import TEXT_CONTRAST, part_style, readable_style

if TYPE_CHECKING:
    from collections.abc import Hashable

    from textual import events

    from longjudge_tui.curve.drawing import Row


class CurveChart(Widget):
    """Draws a figure; it is drawn again only where the figure is another one."""

    ALLOW_SELECT = False

    class Pointed(Message):
        """A column was clicked."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    class Resized(Message):
        """There is room for another number of columns."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._figure: Figure | None = None
        self._known: Hashable = None
        self._rows: list[Row] = []
        self._styles: dict[str, Style] = {}

    @property
    def columns(self) -> int:
        """For how many sizes there is room."""
        return max(2, self.content_size.width - AXIS_CELLS)

    def show(self, figure: Figure) -> None:
        """Draw a figure."""
        known = figure.cursor, figure.today, tuple(figure.sizes), self.size
        before = self._figure
        if (
            before is not None
            and figure.points is before.points
            and figure.rough is before.rough
            and known == self._known
        ):
            return
        self._known, self._figure = known, figure
        rows = picture(figure, self.content_size.width, self.content_size.height)
        changed = [y for y, row in enumerate(rows) if self._rows[y : y + 1] != [row]]
        same_size = len(rows) == len(self._rows)
        self._rows = rows
        if not same_size:
            self.refresh()
        elif changed:
            # A row takes longer to paint than to compare.
            left, top = self.content_region.x - self.region.x, self.content_region.y - self.region.y
            width = self.content_size.width
            self.refresh(*(Region(left, top + y, width, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        """One row of the picture."""
        width = self.content_size.width
        row = self._rows[y] if y < len(self._rows) else []
        segments: list[Segment] = []
        used = 0
        for text, look in row:
            segments.append(Segment(text, self._style(look)))
            used += cell_len(text)
        segments.append(Segment(" " * max(0, width - used), self.rich_style))
        return Strip(segments).crop(0, width)

    def on_resize(self) -> None:
        """Another number of columns fits."""
        self.post_message(self.Resized())

    def on_click(self, event: events.Click) -> None:
        """Read the figures of the column under the mouse."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.x >= AXIS_CELLS:
            self.post_message(self.Pointed(offset.x - AXIS_CELLS))

    def notify_style_update(self) -> None:
        """Forget other colours."""
        super().notify_style_update()
        self._styles.clear()

    def _style(self, look: str) -> Style:
        known = self._styles.get(look)
        if known is None:
            own = part_style(self, f"look--{look}")
            known = self.rich_style + Style(color=own.color, bold=own.bold)
            known = readable_style(known, TEXT_CONTRAST)
            self._styles[look] = known
        return known
