"""The judgments of the bench: one at a time, in a task that outlives every screen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.settings import in_seconds
from longjudge.states import JudgmentStatus
from longjudge_tui.bench.live import in_the_app
from longjudge_tui.bench.run import Run
from longjudge_tui.commands import command
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge_tui.bench.opening import Loading
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.records import Records
    from longjudge_tui.bench.stock import Stock

LIVE_TOTALS = 2_000
"""Up to this many chunks the price is summed up anew during a run; that of others is scaled."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A judgment that is to begin.

    `only` are the chunks it asks about, `before` is the run whose other records it takes over.
    One that is `short` has a limit that is to cut it off.
    """

    settings: Settings
    only: frozenset[int] | None = None
    before: Run | None = None
    short: bool = False


class Trials:
    """The part of the bench that judges; what it judges, and by what, is the bench's own.

    `refusal` says why no judgment may begin now, and nothing where one may. `remark` is what there
    is to say about the last run beside its result, for as long as the result stands.
    """

    session: Session | None
    outlook: Outlook | None
    store: Store
    notices: list[str]
    problem: str
    generation: int
    _stock: Stock

    def __init__(self) -> None:
        self.run: Run | None = None
        self.remark = ""
        self.refusal: Callable[[], str] = lambda: ""
        self._run_task: asyncio.Task[None] | None = None
        self._next: Wanted | None = None
        self._judging = False

    @property
    def applies(self) -> bool:
        """Whether the rubric applies to the session."""
        raise NotImplementedError

    @property
    def loading(self) -> Loading | None:
        """The session on its way in."""
        raise NotImplementedError

    @property
    def settings(self) -> Settings:
        """What the next run goes by."""
        raise NotImplementedError

    @property
    def judge(self) -> Judge:
        """Who is asked."""
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

    def _look_for_key(self) -> None:
        """Find out again whether the model can be asked."""
        raise NotImplementedError

    @property
    def running(self) -> bool:
        """Whether a judgment is in flight or about to be, its end included."""
        return self._judging or self._next is not None

    @property
    def stopping(self) -> bool:
        """Whether the judgment in flight is on its way to an end."""
        return self._judging and self.run is not None and self.run.stopping

    def start(self, time_limit: float | None = None) -> None:
        """Begin a judgment; one that is being stopped is awaited first."""
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
            if time_limit is not None:
                sizes = " ".join(command(each).bar_key for each in ("smaller", "larger"))
                another = f"another chunk size ({sizes}) asks anew"
                self._remark(f"{nothing} and nothing can time out: {another}")
                return
            self.notices.append(nothing)
        limit = self.settings.time_limit if time_limit is None else time_limit
        settings = replace(self.settings, time_limit=limit)
        self._begin(Wanted(settings, short=time_limit is not None))

    def ask_again(self, position: int) -> None:
        """Ask about one gap again, in the judgment in flight or in one of its own."""
        run, part = self.run, position + 1
        if self.loading is not None:
            self.notices.append("the session is still being read")
        elif run is None or not run.is_gap(position):
            self.notices.append(f"part {part} is no gap; there is nothing to ask again")
        elif not self.running:
            self._begin(Wanted(self.settings, frozenset({position}), run))
        elif self.stopping or not run.ask_again(part):
            self.notices.append(f"part {part} can be asked again when the judgment has ended")

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
        while (wanted := self._next) is not None:
            self._next = None
            self._judging = True
            try:
                await self._judge(wanted)
            finally:
                self._judging = False

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
        )
        if earlier is not None:
            run.take_over(earlier, self.is_kept)
        self.run, self.problem, self.remark = run, "", ""
        self.generation += 1
        try:
            await run.judge()
        except LongjudgeError as error:
            self._say(in_the_app(error))
            self.run = wanted.before
            self.generation += 1
        finally:
            run.take_kept()
            self.outlook = outlook.again(self._stock.keys)
            self._stock.learn_again()
        if self.run is None:
            self._begin_preview()
        elif self.run is run and run.result is not None and run.result.error:
            self.notices.append(fault(run.result.error, session.name))
        elif wanted.short and (no_timeout := _no_timeout(run)):
            self._remark(no_timeout)

    def _remark(self, words: str) -> None:
        """Say something at once, and as long as the result stands."""
        self.remark = words
        self.notices.append(words)

    def cancel(self) -> None:
        """End the judgment in flight; safe to call again."""
        if not self.running:
            self.notices.append("nothing is being judged")
            return
        self._next = None
        if self._judging and self.run is not None:
            self.run.cancel()

    def cancel_part(self, position: int) -> None:
        """End one chunk of the judgment in flight."""
        part = position + 1
        if not self.running or self.run is None:
            self.notices.append(f"part {part} is not being judged")
        elif not self.run.cancel_part(part):
            follow = command("follow").shown
            self.notices.append(f"part {part} has ended already: {follow} goes to the newest one")

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

    def _stop_judging(self) -> set[asyncio.Task[None]]:
        """Begin no judgment any more, end the one in flight, and return what to wait for."""
        self._next = None
        if self._judging and self.run is not None:
            self.run.cancel()
        return set() if self._run_task is None else {self._run_task}


def _no_timeout(run: Run) -> str:
    """Why a run that was to be cut off was not; empty where it was, or did not get so far."""
    result, limit = run.result, in_seconds(run.settings.time_limit)
    if result is None or result.status not in (JudgmentStatus.COMPLETE, JudgmentStatus.PARTIAL):
        return ""
    smaller = command("smaller").bar_key
    instead = f"nothing timed out: try smaller chunks ({smaller}) or a longer session"
    if run.stop_cause is None:
        return f"done within {limit} s, {instead}"
    if run.stop_cause != "limit":
        return ""
    return f"the answers on their way at {limit} s still came, {instead}"
