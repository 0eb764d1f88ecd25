"""Which chunks have no verdict, in order, kept up with a judgment as it goes on."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from longjudge_tui.bench.records import Records

ONE_BY_ONE = 500
"""Of more changes at once all gaps are listed again, which then takes less time."""


class GapRows:
    """The positions of the gaps. `changes` counts how often they became others."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.changes = 0
        self._records: Records | None = None

    def follow(self, records: Records | None, changed: Collection[int]) -> None:
        """Take in what has changed, or what others know."""
        if records is None:
            self._replace(None, [])
        elif records is not self._records or len(changed) > ONE_BY_ONE:
            self._replace(records, records.gap_positions())
        else:
            for position in changed:
                self._take(position, records.is_gap(position))

    def row_of(self, position: int) -> int:
        """The row of a gap, or of the next one below where it is none any more."""
        return bisect_left(self.positions, position)

    def _replace(self, records: Records | None, positions: list[int]) -> None:
        self._records = records
        if positions != self.positions:
            self.positions = positions
            self.changes += 1

    def _take(self, position: int, is_gap: bool) -> None:
        row = self.row_of(position)
        listed = row < len(self.positions) and self.positions[row] == position
        if is_gap and not listed:
            self.positions.insert(row, position)
        elif listed and not is_gap:
            del self.positions[row]
        else:
            return
        self.changes += 1
