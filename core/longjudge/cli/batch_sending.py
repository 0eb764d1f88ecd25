"""Sends what a batch run has packed, and knows who waits for it and what it may still cost."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING, Final

from longjudge import retries
from longjudge.cli.batch_work import Packer, Waiting
from longjudge.errors import StoreError
from longjudge.judges.batch_api import BATCH_SHARE
from longjudge.keys import key_parts
from longjudge.report.words import plural
from longjudge.retries import (
    MAX_TOKENS,
    MORE_TOKENS,
    SOON_ATTEMPTS,
    TOLD_ATTEMPTS,
    TOLD_MAX_WAIT,
)
from longjudge.rubric_toml import rubric_toml
from longjudge.states import GapReason
from longjudge.store import batches as rows
from longjudge.store import leases, note_rubric
from longjudge.store.batch_rows import Batch, ItemOutcome
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from longjudge.batches.batching import Batching
    from longjudge.batches.following import BatchNews
    from longjudge.batches.sending import Sent
    from longjudge.budget import Reservation
    from longjudge.cli.batch_work import Packed, Work
    from longjudge.cli.judge_run import Run
    from longjudge.judges.batch_api import BatchError
    from longjudge.result import Result

MOST_PUT_OFF: Final = 3
"""With more full pages in memory no further file is read: each may be as large as a batch."""

_ENDED_EARLY: Final = (GapReason.TIMED_OUT, GapReason.CANCELLED)
"""What says nothing about the question itself: whoever has time left may ask it."""


class BatchSending:
    """`freed` is given the files that wait for nothing more; `profile` is the judge's, if any."""

    def __init__(
        self,
        run: Run,
        batching: Batching,
        profile: str,
        freed: Callable[[Sequence[Work]], None],
    ) -> None:
        self.waiting = Waiting()
        self.max_tokens = MAX_TOKENS if run.budget.max_cost is not None else MORE_TOKENS
        self._run = run
        self._batching = batching
        self._profile = profile
        self._freed = freed
        self._packer = Packer(batching.pace)
        self._reserved: dict[str, Reservation] = {}
        self._stopped = asyncio.Event()
        self._began = time.time()
        self._rubric_noted = False
        self._gaps: dict[str, ItemOutcome] = {}
        self._answered: set[str] = set()
        self._refusals, self._due = 0, 0.0

    @property
    def packed(self) -> bool:
        """Whether questions wait to be sent."""
        return len(self._packer) > 0

    @property
    def has_room(self) -> bool:
        """Whether more may be on its way than is."""
        on_the_way = sum(batch.count for batch in self._batching.live)
        return on_the_way + len(self._packer) < self._batching.pace.queued

    @property
    def is_due(self) -> bool:
        """Whether as much is packed as a batch may have, and may be sent now."""
        return self._packer.full_pages > 0 and not self.due_in

    @property
    def may_pack(self) -> bool:
        """Whether memory has room for more that waits to be sent."""
        return self._packer.full_pages <= MOST_PUT_OFF

    @property
    def due_in(self) -> float:
        """Seconds until something may be sent, after what the provider has put off."""
        return max(0.0, self._due - time.monotonic())

    @property
    def budget_ended(self) -> bool:
        """Whether the budget lets nothing more be asked."""
        return self._run.budget.ended is not None

    @property
    def where_the_budget_ended(self) -> str | None:
        """What kept the budget from having room for everything, None where it has."""
        if any(work.hungry for work in self.waiting.works):
            return "what is on its way may cost the rest of the budget"
        return self._run.budget.ended

    async def known_of(self, keys: Collection[str]) -> dict[str, ItemOutcome]:
        """What questions came to that other sessions asked in this run: those are not asked again.

        Raises:
            StoreError: the store cannot be read.
        """
        known = {key: gap for key in keys if (gap := self._gaps.get(key)) is not None}
        if self._run.fresh:
            # Verdicts of before count for nothing; those that came meanwhile do.
            left = [key for key in keys if key not in known]
            answered = await leases.answered(self._run.store, left, self._began)
            answered |= self._answered.intersection(left)
            known |= {key: ItemOutcome(key) for key in answered}
        return known

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._stopped.set()

    async def any_left(self) -> bool:
        """Whether the store knows of a batch at this endpoint that may have to be taken over."""
        endpoint = self._batching.api.endpoint
        live = await rows.live_batches(self._run.store)
        return any(batch.endpoint == endpoint for batch in live)

    def has(self, key: str) -> bool:
        """Whether a question waits to be sent."""
        return self._packer.has(key)

    def reserve(self, upper_price: float | None) -> Reservation | None:
        """Take a question out of the budget; None where there is no room for it now, or ever."""
        upper = None if upper_price is None else upper_price * BATCH_SHARE
        return self._run.budget.reserve(upper, lambda: None)

    async def add(self, packed: Packed) -> None:
        """Pack a question, and send what is full, unless the provider has put that off."""
        self._packer.add(packed)
        self._reserved[packed.ready.item.key] = packed.reservation
        self.waiting.for_packed(packed.work, packed.ready.item.key)
        while self.is_due and not self._is_over:
            await self.flush()

    async def flush(self) -> None:
        """Send the oldest page of what is packed; one that the provider puts off waits for that."""
        packed, refusals = self._packer.take(), self._refusals
        self._refusals = 0
        self._drop_late(packed)
        while packed and not self._is_over:
            try:
                sent = await self._send(packed)
            except StoreError as error:
                # What is not noted is not sent, and nothing else could be noted either.
                self._run.blocked = str(error)
                break
            if sent is None:
                # Whether it was accepted is not known yet; the batch is looked after elsewhere.
                for each in packed.values():
                    each.pending.sent = True
                return
            self._distribute(packed, sent)
            if packed and sent.later is not None:
                refusals += 1
                if (wait := self._wait_after(sent.later, refusals)) is None:
                    self._refuse(packed, sent.later)
                else:
                    self._packer.put_back(packed)
                    self._due, self._refusals = time.monotonic() + wait, refusals
                return
        self._drop(packed)

    @property
    def _is_over(self) -> bool:
        return self._run.blocked is not None or self._stopped.is_set()

    def _drop_late(self, packed: dict[str, Packed]) -> None:
        """Send nothing for sessions that have had their time meanwhile."""
        now, limit = time.monotonic(), self._run.settings.time_limit
        late = {key: each for key, each in packed.items() if each.pending.late(limit, now)}
        for key in late:
            del packed[key]
        self._drop(late)

    def _wait_after(self, error: BatchError, refusals: int) -> float | None:
        """Seconds until a batch that was not accepted is sent again; None where it is not."""
        if error.reason is GapReason.RATE_LIMITED:
            usual, most = min(2.0 ** (refusals - 1), TOLD_MAX_WAIT), TOLD_ATTEMPTS
        else:
            usual, most = retries.FIRST_WAIT * 2.0 ** (refusals - 1), SOON_ATTEMPTS
        return None if refusals >= most else error.wait or usual

    async def _send(self, packed: Mapping[str, Packed]) -> Sent | None:
        """Send what is packed; None where a stop came before the answer."""
        run = self._run
        if not self._rubric_noted:
            await note_rubric(run.store, run.rubric)
            self._rubric_noted = True
        begun = min(each.pending.begun or math.inf for each in packed.values())
        age = max(0.0, time.monotonic() - begun)
        plain = Batch(
            id="",
            endpoint=run.judge.endpoint,
            model=run.judge.model,
            rubric=run.rubric.name,
            rubric_version=run.rubric.version,
            rubric_toml=rubric_toml(run.rubric),
            parts=key_parts(run.judge, b"", redactor=run.settings.redactor),
            count=0,
            created=0.0,
            owner=self._batching.holder,
            profile=self._profile,
            deadline=time.time() - age + run.settings.time_limit,
            price=run.judge.price,
        )
        since = self._began if run.fresh else -math.inf
        ready = [each.ready for each in packed.values()]
        sent = asyncio.ensure_future(self._batching.send(plain, ready, since=since))
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((sent, stopped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not sent.done():
                sent.cancel()
            await asyncio.gather(sent, stopped, return_exceptions=True)
        return None if sent.cancelled() else sent.result()

    def _distribute(self, packed: dict[str, Packed], sent: Sent) -> None:
        """Take what came of sending out of what is packed."""
        free: list[Work] = []
        for batch in sent.batches:
            keys = sent.keys[batch.id]
            self.waiting.sent(keys, batch.id)
            for key in keys:
                packed.pop(key).pending.sent = True
        live = {batch.id for batch in self._batching.live}
        for batch in sent.batches:
            if batch.id not in live:
                free += self.waiting.over(batch.id)
        for key in sent.elsewhere:
            self._settle(key, 0.0)
            del packed[key]
        self.waiting.elsewhere(sent.elsewhere)
        for outcome in sent.outcomes:
            self._settle(outcome.key, 0.0)
            self._gaps[outcome.key] = outcome
            packed.pop(outcome.key).pending.sent = True
        free += self.waiting.not_sent([outcome.key for outcome in sent.outcomes])
        self._run.blocked = self._run.blocked or sent.fatal
        self._free(free)

    def _refuse(self, packed: Mapping[str, Packed], error: BatchError) -> None:
        """The provider has put some questions off too often."""
        for key, each in packed.items():
            outcome = ItemOutcome(key, error.reason, error.message)
            each.pending.refused[key] = self._gaps[key] = outcome
            self._settle(key, 0.0)
        self._free(self.waiting.not_sent(packed))

    def _drop(self, packed: Mapping[str, Packed]) -> None:
        """Some questions are not going to be sent by this run."""
        for key in packed:
            self._settle(key, 0.0)
        self._free(self.waiting.not_sent(packed))

    def _free(self, works: Sequence[Work]) -> None:
        """Files wait for nothing any more; there may be room in the budget for others, too."""
        self._freed([*works, *self.waiting.fed()])

    def hear(self, news: BatchNews) -> None:
        """Take in what became known of a batch."""
        for outcome in news.outcomes:
            self._settle(outcome.key, outcome.cost_usd)
        if news.batch.created >= self._began:
            self._remember(news.outcomes)
        if not news.batch.state.live:
            self._free(self.waiting.over(news.batch.id))

    def _remember(self, outcomes: Sequence[ItemOutcome]) -> None:
        """Note what other sessions of the run need not ask again."""
        for outcome in outcomes:
            if not outcome.reason and self._run.fresh:
                self._answered.add(outcome.key)
            elif outcome.reason and outcome.reason not in _ENDED_EARLY:
                self._gaps[outcome.key] = outcome

    def drop_what_is_over(self) -> None:
        """Wait for no batch that has come to its end before anybody waited for it."""
        live = {batch.id for batch in self._batching.live}
        for id in self.waiting.batches - live:
            self._freed(self.waiting.over(id))

    def _settle(self, key: str, paid: float | None) -> None:
        reservation = self._reserved.pop(key, None)
        if reservation is not None:
            self._run.budget.settle(reservation, paid)

    def say_where_the_budget_ended(self, name: str, result: Result) -> None:
        """Say once that the budget kept something from being asked."""
        run = self._run
        if not self.budget_ended or run.budget_told or not result.unjudged_chunks:
            return
        run.budget_told = True
        tell(
            f"longjudge: {name}: the budget ended it with {result.judged_chunks} of"
            f" {plural(result.chunks, 'part')} judged: {run.budget.ended}; give more, or run again"
        )
