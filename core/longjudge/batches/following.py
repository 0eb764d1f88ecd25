"""Follows batches to their end, one task each: looks, cancels, finds again, brings home.

A batch that nobody knows to be accepted is looked for in the provider's list. One there is ours
only if the ids of its results say so; until then it is waited for, and never cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from longjudge.batches.harvesting import harvest
from longjudge.errors import StoreError
from longjudge.judges.batch_api import BatchError, RemoteStatus, Trouble, batch_of
from longjudge.states import GapReason
from longjudge.store import batches as rows
from longjudge.store.batch_rows import BatchState, CancelCause, ItemOutcome
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.batch_pace import Pace
    from longjudge.judges.batch_api import BatchApi, RemoteBatch
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch

AT_ONCE: Final = 8
"""Calls about batches that are made at the same time."""

MOST_FETCHES: Final = 3
"""After so many fetches what the results say nothing about has no answer."""

SKEW_SECONDS: Final = 600.0
"""How far the provider's clock may be behind ours: older batches cannot be the one looked for."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchNews:
    """Something became known of a batch: how far it is, and what came of some of its questions."""

    batch: Batch
    outcomes: Sequence[ItemOutcome] = ()


@dataclass(slots=True, eq=False)
class _Followed:
    """A batch on its way. `quiet_since` is when who sent it was last heard of.

    While it is `sending` nobody looks for it: the answer to the call may still come.
    """

    batch: Batch
    quiet_since: float
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    fetches: int = 0
    since: float = field(default_factory=time.monotonic)
    running: bool = False
    sending: bool = False


