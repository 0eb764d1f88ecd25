"""The chunks without a verdict: why, how often they were asked, and what was wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.states import GapReason
from longjudge_tui.bench.gap_rows import GapRows
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import STATE_GLYPHS, fit, line, plural
from longjudge_tui.workbench.detail_words import GAP_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from longjudge.board import ChunkRecord
    from longjudge_tui.bench.records import Records

WIDE = 75
REASON_CELLS = max(len(each.value) for each in GapReason) + 2
ASKED_CELLS = 23
MOST_TOLD_APART = 5_000
"""Of more gaps it is not counted how many have which reason, since that takes longer each time."""


class GapsList(LineList):
    """One row per gap, by part; `follow` takes in what has become of them."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.gaps = GapRows()
        self._records: Records | None = None
        self._seen = -1
        self._here: int | None = None
        self._reasons: list[tuple[GapReason, int]] = []
        self._reasons_seen = -1

    @property
    def here(self) -> int | None:
        """The position of the chunk under the cursor; None where there is no gap."""
        positions = self.gaps.positions
        return positions[self.cursor] if self.cursor < len(positions) else None

    def follow(self, records: Records | None, changed: Collection[int]) -> bool:
        """Show what has changed; whether the cursor is on another chunk since."""
        self._records = records
        self.gaps.follow(records, changed)
        if self._seen == self.gaps.changes:
            if changed:
                self._refresh_changed()
            return False
        self._seen = self.gaps.changes
        before = self._here
        row = 0 if before is None else self.gaps.row_of(before)
        self.reset_rows(max(1, len(self.gaps.positions)), row, follow=self.cursor_in_sight)
        self._here = self.here
        return self._here != before

    def on_mount(self) -> None:
        """Say at once that there is none."""
        self.reset_rows(1)

    def watch_cursor(self, before: int, after: int) -> None:
        """Remember the chunk, whose row may be another one soon."""
        super().watch_cursor(before, after)
        self._here = self.here

    def choices(self) -> list[Choice]:
        """The title: how many, why, and what can be done about them."""
        count = len(self.gaps.positions)
        if not count:
            return [Choice("GAPS none")]
        name = f"GAPS {count:,}"
        this, every = (
            Word("ask_again", f"ask again {command('ask_again').shown}"),
            Word("run", f"ask all {command('run').shown}"),
        )
        told = [f"{number:,} {reason_words(reason)}" for reason, number in self._told_apart()]
        some = [*told[:2], "…"] if len(told) > 2 else told
        return [
            Choice(" · ".join([name, *told]), (this, every)),
            Choice(" · ".join([name, *some]), (this, every)),
            Choice(" · ".join([name, *told[:1]]), (this, every)),
            Choice(name, (this, every)),
            Choice(name, (this,)),
            Choice(name),
        ]

    def row_facts(self, row: int) -> Hashable:
        """The chunk, and what is known about it."""
        position = self._position_at(row)
        if position is None or self._records is None:
            return None
        record = self._records.record(position)
        return position, record.reason, record.attempts, record.seconds, record.problem

    def row_cells(self, row: int, width: int) -> Cells:
        """Part, reason, attempts, seconds, and what was wrong."""
        position = self._position_at(row)
        if position is None or self._records is None:
            return [("no gap: no chunk has ended without a verdict", "dim")]
        record = self._records.record(position)
        reason = record.reason or GapReason.SKIPPED
        wide = width >= WIDE
        part = f"{position + 1:<{len(str(self.gaps.positions[-1] + 1))}}"
        words = reason_words(reason)
        wrong = line(record.problem.strip().partition("\n")[0]) or GAP_WORDS[reason]
        return [
            (f"{STATE_GLYPHS[record.state]} {'part ' if wide else ''}{part}  ", "gap"),
            (fit(words, REASON_CELLS) if wide else f"{words}  ", "strong"),
            (fit(_asked(record), ASKED_CELLS) if wide else f"{_asked_briefly(record)}  ", "dim"),
            (wrong, "plain"),
        ]

    def clicked(self, row: int, x: int) -> bool:
        """A click on the row under the cursor leads to its chunk as well."""
        if row == self.cursor:
            self.post_message(self.Moved(self, row))
        return False

    def _position_at(self, row: int) -> int | None:
        positions = self.gaps.positions
        return positions[row] if row < len(positions) else None

    def _told_apart(self) -> list[tuple[GapReason, int]]:
        """How many gaps have which reason, the most frequent first."""
        if self._reasons_seen != self.gaps.changes and self._records is not None:
            self._reasons_seen = self.gaps.changes
            positions = self.gaps.positions
            record = self._records.record
            reasons = (record(each).reason or GapReason.SKIPPED for each in positions)
            few = len(positions) <= MOST_TOLD_APART
            self._reasons = Counter(reasons).most_common() if few else []
        return self._reasons


def reason_words(reason: GapReason) -> str:
    """A reason as people read it."""
    return reason.value.replace("_", " ")


def _asked(record: ChunkRecord) -> str:
    """How often it was asked about, and how long that took."""
    if not record.attempts:
        return "not asked"
    return f"asked {plural(record.attempts, 'time')}, {record.seconds:.1f} s"


def _asked_briefly(record: ChunkRecord) -> str:
    return f"{record.attempts}× {record.seconds:.1f} s" if record.attempts else "not asked"
