"""What one process does with the batches of one endpoint: sends, adopts, follows, cancels, leaves.

Every batch has one process that follows it, told like the owner of a lease. One whose owner is
dead, or that was left running on purpose, is anybody's.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from longjudge.batches.following import BatchNews, Follower
from longjudge.batches.sending import send
from longjudge.errors import StoreError
from longjudge.ids import random_id
from longjudge.owner import BEAT_SECONDS
from longjudge.store import StoreWriteError, leases
from longjudge.store import batches as rows

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence

    from longjudge.batch_pace import Pace
    from longjudge.batches.sending import Ready, Sent
    from longjudge.judges.batch_api import BatchApi
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch, CancelCause

LEAVE_SECONDS: Final = 2.0
"""How long the end may wait for the store to take what was let go of."""


class Batching:
    """`told` hears what becomes known of a batch; `doing` says what this process does.

    `holder` is the id under which it follows batches.
    """

    def __init__(
        self,
        store: Store,
        api: BatchApi,
        pace: Pace,
        told: Callable[[BatchNews], None],
        doing: str,
    ) -> None:
        self.holder = f"b_{random_id(16)}"
        self.api = api
        self.pace = pace
        self._store = store
        self._doing = doing
        self._told = told
        self._follower = Follower(store, api, pace, told)
        self._registered = False
        self._sends: set[asyncio.Task[Sent]] = set()
        self._owned_before: dict[str, str] = {}
        self._ending: CancelCause | None = None

    @property
    def live(self) -> list[Batch]:
        """The batches that it follows and that are still held."""
        return self._follower.live

    @property
    def fatal(self) -> str | None:
        """Why no call will be answered any more, None where one may be."""
        return self._follower.fatal

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        """Inside, batches are followed, and the store knows that this process lives."""
        fault: Exception | None = None
        async with asyncio.TaskGroup() as clerks:
            tasks = [clerks.create_task(each) for each in (self._follower.run(), self._beat())]
            try:
                yield
            except Exception as error:  # noqa: BLE001 - raised again; a group would hide it
                fault = error
            finally:
                for task in tasks:
                    task.cancel()
        if fault is not None:
            raise fault

    async def send(
        self,
        plain: Batch,
        ready: Sequence[Ready],
        *,
        since: float,
        begun: Callable[[str], None] = lambda id: None,
    ) -> Sent:
        """Send questions; see `sending.send`. A caller that is cancelled leaves it to be finished.

        `begun` is told our id of each batch before it is sent.

        Raises:
            StoreError: it could not be noted, and nothing was sent.
        """
        await self._register()

        def follow(batch: Batch, sending: bool) -> None:
            begun(batch.id)
            self._follow(batch, sending)

        task = asyncio.ensure_future(
            send(self._store, self.api, plain, ready, since=since, follow=follow)
        )
        self._sends.add(task)
        task.add_done_callback(self._sends.discard)
        return await asyncio.shield(task)

    def _follow(self, batch: Batch, sending: bool) -> None:
        self._follower.follow(batch, sending=sending)
        if not sending:
            self._told(BatchNews(batch))
        if self._ending is not None:
            self._follower.want_cancel([batch.id], self._ending)

    async def adopt(
        self, ids: Collection[str] | None = None, *, left_running: bool = True
    ) -> list[Batch]:
        """Follow what nobody follows any more, of `ids` alone where those are given.

        What was `left_running` on purpose is followed too.

        Raises:
            StoreError: the store cannot be read or written.
        """
        found = [each for each in await rows.live_batches(self._store) if self._reaches(each)]
        holders = await leases.find_holders(self._store, [each.owner for each in found])
        adopted: list[Batch] = []
        for batch in found:
            holder = holders.get(batch.owner)
            if batch.owner == self.holder or (holder is not None and holder.alive):
                continue
            if (ids is not None and batch.id not in ids) or not (batch.owner or left_running):
                continue
            await self._register()
            if taken := await rows.take_over(self._store, batch, self.holder):
                self._owned_before[batch.id] = batch.owner
                # The time limit was that of who sent it; whoever waits for it now has another.
                taken = replace(taken, deadline=math.inf)
                beat = holder.beat if holder is not None else 0.0
                # Of what is known by its name it does not matter any more.
                self._follower.follow(taken, quiet_since=max(batch.created, batch.submitted, beat))
                adopted.append(taken)
        if adopted:
            await leases.forget_dead_owners(self._store)
        return adopted

    def _reaches(self, batch: Batch) -> bool:
        return batch.endpoint == self.api.endpoint

    def cancel(self, cause: CancelCause, ids: Sequence[str] | None = None) -> None:
        """Have batches end, or all of them, those to come included; noted before this returns."""
        every = [batch.id for batch in self.live]
        if ids is None:
            self._ending = cause
        self._follower.want_cancel(every if ids is None else ids, cause)

    async def until_none(self, ids: Sequence[str] | None = None) -> None:
        """Return once none of these batches, or none at all, is held any more."""
        await self._follower.until_none(ids)

    async def wind_up(self, skip: asyncio.Event) -> None:
        """Wait until every batch has ended and is home, for a bounded time, or until `skip`."""
        await self._bounded(self._until_over(), skip)

    async def until_home(self, skip: asyncio.Event) -> None:
        """Wait until it is known which batches have ended, and those are home; as bounded."""
        await self._bounded(self._follower.until_home(), skip)

    async def until_sent(self, skip: asyncio.Event) -> None:
        """Wait until what is being sent is known to be accepted, as bounded as `wind_up`."""
        await self._bounded(self._until_sent(), skip)

    async def _bounded(self, end: Coroutine[None, None, None], skip: asyncio.Event) -> None:
        ended = asyncio.ensure_future(end)
        skipped = asyncio.ensure_future(skip.wait())
        try:
            await asyncio.wait(
                (ended, skipped),
                timeout=self.pace.end,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            for task in (ended, skipped, *self._sends):
                task.cancel()
            await asyncio.gather(ended, skipped, *self._sends, return_exceptions=True)

    async def _until_sent(self) -> None:
        while self._sends:
            await asyncio.wait(set(self._sends))

    async def _until_over(self) -> None:
        await self._until_sent()
        await self.until_none()

    async def leave(self, *, give_back: bool = False) -> None:
        """Let go of what is still held: what is not to be cancelled runs on, and is anybody's.

        What is to be cancelled stays in the ledger under this process, which is dead then. With
        `give_back` what was adopted is left as it was: one that a dead process left is no other
        for having been watched.
        """
        if not self._registered:
            return
        with contextlib.suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                for batch in self.live:
                    if batch.cancel:
                        await rows.want_cancel(self._store, batch.id, batch.cancel)
                for id, owner in self._owned_before.items() if give_back else ():
                    await rows.give_back(self._store, id, self.holder, owner)
                await rows.leave_running(self._store, self.holder)
                await rows.forget_over(self._store, self.holder)
                await rows.forget_over(self._store)
                if not await self._holds_any():
                    await leases.forget(self._store, self.holder)

    async def _holds_any(self) -> bool:
        return any(each.owner == self.holder for each in await rows.live_batches(self._store))

    async def _register(self) -> None:
        if not self._registered:
            await leases.register(self._store, self.holder, self._doing)
            self._registered = True

    async def _beat(self) -> None:
        beaten = time.monotonic()
        while True:
            # The loop's own clock may be another one.
            await asyncio.sleep(max(0.0, beaten + BEAT_SECONDS - time.monotonic()))
            beaten = time.monotonic()
            if self._registered:
                with contextlib.suppress(StoreWriteError):
                    if not await leases.beat(self._store, self.holder):
                        await leases.register(self._store, self.holder, self._doing)
