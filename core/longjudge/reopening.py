"""Opens gaps again while their judgment runs, each with the gaps about the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.states import ChunkState

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.board import Board
    from longjudge.crew import Crew
    from longjudge.equals import Equals
    from longjudge.gaps import Gaps
    from longjudge.schedule import Schedule


class Reopening:
    """Reopens by position. `forget` drops what was counted about a chunk's earlier questions."""

    def __init__(
        self,
        board: Board,
        schedule: Schedule,
        equals: Equals,
        gaps: Gaps,
        crew: Crew,
        forget: Callable[[int], object],
    ) -> None:
        self._board = board
        self._schedule = schedule
        self._equals = equals
        self._gaps = gaps
        self._crew = crew
        self._forget = forget

    def ask_again(self, position: int) -> list[int]:
        """Ask about a gap once more, and about the gaps equal to it; those that open again.

        None of them where the chunk is no gap. One whose equal has a verdict takes that.
        """
        board = self._board
        if board.chunks[position].state is not ChunkState.GAP:
            return []
        equal = self._equals.equal_to(position)
        judged = next((record for each in equal if (record := board.chunks[each]).kept), None)
        opened: list[int] = []
        for gap in equal:
            # A listener that acts on one of these may have ended or opened another meanwhile.
            if board.chunks[gap].state is not ChunkState.GAP:
                continue
            self._forget(gap)
            self._gaps.reopen(gap)
            opened.append(gap)
            if judged is None and self._crew.at_work and self._equals.join(gap):
                self._schedule.add(gap)
            board.reopened(gap)
            if judged is not None and judged.kept is not None and not board.ended(gap):
                board.judged(gap, judged.kept, from_cache=True, stored=judged.stored)
        self._crew.fill_up(len(self._schedule))
        return opened
