"""What is known about the chunks of a plan, as the screen reads it: states, findings, changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.board import Board, ChunkRecord
    from longjudge.chunks import Piece
    from longjudge.result import ResultFinding


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
        self.changes = 0

    def record(self, position: int) -> ChunkRecord:
        """What is known about one chunk."""
        return self._board.chunks[position]

    def take_dirty(self) -> set[int]:
        """Positions that changed since the last call."""
        dirty, self._dirty = self._dirty, set()
        return dirty

    def findings(self) -> list[ResultFinding]:
        """Everything found so far, by part."""
        return [found for position in sorted(self._findings) for found in self._findings[position]]

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

    def take_over(self, earlier: Records, stays: Callable[[int], bool]) -> None:
        """Show what was found before, where its verdict stays, until the chunk is judged here."""
        for position, found in earlier._findings.items():
            same = position < len(self._board.plan) and (
                self._board.plan[position] == earlier._board.plan[position]
            )
            if same and stays(position):
                self._findings[position] = found
                self.changes += 1

    def _changed(self, position: int) -> None:
        """A chunk's record is another one."""
        self._dirty.add(position)
        record = self._board.chunks[position]
        before = self._findings.get(position)
        if record.findings:
            self._findings[position] = record.findings
        elif record.state.ended:
            self._findings.pop(position, None)
        if self._findings.get(position) != before:
            self.changes += 1
