"""The sessions with the most to ask, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from longjudge_tui.estimate.figures import brief_price
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.wording import fit, line, tokens

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from longjudge.forecast import LongSession
    from longjudge_tui.widgets.line_list import Cells

_HEAD = f"{'':1}{'to ask':>8}{'chunks':>8}{'tokens':>9}{'price':>15}  "


class LongestList(LineList):
    """Draws the rows that it was shown last."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._longest: Sequence[LongSession] = ()

    def show(self, longest: Sequence[LongSession]) -> None:
        """Show other sessions."""
        if longest != self._longest:
            self._longest = longest
            self.reset_rows(len(longest), self.cursor)

    def row_facts(self, row: int) -> Hashable:
        """The session."""
        return self._longest[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """What it needs, and the end of its path."""
        each = self._longest[row]
        room = max(0, width - cell_len(_HEAD) + 1)
        return [
            (f"{each.to_ask:>8,}", "plain"),
            (f"{each.chunks:>8,}", "dim"),
            (f"{'~' + tokens(each.tokens):>9}", "dim"),
            (f"{brief_price(each.cost_usd):>15}  ", "plain"),
            (_end_of(line(each.path, 1_000), room), "plain"),
        ]


def longest_head(*, sampled: bool, so_far: bool) -> tuple[str, ...]:
    """What stands over the list."""
    which = " of those drawn" if sampled else " so far" if so_far else ""
    return f"{_HEAD}the longest{which}", f"{_HEAD}session"


def _end_of(path: str, room: int) -> str:
    """A path that ends with its name, its beginning cut where there is no room."""
    if cell_len(path) <= room:
        return path
    while path and cell_len(path) >= room:
        path = path[max(1, (cell_len(path) - room) // 2) :]
    return fit(f"…{path}", room)
