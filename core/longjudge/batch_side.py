"""The part of a judgment that is in a provider's queue instead of being asked live.

Chunks come from the schedule as if a worker had them, and go back to it where they are to be asked
live after all. While they are in a batch they are `running`, and hold no worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from longjudge.batch_page import BatchPages
from longjudge.batched import count_answer
from longjudge.errors import CredentialError, SessionError, StoreError
from longjudge.keys import key_parts
from longjudge.retries import TOLD_ATTEMPTS, TOLD_MAX_WAIT
from longjudge.rubric_toml import rubric_toml
from longjudge.states import GapReason
from longjudge.store import note_rubric
from longjudge.store.batch_rows import Batch, BatchState, CancelCause
from longjudge.store.batches import outcomes_of
from longjudge.turns import Turns
from longjudge.updates import BatchSaid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from longjudge.batches.following import BatchNews
    from longjudge.batches.queue import BatchQueue
    from longjudge.batches.sending import Ready, Sent
    from longjudge.board import Board
    from longjudge.errors import LongjudgeError
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.states import StopCause
    from longjudge.store import KeptVerdict, Store
    from longjudge.store.batch_rows import ItemOutcome
    from longjudge.updates import Listener

FIRST_WAIT: Final = 1.0
"""Seconds until a batch that was not accepted is sent again, where the provider says nothing."""

_KEPT_LATER: Final = "taken out of its batch; an answer that comes is kept all the same"
_ASKED_LIVE: Final = "its batch was cancelled; it is asked live instead"
_GONE: Final = "its verdict was removed from the store meanwhile"


class Live(Protocol):
    """What the live part of a judgment does with chunks that come back from the batches."""

    async def settle(self, position: int, kept: KeptVerdict) -> None:
        """A verdict is in the store: show it, on the chunk and on those equal to it."""
        ...

    def give_up(self, position: int, reason: GapReason, problem: str, reply: str) -> None:
        """Nothing came of a question."""
        ...

    def take_back(self, position: int) -> None:
        """A chunk is to be asked live after all."""
        ...

    def fail(self, error: LongjudgeError) -> None:
        """No question can be made any more: the session has changed."""
        ...

    def refuse(self, message: str) -> None:
        """The provider takes no batches, and nothing may be asked live instead."""
        ...


class BatchSide:
    """Chunks by position. With `alone` nothing is asked live: what a batch cannot bring is a gap.

    `judgment` is the id under which questions are noted, `time_limit` how many seconds a batch may
    take, `since` the moment before which verdicts count as none; `ids` are ours of what was sent.
    """

    def __init__(
        self,
        board: Board,
        keys: Sequence[str],
        live: Live,
        *,
        judgment: str,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        queue: BatchQueue,
        listener: Listener,
        redactor: str,
        redact: bool,
        time_limit: float,
        alone: bool,
    ) -> None:
        self.since = float("-inf")
        self._board = board
        self._keys = keys
        self._live = live
        self._judgment = judgment
        self._rubric = rubric
        self._judge = judge
        self._store = store
        self._queue = queue
        self._listener = listener
        self._redactor = redactor
        self._redact = redact
        self._time_limit = time_limit
        self._alone = alone
        self._pages = BatchPages(
            board, keys, judgment, rubric, judge, queue.batching, redact=redact
        )
        self._to_send: list[int] = []
        self._sending: dict[str, int] = {}
        self._in_batch: dict[str, int] = {}
        self._keys_of: dict[str, frozenset[str]] = {}
        self._arrived: list[tuple[str, ItemOutcome]] = []
        self._over: list[Batch] = []
        self.ids: set[str] = set()
        self._returning: set[str] = set()
        self._wanted = asyncio.Event()
        self._came = asyncio.Event()
        self._skip = asyncio.Event()
        self._stopped = asyncio.Event()

    @property
    def batches(self) -> list[Batch]:
        """Its batches that are still held."""
        return [each for each in self._queue.batching.live if each.id in self.ids]

    @property
    def positions(self) -> set[int]:
        """The chunks that are in a batch, or about to be."""
        return {*self._to_send, *self._sending.values(), *self._in_batch.values()}

    def batch_of(self, position: int) -> str | None:
        """Our id of the batch that a chunk is in; None where it is in none."""
        key = self._keys[position] if position < len(self._keys) else ""
        if self._in_batch.get(key) != position:
            return None
        return next((id for id, keys in self._keys_of.items() if key in keys), "")

    def move(self, positions: Sequence[int]) -> None:
        """Have chunks that a worker would hold sent as a batch."""
        self._to_send += positions
        self._wanted.set()

    def bring_back(self) -> bool:
        """Have the batches cancelled, and what they do not answer asked live; False without any."""
        ids = [each.id for each in self.batches if not each.cancel]
        waiting, self._to_send = self._to_send, []
        for position in waiting:
            self._live.take_back(position)
        self._returning.update(ids)
        self._queue.batching.cancel(CancelCause.CANCEL, ids)
        return bool(ids or waiting)

    def forget(self, position: int) -> bool:
        """End one chunk as cancelled; an answer that comes is kept, and not shown here any more.

        False where it is in no batch.
        """
        if position not in self.positions:
            return False
        if position in self._to_send:
            self._to_send.remove(position)
        for held in (self._sending, self._in_batch):
            for key in [key for key, each in held.items() if each == position]:
                del held[key]
        self._board.stopped(position)
        self._live.give_up(position, GapReason.CANCELLED, _KEPT_LATER, "")
        return True

    def stop(self, cause: StopCause, *, keep: bool) -> None:
        """The judgment is being ended; its batches too, unless they are to be kept."""
        self._to_send.clear()
        self._stopped.set()
        if keep:
            self._skip.set()
            return
        limit = cause.value is GapReason.TIMED_OUT
        ids = [each.id for each in self.batches]
        self._queue.batching.cancel(CancelCause.LIMIT if limit else CancelCause.CANCEL, ids)

    def skip(self) -> None:
        """Wait for no batch to end any more."""
        self._skip.set()

    async def work(self) -> None:
        """Send what is to be sent and take in what arrives, until cancelled."""
        self._queue.hear(self._hear)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_all())
                group.create_task(self._take_all_in())
        finally:
            self._queue.hear_no_more(self._hear)

    async def wind_up(self, *, stopped: bool) -> None:
        """Wait for the end of batches, where nothing `stopped` of those that are coming home."""
        batching, out = self._queue.batching, (BatchState.INTENT, BatchState.SUBMITTED)
        ids = [each.id for each in self.batches if stopped or each.state not in out]
        over = asyncio.ensure_future(batching.until_none(ids))
        skipped = asyncio.ensure_future(self._skip.wait())
        try:
            await asyncio.wait(
                (over, skipped), timeout=batching.pace.end, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for task in (over, skipped):
                task.cancel()
            await asyncio.gather(over, skipped, return_exceptions=True)
        await self._take_in()

    def _hear(self, news: BatchNews) -> None:
        batch = news.batch
        if batch.id not in self.ids:
            return
        self._arrived += ((batch.id, outcome) for outcome in news.outcomes)
        if not batch.state.live:
            self._over.append(batch)
        name = batch.provider_id or batch.id
        self._listener(BatchSaid(name, batch.state.value, batch.count, batch.problem))
        self._came.set()

    def _send_again(self, batch: Batch, keys: AbstractSet[str]) -> None:
        """Nothing came of questions, since their batch never reached the provider."""
        for key in keys:
            if (position := self._in_batch.pop(key, None)) is not None:
                self._board.stopped(position)
                self._board.retrying(position, 0.0, GapReason.PROVIDER_ERROR, batch.problem)
                self._to_send.append(position)
                self._wanted.set()

    async def _send_all(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                while self._to_send:
                    await self._send_page(await self._pages.next(self._to_send, self._sending))
            except SessionError as error:
                self._live.fail(error)

    async def _send_page(self, page: dict[str, tuple[int, Ready]]) -> None:
        refusals = 0
        try:
            while page and not self._stopped.is_set():
                sent = await self._send([ready for _, ready in page.values()])
                self._distribute(page, sent)
                if sent.later is None or sent.fatal is not None:
                    continue
                refusals += 1
                if refusals >= TOLD_ATTEMPTS:
                    self._refused(page, sent.later.message)
                    return
                wait = sent.later.wait or min(FIRST_WAIT * 2.0**refusals, TOLD_MAX_WAIT)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._stopped.wait()
        except (StoreError, CredentialError) as error:
            self._refused(page, str(error))
        finally:
            self._sending.clear()
            # What came of a batch before it was known here to be sent.
            self._came.set()

    async def _send(self, ready: Sequence[Ready]) -> Sent:
        batching, judge, rubric = self._queue.batching, self._judge, self._rubric
        await batching.api.prepare()
        await note_rubric(self._store, rubric)
        plain = Batch(
            id="",
            endpoint=judge.endpoint,
            model=judge.model,
            rubric=rubric.name,
            rubric_version=rubric.version,
            rubric_toml=rubric_toml(rubric),
            parts=key_parts(judge, b"", redactor=self._redactor),
            count=0,
            created=0.0,
            owner=batching.holder,
            profile=self._queue.profile,
            deadline=time.time() + self._time_limit,
            price=judge.price,
        )
        return await batching.send(plain, ready, since=self.since, begun=self.ids.add)

    def _distribute(self, page: dict[str, tuple[int, Ready]], sent: Sent) -> None:
        for batch in sent.batches:
            self._keys_of[batch.id] = sent.keys[batch.id]
            for key in sent.keys[batch.id]:
                position, _ = page.pop(key)
                if self._sending.pop(key, None) is not None:
                    self._in_batch[key] = position
                    self._board.started(position)
        for key in sent.elsewhere:
            self._take_back(page.pop(key)[0])
        if sent.fatal is not None:
            self._refused(page, sent.fatal)
            return
        for outcome in sent.outcomes:
            position, _ = page.pop(outcome.key)
            if self._sending.pop(outcome.key, None) is not None:
                self._board.started(position)
                self._settle_gap(position, outcome)

    def _take_back(self, position: int) -> None:
        self._sending.pop(self._keys[position], None)
        self._live.take_back(position)

    def _refused(self, page: dict[str, tuple[int, Ready]], message: str) -> None:
        """No batch takes these questions, nor what was to follow them."""
        left = [position for position, _ in page.values() if not self._board.ended(position)]
        left += self._to_send
        page.clear()
        self._to_send.clear()
        self._listener(BatchSaid("", BatchState.LOST.value, len(left), message))
        if self._alone:
            for position in left:
                self._board.started(position)
                self._board.stopped(position)
            self._live.refuse(message)
            return
        for position in left:
            self._take_back(position)

    async def _take_all_in(self) -> None:
        while True:
            await self._came.wait()
            self._came.clear()
            await self._take_in()

    async def _take_in(self) -> None:
        """Show what has arrived; every verdict among it is in the store."""
        await self._take_over_outcomes()
        arrived, self._arrived = self._arrived, []
        found = [outcome.key for _, outcome in arrived if not outcome.reason]
        kept = await self._store.kept(found, with_replies=False) if found else {}
        turns = Turns()
        for batch, told in arrived:
            await turns.give()
            outcome = replace(told, batch=batch)
            if outcome.key in self._sending:
                self._arrived.append((batch, outcome))
                continue
            position = self._in_batch.pop(outcome.key, None)
            if position is None:
                continue
            if outcome.reason:
                returns = batch in self._returning and outcome.reason == GapReason.CANCELLED
                self._settle_gap(position, outcome, returns=returns)
            else:
                count_answer(self._board, position, outcome)
                await self._settle(position, kept.get(outcome.key))

    async def _take_over_outcomes(self) -> None:
        """Of batches that are over, take in what another process has brought home, if anything."""
        over, self._over = self._over, []
        told = {outcome.key for _, outcome in self._arrived}
        known: dict[str, ItemOutcome] | None = None
        for batch in over:
            missing = self._keys_of.get(batch.id, frozenset()) & self._in_batch.keys() - told
            if missing and known is None:
                known = await outcomes_of(self._store, self._judgment)
            for key in missing & (known or {}).keys():
                self._arrived.append((batch.id, (known or {})[key]))
            self._send_again(batch, missing - (known or {}).keys())

    async def _settle(self, position: int, kept: KeptVerdict | None) -> None:
        if kept is None:
            self._live.give_up(position, GapReason.SKIPPED, _GONE, "")
        else:
            await self._live.settle(position, kept)

    def _settle_gap(self, position: int, outcome: ItemOutcome, *, returns: bool = False) -> None:
        count_answer(self._board, position, outcome)
        if returns and not self._stopped.is_set():
            self._board.retrying(position, 0.0, GapReason.CANCELLED, _ASKED_LIVE)
            self._live.take_back(position)
            return
        reason = GapReason(outcome.reason)
        self._live.give_up(position, reason, outcome.problem, outcome.reply)