class Follower:
    """Follows batches of one endpoint in one store; `told` hears what becomes known.

    `fatal` says why no call will be answered any more.
    """

    def __init__(
        self, store: Store, api: BatchApi, pace: Pace, told: Callable[[BatchNews], None]
    ) -> None:
        self.fatal: str | None = None
        self._store = store
        self._api = api
        self._pace = pace
        self._told = told
        self._followed: dict[str, _Followed] = {}
        self._foreign: set[str] = set()
        self._calls = asyncio.Semaphore(AT_ONCE)
        self._new = asyncio.Event()
        self._over = asyncio.Event()

    @property
    def live(self) -> list[Batch]:
        """The batches that are held, oldest first."""
        return [each.batch for each in self._followed.values()]

    def follow(
        self, batch: Batch, *, sending: bool = False, quiet_since: float | None = None
    ) -> None:
        """Follow a batch from now on, or as it is by now; what it is cancelled for stands.

        `quiet_since` is when who sent it was last heard of (seconds since 1970); now, where it is
        this process.
        """
        known = self._followed.get(batch.id)
        if known is not None:
            known.batch = replace(batch, cancel=known.batch.cancel or batch.cancel)
            known.sending, known.quiet_since = sending, time.time()
            self._look_soon(known)
            return
        since = time.time() if quiet_since is None else quiet_since
        self._followed[batch.id] = _Followed(batch, since, sending=sending)
        self._new.set()

    def want_cancel(self, ids: Sequence[str], cause: CancelCause) -> None:
        """Note at once that batches are to end, before anything is awaited; the calls follow."""
        for id in ids:
            each = self._followed.get(id)
            if each is None or each.batch.cancel:
                continue
            each.batch = replace(each.batch, cancel=cause)
            self._store.write_now(rows.WANT_CANCEL, (cause.value, id))
            self._look_soon(each)

    async def run(self) -> None:
        """Follow whatever there is, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._new.clear()
                for each in self._followed.values():
                    if not each.running:
                        each.running = True
                        group.create_task(self._follow(each))
                await self._new.wait()

    async def until_none(self, ids: Sequence[str] | None = None) -> None:
        """Return once none of the batches is held any more, or nothing will be answered."""
        while self.fatal is None:
            self._over.clear()
            held = self._followed.keys() if ids is None else self._followed.keys() & set(ids)
            if not held:
                return
            await self._over.wait()

    def _look_soon(self, each: _Followed) -> None:
        each.since = time.monotonic()
        each.changed.set()

    async def _follow(self, each: _Followed) -> None:
        while each.batch.state.live:
            each.changed.clear()
            wait = await self._step(each)
            if not each.batch.state.live:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await each.changed.wait()
        del self._followed[each.batch.id]
        self._told(BatchNews(each.batch))
        self._over.set()

    async def _step(self, each: _Followed) -> float:
        """Do the next thing about a batch; seconds until the one after it."""
        if each.sending:
            return self._pace.longest_look
        before = each.batch
        wait: float | None = None
        try:
            async with self._calls:
                await self._take_the_time(each)
                await self._do(each)
            problem = each.batch.problem if each.batch.state is BatchState.INTENT else ""
        except BatchError as error:
            problem, wait = error.message, error.wait
            if error.trouble is Trouble.END:
                self.fatal = self.fatal or error.message
                self._over.set()
        except StoreError as error:
            problem = str(error)
        each.batch = replace(each.batch, problem=problem)
        if each.batch != before:
            with contextlib.suppress(StoreError):
                await rows.note(self._store, each.batch)
            if each.batch.state.live:
                self._told(BatchNews(each.batch))
        usual = self._pace.next_look(time.monotonic() - each.since)
        until_deadline = max(self._pace.first_look, each.batch.deadline - time.time())
        if each.batch.cancel:
            until_deadline = usual
        return min(max(usual, wait or 0.0), until_deadline)

    async def _take_the_time(self, each: _Followed) -> None:
        """Have a batch end that has taken as long as it may."""
        if not each.batch.cancel and time.time() >= each.batch.deadline:
            await rows.want_cancel(self._store, each.batch.id, CancelCause.LIMIT)
            each.batch = replace(each.batch, cancel=CancelCause.LIMIT)
            each.since = time.monotonic()

    async def _do(self, each: _Followed) -> None:
        if each.batch.state is BatchState.INTENT and not await self._find(each):
            return
        batch = each.batch
        remote: RemoteBatch | None = None
        if batch.cancel and not batch.cancel_sent and batch.state is BatchState.SUBMITTED:
            remote = await self._cancel(each)
        try:
            remote = remote or await self._api.retrieve(batch.provider_id)
        except BatchError as error:
            if error.trouble is not Trouble.GONE or self._may_be_hidden(batch):
                raise
            await self._lose(each, error.message)
            return
        if remote.status is not RemoteStatus.ENDED:
            return
        each.batch = replace(each.batch, state=BatchState.ENDED, ended=remote.ended or time.time())
        await self._harvest(each, remote)

    async def _cancel(self, each: _Followed) -> RemoteBatch | None:
        await rows.want_cancel(self._store, each.batch.id, each.batch.cancel)
        try:
            remote = await self._api.cancel(each.batch.provider_id)
        except BatchError as error:
            if error.trouble is Trouble.GONE:
                # It may not be known yet, or not any more: looking at it tells.
                return None
            raise
        each.batch = replace(each.batch, cancel_sent=True)
        return remote

    async def _harvest(self, each: _Followed, remote: RemoteBatch) -> None:
        def told(outcomes: Sequence[ItemOutcome]) -> None:
            self._told(BatchNews(each.batch, outcomes))

        each.fetches += 1
        believe = each.fetches >= MOST_FETCHES
        await harvest(self._store, self._api, each.batch, remote, told, believe=believe)
        each.batch = replace(each.batch, state=BatchState.HARVESTED)

    def _may_be_hidden(self, batch: Batch) -> bool:
        hidden = self._api.endpoint != "offline"
        return hidden and time.time() - batch.submitted < self._pace.hidden_for

    async def _lose(self, each: _Followed, why: str) -> None:
        """The provider knows nothing of a batch any more: none of its questions has an answer."""
        problem = f"the provider does not know the batch any more: {why}"
        await self._give_up(each, problem)

    async def _give_up(self, each: _Followed, problem: str) -> None:
        items = await rows.open_items(self._store, each.batch.id)
        outcomes = [ItemOutcome(key, GapReason.PROVIDER_ERROR, problem) for key in items]
        await rows.note_outcomes(self._store, each.batch.id, outcomes)
        each.batch = replace(each.batch, state=BatchState.LOST)
        self._told(BatchNews(each.batch, outcomes))

    async def _find(self, each: _Followed) -> bool:
        """Look for a batch of which nobody knows whether it was accepted; whether it is found."""
        batch = each.batch
        candidates = await self._candidates(batch)
        for remote in candidates:
            if remote.status is RemoteStatus.ENDED and await self._is(remote, batch):
                each.batch = replace(
                    each.batch,
                    provider_id=remote.id,
                    submitted=remote.created or time.time(),
                    state=BatchState.SUBMITTED,
                    problem="",
                )
                await rows.note(self._store, each.batch)
                _LOG.info("batch %s was accepted as %s", batch.id, clean_line(remote.id))
                return True
        left = [remote for remote in candidates if remote.id not in self._foreign]
        if left:
            may_be = ", ".join(clean_line(remote.id, 60) for remote in left[:3])
            each.batch = replace(
                each.batch, problem=f"it may be {may_be}, which tells only once that has ended"
            )
            return False
        quiet = time.time() - max(batch.created, each.quiet_since)
        if quiet >= self._pace.listed_after:
            await rows.withdraw(self._store, batch.id)
            problem = "it never reached the provider"
            each.batch = replace(each.batch, state=BatchState.LOST, problem=problem)
            _LOG.info("batch %s never reached the provider", batch.id)
        else:
            each.batch = replace(each.batch, problem="it is looked for in the provider's list")
        return False

    async def _candidates(self, batch: Batch) -> list[RemoteBatch]:
        """What the provider lists that may be the batch: since then, of its size, nobody's yet."""
        known = await rows.known_ids(self._store)
        found: list[RemoteBatch] = []
        listed = self._api.listed(batch.created - SKEW_SECONDS)
        try:
            async for remote in listed:
                mine = remote.id not in known and remote.id not in self._foreign
                if mine and remote.count == batch.count:
                    found.append(remote)
        except BatchError as error:
            # An endpoint without a list has no batches.
            if error.trouble is not Trouble.GONE:
                raise
        finally:
            await listed.aclose()
        return found

    async def _is(self, remote: RemoteBatch, batch: Batch) -> bool:
        """Whether the results of a batch say that it is ours."""
        results = self._api.results(remote)
        try:
            async for result in results:
                named = batch_of(result.custom_id)
                if named != batch.id and not (named and await self._sent(named)):
                    self._foreign.add(remote.id)
                return named == batch.id
        finally:
            await results.aclose()
        # One without any results is nobody's.
        self._foreign.add(remote.id)
        return False

    async def _sent(self, id: str) -> bool:
        """Whether a batch that is looked for as well has that id of ours."""
        return bool(await rows.live_batches(self._store, [id]))
