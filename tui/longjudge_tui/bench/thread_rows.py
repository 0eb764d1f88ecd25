"""Which row of a list a chunk stands in, where each thread has a row of its own and may be folded.

Rows and positions are worked out from where the threads begin, never kept one by one: a session
may have thousands of threads and a hundred thousand chunks.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class ThreadRows:
    """Rows of `chunks` chunks in groups that begin at the positions `starts`, from 0 on.

    A group's first row is its header, which is all there is of a folded one. One group alone has
    no header, and is never folded: then rows are positions.
    """

    __slots__ = ("_ends", "_heads", "chunks", "folded", "starts")

    def __init__(self, chunks: int, starts: Sequence[int], folded: Collection[int] = ()) -> None:
        self.chunks = chunks
        several = len(starts) > 1
        self.starts = list(starts) if several else []
        self._ends = [*self.starts[1:], chunks] if several else []
        self.folded = frozenset(folded) if several else frozenset[int]()
        sizes = (
            1 if group in self.folded else 1 + end - start
            for group, (start, end) in enumerate(zip(self.starts, self._ends, strict=True))
        )
        self._heads = list(accumulate(sizes, initial=0))

    def __len__(self) -> int:
        """How many rows there are."""
        return self._heads[-1] if self.starts else self.chunks

    @property
    def groups(self) -> int:
        """How many groups have a header."""
        return len(self.starts)

    def header_at(self, row: int) -> int | None:
        """The group whose header a row is; None where it is a chunk's."""
        group = bisect_right(self._heads, row) - 1
        is_header = 0 <= group < len(self.starts) and self._heads[group] == row
        return group if is_header else None

    def position_at(self, row: int) -> int:
        """The chunk of a row; a header stands for the first of its group."""
        if not self.starts:
            return max(0, min(row, self.chunks - 1))
        group = max(0, min(bisect_right(self._heads, row), len(self.starts)) - 1)
        return self.starts[group] + max(0, row - self._heads[group] - 1)

    def row_of(self, position: int) -> int:
        """The row of a chunk; of one that is folded away, its group's header."""
        if not self.starts:
            return position
        group = self.group_of(position)
        if group in self.folded:
            return self._heads[group]
        return self._heads[group] + 1 + position - self.starts[group]

    def group_of(self, position: int) -> int:
        """The group that holds a chunk; 0 where there is one alone."""
        return max(0, bisect_right(self.starts, position) - 1)

    def head_of(self, group: int) -> int:
        """The row of a group's header."""
        return self._heads[group]

    def span(self, group: int) -> tuple[int, int]:
        """The positions of a group, the second one exclusive."""
        return self.starts[group], self._ends[group]

    def shown(self, first: int, last: int) -> tuple[int, int]:
        """The chunks between two rows, both of them included."""
        return self.position_at(first), max(self.position_at(first), self._last_at(last))

    def _last_at(self, row: int) -> int:
        group = self.header_at(row)
        if group is not None and group in self.folded:
            return self._ends[group] - 1
        return self.position_at(row)

    def folding(self, group: int, *, fold: bool) -> ThreadRows:
        """The same with one group folded, or not."""
        folded = self.folded | {group} if fold else self.folded - {group}
        return ThreadRows(self.chunks, self.starts, folded)

    def folding_all(self, *, fold: bool) -> ThreadRows:
        """The same with every group folded, or none."""
        return ThreadRows(self.chunks, self.starts, range(self.groups) if fold else ())
