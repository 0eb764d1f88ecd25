"""Batches among the holds: one under the cursor is cancelled, what the dead left is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.store import batches as rows
from longjudge.store.batch_rows import CancelCause
from longjudge_tui.bench.batch_words import named, questions_words
from longjudge_tui.bench.sending import BatchOffer, Sending
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge.batches.sweeping import SweptBatches
    from longjudge.judges.base import Judge
    from longjudge.store.batch_rows import Batch
    from longjudge_tui.bench.holding import HoldRow


class HeldBatches(Sending):
    """The part of the bench that ends batches which no judgment in sight has to be waiting for."""

    @property
    def held_now(self) -> int:
        """How much the judgment in sight holds outside, and this app in batches."""
        leases = self.run.held - len(self.run.batches) if self.run is not None else 0
        return leases + self.batches_out

    def offer_cancel(self, row: HoldRow | None) -> BatchOffer | None:
        """What to agree to before a batch is cancelled; None, and said why, where it cannot be."""
        if row is None or row.gone is not None:
            self.notices.append("nothing that is held is under the cursor")
        elif (batch := row.batch) is None:
            self.notices.append("this is a lease: it is given back with its question")
        elif batch.cancel:
            self.notices.append(f"{named(batch)} is being cancelled already")
        elif row.hold.alive and not row.mine:
            who = line(row.hold.owner, 80)
            self.notices.append(f"{named(batch)} is followed by {who}: cancel it there")
        else:
            ends = "\nThe judgment ends with it, as cancelled." if self._ends_with(batch) else ""
            question = (
                f"{named(batch)}: {questions_words(batch)}\n"
                "The provider ends it. What it has answered by then is paid for and kept; the rest"
                f" is to be asked again.{ends}"
            )
            title = "Cancel this batch?"
            return BatchOffer(title, question, lambda: self._cancel_held(batch, mine=row.mine))
        return None

    def _ends_with(self, batch: Batch) -> bool:
        """Whether a batch is all that the judgment in flight waits for."""
        return self._judging and self.run is not None and self.run.ends_with(batch.id)

    def _cancel_held(self, batch: Batch, *, mine: bool) -> None:
        if self.run is not None and self._ends_with(batch):
            self.run.cancel()
            self.holding.read_soon()
        elif mine and self.queues.find(batch.id) is not None:
            self.queues.cancel([batch.id])
            self.holding.read_soon()
        else:
            self._chores.start(self._adopt_and_cancel(batch))

    async def _adopt_and_cancel(self, batch: Batch) -> None:
        """Cancel one that nobody follows: wanted is noted first, for whoever can do it later."""
        try:
            if await self._is_over(batch):
                return
            await rows.want_cancel(self.store, batch.id, CancelCause.CANCEL)
            self.holding.read_soon()
            judge, profile = self._judge_of(batch)
            if judge.endpoint != batch.endpoint:
                where = line(batch.endpoint, 100)
                self.notices.append(f"{named(batch)} is at {where}, which nothing here reaches")
                return
            if await self.queues.adopt(judge, [batch.id], profile):
                self.queues.cancel([batch.id])
            elif not await self._is_over(batch):
                self.notices.append(f"{named(batch)} is followed by another process by now")
        except LongjudgeError as error:
            said = line(str(error), 300)
            self.notices.append(
                f"{named(batch)} is not cancelled yet, a later start does it: {said}"
            )
        finally:
            self.holding.read_soon()

    async def _is_over(self, batch: Batch) -> bool:
        """Whether a batch is no hold any more, which is said then."""
        if await rows.live_batches(self.store, [batch.id]):
            return False
        self.notices.append(f"{named(batch)} has ended meanwhile: there is nothing to cancel")
        self._stock.look_soon(at_all=True)
        return True

    def _judge_of(self, batch: Batch) -> tuple[Judge, str]:
        """Whoever reaches a batch's endpoint; the name is that of a profile, or empty."""
        if self.judge.endpoint == batch.endpoint:
            return self.judge, self._profile
        profile = batch.profile if batch.profile in self.config.profiles else ""
        return self.tuning.judge_of(profile or batch.model), profile

    async def sweep_batches(self) -> SweptBatches:
        """Finish what dead processes have left at their providers.

        Raises:
            StoreError: the store cannot be read.
        """
        from longjudge.batches.sweeping import sweep_batches

        swept = await sweep_batches(self.store, self.config, gentle=False)
        if swept.released:
            # What this process wrote itself is no news to the look for what others wrote.
            self._stock.look_soon(at_all=True)
        return swept
