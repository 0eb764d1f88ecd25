"""Finishes the batches that nobody follows any more, each where it was sent.

What was left running on purpose is brought home once it has ended, and never cancelled. One that
nobody knows to be accepted is only looked for: what may be it may also be somebody else's.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from longjudge.batches.batching import Batching
from longjudge.batches.finding import Finder
from longjudge.errors import LongjudgeError, StoreError
from longjudge.holds import HoldState, batch_hold
from longjudge.judges.batch_api import BatchError, RemoteStatus, Trouble
from longjudge.judges.make import batch_api, make_judge, missing_credential
from longjudge.store import batches as rows
from longjudge.store import leases
from longjudge.store.batch_rows import BatchState, CancelCause
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.batch_pace import Pace
    from longjudge.batches.following import BatchNews
    from longjudge.config import Configuration
    from longjudge.holds import Hold
    from longjudge.judges.batch_api import BatchApi
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch

GENTLE_SECONDS: Final = 3.0
"""How long a start may be held up by what others have left."""


@dataclass(frozen=True, slots=True)
class SweptBatches:
    """What was finished, and a line for each batch that was left: which, and why."""

    released: tuple[Hold, ...] = ()
    left: tuple[str, ...] = ()


async def sweep_batches(store: Store, config: Configuration, *, gentle: bool) -> SweptBatches:
    """Finish what dead owners left: it is cancelled, followed for a bounded time, brought home.

    `gentle` cancels only what was to be cancelled, brings home what has ended, and takes
    `GENTLE_SECONDS` at most. Nobody is called where nothing was left.

    Raises:
        StoreError: the store cannot be read.
    """
    left = await _left(store)
    if not left:
        return SweptBatches()
    pace = config.batches.to_pace()
    if not gentle:
        # Whoever sweeps has decided.
        pace = replace(pace, unknown_for=pace.hidden_for)
    sweep = _Sweep(store, config, pace, gentle)
    limit = GENTLE_SECONDS if gentle else None
    groups: dict[tuple[str, str], list[_Left]] = {}
    for each in left:
        name = each.batch.profile if each.batch.profile in config.profiles else each.batch.model
        groups.setdefault((each.batch.endpoint, name), []).append(each)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit):
            for (endpoint, name), group in groups.items():
                await sweep.group(endpoint, name, group)
    return SweptBatches(tuple(sweep.released), tuple(sweep.lines))


@dataclass(frozen=True, slots=True)
class _Left:
    """A batch that nobody follows; `heard` is when who sent it was last heard of."""

    batch: Batch
    holder: leases.Holder | None
    heard: float


async def _left(store: Store) -> list[_Left]:
    live = await rows.live_batches(store)
    holders = await leases.find_holders(store, [batch.owner for batch in live])
    found: list[_Left] = []
    for batch in live:
        holder = holders.get(batch.owner)
        if holder is None or not holder.alive:
            beat = holder.beat if holder is not None else 0.0
            found.append(_Left(batch, holder, max(batch.created, batch.submitted, beat)))
    return found


@dataclass(slots=True)
class _Sweep:
    store: Store
    config: Configuration
    pace: Pace
    gentle: bool
    released: list[Hold] = field(default_factory=list["Hold"])
    lines: list[str] = field(default_factory=list[str])

    async def group(self, endpoint: str, name: str, group: Sequence[_Left]) -> None:
        """Finish the batches of one endpoint, with the credential that `name` is reached by."""
        try:
            judge = make_judge(name, self.config)
        except LongjudgeError as error:
            self._leave(group, str(error))
            return
        try:
            if judge.endpoint != endpoint:
                self._leave(group, _elsewhere(group[0].batch, name, judge.endpoint))
            elif missing := missing_credential(name, self.config):
                self._leave(group, f"{missing}, so the provider cannot be asked about it")
            else:
                api = batch_api(judge)
                await api.prepare()
                await self._finish(api, group)
        except LongjudgeError as error:
            self._leave(group, str(error))
        finally:
            await judge.aclose()

    async def _finish(self, api: BatchApi, group: Sequence[_Left]) -> None:
        finder = Finder(self.store, api, self.pace)
        follow: list[_Left] = []
        for each in group:
            try:
                if await self._is_to_be_followed(api, finder, each):
                    follow.append(each)
            except BatchError as error:
                self._leave([each], error.message)
        if follow:
            await self._follow(api, follow)

    async def _is_to_be_followed(self, api: BatchApi, finder: Finder, each: _Left) -> bool:
        """Whether something is to be done about a batch, or with its results."""
        batch = each.batch
        if batch.state is BatchState.INTENT:
            found = await finder.find(batch, time.time() - each.heard)
            if found.state is BatchState.LOST:
                self._release(each, found)
            elif found.state is BatchState.INTENT:
                self._leave([each], found.problem)
            return found.state is BatchState.SUBMITTED
        if batch.cancel or batch.state is BatchState.ENDED or self._cancels(batch):
            return True
        try:
            remote = await api.retrieve(batch.provider_id)
        except BatchError as error:
            if error.trouble is not Trouble.GONE:
                raise
            # The one that follows it knows how long a batch may be unknown.
            return True
        if remote.status is RemoteStatus.ENDED:
            return True
        self._leave([each], "it has not ended, and was left running")
        return False

    def _cancels(self, batch: Batch) -> bool:
        return bool(batch.owner) and not self.gentle

    async def _follow(self, api: BatchApi, group: Sequence[_Left]) -> None:
        """Have batches end and bring them home, for a bounded time."""
        last: dict[str, Batch] = {}

        def told(news: BatchNews) -> None:
            last[news.batch.id] = news.batch

        batching = Batching(self.store, api, self.pace, told, "sweeping batches")
        ids = {each.batch.id for each in group}
        async with batching.at_work():
            try:
                adopted = {batch.id for batch in await batching.adopt(ids)}
                abandoned = [each.batch.id for each in group if self._cancels(each.batch)]
                batching.cancel(CancelCause.CANCEL, abandoned)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.pace.end):
                        await batching.until_none(sorted(adopted))
            finally:
                held = {batch.id: batch for batch in batching.live}
                await batching.leave()
                # Nobody follows what is left, though this process may live on.
                with contextlib.suppress(StoreError):
                    await leases.forget(self.store, batching.holder)
        for each in group:
            id = each.batch.id
            if id in held:
                batch = held[id]
                state = "its cancel is sent" if batch.cancel_sent else batch.problem
                self._leave([replace(each, batch=batch)], f"it has not ended yet; {state}")
            elif id in last:
                self._release(each, last[id])

    def _release(self, each: _Left, batch: Batch) -> None:
        hold = batch_hold(replace(batch, owner=each.batch.owner), each.holder, time.time())
        self.released.append(replace(hold, state=HoldState.RELEASED))

    def _leave(self, group: Sequence[_Left], why: str) -> None:
        for each in group:
            name = clean_line(each.batch.provider_id or each.batch.id, 80)
            self.lines.append(f"batch {name} is left: {why}")


def _elsewhere(batch: Batch, name: str, endpoint: str) -> str:
    """Why a batch cannot be reached, and how it can."""
    where, here = clean_line(batch.endpoint, 200), clean_line(endpoint, 200)
    way = f"profile {clean_line(batch.profile, 80)}" if batch.profile else "ANTHROPIC_BASE_URL"
    return f"it is at {where}, and {clean_line(name, 80)} is reached at {here}; mend {way}"
