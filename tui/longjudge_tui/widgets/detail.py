"""The text of one event, wrapped a page at a time, with a quote highlighted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.widgets.wrapping import PagedText, drawn
from longjudge_tui.wording import fit

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True, slots=True)
class Marked:
    """What stands out in a text: a quote, and the headers of its parts; `at` is brought in sight.

    No text can look like a header, since only these are drawn as one. `secrets` are what a judge
    does not read, in a quote too. `hits` are what a search has found.
    """

    quote: tuple[int, int] | None = None
    heads: tuple[tuple[int, int], ...] = ()
    at: int | None = None
    secrets: tuple[tuple[int, int], ...] = ()
    hits: tuple[tuple[int, int], ...] = ()

    @property
    def spans(self) -> list[tuple[int, int, str]]:
        """From, to and look of each, in order and apart."""
        heads = [(low, high, "head") for low, high in self.heads]
        secrets = [(low, high, "secret") for low, high in self.secrets]
        quote = self._beside_secrets(*self.quote, "quote") if self.quote is not None else []
        hits = [part for span in self.hits for part in self._beside_secrets(*span, "hit")]
        return sorted([*heads, *secrets, *quote, *hits])

    def _beside_secrets(self, here: int, end: int, look: str) -> list[tuple[int, int, str]]:
        """What is left of a stretch where the secrets in it look as they do everywhere."""
        parts: list[tuple[int, int, str]] = []
        for low, high in self.secrets:
            if here < high and low < end:
                parts.append((here, max(here, low), look))
                here = max(here, high)
        parts.append((here, max(here, end), look))
        return parts

    @property
    def around(self) -> int | None:
        """The offset that has to be in sight."""
        return self.quote[0] if self.quote else self.at


_NOTHING = Marked()


class DetailView(LineList):
    """Lines of one text; a first and a last row lead to what is not wrapped yet."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._paged: PagedText | None = None
        self._spans: list[tuple[int, int, str]] = []
        self._shown = 0
        self._middle: int | None = None
        self._quote: tuple[int, int] | None = None
        self._marked = _NOTHING

    def show_text(self, text: str, marked: Marked = _NOTHING) -> None:
        """Show a text, hostile as it may be, and bring what is marked in it into sight."""
        around = marked.around or 0
        self._marked = marked
        self._paged = PagedText.at(text, self._text_width, around)
        self._spans = marked.spans
        self._quote = marked.quote
        self._layout(self._row_of_offset(around), middle=marked.around is not None)

    def mark_hits(self, hits: tuple[tuple[int, int], ...]) -> None:
        """Let what a search has found stand out; the text stays where it is."""
        if hits != self._marked.hits:
            self._marked = replace(self._marked, hits=hits)
            self._spans = self._marked.spans
            self._shown += 1
            self.refresh()

    def show_nothing(self) -> None:
        """Show no text."""
        self._paged = None
        self.reset_rows(0)

    def row_facts(self, row: int) -> Hashable:
        """Which text it is."""
        return self._shown

    def row_cells(self, row: int, width: int) -> Cells:
        """One wrapped line, or the way to more."""
        paged = self._paged
        if paged is None:
            return []
        if self._before and row == 0:
            return [
                (fit(f"── {paged.origin:,} characters before: enter shows more ", width), "strong")
            ]
        line = row - self._before
        if line >= len(paged.lines):
            left = len(paged.text) - paged.end
            return [(fit(f"── {left:,} characters after: enter shows more ", width), "strong")]
        start, end = paged.lines[line]
        return self._split(paged, start, end)

    def action_open(self) -> None:
        """Show more of the text, from the row that offers it."""
        paged = self._paged
        if paged is None:
            return
        if self._before and self.cursor == 0:
            added = paged.add_before()
            self._layout(added + self._before)
        elif self.cursor - self._before >= len(paged.lines):
            here = self.cursor
            paged.add_after()
            self._layout(here)

    def on_resize(self) -> None:
        """Wrap again for the new width, keeping the line under the cursor, and a quote in sight."""
        paged = self._paged
        if paged is None or not paged.lines:
            return
        middle = self._middle == self.cursor
        if paged.width != self._text_width:
            line = min(max(0, self.cursor - self._before), len(paged.lines) - 1)
            offset = paged.lines[line][0]
            paged.rewrap(self._text_width)
            self._layout(self._row_of_offset(offset), middle=middle)
        elif middle:
            self._bring_to_middle(self.cursor)

    def clicked(self, row: int, x: int) -> bool:
        """A click on a row that offers more shows it."""
        paged = self._paged
        offers = paged is not None and (
            (self._before and row == 0) or row - self._before >= len(paged.lines)
        )
        if offers:
            self.move_to(row)
            self.action_open()
        return bool(offers)

    @property
    def _text_width(self) -> int:
        # One cell is the cursor's; the scroll bar's is kept free whether it is there or not.
        return max(8, self.container_size.width - 2)

    @property
    def _before(self) -> int:
        return 1 if self._paged is not None and self._paged.origin > 0 else 0

    def _row_of_offset(self, offset: int) -> int:
        return self._before + self._paged.line_of(offset) if self._paged else 0

    def _layout(self, cursor: int, *, middle: bool = False) -> None:
        paged = self._paged
        if paged is None:
            return
        self._shown += 1
        after = 1 if paged.end < len(paged.text) else 0
        self.reset_rows(self._before + len(paged.lines) + after, cursor)
        self._middle = cursor if middle else None
        if middle:
            self._bring_to_middle(cursor)

    def _bring_to_middle(self, row: int) -> None:
        """Scroll a row to the middle, with the rest of a quote that begins there."""
        self.move_to(row)
        last = self._row_of_offset(self._quote[1] - 1) if self._quote else row
        rows = max(1, last - row + 1)
        height = max(1, self.scrollable_content_region.height)
        top = row - max(0, (height - rows + 1) // 2)
        self.scroll_to(y=max(0, top), animate=False, force=True)

    def _split(self, paged: PagedText, start: int, end: int) -> Cells:
        cells: Cells = []
        here = start
        for low, high, look in [*self._spans, (end, end, "plain")]:
            low, high = min(max(low, here), end), min(high, end)
            for first, last, drawn_as in ((here, low, "plain"), (low, high, look)):
                if first < last:
                    cells.append((drawn(paged.shown(first, last)), drawn_as))
            here = max(here, high)
        return cells
