"""One judgment's leases in the store: no two processes ask the same question at the same time.

Every question takes its lease before it is sent; the commit of the verdict ends it. A chunk whose
lease another process holds waits without a worker, and is looked at again and again: the answer
may be there, the lease given back, its owner dead.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.owner import BEAT_SECONDS, this_process
from longjudge.store import StoreWriteError, batches, leases
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from longjudge.store import KeptVerdict, Store

LOOK_SECONDS = 0.1
"""How often what other processes do about the same questions is looked at."""

LOOK_KEYS = 500
"""How many questions one look is about, so that none takes long where thousands wait."""

LOOK_SHARE = 4
"""So many times as long as a look took, nothing is looked at."""

RELEASE_SECONDS = 1.0
"""How long a judgment that is over may wait for the store to take its leases back."""

TAKE_SECONDS = 0.5
"""How long a lease may be waited for once the judgment is being stopped."""

_LOG = logging.getLogger(__name__)


class Lease(Enum):
    """What came of asking for a lease.

    With `NONE` the question goes out without one: the store takes none, from nobody.
    """

    TAKEN = "taken"
    NONE = "none"
    ELSEWHERE = "elsewhere"


def _future() -> asyncio.Future[Lease]:
    return asyncio.get_running_loop().create_future()


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """A lease that is asked for; `taken` says what came of it."""

    key: str
    detail: str
    since: float
    taken: asyncio.Future[Lease] = field(default_factory=_future)


class Leases:
    """Leases by position. `holder` is the judgment's id, `doing` says what it is about.

    `over(position, kept)` is called when a chunk that another process was asking about waits no
    more: with its verdict, or with None where it is to be asked after all; `named(position, who)`
    once it is known who asks. `offer` offers the store once more what it has refused, before the
    leases on it are given back; False where it cannot now. Verdicts from before `since` (seconds
    since 1970) count as none.
    """

    def __init__(
        self,
        store: Store,
        keys: Sequence[str],
        *,
        holder: str,
        doing: str,
        detail: Callable[[int], str],
        over: Callable[[int, KeptVerdict | None], None],
        named: Callable[[int, str], None],
        offer: Callable[[], Awaitable[bool]],
    ) -> None:
        self.since = float("-inf")
        self._store = store
        self._keys = keys
        self._holder = holder
        self._doing = doing
        self._detail = detail
        self._over = over
        self._named = named
        self._offer = offer
        self._held: dict[str, _Wanted] = {}
        self._ended: set[str] = set()
        self._waiting: dict[str, int] = {}
        self._askers: dict[str, str] = {}
        self._wanted: list[_Wanted] = []
        self._asked = asyncio.Event()
        self._known = False
        self._registered = False
        self._bounded = False
        self._ended_late = False
        self._changed = asyncio.Event()
        self._takes: set[asyncio.Timeout] = set()

    @property
    def left(self) -> int:
        """How many leases may still stand in the store."""
        if self._ended_late and not self._store.owed.held_by(self._holder):
            # The store has taken them back since.
            return 0
        return len(self._held.keys() | self._ended)

    async def take(self, position: int) -> Lease | KeptVerdict:
        """Take the lease on a chunk's question, which may be held already.

        The verdict, where another process has given it meanwhile. `NONE` also where the store
        cannot be read: better asked twice than not at all.
        """
        if self._keys[position] in self._held:
            return Lease.TAKEN
        soon = asyncio.get_running_loop().time() + TAKE_SECONDS
        limit = asyncio.timeout_at(soon if self._bounded else None)
        self._takes.add(limit)
        try:
            async with limit:
                return await self._take_or_find(position)
        except (TimeoutError, StoreError):
            return Lease.NONE
        finally:
            self._takes.discard(limit)

    async def _take_or_find(self, position: int) -> Lease | KeptVerdict:
        key = self._keys[position]
        taken = await self._take(position, self.since)
        if taken is not Lease.ELSEWHERE:
            return taken
        if await leases.answered(self._store, [key], self.since):
            if kept := await self._store.kept([key]):
                return kept[key]
            if not await leases.leases(self._store, [key]):
                # A verdict that does not read is none, and must not stand in the way.
                return await self._take(position, float("inf"))
        return Lease.ELSEWHERE

    async def _take(self, position: int, since: float) -> Lease:
        key = self._keys[position]
        wanted = _Wanted(key, self._detail(position), since)
        # Also where the wait for it is cut short: the write may still come through.
        self._held[key] = wanted
        self._ended.discard(key)
        self._wanted.append(wanted)
        self._asked.set()
        return await wanted.taken

    async def take_in_turn(self) -> None:
        """Take what is asked for, all of it that has come meanwhile at once; until cancelled.

        A write each would cost more than the rest of a question does.
        """
        while True:
            await self._asked.wait()
            self._asked.clear()
            wanted, self._wanted = self._wanted, []
            for since in {each.since for each in wanted}:
                await self._take_these([each for each in wanted if each.since == since], since)

    async def _take_these(self, wanted: Sequence[_Wanted], since: float) -> None:
        questions = [(each.key, each.detail) for each in wanted]
        taken = None
        with contextlib.suppress(StoreWriteError):
            await self._register()
            taken = await leases.take(self._store, self._holder, questions, since)
        for each in wanted:
            # What cannot be written holds nothing up: nobody else can take it either.
            if taken is None:
                self._came(each, Lease.NONE)
            else:
                self._came(each, Lease.TAKEN if each.key in taken else Lease.ELSEWHERE)

    def _came(self, wanted: _Wanted, taken: Lease) -> None:
        """Note what came of asking for a lease, and tell whoever asked and is still there."""
        key = wanted.key
        if taken is Lease.TAKEN and key not in self._held:
            # The question ended meanwhile, and the lease may have been given back before it came.
            self._ended.add(key)
            self._changed.set()
        elif taken is not Lease.TAKEN and self._held.get(key) is wanted:
            del self._held[key]
        if not wanted.taken.done():
            wanted.taken.set_result(taken)

    async def _register(self) -> None:
        if not self._registered:
            # Also where this is cut short: the write may still come through.
            self._known = True
            await leases.register(self._store, self._holder, self._doing)
            self._registered = True

    def wait(self, position: int) -> None:
        """Have what another process makes of a chunk's question looked at from now on."""
        self._waiting[self._keys[position]] = position
        self._changed.set()

    def wait_no_more(self, position: int) -> None:
        """A chunk does not wait any more; one equal to it may."""
        if self._waiting.get(self._keys[position]) == position:
            del self._waiting[self._keys[position]]
            self._askers.pop(self._keys[position], None)

    def asked_by(self, position: int) -> str:
        """Who asks a question that a chunk waits for; empty where that is not known yet."""
        return self._askers.get(self._keys[position], "")

    def end(self, position: int, *, kept: bool) -> None:
        """A chunk's question is over; the commit of a verdict that was `kept` ended the lease."""
        key = self._keys[position]
        if self._held.pop(key, None) is not None and not kept:
            self._ended.add(key)
            self._changed.set()

    def bound(self) -> None:
        """Let no lease be waited for long from now on: the judgment is being stopped."""
        self._bounded = True
        soon = asyncio.get_running_loop().time() + TAKE_SECONDS
        for take in self._takes:
            take.reschedule(soon)

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        """Inside, leases are taken and given back, and others are looked at."""
        async with asyncio.TaskGroup() as clerks:
            tasks = [clerks.create_task(each) for each in (self.take_in_turn(), self.work())]
            yield
            for task in tasks:
                task.cancel()

    async def work(self) -> None:
        """Give back what has ended, look at what others do, and say that this judgment lives.

        Until it is cancelled; a write on its way then comes through all the same.
        """
        loop = asyncio.get_running_loop()
        beaten = loop.time()
        next_look = 0.0
        while True:
            self._changed.clear()
            await self._give_back()
            if self._waiting and (begun := loop.time()) >= next_look:
                await self._look()
                now = loop.time()
                looks = 1 + len(self._waiting) // LOOK_KEYS
                next_look = now + max(LOOK_SECONDS / looks, LOOK_SHARE * (now - begun))
            if loop.time() - beaten >= BEAT_SECONDS:
                beaten = loop.time()
                await self._beat()
            until = beaten + BEAT_SECONDS
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(next_look, until) if self._waiting else until):
                    await self._changed.wait()

    async def _give_back(self) -> None:
        # A verdict that the store did not take is paid for: whoever waits for it is to find it.
        if self._ended and await self._offer():
            ended = sorted(self._ended)
            with contextlib.suppress(StoreWriteError):
                await leases.release(self._store, self._holder, ended)
                self._ended.difference_update(ended)

    async def _beat(self) -> None:
        if not self._registered:
            return
        with contextlib.suppress(StoreWriteError):
            if not await leases.beat(self._store, self._holder):
                # Given up for dead while the machine slept, say: whatever follows is held again.
                await leases.register(self._store, self._holder, self._doing)

    async def _look(self) -> None:
        """Find out what has become of the questions that other processes ask."""
        keys = list(itertools.islice(self._waiting, LOOK_KEYS))
        try:
            held = await self._held_by_living(keys)
            # After the leases: an answer that ended one is seen.
            answered = await leases.answered(self._store, keys, self.since)
            kept = await self._store.kept(sorted(answered))
        except StoreError:
            # Nobody can tell what others do: better asked twice than not at all.
            held, kept = set[str](), {}
        for key in keys:
            position = self._waiting.pop(key, None)
            if position is None or key in kept or key not in held:
                self._askers.pop(key, None)
            if position is None:
                continue
            if key in kept or key not in held:
                self._over(position, kept.get(key))
            else:
                # Behind those that are to be looked at next.
                self._waiting[key] = position

    async def _held_by_living(self, keys: Sequence[str]) -> set[str]:
        # What is in a batch will be answered, whoever follows that.
        in_batches = await batches.on_the_way(self._store, keys)
        held = set(in_batches)
        ids = sorted(set(in_batches.values()))
        for batch in await batches.live_batches(self._store, ids) if ids else ():
            for key in [key for key, id in in_batches.items() if id == batch.id]:
                self._name(key, f"batch {batch.provider_id or batch.id}")
        for lease in await leases.leases(self._store, keys):
            if lease.alive:
                held.add(lease.key)
                self._name(lease.key, lease.owner.words if lease.owner else "")
            else:
                with contextlib.suppress(StoreWriteError):
                    if await leases.take_over(self._store, lease):
                        detail = clean_line(lease.detail, 200)
                        whose = "an earlier judgment of this process"
                        if lease.owner != this_process():
                            whose = "a dead process"
                        _LOG.info("took over the lease of %s: %s", whose, detail)
        return held

    def _name(self, key: str, who: str) -> None:
        # Who waits no more has nobody to be named.
        if (position := self._waiting.get(key)) is None or self._askers.get(key) == who:
            return
        self._askers[key] = who
        self._named(position, who)

    async def aclose(self) -> None:
        """Give everything back, within a second and whether or not the caller is cancelled.

        What the store takes only later is given back then, and what it does not take is offered to
        it again with whatever else it is owed.
        """
        if not self._known:
            return
        release = asyncio.ensure_future(leases.release_all(self._store, self._holder))
        release.add_done_callback(self._given_back)
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await asyncio.shield(release)
        except (StoreWriteError, TimeoutError):
            if self.left:
                self._store.owed.add_holder(self._holder, self.left)
                self._ended_late = True

    def _given_back(self, release: asyncio.Task[None]) -> None:
        # Also when nobody waits any more: the store itself awaits what is on its way.
        if release.cancelled() or release.exception() is not None:
            return
        if self.left:
            _LOG.info("gave back what was still held: %d", self.left)
        self._store.owed.drop_holder(self._holder)
        self._held.clear()
        self._ended.clear()
