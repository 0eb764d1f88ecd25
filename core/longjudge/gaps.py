"""Ends chunks without a verdict, and decides what becomes of those equal to them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.states import GapReason
from longjudge.updates import Stopping

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.board import Board
    from longjudge.equals import Equals
    from longjudge.schedule import Schedule
    from longjudge.sharing import Sharing
    from longjudge.updates import Listener


class Gaps:
    """Gaps by position.

    `stopping` says whether a stop has begun. Positions in `cancelled` were cancelled by
    themselves; `budget_ended` is true once the budget kept a chunk from being asked.
    """

    def __init__(
        self,
        board: Board,
        schedule: Schedule,
        sharing: Sharing,
        equals: Equals,
        stopping: Callable[[], bool],
        listener: Listener,
    ) -> None:
        self.cancelled: set[int] = set()
        self.budget_ended = False
        self._board = board
        self._schedule = schedule
        self._sharing = sharing
        self._equals = equals
        self._stopping = stopping
        self._listener = listener
        self._reopened: Counter[int] = Counter()
        self._troubles: dict[int, tuple[GapReason, str]] = {}

    def trouble(self, position: int, reason: GapReason, problem: str) -> None:
        """What went wrong with a chunk that is to be asked again, should that never be."""
        self._troubles[position] = reason, problem

    def reopen(self, position: int) -> None:
        """A gap is asked again, and nothing of what ended it counts any more."""
        self._troubles.pop(position, None)
        self.cancelled.discard(position)
        self._reopened[position] += 1

    def given_up(self, position: int) -> Callable[[], bool]:
        """Whether a chunk that is open now has ended since, be it that it is open again."""
        before = self._reopened[position]
        return lambda: self._board.ended(position) or self._reopened[position] != before

    def end(self, position: int, reason: GapReason, problem: str = "") -> None:
        """End a chunk as a gap, and decide about those equal to it.

        A chunk cancelled by itself passes its place on; what went wrong with the question itself
        would go wrong for its equals; a stop leaves them to be skipped.
        """
        self._sharing.land(position, None)
        followers = self._equals.release(position)
        followers = [follower for follower in followers if not self._board.ended(follower)]
        if position in self.cancelled:
            for follower in followers:
                if self._equals.join(follower):
                    self._schedule.add(follower)
            followers = []
        self._board.gap(position, reason, problem)
        if self._stopping():
            return
        reply = self._board.chunks[position].raw_reply
        for follower in followers:
            if not self._board.ended(follower):
                self._board.gap(follower, reason, problem, reply)

    def stop_at_budget(self) -> None:
        """Start nothing new: whatever is in flight is awaited, everything else ends here."""
        if self.budget_ended:
            return
        self.budget_ended = True
        if not self._stopping():
            self._listener(Stopping("budget"))
        self._end_scheduled()

    def end_unasked(self, position: int) -> None:
        """End a chunk that the budget does not let be asked (again)."""
        self.stop_at_budget()
        if self._board.ended(position):
            return
        reason, problem = self._troubles.get(position, (GapReason.SKIPPED, ""))
        self._sharing.land(position, None)
        followers = self._equals.release(position)
        self._board.gap(position, reason, problem)
        for follower in followers:
            if not self._board.ended(follower):
                self._board.gap(follower, GapReason.SKIPPED)

    def _end_scheduled(self) -> None:
        """End what is not in flight, except where another judgment's verdict is there."""
        for position in self._schedule.drain():
            if self._sharing.has_borrowed(position):
                self._schedule.add(position)
            else:
                self.end_unasked(position)
