"""Which cells of a line stand for which chunks, where all chunks of a plan have to fit into it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDEST = 4
"""So many cells has one chunk at most, the last of them empty."""

_SEPARATORS_PER_CELL = 1 / 6
"""Up to so many separators between threads a line has room for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell `at` a column: chunks `low` to `high` (exclusive)."""

    at: int
    low: int
    high: int


class StripLayout:
    """Cells in the order of the plan; `separators` are the columns between two threads.

    With more chunks than cells a cell stands for several; with few, a chunk has several cells and
    a gap behind it.
    """

    def __init__(self, chunks: int, starts: Sequence[int], width: int) -> None:
        self.cells: list[Cell] = []
        self.separators: list[int] = []
        if chunks and width > 0:
            spans = self._spans(chunks, starts, width)
            separators = len(spans) - 1
            scale = min(WIDEST, (width - separators) // chunks)
            if scale >= 1:
                self._spread(spans, scale)
            else:
                self._gather(spans, width - separators)
        self._lows = [cell.low for cell in self.cells]
        self._ats = [cell.at for cell in self.cells]

    @property
    def used(self) -> int:
        """How many columns are drawn in."""
        return self._ats[-1] + 1 if self._ats else 0

    def cells_of(self, position: int) -> range:
        """The numbers of the cells that stand for a chunk."""
        end = bisect_right(self._lows, position)
        low = self._lows[end - 1] if end else 0
        return range(bisect_left(self._lows, low), end)

    def position_at(self, column: int) -> int | None:
        """The chunk at a column, or left of it; None where there is none at all."""
        if not self.cells:
            return None
        return self.cells[max(0, bisect_right(self._ats, column) - 1)].low

    @staticmethod
    def _spans(chunks: int, starts: Sequence[int], width: int) -> list[tuple[int, int]]:
        """The stretches that are drawn apart: the threads, where there is room between them."""
        if len(starts) < 2 or len(starts) - 1 > width * _SEPARATORS_PER_CELL:
            return [(0, chunks)]
        return list(zip(starts, [*starts[1:], chunks], strict=True))

    def _spread(self, spans: list[tuple[int, int]], scale: int) -> None:
        at = 0
        for number, (start, end) in enumerate(spans):
            if number:
                self.separators.append(at)
                at += 1
            for position in range(start, end):
                drawn = max(1, scale - 1)
                self.cells += [Cell(at + k, position, position + 1) for k in range(drawn)]
                at += scale

    def _gather(self, spans: list[tuple[int, int]], width: int) -> None:
        """One cell for every thread at least, and the others by how many chunks they have."""
        chunks, spare = spans[-1][1], width - len(spans)
        at = 0
        for number, (start, end) in enumerate(spans):
            if number:
                self.separators.append(at)
                at += 1
            cells = 1 + end * spare // chunks - start * spare // chunks
            many = end - start
            cells_here = min(cells, many)
            for k in range(cells_here):
                low = start + k * many // cells_here
                self.cells.append(Cell(at + k, low, start + (k + 1) * many // cells_here))
            at += cells_here
