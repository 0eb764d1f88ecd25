"""Wraps long text a page at a time, so that no text is ever wrapped whole."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from rich.cells import cell_len

from longjudge.text import clean

PAGE_CHARS = 6_000
TAB = "    "


def drawn(text: str) -> str:
    """A line as it is drawn: tabs as spaces, without the marks that terminals measure apart."""
    return text.replace("\t", TAB).replace("\ufe0f", "").replace("\ufe0e", "")


def wrap(text: str, start: int, end: int, width: int) -> list[tuple[int, int]]:
    """Offsets `(from, to)` of the lines of `text[start:end]`, each at most `width` cells wide."""
    lines: list[tuple[int, int]] = []
    here = start
    while here < end:
        stop = text.find("\n", here, end)
        if stop < 0:
            stop = end
        lines.extend(_wrap_line(text, here, stop, max(2, width)))
        here = stop + 1
    return lines


def _wrap_line(text: str, start: int, end: int, width: int) -> list[tuple[int, int]]:
    if end - start <= width // 4 or (start == end):
        return [(start, end)]
    lines: list[tuple[int, int]] = []
    while start < end:
        stop = _fitting(text, start, end, width)
        if stop < end:
            # Break after the last space in the second half of the line, where there is one.
            space = text.rfind(" ", start + (stop - start) // 2, stop)
            if space > 0:
                stop = space + 1
        lines.append((start, stop))
        start = stop
    return lines


def _fitting(text: str, start: int, end: int, width: int) -> int:
    """How far a line can go: the last offset up to which the text is no wider than `width`."""
    stop = min(end, start + width)
    piece = text[start:stop]
    if piece.isascii() and "\t" not in piece:
        return stop
    low, high = start + 1, stop
    while low < high:
        middle = (low + high + 1) // 2
        if cell_len(drawn(text[start:middle])) <= width:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(slots=True)
class PagedText:
    """The part of a text that is on show: `origin` to `end`, as lines of at most `width` cells.

    The text may be hostile and huge: only what is on show is cleaned, which keeps every offset.
    """

    text: str
    width: int
    origin: int
    end: int
    lines: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    @classmethod
    def at(cls, text: str, width: int, around: int = 0) -> PagedText:
        """The page that holds `around`; from the start of the text where that is near."""
        origin = 0
        if around > PAGE_CHARS // 2:
            origin = around - PAGE_CHARS // 4
            newline = text.rfind("\n", max(0, origin - 500), origin)
            origin = newline + 1 if newline >= 0 else origin
        paged = cls(text, width, origin, origin)
        paged.add_after()
        return paged

    def add_after(self) -> None:
        """Show one page more at the end."""
        stop = min(len(self.text), self.end + PAGE_CHARS)
        more = self._wrap(self.end, stop)
        if stop < len(self.text) and len(more) > 1 and self.text[stop - 1] != "\n":
            # The last line goes on in the next page, which wraps it whole.
            stop = more.pop()[0]
        self.lines += more
        self.end = stop

    def add_before(self) -> int:
        """Show one page more at the start; how many lines that adds."""
        start = max(0, self.origin - PAGE_CHARS)
        more = self._wrap(start, self.origin)
        self.lines[:0] = more
        self.origin = start
        return len(more)

    def rewrap(self, width: int) -> None:
        """Wrap what is on show for another width."""
        self.width = width
        self.lines = self._wrap(self.origin, self.end)

    def shown(self, start: int, end: int) -> str:
        """A stretch of the text, safe to show."""
        return clean(self.text[start:end])

    def _wrap(self, start: int, end: int) -> list[tuple[int, int]]:
        lines = wrap(self.shown(start, end), 0, end - start, self.width)
        return [(start + low, start + high) for low, high in lines]

    def line_of(self, offset: int) -> int:
        """The line that shows an offset."""
        return max(0, bisect_right(self.lines, offset, key=lambda line: line[0]) - 1)
