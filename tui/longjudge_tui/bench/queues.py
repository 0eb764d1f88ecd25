"""The provider's batches of this app: a queue for each judge that needs one, opened when it does.

The queues outlive every judgment and every screen: a batch whose session was left is followed on,
and its verdicts are kept as they come.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from longjudge.batches.queue import BatchQueue
from longjudge.batches.sweeping import sweep_batches
from longjudge.errors import LongjudgeError
from longjudge.judges.offline import OfflineJudge
from longjudge.judges.offline_batches import OfflineBatches
from longjudge.prices import OFFLINE_MODEL
from longjudge.store import batches as rows
from longjudge.store import leases
from longjudge.store.batch_rows import CancelCause
from longjudge_tui.bench import batch_words
from longjudge_tui.bench.batch_words import named, questions_words, what_became
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from longjudge.batch_pace import Pace
    from longjudge.batches.following import BatchNews
    from longjudge.config import Configuration
    from longjudge.judges.base import Judge
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch
    from longjudge_tui.bench.event_log import EventLog

CLOSE_SECONDS: Final = 1.0


@dataclass(slots=True, eq=False)
class _Open:
    """A queue with the task that is at work on it until `over`."""

    judge: Judge
    queue: BatchQueue
    task: asyncio.Task[None]
    over: asyncio.Event


@dataclass(slots=True)
class _Noted:
    """What was said of a batch last, and how many of its questions came to which outcome."""

    words: str = ""
    outcomes: Counter[str] = field(default_factory=Counter[str])


class Queues:
    """Batches of one store. `notice` is told what a person has to know, the `log` all of it.

    `shown` says of our id of a batch whether a judgment that is in sight tells what becomes of it.
    `news` counts how often something was heard.
    """

    def __init__(
        self, store: Store, pace: Pace, notice: Callable[[str], None], log: EventLog
    ) -> None:
        self.shown: Callable[[str], bool] = lambda _: False
        self.news = 0
        self.ending = False
        self._store = store
        self._pace = pace
        self._notice = notice
        self._log = log
        self._open: list[_Open] = []
        self._noted: dict[str, _Noted] = {}
        self._skip = asyncio.Event()

    @property
    def live(self) -> list[Batch]:
        """The batches that this app follows, those that it is sending included."""
        return [batch for each in self._open for batch in each.queue.batching.live]

    @property
    def end_seconds(self) -> float:
        """How long is waited at most for cancelled batches to end."""
        return self._pace.end

    def find(self, id: str) -> Batch | None:
        """The batch with an id of ours that this app follows."""
        return next((batch for batch in self.live if batch.id == id), None)

    def of(self, judge: Judge, profile: str = "") -> BatchQueue:
        """The queue behind a judge, at work from the first call on; connects to nothing."""
        for each in self._open:
            if each.judge is judge:
                return each.queue
        api = _offline(judge)
        queue, over = BatchQueue(self._store, judge, self._pace, profile, api), asyncio.Event()
        queue.hear(self._hear)
        task = asyncio.create_task(_work(queue, over))
        self._open.append(_Open(judge, queue, task, over))
        if self.ending:
            queue.batching.cancel(CancelCause.CANCEL)
        return queue

    async def adopt(self, judge: Judge, ids: Collection[str], profile: str = "") -> list[Batch]:
        """Follow some of them, where nobody does.

        Raises:
            LongjudgeError: there is no credential, or the store cannot be read or written.
        """
        queue = self.of(judge, profile)
        await queue.batching.api.prepare()
        return await queue.batching.adopt(ids)

    async def finish(self, config: Configuration) -> None:
        """Finish what others have left wherever it was sent, and what has ended, gently."""
        swept = await sweep_batches(self._store, config, gentle=True)
        for words in swept.left:
            self._log.add(LogKind.HOLD, words)
        if swept.released:
            self.news += 1
            several = plural(len(swept.released), "batch", "batches")
            self._notice(f"finished {several} that others had left: what was answered is kept")

    async def take_up(self, judge: Judge, profile: str = "", *, asked: bool = False) -> None:
        """Follow what nobody follows any more of a judge's endpoint.

        Whoever `asked` for it is told why it cannot be.
        """
        try:
            found = await self._nobodys(judge.endpoint)
            if not found:
                return
            taken = await self.adopt(judge, [each.id for each in found], profile)
        except LongjudgeError as error:
            # They wait where they are; whoever has a key later on takes them up.
            said = f"batches are left where they are: {error}"
            self._log.add(LogKind.HOLD, said)
            if asked:
                self._notice(line(said, 400))
            return
        for batch in taken:
            self._log.add(LogKind.HOLD, f"{named(batch)} taken up: {questions_words(batch)}")
        if taken:
            several = plural(len(taken), "batch", "batches")
            count = plural(sum(each.count for each in taken), "question")
            comes = "followed from now on, verdicts come in by themselves"
            self._notice(f"{several} of before taken up ({count}): {comes}")

    async def _nobodys(self, endpoint: str) -> list[Batch]:
        found = [b for b in await rows.live_batches(self._store) if b.endpoint == endpoint]
        owners = await leases.find_holders(self._store, [each.owner for each in found])
        followed = {each.id for each in self.live}
        return [
            each
            for each in found
            if each.id not in followed
            and not ((owner := owners.get(each.owner)) is not None and owner.alive)
        ]

    def cancel(self, ids: Collection[str] | None = None) -> None:
        """Have batches end, or all of them; noted in the store before this returns.

        After all of them none is begun any more that would not be cancelled at once.
        """
        if ids is None:
            self.ending = True
        for each in self._open:
            each.queue.batching.cancel(CancelCause.CANCEL, None if ids is None else list(ids))

    def skip(self) -> None:
        """Wait for none of them to end any more."""
        self._skip.set()

    async def wind_up(self) -> None:
        """Wait for what is cancelled to end, else for what is being sent; bounded, until `skip`."""
        batching = [each.queue.batching for each in self._open]
        if self.ending:
            await asyncio.gather(*(each.wind_up(self._skip) for each in batching))
        else:
            await asyncio.gather(*(each.until_sent(self._skip) for each in batching))

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        for each in self._open:
            if each.task.done() and not each.task.cancelled():
                each.task.result()

    async def aclose(self) -> None:
        """Let go of what is still out, which is anybody's then, for a bounded time."""
        await asyncio.gather(*(each.queue.batching.leave() for each in self._open))
        for each in self._open:
            each.over.set()
        if tasks := {each.task for each in self._open}:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=CLOSE_SECONDS)

    def _hear(self, news: BatchNews) -> None:
        self.news += 1
        batch = news.batch
        noted = self._noted.setdefault(batch.id, _Noted())
        noted.outcomes += Counter(each.reason for each in news.outcomes)
        words = what_became(batch, noted.outcomes)
        if words and words != noted.words:
            noted.words = words
            self._log.add(LogKind.HOLD, f"{named(batch)} {words}")
            if not (batch.state.live or self.shown(batch.id)):
                self._notice(f"{named(batch)} {words}")


async def _work(queue: BatchQueue, over: asyncio.Event) -> None:
    async with queue.batching.at_work():
        await over.wait()


def _offline(judge: Judge) -> OfflineBatches | None:
    """The queue of the offline rules, which takes long enough to be watched."""
    if judge.model != OFFLINE_MODEL:
        return None
    # How long live answers are made to take is not to be added to that.
    plain = OfflineJudge() if type(judge) is OfflineJudge else judge
    return OfflineBatches(plain, batch_words.OFFLINE_SECONDS)
