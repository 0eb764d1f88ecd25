"""Runs of the bench in the provider's batches: sent whole, moved there and back, and let go of."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.batch_pace import DAY
from longjudge.errors import StoreError
from longjudge.store.batches import live_batches
from longjudge_tui.bench.batch_words import half_price, how_long, out_words
from longjudge_tui.bench.on_the_way import OnTheWay
from longjudge_tui.bench.run_words import all_kept_words, nothing_queued_words
from longjudge_tui.bench.trials import Trials, Wanted
from longjudge_tui.chores import Chores
from longjudge_tui.commands import command
from longjudge_tui.wording import line, live_prices, plural, price_range

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.batches.queue import BatchQueue
    from longjudge.config import Configuration
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.queues import Queues
    from longjudge_tui.bench.run import Run
    from longjudge_tui.bench.tuning import Tuning

_NO_LIMIT = "; it may take the provider's day, whatever limit is set for live questions."

CLOSE_SECONDS = 4.0
CUT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class BatchOffer:
    """What can be done about batches now: a title and a question to agree to, in safe words."""

    title: str
    question: str
    take: Callable[[], None]


class Sending(Trials):
    """The part of the bench that has to do with batches."""

    config: Configuration
    tuning: Tuning

    def __init__(self) -> None:
        super().__init__()
        self._queues: Queues | None = None
        self._chores = Chores()
        self._on_the_way: OnTheWay | None = None
        self._news = 0
        self._let_go_of: Run | None = None

    @property
    def missing_key(self) -> str:
        """What is missing to ask the model; empty where nothing is."""
        raise NotImplementedError

    @property
    def queues(self) -> Queues:
        """The batches of this app."""
        if self._queues is None:
            # Most of what follows batches is loaded when there is one, or may be.
            from longjudge_tui.bench.queues import Queues

            pace = self.config.batches.to_pace()
            self._queues = Queues(self.store, pace, self.notices.append, self.log)
            self._queues.shown = self._tells_of
        return self._queues

    def follow_store(self, *, soon: bool = False) -> None:
        """As before; what batches have brought, and which chunks are in one, is taken in, too."""
        queues = self._queues
        if queues is not None and queues.news != self._news and not self.running:
            self._news = queues.news
            self._stock.look_soon(at_all=True)
        if self.outlook is not None:
            if self._on_the_way is None:
                self._on_the_way = OnTheWay(self.store, self._show_waiting)
            self._on_the_way.follow(self.outlook.keys)
        super().follow_store(soon=soon)

    def _show_waiting(self) -> None:
        if self.run is None:
            self.generation += 1

    def in_batch_of(self, position: int) -> str:
        """Which batch a chunk is in that no judgment here waits for; empty where it is in none."""
        way, outlook = self._on_the_way, self.outlook
        if way is None or not way.who or outlook is None:
            return ""
        return way.who.get(outlook.keys[position], "")

    @property
    def waits_for(self) -> tuple[int, str]:
        """How many chunks of the plan are in such batches, and which these are."""
        way, outlook = self._on_the_way, self.outlook
        if way is None or not way.who or outlook is None:
            return 0, ""
        kept, who = self._stock.keys, way.who
        found = [key for key in dict.fromkeys(outlook.keys) if key in who and key not in kept]
        return len(found), ", ".join(dict.fromkeys(who[key] for key in found))

    @property
    def asked_in_batches(self) -> int:
        """How many of the plan's questions are in a batch already, whoever waits for it."""
        run = self.run if self._judging else None
        return run.in_batch if run is not None else self.waits_for[0]

    def start(self, time_limit: float | None = None) -> None:
        """As before; where all there is to ask is in a batch already nothing is begun.

        A run waits for what is in one, so what nobody follows of it is followed from now on.
        """
        if not self.running:
            if which := self._all_out:
                self._follow_all_out(which)
                return
            if self.waits_for[0]:
                self.take_up_batches(asked=True)
        super().start(time_limit)

    @property
    def _all_out(self) -> str:
        """In which batches all there is to ask is already; empty where that is not so."""
        waiting, which = self.waits_for
        to_ask = self.outlook.totals.to_ask if self.outlook is not None else 0
        return which if waiting and waiting >= to_ask else ""

    def _follow_all_out(self, which: str) -> None:
        """Say that nothing is left to ask; what nobody follows of it is followed from now on."""
        self.notices.append(f"all of it is in a batch already: {which}")
        self.take_up_batches(asked=True)

    @property
    def batches_out(self) -> int:
        """How many batches this app has at a provider, or is sending."""
        return len(self._queues.live) if self._queues is not None else 0

    def take_up_batches(self, *, asked: bool = False) -> None:
        """Follow, or finish, what other processes have left, in the background.

        Whoever `asked` for what is in them is told where they cannot be followed.
        """
        self._chores.start(self._take_up(asked=asked))

    async def _take_up(self, *, asked: bool) -> None:
        with contextlib.suppress(StoreError):
            if await live_batches(self.store):
                await self.queues.take_up(self.judge, self._profile, asked=asked)
                await self.queues.finish(self.config)

    @property
    def _profile(self) -> str:
        name = self.tuning.model_name
        return name if name in self.config.profiles else ""

    def _tells_of(self, id: str) -> bool:
        run = self.run
        return run is not None and self._judging and run.sent_batch(id)

    def _queue_of_run(self) -> BatchQueue | None:
        if self.forcing.fault is not None or self.store.write_error is not None:
            return None
        return self.queues.of(self.judge, self._profile)

    def offer_batch(self) -> BatchOffer | None:
        """What can be put into a batch now, or be taken out of one; None, and said why, if nothing.

        Before a run all of it, during one its rest; while a batch is out, what that leaves.
        """
        run = self.run
        if self.loading is not None or self.session is None or self.outlook is None:
            self.notices.append("the session is still being read")
        elif self.stopping or (self._next is not None and self._next.only is not None):
            which = "ending" if self.stopping else "about to begin"
            self.notices.append(f"the judgment is {which}: {command('batch').shown} a moment later")
        elif run is not None and self._judging:
            return self._offer_back(run) if run.in_batch else self._offer_rest(run, self.outlook)
        elif which := self._all_out:
            self._follow_all_out(which)
        elif why_not := self._no_batch(self.outlook):
            self.notices.append(why_not)
        else:
            return self._offer_all(self.outlook)
        return None

    def _no_batch(self, outlook: Outlook) -> str:
        """Why nothing can go into a batch; empty where it can."""
        if self.forcing.fault is not None:
            return "forced failures are of live questions: turn them off (F), or ask live (r)"
        if error := self.store_error:
            return f"a batch needs a store that can be written: {line(error, 200)}"
        if not self.applies:
            return "the rubric does not apply: nothing is asked"
        if not outlook.totals.to_ask:
            return all_kept_words(outlook.totals.chunks)
        if self.missing_key:
            return f"nobody can be asked: {line(self.missing_key, 100)}"
        return self.refusal()

    @property
    def store_error(self) -> str | None:
        """Why nothing is kept."""
        raise NotImplementedError

    def _offer_all(self, outlook: Outlook) -> BatchOffer:
        count = outlook.totals.to_ask - self.waits_for[0]
        price, live = _prices(outlook, count)
        question = (
            f"{plural(count, 'question')} to {line(self.judge.label, 60)}\n"
            f"as a batch: {price}\n{how_long(self.judge)}\n"
            f"live it would be {live}. The verdicts come together, when the batch has ended"
            f"{_NO_LIMIT if self.judge.judges_meaning else '.'}"
        )
        return BatchOffer("Judge as a batch?", question, lambda: self._begin_batch(outlook))

    def _begin_batch(self, outlook: Outlook) -> None:
        if self.outlook is None or self.outlook.keys is not outlook.keys:
            self.notices.append("the plan is another one by now; nothing is sent")
            return
        if self._judging and self.run is not None:
            # One that was about to begin when this was asked.
            self._move(self.run)
            return
        self._begin(Wanted(replace(self.settings, time_limit=DAY), as_batch=True))

    def _offer_rest(self, run: Run, outlook: Outlook) -> BatchOffer | None:
        if self.forcing.fault is not None or run.forced or self.store_error:
            self.notices.append(self._no_batch(outlook) or "a run with forced failures stays live")
            return None
        count = run.unasked
        if not count:
            self.notices.append(nothing_queued_words(run))
            return None
        price, live = _prices(outlook, count)
        question = (
            f"{plural(count, 'question')} of this run not asked yet, to"
            f" {line(self.judge.label, 60)}\n"
            f"as a batch: {price}\n{how_long(self.judge)}\n"
            f"live they would be {live}. What is being asked now stays live."
        )
        return BatchOffer("Move the rest into a batch?", question, lambda: self._move(run))

    def _move(self, run: Run) -> None:
        if self.run is not run or not run.move_to_batch():
            self.notices.append("nothing is left to move: the rest is asked or judged by now")

    def _offer_back(self, run: Run) -> BatchOffer:
        count = run.in_batch
        cost = run.live_price(count)
        price, _ = price_range(cost, cost, cost)
        question = (
            f"{out_words(count, run.batches, run.sent_since)}\n"
            f"The batch is cancelled at the provider. What it has answered by then is paid at half"
            f" the price and kept; the rest is asked live: {price} at most."
        )
        return BatchOffer("Ask the batch's rest live?", question, lambda: self._move_back(run))

    def _move_back(self, run: Run) -> None:
        if self.run is not run or not run.move_to_live():
            self.notices.append("no batch is out any more, or it is being cancelled already")

    def may_leave(self) -> bool:
        """Whether the session can be left although a judgment is in flight, which is ended then.

        That is so where all that is open is in batches: these run on, and are followed on.
        """
        run = self.run
        if run is None or not self.rests_in_batch:
            return False
        count = run.in_batch
        self._let_go_of = run
        run.cancel(keep_batches=True)
        said = "its verdicts are kept as they come, and shown when you come back"
        self.notices.append(f"{plural(count, 'chunk')} stay in the batch: {said}")
        return True

    @property
    def rests_in_batch(self) -> bool:
        """Whether the judgment in flight waits for batches, and for nothing else."""
        return self._judging and self.run is not None and self.run.rests_in_batch

    async def let_go(self) -> None:
        """Wait for the end of a judgment whose session is left."""
        if self._let_go_of is not None and self._run_task is not None:
            await asyncio.wait({self._run_task})
        self._let_go_of = None

    def cancel_out(self) -> None:
        """Have every batch that is out cancelled, and the judgment in flight with them."""
        if self._queues is not None:
            self._queues.cancel([each.id for each in self._queues.live])
        if self._judging and self.run is not None and not self.run.stopping:
            self.run.cancel()

    def cancel_for_good(self) -> None:
        """Have every batch of this app cancelled, those to come too; noted before this returns."""
        if self._queues is not None:
            self._queues.cancel()
        if self._judging and self.run is not None and not self.run.stopping:
            self.run.cancel()

    def _stop_judging(self) -> set[asyncio.Task[None]]:
        self._next = None
        if self._judging and self.run is not None and not self.run.stopping:
            self.run.cancel(keep_batches=self._queues is None or not self._queues.ending)
        tasks = self.editing.stop()
        return tasks if self._run_task is None else tasks | {self._run_task}

    def skip_batches(self) -> None:
        """Wait for no batch to end."""
        if self._queues is not None:
            self._queues.skip()

    @property
    def waited_for(self) -> str:
        """What the end of the app waits for, in words; empty where that is nothing."""
        if self._queues is None or not self._queues.ending or not self._queues.live:
            return ""
        out, seconds = self.batches_out, self._queues.end_seconds
        return f"{plural(out, 'batch', 'batches')} to be cancelled, for {seconds:.0f} s at most"

    async def _end_judging(self, *others: asyncio.Task[None] | None) -> None:
        """End every judgment, and the tasks that others are, for a bounded time."""
        tasks = self._stop_judging()
        if self._queues is not None:
            await self._queues.wind_up()
        if self._judging and self.run is not None:
            # It waits for none of its batches any more.
            self.run.cancel()
        for task in others:
            if task is not None:
                task.cancel()
                tasks.add(task)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=CUT_SECONDS)

    async def _close_batches(self) -> None:
        await self._chores.end()
        if self._on_the_way is not None:
            await self._on_the_way.aclose()
        if self._queues is not None:
            await self._queues.aclose()

    def _raise_batch_failure(self) -> None:
        self._chores.raise_failure()
        if self._on_the_way is not None:
            self._on_the_way.raise_failure()
        if self._queues is not None:
            self._queues.raise_failure()


def _prices(outlook: Outlook, count: int) -> tuple[str, str]:
    """What so many of a plan's questions cost as a batch, and live."""
    return half_price(*live_prices(outlook.totals, count))
