"""What is known about the chunks of a plan, as the screen reads it: states, findings, changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.board import make_result
from longjudge.disputes import rules_say
from longjudge.result import count_verified
from longjudge.states import ChunkState

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.board import Board, ChunkRecord, Ending
    from longjudge.chunks import Piece
    from longjudge.disputes import RuleFinding
    from longjudge.result import Result, ResultFinding
    from longjudge.store import GapReply


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a finding leads: the chunk's position, an event, and the piece of it that was read."""

    position: int
    event: int
    piece: Piece | None


class Records:
    """A board with what changed on it. `take_dirty` hands the changed rows out once.

    `changes` counts how often the findings became others, so that a screen knows when to list them.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._dirty: set[int] = set()
        self._findings: dict[int, tuple[ResultFinding, ...]] = {}
        self._disputes: dict[int, tuple[RuleFinding, ...]] = {}
        self._unread: dict[int, None] = {}
        self._gaps: set[int] = set()
        self._counted = 0, (0, 0)
        self.changes = 0

    def record(self, position: int) -> ChunkRecord:
        """What is known about one chunk."""
        return self._board.chunks[position]

    def is_gap(self, position: int) -> bool:
        """Whether a chunk has ended without a verdict."""
        return self.record(position).state is ChunkState.GAP

    def gap_positions(self) -> list[int]:
        """Every such chunk, in order."""
        return sorted(self._gaps)

    def earlier(self) -> dict[int, ChunkRecord]:
        """What is known about the chunks that have ended."""
        return {
            position: record
            for position, record in enumerate(self._board.chunks)
            if record.state.ended
        }

    def take_dirty(self) -> set[int]:
        """Positions that changed since the last call."""
        dirty, self._dirty = self._dirty, set()
        return dirty

    def findings(self) -> list[ResultFinding]:
        """Everything found so far, by part."""
        return [found for position in sorted(self._findings) for found in self._findings[position]]

    def disputes(self) -> list[RuleFinding]:
        """What the offline rules find in chunks that the model called clean, by part."""
        return [found for position in sorted(self._disputes) for found in self._disputes[position]]

    def dispute(self, position: int) -> tuple[RuleFinding, ...]:
        """The same of one chunk."""
        return self._disputes.get(position, ())

    @property
    def disagreements(self) -> int:
        """How many such chunks there are."""
        return len(self._disputes)

    def counts(self) -> tuple[int, int]:
        """How many findings there are, and the quotes of how many were found.

        Counted when they have become others, and not on every frame.
        """
        if self._counted[0] != self.changes:
            found = self._findings.values()
            counts = sum(map(len, found)), sum(map(count_verified, found))
            self._counted = self.changes, counts
        return self._counted[1]

    def flagged_events(self) -> set[int]:
        """Events that a finding names."""
        return {
            found.event
            for found_here in self._findings.values()
            for found in found_here
            if found.event is not None
        }

    def locate(self, finding: ResultFinding) -> Spot:
        """Where a finding leads; without an event, to the start of its chunk."""
        chunk = self._board.plan[finding.part - 1]
        event = chunk.first if finding.event is None else finding.event
        return Spot(finding.part - 1, event, chunk.piece)

    def mark_key(self, finding: ResultFinding) -> tuple[bytes, str]:
        """What a mark on a finding belongs to: the event's text, without one the chunk's."""
        index = self._board.session.index
        if finding.event is not None:
            return index.digest(finding.event), finding.criterion
        return self._board.plan.digest(finding.part - 1), finding.criterion

    def gap_replies(self) -> tuple[GapReply, ...]:
        """What is known about every gap beyond its reason."""
        return self._board.gap_replies()

    def result_so_far(self, ending: Ending) -> Result:
        """What is known by now, in the shape of a result."""
        return make_result(self._board, [0] * len(self._board.plan), ending)

    def take_over(self, earlier: Records, stays: Callable[[int], bool]) -> None:
        """Show what was found before, where its verdict stays, until the chunk is judged here."""
        for position in earlier._findings.keys() | earlier._disputes.keys():
            same = position < len(self._board.plan) and (
                self._board.plan[position] == earlier._board.plan[position]
            )
            if not same or not stays(position):
                continue
            if found := earlier._findings.get(position):
                self._findings[position] = found
            if position in earlier._disputes and position not in earlier._unread:
                self._disputes[position] = earlier._disputes[position]
            self.changes += 1

    @property
    def unread(self) -> bool:
        """Whether chunks have turned out to disagree of which no one has read yet why."""
        return bool(self._unread)

    async def read_dispute(self) -> None:
        """Find out what the rules say of the first of them, in a thread.

        They look at a chunk several times over, which no frame can wait for.
        """
        board, position = self._board, next(iter(self._unread))
        kept = board.chunks[position].kept
        found: tuple[RuleFinding, ...] = ()
        if kept is not None:
            chunk, criteria = board.plan[position], kept.verdict.criteria
            found = await asyncio.to_thread(
                rules_say, board.session, chunk, criteria, redacted=board.redacted
            )
        if position in self._unread:
            del self._unread[position]
            self._disputes[position] = found
            self._dirty.add(position)
            self.changes += 1

    def _changed(self, position: int) -> None:
        """A chunk's record is another one."""
        self._dirty.add(position)
        record = self._board.chunks[position]
        if record.state is ChunkState.GAP:
            self._gaps.add(position)
        else:
            self._gaps.discard(position)
        before = self._findings.get(position), self._disputes.get(position)
        if record.findings:
            self._findings[position] = record.findings
        elif record.state.ended:
            self._findings.pop(position, None)
        if record.kept is None or not record.disagrees:
            if record.state.ended:
                self._disputes.pop(position, None)
                self._unread.pop(position, None)
        elif position not in self._disputes:
            # That there is one is known; what it is takes reading the chunk.
            self._disputes[position] = ()
            self._unread[position] = None
        if (self._findings.get(position), self._disputes.get(position)) != before:
            self.changes += 1
