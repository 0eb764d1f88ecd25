"""A compositor that draws, of what is in sight, only the lines that have changed.

The toolkit's own draws every widget that touches the smallest box around all changes, from its
first line to its last, and the containers below them that nobody sees. With a list and a line at
the bottom of the screen changed, that is the whole screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.strip import Strip

Spans = list[tuple[int, int]]
"""Columns of a line, from and up to."""


class LineCompositor(Compositor):
    """Draws from the front to the back until every changed cell is covered."""

    def __init__(self) -> None:
        super().__init__()
        self._changed: dict[int, Spans] | None = None

    def render_partial_update(self) -> ChopsUpdate | None:
        """Draw what has changed since the last frame; None where nothing has."""
        changed: dict[int, Spans] = {}
        for y, left, right in self._regions_to_spans(self._dirty_regions):
            changed.setdefault(y, []).append((left, right))
        self._changed = changed
        try:
            return super().render_partial_update()
        finally:
            self._changed = None

    def _get_renders(
        self, crop: Region | None = None
    ) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """The region, the part of it in sight, and the lines of each widget that is needed."""
        crop = crop or self.size.region
        open_spans = self._changed
        if open_spans is None:
            open_spans = {y: [(crop.x, crop.right)] for y in crop.line_range}
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            for first, end in _take(open_spans, seen):
                lines = Region(seen.x, first, seen.width, end - first)
                yield region, lines, widget.render_lines(lines.translate(-region.offset))
            if not open_spans:
                return


def _take(open_spans: dict[int, Spans], seen: Region) -> list[tuple[int, int]]:
    """The runs of lines on which a region covers what is still open, which is then closed.

    Lines with nothing open any more are taken out of `open_spans`.
    """
    left, right = seen.x, seen.right
    runs: list[tuple[int, int]] = []
    if left == right:
        return runs
    for y in seen.line_range:
        spans = open_spans.get(y)
        if spans is None or not any(low < right and high > left for low, high in spans):
            continue
        rest = [
            part
            for low, high in spans
            for part in ((low, min(high, left)), (max(low, right), high))
            if part[0] < part[1]
        ]
        if rest:
            open_spans[y] = rest
        else:
            del open_spans[y]
        if runs and runs[-1][1] == y:
            runs[-1] = runs[-1][0], y + 1
        else:
            runs.append((y, y + 1))
    return runs
