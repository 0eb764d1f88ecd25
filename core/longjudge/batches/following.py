"""Follows batches to their end, one task each: looks, cancels, finds again, brings home.

Another process may follow the same batch, which took this one for dead while it was stopped. So
each look begins with what the store knows by now, and nothing that is noted takes that back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from longjudge.batches.finding import Finder
from longjudge.batches.harvesting import harvest
from longjudge.errors import StoreError
from longjudge.judges.batch_api import BatchError, RemoteStatus, Trouble
from longjudge.states import GapReason
from longjudge.store import batches as rows
from longjudge.store.batch_rows import BatchState, CancelCause, ItemOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.batch_pace import Pace
    from longjudge.judges.batch_api import BatchApi, RemoteBatch
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch

AT_ONCE: Final = 8
"""Calls about batches that are made at the same time."""

MOST_FETCHES: Final = 3
"""After so many fetches, and `Pace.listed_after`, what the results do not name has no answer."""

MOST_GONE: Final = 3
"""So many looks in a row that find no such batch; a gateway may say so once."""

MOST_FAULTS: Final = 3
"""After so many errors that nobody foresaw a batch is left to another process."""

_ANOTHER_KEY: Final = (
    "another key may know it: use the one that it was sent with, or give it up by"
    " `longjudge holds --sweep`"
)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchNews:
    """Something became known of a batch: how far it is, and what came of some of its questions."""

    batch: Batch
    outcomes: Sequence[ItemOutcome] = ()


@dataclass(slots=True, eq=False)
class _Followed:
    """A batch on its way. `quiet_since` is when who sent it was last heard of.

    While it is `sending` nobody looks for it: the answer to the call may still come. `looked_for`
    is the monotonic time since when it is, after it was sent where that was here, as `own` says. A
    `look` under way ends early where a cancel is wanted.
    """

    batch: Batch
    quiet_since: float
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    fetches: int = 0
    fetched_since: float = 0.0
    faults: int = 0
    gone: int = 0
    since: float = field(default_factory=time.monotonic)
    looked_for: float = field(default_factory=time.monotonic)
    look: asyncio.Timeout | None = None
    own: bool = False
    running: bool = False
    sending: bool = False
    looked: bool = False

    @property
    def is_coming(self) -> bool:
        """Whether it is not known yet if it has ended, or its results are on their way."""
        return not self.sending and (not self.looked or self.batch.state is BatchState.ENDED)

    @property
    def quiet(self) -> float:
        """Seconds since its sender was last heard of, however the clock was set meanwhile."""
        since = max(self.batch.created, self.quiet_since)
        return max(time.time() - since, time.monotonic() - self.looked_for)


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
        self._finder = Finder(store, api, pace)
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
            known.looked_for = time.monotonic()
            self._look_soon(known)
            return
        since = time.time() if quiet_since is None else quiet_since
        own = quiet_since is None
        self._followed[batch.id] = _Followed(batch, since, own=own, sending=sending)
        self._new.set()

    def want_cancel(self, ids: Sequence[str], cause: CancelCause) -> None:
        """Note at once that batches are to end, before anything is awaited; the calls follow."""
        wanted = [each for id in ids if (each := self._followed.get(id)) and not each.batch.cancel]
        if not wanted:
            return
        self._store.write_now(
            rows.WANT_CANCEL, rows.want_cancel_values([each.batch.id for each in wanted], cause)
        )
        for each in wanted:
            each.batch = replace(each.batch, cancel=cause)
            self._look_soon(each)
            if each.look is not None:
                each.look.reschedule(0.0)

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

    async def until_home(self) -> None:
        """Return once every batch was looked at, and those that have ended are home."""
        while self.fatal is None and any(each.is_coming for each in self._followed.values()):
            self._over.clear()
            await self._over.wait()

    def _look_soon(self, each: _Followed) -> None:
        each.since = time.monotonic()
        each.changed.set()

    async def _follow(self, each: _Followed) -> None:
        while each.batch.state.live:
            each.changed.clear()
            wait = await self._step(each)
            each.looked = True
            self._over.set()
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
                await self._catch_up(each)
                await self._take_the_time(each)
                if each.batch.state.live:
                    await self._do(each)
            unfound = each.batch.state in (BatchState.INTENT, BatchState.LOST)
            problem = each.batch.problem if unfound else ""
        except BatchError as error:
            problem, wait = error.message, error.wait
            if error.trouble is Trouble.END:
                self._end(error.message)
        except StoreError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - it stays held, and whoever waits is told
            _LOG.info("batch %s", each.batch.id, exc_info=True)
            problem = f"an error of longjudge's own ({type(error).__name__})"
            each.faults += 1
            if each.faults >= MOST_FAULTS:
                self._end(f"batch {each.batch.id}: {problem}")
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

    def _end(self, why: str) -> None:
        self.fatal = self.fatal or why
        self._over.set()

    async def _catch_up(self, each: _Followed) -> None:
        """Take in what the store knows of a batch by now, and note what it missed."""
        known = await rows.find(self._store, each.batch.id)
        batch = each.batch
        if known is None:
            if not batch.provider_id:
                problem = "another process has found that it never reached the provider"
                each.batch = replace(batch, state=BatchState.LOST, problem=problem)
            return
        if not known.state.live:
            # Another process has brought it home.
            each.batch = replace(batch, state=known.state)
            return
        if batch.state is BatchState.INTENT and known.state is not BatchState.INTENT:
            cancel = batch.cancel or known.cancel
            batch = replace(known, owner=batch.owner, deadline=batch.deadline, cancel=cancel)
        elif batch.provider_id and not known.provider_id:
            await rows.note(self._store, batch)
        if batch.cancel and not known.cancel:
            # A store that takes nothing now keeps no batch from being cancelled.
            with contextlib.suppress(StoreError):
                await rows.want_cancel(self._store, batch.id, batch.cancel)
        # One may have been wanted while this was noted.
        each.batch = replace(batch, cancel=each.batch.cancel or batch.cancel or known.cancel)

    async def _take_the_time(self, each: _Followed) -> None:
        """Have a batch end that has taken as long as it may."""
        if not each.batch.cancel and time.time() >= each.batch.deadline:
            with contextlib.suppress(StoreError):
                await rows.want_cancel(self._store, each.batch.id, CancelCause.LIMIT)
            each.batch = replace(each.batch, cancel=CancelCause.LIMIT)
            each.since = time.monotonic()

    async def _do(self, each: _Followed) -> None:
        if each.batch.state is BatchState.INTENT:
            found = await self._finder.find(each.batch, each.quiet)
            each.batch = replace(found, cancel=each.batch.cancel)
            if found.state is not BatchState.SUBMITTED:
                return
        batch = each.batch
        remote: RemoteBatch | None = None
        if batch.cancel and not batch.cancel_sent and batch.state is BatchState.SUBMITTED:
            remote = await self._cancel(each)
        try:
            remote = remote or await self._look(each)
        except BatchError as error:
            if error.trouble is not Trouble.GONE:
                raise
            each.gone += 1
            if self._may_be_hidden(each) or each.gone < MOST_GONE:
                if each.own or not self._may_be_hidden(each):
                    raise
                raise BatchError(f"{error.message}; {_ANOTHER_KEY}", Trouble.GONE) from error
            await self._lose(each, error.message)
            return
        if remote is None:
            return
        each.gone = 0
        if remote.status is not RemoteStatus.ENDED:
            # A cancel that did not take is sent again.
            sent = each.batch.cancel_sent and remote.status is RemoteStatus.CANCELING
            each.batch = replace(each.batch, cancel_sent=sent)
            return
        each.batch = replace(each.batch, state=BatchState.ENDED, ended=remote.ended or time.time())
        await self._harvest(each, remote)

    async def _look(self, each: _Followed) -> RemoteBatch | None:
        """How far a batch is; None where it is to be cancelled first."""
        try:
            async with asyncio.timeout(None) as each.look:
                return await self._api.retrieve(each.batch.provider_id)
        except TimeoutError:
            return None
        finally:
            each.look = None

    async def _cancel(self, each: _Followed) -> RemoteBatch | None:
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

        now = time.monotonic()
        each.fetched_since = each.fetched_since or now
        long = now - each.fetched_since >= self._pace.listed_after
        believe = long and each.fetches >= MOST_FETCHES - 1
        try:
            await harvest(self._store, self._api, each.batch, remote, told, believe=believe)
        except BatchError as error:
            each.fetches += 1
            if error.trouble is not Trouble.GONE or self._may_be_hidden(each):
                raise
            # Results are kept for a while only.
            if each.fetches < MOST_FETCHES or (each.own and not believe):
                raise
            await self._lose(each, error.message)
            return
        each.batch = replace(each.batch, state=BatchState.HARVESTED)

    def _may_be_hidden(self, each: _Followed) -> bool:
        if self._api.endpoint == "offline":
            return False
        if each.own:
            return time.monotonic() - each.looked_for < self._pace.hidden_for
        # Who adopts it may have another key than who sent it, to which it is unknown for good.
        return time.time() - each.batch.submitted < self._pace.unknown_for

    async def _lose(self, each: _Followed, why: str) -> None:
        """The provider knows nothing of a batch any more: none of its questions has an answer."""
        problem = f"the provider does not know the batch any more: {why}"
        items = await rows.open_items(self._store, each.batch.id)
        outcomes = [ItemOutcome(key, GapReason.PROVIDER_ERROR, problem) for key in items]
        await rows.note_outcomes(self._store, each.batch.id, outcomes)
        each.batch = replace(each.batch, state=BatchState.LOST, problem=problem)
        self._told(BatchNews(each.batch, outcomes))
