"""The judgments of the bench: one at a time, in a task that outlives every screen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.text import clean_line
from longjudge_tui.bench.batch_words import live_instead
from longjudge_tui.bench.event_log import EventLog
from longjudge_tui.bench.forcing import Forcing
from longjudge_tui.bench.foresight import Foresight
from longjudge_tui.bench.live import in_the_app
from longjudge_tui.bench.run import Run
from longjudge_tui.bench.run_ends import in_vain_words, no_timeout_words
from longjudge_tui.bench.run_words import all_kept_words
from longjudge_tui.commands import command
from longjudge_tui.wording import fault, price_range

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.batches.queue import BatchQueue
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge_tui.bench.editing import Editing
    from longjudge_tui.bench.going_on import Hint
    from longjudge_tui.bench.holding import Holding
    from longjudge_tui.bench.opening import Loading
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.owing import Owing
    from longjudge_tui.bench.records import Records

LIVE_TOTALS = 2_000
"""Up to this many chunks the price is summed up anew during a run; that of others is scaled."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A judgment that is to begin.

    `only` are the chunks it asks about, also where they have a verdict if it is `fresh`; `before`
    has the other records, which it takes over. One that is `short` has a limit that is to cut it
    off. One that goes `as_batch` asks nothing live.
    """

    settings: Settings
    only: frozenset[int] | None = None
    before: Records | None = None
    fresh: bool = False
    short: bool = False
    as_batch: bool = False


@dataclass(frozen=True, slots=True)
class Anew:
    """A judged chunk that may be asked about once more; `question` is what to agree to first.

    No second press of the same key is an agreement: a key that is held down repeats itself.
    """

    position: int
    key: str
    question: str


class Trials(Foresight):
    """The part of the bench that judges; what it judges, and by what, is the bench's own.

    `refusal` says why no judgment may begin now, and nothing where one may. `remark` is what there
    is to say about the last run beside its result, for as long as the result stands; a `hint` about
    an older judgment may be in it. Where it is how one was `cut_off`, what is left is said with it.
    """

    session: Session | None
    store: Store
    notices: list[str]
    problem: str
    generation: int

    def __init__(self) -> None:
        super().__init__()
        self.run: Run | None = None
        self.remark = ""
        self.cut_off = ""
        self.hint: Hint | None = None
        self.refusal: Callable[[], str] = lambda: ""
        self.forcing = Forcing()
        self.log = EventLog()
        self._run_task: asyncio.Task[None] | None = None
        self._next: Wanted | None = None
        self._judging = False

    @property
    def loading(self) -> Loading | None:
        """The session on its way in."""
        raise NotImplementedError

    @property
    def rubric(self) -> Rubric:
        """What is judged by."""
        raise NotImplementedError

    @property
    def records(self) -> Records | None:
        """What is known about the chunks."""
        raise NotImplementedError

    def is_kept(self, position: int) -> bool:
        """Whether the store holds the verdict of a chunk of the plan."""
        raise NotImplementedError

    def _say(self, problem: str) -> None:
        """A problem that stays on the screen."""
        raise NotImplementedError

    def _begin_preview(self) -> None:
        """Show what is kept."""
        raise NotImplementedError

    def _count_no_more(self) -> None:
        """Count no secrets any more: a judgment reads the same texts."""
        raise NotImplementedError

    def _queue_of_run(self) -> BatchQueue | None:
        """The queue that a run can be moved into; None where it cannot."""
        raise NotImplementedError

    def _look_for_key(self) -> None:
        """Find out again whether the model can be asked."""
        raise NotImplementedError

    @property
    def holding(self) -> Holding:
        """What is held outside."""
        return self._stock.holding

    @property
    def owing(self) -> Owing:
        """What the store did not take yet."""
        return self._stock.owing

    def follow_store(self, *, soon: bool = False) -> None:
        """Take in what becomes of the store; called several times a second, `soon` to look now."""
        if soon:
            self._stock.look_soon()
        busy = self.running or bool(self.refusal())
        if self._stock.follow(busy=busy) and self.run is not None:
            self.run.look_at_store()

    @property
    def editing(self) -> Editing:
        """The rubric that is being edited, and the chunk that it is tried on."""
        return self._stock.editing

    @property
    def running(self) -> bool:
        """Whether a judgment is in flight or about to be, its end included."""
        return self._judging or self._next is not None

    @property
    def stopping(self) -> bool:
        """Whether the judgment in flight is on its way to an end."""
        return self._judging and self.run is not None and self.run.stopping

    @property
    def paused(self) -> bool:
        """Whether the judgment in flight asks nothing until somebody lets it go on."""
        return self._judging and self.run is not None and self.run.paused

    @property
    def resting(self) -> bool:
        """Whether it pauses, and nothing is on its way any more."""
        return self.paused and self.run is not None and self.run.resting

    def pause_or_go_on(self) -> None:
        """Let the judgment in flight ask nothing more for a while; again: let it go on."""
        run = self.run
        if not self._judging or run is None:
            self.notices.append(self.refusal() or "nothing is being judged")
        elif not (run.go_on() or run.pause()):
            self.notices.append("the judgment is ending, it cannot pause any more")

    def start(self, time_limit: float | None = None) -> None:
        """Begin a judgment, or let one that pauses go on; one that is stopping is awaited first."""
        if time_limit is None and self.paused:
            self.pause_or_go_on()
            return
        if self.loading is not None or self.session is None or self.outlook is None:
            self.notices.append("the session is still being read")
            return
        if self._next is not None or (self._judging and not self.stopping):
            self.notices.append("a judgment is in flight already")
            return
        if self._judging:
            self.notices.append("runs when the one that is stopping has ended")
        elif self.applies and not self.outlook.totals.to_ask:
            nothing = "every chunk is kept, so nothing is asked"
            forced = self.forcing.fault is not None
            if time_limit is not None or forced:
                what = "fail" if forced else "time out"
                sizes = " ".join(command(each).bar_key for each in ("smaller", "larger"))
                another = f"another chunk size ({sizes}) asks anew"
                self._remark(f"{nothing} and nothing can {what}: {another}")
                return
            self.notices.append(all_kept_words(self.outlook.totals.chunks))
        limit = self.settings.time_limit if time_limit is None else time_limit
        settings = replace(self.settings, time_limit=limit)
        self._begin(Wanted(settings, short=time_limit is not None))

    def ask_again(self, position: int) -> Anew | None:
        """Ask about one chunk again: a gap at once, a judged one once that is agreed to."""
        run, part, outlook = self.run, position + 1, self.outlook
        if self.loading is not None or outlook is None or position >= len(outlook.plan):
            self.notices.append("the session is still being read")
        elif run is not None and run.is_gap(position):
            if not self.running:
                self._begin(Wanted(self.settings, frozenset({position}), run))
            elif self.stopping or not run.ask_again(part):
                self.notices.append(f"part {part} can be asked again when the judgment has ended")
        elif not self._is_judged(position):
            runs = f"{command('run').shown} asks about it"
            asked = "it is being asked" if self.running else f"it has no verdict either: {runs}"
            self.notices.append(f"part {part} is no gap; {asked}")
        elif self.running:
            self.notices.append(
                f"part {part} is judged; it can be asked anew when the judgment has ended"
            )
        else:
            return self._anew(position, outlook)
        return None

    def _is_judged(self, position: int) -> bool:
        record = self.records.record(position) if self.records is not None else None
        return (record is not None and record.kept is not None) or self.is_kept(position)

    def _anew(self, position: int, outlook: Outlook) -> Anew:
        """What to agree to before another verdict is paid for."""
        cost = outlook.estimator.cost(outlook.tokens(position))
        price, _ = price_range(cost, cost, cost)
        question = (
            f"part {position + 1} is judged already: ask it anew?\n"
            f"{price} · model {clean_line(self.judge.model, 60)}\n"
            "The newest answer counts, the others stay as history."
        )
        return Anew(position, outlook.keys[position], question)

    def ask_anew(self, anew: Anew) -> None:
        """Ask about a judged chunk once more, where it is still the one that was agreed to."""
        position, outlook = anew.position, self.outlook
        keys = outlook.keys if outlook is not None else ()
        if self.running or position >= len(keys) or keys[position] != anew.key:
            self.notices.append(f"part {position + 1} is another one by now; nothing is asked")
            return
        self._begin(Wanted(self.settings, frozenset({position}), self.records, fresh=True))

    def _begin(self, wanted: Wanted) -> None:
        if why_not := self.refusal():
            self.notices.append(why_not)
            return
        self._next = wanted
        self._look_for_key()
        self._stock.marking.read_again()
        if self._run_task is None or self._run_task.done():
            self._run_task = asyncio.create_task(self._judge_on())

    async def _judge_on(self) -> None:
        """Judge as long as a judgment is wanted; one that was taken back meanwhile is not."""
        while self._next is not None:
            await self._look_first()
            if (wanted := self._take_next()) is None:
                return
            self._judging = True
            try:
                await self._judge(wanted)
            finally:
                self._judging = False

    def _take_next(self) -> Wanted | None:
        """What is to be judged now; None where it was taken back while the store was read."""
        wanted, self._next = self._next, None
        return wanted

    async def _look_first(self) -> None:
        """Count what another process has kept since no more among what there is to ask."""
        if await self._stock.refresh() and self.outlook is not None:
            self.outlook = self.outlook.again(self._stock.keys)

    async def _judge(self, wanted: Wanted) -> None:
        session, outlook = self.session, self.outlook
        if session is None or outlook is None:
            return
        earlier = self.records
        self._stock.show_nothing()
        self._count_no_more()
        run = Run(
            session,
            outlook,
            rubric=self.rubric,
            judge=self.judge,
            store=self.store,
            settings=wanted.settings,
            kept=self._stock.keys,
            only=wanted.only,
            before=wanted.before,
            fresh=wanted.fresh,
            fault=self.forcing.for_a_run(),
            log=self.log,
            queue=self._queue_of_run(),
            as_batch=wanted.as_batch,
        )
        if earlier is not None:
            run.take_over(earlier, self.is_kept)
        self.run, self.problem, self.remark = run, "", ""
        self.generation += 1
        try:
            await run.judge()
        except LongjudgeError as error:
            self._say(in_the_app(error))
            self.run = wanted.before if isinstance(wanted.before, Run) else None
            self.generation += 1
        finally:
            run.take_kept()
            self.outlook = outlook.again(self._stock.keys)
            self._stock.learn_again()
        if self.run is None:
            self._begin_preview()
        elif self.run is run and run.result is not None and run.result.error:
            self.notices.append(live_instead(fault(run.result.error, session.name)))
        elif wanted.fresh and (said := in_vain_words(run, wanted.only or ())):
            self._remark(said)
        elif wanted.short and (no_timeout := no_timeout_words(run)):
            self._remark(no_timeout)

    def _remark(self, words: str) -> None:
        """Say something at once, and as long as the result stands."""
        self.remark = words
        self.notices.append(words)

    def cancel(self) -> None:
        """End the judgment in flight; safe to call again."""
        if not self.running:
            self.notices.append(self.refusal() or "nothing is being judged")
            return
        self._next = None
        if self._judging and self.run is not None:
            self.run.cancel()

    def cancel_part(self, position: int) -> bool:
        """End one chunk of the judgment in flight; False, and said why, where that cannot be."""
        part = position + 1
        if not self.running or self.run is None:
            self.notices.append(f"part {part} is not being judged")
            return False
        if not self.run.cancel_part(part):
            follow = command("follow").shown
            self.notices.append(f"part {part} has ended already: {follow} goes to the newest one")
            return False
        return True

    def follow_run(self, *, anew: bool) -> None:
        """Let "kept" and "to ask" follow the verdicts of the judgment in flight.

        With `anew` everything is summed up again, where the plan is small enough for that.
        """
        if self.outlook is None or self.run is None:
            return
        more = self.run.take_kept()
        if not more:
            return
        if anew and len(self.outlook.plan) <= LIVE_TOTALS:
            self.outlook = self.outlook.again(self._stock.keys)
        else:
            self.outlook = self.outlook.with_kept(more)
