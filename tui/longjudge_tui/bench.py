"""The controller behind the screen: sessions, settings, the plan and the judgment in flight.

It knows no widget. The program owns it, not the app: a judgment lives in a task of this object,
and the screen reads from here what it paints, about ten times a second.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.config import Configuration
from longjudge.errors import LongjudgeError, SeveralSessionsError, UsageError
from longjudge.estimate import Estimator
from longjudge.judges.make import make_judge
from longjudge.rubric import Skip
from longjudge.text import clean_line
from longjudge_tui.marking import Marking
from longjudge_tui.opening import Opening
from longjudge_tui.preview import Lookup
from longjudge_tui.run import Run
from longjudge_tui.texts import Texts
from longjudge_tui.tuning import Tuning
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge_tui.opening import Loading, Opened
    from longjudge_tui.outlook import Outlook
    from longjudge_tui.preview import Preview
    from longjudge_tui.records import Records

CLOSE_SECONDS = 4.0
CUT_SECONDS = 1.0
LIVE_TOTALS = 2_000
"""Up to this many chunks the price is summed up anew during a run; that of others is scaled."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A judgment that is to begin.

    `only` are the chunks it asks about, `before` is the run whose other records it takes over.
    """

    settings: Settings
    only: frozenset[int] | None = None
    before: Run | None = None


class Bench:
    """What the app works on.

    `notices` holds messages for the screen to show once, `problem` the last one that stays.
    `refusal` says why no judgment may begin now, and nothing where one may.
    """

    def __init__(
        self,
        files: list[SessionFile],
        *,
        judge: Judge,
        rubric: Rubric,
        store: Store,
        settings: Settings,
        kept: set[str],
        make_judge: Callable[[str], Judge] = make_judge,
        model_name: str | None = None,
        config: Configuration | None = None,
    ) -> None:
        self.config = config or Configuration()
        self.tuning = Tuning(
            settings,
            judge,
            rubric,
            make_judge=make_judge,
            model_name=model_name,
            refuse=self._refuse_change,
            changed=self._replan,
            calls_changed=self._more_calls,
        )
        self._opening = Opening(
            files,
            measure=self._measure,
            use=self._use,
            say=self._say,
            notice=lambda words: self.notices.append(words),
            in_flight=self._in_flight,
        )
        self.session: Session | None = None
        self.tool_calls = 0
        self.texts: Texts | None = None
        self.outlook: Outlook | None = None
        self.run: Run | None = None
        self.notices: list[str] = []
        self.problem = ""
        self.generation = 0
        self.marking = Marking(store, lambda words: self.notices.append(words))
        self.store = store
        self._lookup = Lookup(
            store,
            kept,
            lost=self._lost,
            notice=lambda words: self.notices.append(words),
        )
        self._kept = kept
        self._run_task: asyncio.Task[None] | None = None
        self._next: Wanted | None = None
        self._judging = False
        self.on_first_session: Callable[[], None] | None = None
        self.refusal: Callable[[], str] = lambda: ""

    @property
    def files(self) -> list[SessionFile]:
        """The files that one key steps through."""
        return self._opening.files

    @property
    def file(self) -> SessionFile | None:
        """The file of the session."""
        return self._opening.file

    @property
    def loading(self) -> Loading | None:
        """The session on its way in."""
        return self._opening.loading

    @property
    def fatal(self) -> LongjudgeError | None:
        """Why the app has to close."""
        return self._opening.fatal

    @property
    def several(self) -> bool:
        """Whether the file that was to be opened holds several sessions, to choose from."""
        return isinstance(self.fatal, SeveralSessionsError)

    def close_no_more(self) -> None:
        """Nothing is fatal where there are other sessions to open."""
        self._opening.fatal = None

    @property
    def preview(self) -> Preview | None:
        """What the store holds about the plan, before a judgment."""
        return self._lookup.preview

    @property
    def settings(self) -> Settings:
        """What the next run goes by."""
        return self.tuning.settings

    @property
    def judge(self) -> Judge:
        """Who is asked."""
        return self.tuning.judge

    @property
    def rubric(self) -> Rubric:
        """What is judged by."""
        return self.tuning.rubric

    @property
    def running(self) -> bool:
        """Whether a judgment is in flight or about to be, its end included."""
        return self._judging or self._next is not None

    @property
    def stopping(self) -> bool:
        """Whether the judgment in flight is on its way to an end."""
        return self._judging and self.run is not None and self.run.stopping

    @property
    def records(self) -> Records | None:
        """What is known about the chunks: by the judgment, before one by the store."""
        return self.run or self.preview

    @property
    def store_error(self) -> str | None:
        """Why nothing is kept."""
        return (self.run and self.run.store_error) or self.store.write_error

    @property
    def applies(self) -> bool:
        """Whether the rubric applies to the session; where not, no question is ever sent."""
        if self.session is None or self.rubric.skip is not Skip.NO_TOOL_CALL:
            return True
        return bool(self.tool_calls)

    def is_kept(self, position: int) -> bool:
        """Whether the store holds the verdict of a chunk of the plan."""
        return self.outlook is not None and self.outlook.keys[position] in self._kept

    def open_first(self) -> None:
        """Load the longest session."""
        self._opening.load(self.files[0], 1)

    def show(self, file: SessionFile) -> bool:
        """Work on a file from now on; false, and said, where a judgment is in flight.

        A file that is open already stays as it is.
        """
        return self._opening.show(file)

    def step(self, direction: int) -> None:
        """Load the next (1) or previous (-1) session; says so where that cannot be."""
        self._opening.step(direction)

    def reload(self) -> None:
        """Read the session again, as its file is now."""
        self._opening.reload()

    def _in_flight(self) -> bool:
        if self.running:
            self.notices.append("a judgment is in flight: cancel it (x) first")
        return self.running

    def _measure(self, session: Session) -> Estimator:
        estimator = Estimator.of(session, self.rubric, self.judge.model, self.judge.price)
        # The price table is imported here, in the thread, and not by the first frame.
        estimator.cost(1)
        return estimator

    def _use(self, opened: Opened) -> None:
        self._let_go()
        self.session = opened.session
        if self.on_first_session is not None:
            self.on_first_session()
            self.on_first_session = None
        # Counted once: every row that is drawn asks.
        self.tool_calls = opened.session.index.tool_calls
        self.tuning.measured(opened.session, opened.estimator)
        self.texts = Texts(opened.session)
        self._replan()

    def _say(self, problem: str) -> None:
        """A problem that stays on the screen, and is said once more."""
        self.problem = clean_line(problem, 1000)
        self.notices.append(self.problem)

    def _refuse_change(self) -> None:
        if self.running:
            raise UsageError("a judgment is in flight: cancel it (x) first")

    def _more_calls(self, calls: int) -> None:
        if self._judging and self.run is not None:
            self.run.set_concurrency(calls)

    def _replan(self) -> None:
        self.run, self.problem = None, ""
        if self.session is not None:
            self.outlook = self.tuning.outlook(self.session, self._kept)
            self.generation += 1
            self._begin_preview()

    def _begin_preview(self) -> None:
        self._lookup.end()
        if self.session is None or self.outlook is None or not self.applies:
            return
        if self.outlook.totals.kept:
            self._lookup.begin(self.session, self.outlook)

    def _lost(self) -> None:
        if self.outlook is not None:
            self.outlook = self.outlook.again(self._kept)

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
        limit = self.settings.time_limit if time_limit is None else time_limit
        self._begin(Wanted(replace(self.settings, time_limit=limit)))

    def ask_again(self, position: int) -> None:
        """Ask about one gap again, in the judgment in flight or in one of its own."""
        run, part = self.run, position + 1
        if run is None or not run.is_gap(position):
            self.notices.append(f"part {part} is no gap; there is nothing to ask again")
        elif not self.running:
            self._begin(Wanted(self.settings, frozenset({position}), run))
        elif self.stopping or not run.ask_again(part):
            self.notices.append(f"part {part} can be asked again when the judgment has ended")

    def look_at_store(self) -> None:
        """Take in what was kept elsewhere, where no judgment of this session says more."""
        if self.outlook is None or self.running:
            return
        self.outlook = self.outlook.again(self._kept)
        if self.run is None:
            self.generation += 1
            self._begin_preview()

    def _begin(self, wanted: Wanted) -> None:
        if why_not := self.refusal():
            self.notices.append(why_not)
            return
        self._next = wanted
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
        self._lookup.end()
        run = Run(
            session,
            outlook,
            rubric=self.rubric,
            judge=self.judge,
            store=self.store,
            settings=wanted.settings,
            kept=self._kept,
            only=wanted.only,
            before=wanted.before,
        )
        if earlier is not None:
            run.take_over(earlier, self.is_kept)
        self.run, self.problem = run, ""
        self.generation += 1
        try:
            await run.judge()
        except LongjudgeError as error:
            self._say(str(error))
            self.run = wanted.before
            self.generation += 1
        finally:
            run.take_kept()
            self.outlook = outlook.again(self._kept)
        if self.run is None:
            self._begin_preview()
        elif self.run is run and run.result is not None and run.result.error:
            self.notices.append(fault(run.result.error, session.name))

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
        if not self.running or self.run is None or not self.run.cancel_part(position + 1):
            self.notices.append(f"part {position + 1} is not being judged")

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
            self.outlook = self.outlook.again(self._kept)
        else:
            self.outlook = self.outlook.with_kept(more)

    def raise_failure(self) -> None:
        """Raise what a task of this object died of: a fault of the program, never swallowed."""
        self.marking.raise_failure()
        for task in (self._run_task, self._opening.task, self._lookup.task):
            if task is not None and task.done() and not task.cancelled():
                task.result()

    def _let_go(self) -> None:
        """Close the session and what reads from it."""
        self._lookup.end()
        if self.texts is not None:
            self.texts.close()
        if self.session is not None:
            self.session.close()

    async def aclose(self) -> None:
        """End everything in flight, for a bounded time."""
        reading = {task for task in (self._opening.task, self._lookup.task) if task is not None}
        for task in reading:
            task.cancel()
        self._next = None
        if self._judging and self.run is not None:
            self.run.cancel()
        tasks = reading if self._run_task is None else reading | {self._run_task}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=CUT_SECONDS)
        self._let_go()
        await self.marking.aclose()
        await self.tuning.aclose()
