"""The workers of a judgment, and beside them its batches: chunks go either way while it runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.asking import Asking
from longjudge.batch_pace import DAY
from longjudge.batch_side import BatchSide
from longjudge.redaction import NO_REDACTOR, REDACTOR_VERSION
from longjudge.states import GapReason, StopCause

if TYPE_CHECKING:
    from longjudge.batches.queue import BatchQueue
    from longjudge.errors import LongjudgeError
    from longjudge.store import KeptVerdict, Store


class BatchAsking(Asking):
    """Without a `side` it asks live, and nothing else."""

    side: BatchSide | None = None
    everything = False
    """Whether all of it goes into batches from the beginning."""
    has_begun = False
    """Whether it is known what there is to ask, and asked."""
    _moved = _moved_before = _in_its_day = False

    def attach(
        self, queue: BatchQueue, store: Store, *, holder: str, time_limit: float, alone: bool
    ) -> None:
        """Have batches at hand, before it runs; `alone` they take everything from the beginning."""
        self.everything = alone
        self.side = BatchSide(
            self._board,
            self._keys,
            self,
            judgment=holder,
            rubric=self._rubric,
            judge=self._judge,
            store=store,
            queue=queue,
            listener=self._listener,
            redactor=REDACTOR_VERSION if self._redact else NO_REDACTOR,
            redact=self._redact,
            time_limit=time_limit,
            alone=alone,
        )

    def count_from(self, moment: float) -> None:
        """As `Asking.count_from`, for the batches too."""
        super().count_from(moment)
        if self.side is not None:
            self.side.since = moment

    @property
    def unasked(self) -> int:
        """How many chunks are in nobody's hands, and would be moved."""
        return sum(self._schedule.has(position) for position in range(len(self._keys)))

    def move_to_batch(self) -> int:
        """Have everything that is in nobody's hands sent as a batch; how many chunks these are.

        Before it has begun, all of it is sent once that is known: these are the open ones.
        """
        if self.side is None or self.stop_cause is not None or self._over.is_set():
            return 0
        if not self.has_begun:
            self._moved_before = True
            return sum(not each.state.ended for each in self._board.chunks)
        positions = self._schedule.take_all()
        borrowed = [each for each in positions if self._sharing.has_borrowed(each)]
        for position in borrowed:
            self._schedule.put_back(position)
        moved = [each for each in positions if each not in set(borrowed)]
        for position in moved:
            # Nobody in this process or another waits for what is no live question any more.
            self._sharing.land(position, None)
        self._moved = self._moved or bool(moved)
        self.side.move(moved)
        return len(moved)

    def move_to_live(self) -> bool:
        """Have its batches cancelled, and what they leave asked live; False without any."""
        if self.side is None or self.stop_cause is not None:
            return False
        if not self.has_begun:
            moved, self._moved_before = self._moved_before, False
            return moved
        return self.side.bring_back()

    def stop(self, cause: StopCause, *, keep: bool = False) -> None:
        """As `Asking.stop`; batches are cancelled unless they are to be kept.

        Once it is being stopped, another call ends the wait for batches.
        """
        if cause is StopCause.LIMIT and self._outlasts_limit:
            return
        again = self.stop_cause is not None
        super().stop(cause)
        if self.side is not None and self.stop_cause is not None:
            if again:
                self.side.skip()
            else:
                self.side.stop(cause, keep=keep)

    @property
    def _outlasts_limit(self) -> bool:
        """Whether the limit that stands is one of live questions, and it went into batches since.

        What is in a batch takes as long as the provider does, at most a day.
        """
        return self._moved and not (self.everything or self._in_its_day)

    def cancel(self, position: int) -> bool:
        """As `Asking.cancel`, of a chunk in a batch too."""
        known = self._is_known(position) and not self._board.ended(position)
        if known and self.side is not None and position in self.side.positions:
            return self.side.forget(position)
        return super().cancel(position)

    async def settle(self, position: int, kept: KeptVerdict) -> None:
        """A batch has brought a verdict, which is in the store."""
        await self._settling.show(position, kept)
        self._schedule.finish()

    def give_up(self, position: int, reason: GapReason, problem: str, reply: str) -> None:
        """A batch has brought no verdict."""
        if not self._board.ended(position):
            self._board.chunks[position].raw_reply = reply
            self._gaps.end(position, reason, problem)
        self._schedule.finish()

    def take_back(self, position: int) -> None:
        """A chunk is asked live after all."""
        if self._board.ended(position):
            self._schedule.finish()
        else:
            self._schedule.put_back(position)

    def fail(self, error: LongjudgeError) -> None:
        """The session has changed."""
        self.failure = self.failure or error
        self.stop(StopCause.FATAL)

    def refuse(self, message: str) -> None:
        """Nothing can be sent."""
        self.fatal_error = self.fatal_error or message
        self.stop(StopCause.FATAL)

    async def _let_work(self, time_limit: float, leaders: int) -> None:
        if self.side is None:
            await super()._let_work(time_limit, leaders)
            return
        async with asyncio.TaskGroup() as clerks:
            sender = clerks.create_task(self.side.work())
            try:
                await super()._let_work(time_limit, leaders)
            finally:
                sender.cancel()

    async def _watch(self, time_limit: float) -> None:
        self.has_begun = True
        if self.everything or self._moved_before:
            self.move_to_batch()
        await super()._watch(time_limit)
        if self._outlasts_limit and self.stop_cause is None and not self._over.is_set():
            self._in_its_day = True
            await super()._watch(DAY)
        if self.side is not None and self.side.ids:
            await self.side.wind_up(stopped=self.stop_cause is not None)
