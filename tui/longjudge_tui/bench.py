"""The controller behind the screen: sessions, settings, the plan and the judgment in flight.

It knows no widget. The program owns it, not the app: a judgment lives in a task of this object,
and the screen reads from here what it paints, about ten times a second.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.api import open_session
from longjudge.chunks import MAX_CHUNK_CHARS, MIN_CHUNK_CHARS
from longjudge.errors import LongjudgeError, NotASessionError, SessionError, StoreError, UsageError
from longjudge.estimate import Estimator
from longjudge.keys import KeyMaker
from longjudge.rubric import Skip
from longjudge.text import clean_line
from longjudge_tui.outlook import Outlook, next_size
from longjudge_tui.preview import Preview
from longjudge_tui.run import Run
from longjudge_tui.texts import Texts
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge_tui.records import Records

CLOSE_SECONDS = 4.0
CUT_SECONDS = 1.0
LIVE_TOTALS = 2_000
"""Up to this many chunks the price is summed up anew during a run; that of others is scaled."""


@dataclass(frozen=True, slots=True)
class Loading:
    """A session on its way in."""

    file: SessionFile
    done: int
    total: int


class Bench:
    """What the app works on.

    `notices` holds messages for the screen to show once, `problem` the last one that stays.
    `fatal` says why the app has to close.
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
    ) -> None:
        self.files = files
        self.judge = judge
        self.rubric = rubric
        self.settings = settings
        self.session: Session | None = None
        self.texts: Texts | None = None
        self.file: SessionFile | None = None
        self.outlook: Outlook | None = None
        self.loading: Loading | None = None
        self.run: Run | None = None
        self.preview: Preview | None = None
        self.notices: list[str] = []
        self.problem = ""
        self.fatal: LongjudgeError | None = None
        self.generation = 0
        self._store = store
        self._kept = kept
        self._maker = KeyMaker(judge, rubric)
        self._estimator: Estimator | None = None
        self._load_task: asyncio.Task[None] | None = None
        self._run_task: asyncio.Task[None] | None = None
        self._preview_task: asyncio.Task[None] | None = None
        self._next: Settings | None = None
        self._judging = False

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
        return (self.run and self.run.store_error) or self._store.write_error

    @property
    def applies(self) -> bool:
        """Whether the rubric applies to the session; where not, no question is ever sent."""
        if self.session is None or self.rubric.skip is not Skip.NO_TOOL_CALL:
            return True
        return bool(self.session.index.tool_calls)

    def is_kept(self, position: int) -> bool:
        """Whether the store holds the verdict of a chunk of the plan."""
        return self.outlook is not None and self.outlook.keys[position] in self._kept

    def open_first(self) -> None:
        """Load the longest session."""
        self._load(self.files[0], 1)

    def step(self, direction: int) -> None:
        """Load the next (1) or previous (-1) session; says so where that cannot be."""
        here = self.loading.file if self.loading else self.file
        if self._in_flight():
            return
        if len(self.files) < 2 or here not in self.files:
            self.notices.append("there is no other session; ctrl+r reads this one again")
            return
        self._load(self.files[(self.files.index(here) + direction) % len(self.files)], direction)

    def reload(self) -> None:
        """Read the session again, as its file is now."""
        if self.loading is None and self.file is not None and not self._in_flight():
            self._load(self.file, 0)

    def _in_flight(self) -> bool:
        if self.running:
            self.notices.append("a judgment is in flight: cancel it (x) first")
        return self.running

    def _load(self, file: SessionFile, direction: int) -> None:
        """Load a file; where that fails, the one in a direction (0: none, what stands stays)."""
        before = self._load_task
        if before is not None:
            before.cancel()
        self.loading = Loading(file, 0, file.bytes)
        self._load_task = asyncio.create_task(self._load_after(before, file, direction))

    async def _load_after(
        self, before: asyncio.Task[None] | None, file: SessionFile, direction: int
    ) -> None:
        if before is not None:
            await asyncio.wait({before})

        def report(done: int, total: int) -> None:
            # Called in the loading thread; one assignment of a fresh object is safe to read.
            self.loading = Loading(file, done, total)

        session: Session | None = None
        try:
            session = await open_session(file.path, report)
            estimator = await asyncio.to_thread(self._measure, session)
        except SessionError as error:
            self.loading = None
            if direction:
                self._drop(file, error, direction)
            else:
                self._say(str(error))
            return
        except asyncio.CancelledError:
            if session is not None:
                session.close()
            raise
        self.loading = None
        self._show(file, session, estimator)

    def _measure(self, session: Session) -> Estimator:
        estimator = Estimator.of(session, self.rubric, self.judge.model)
        # The price table is imported here, in the thread, and not by the first frame.
        estimator.cost(1)
        return estimator

    def _show(self, file: SessionFile, session: Session, estimator: Estimator) -> None:
        self._let_go()
        self.session, self.file, self._estimator = session, file, estimator
        self.texts = Texts(session)
        self._replan()

    def _drop(self, file: SessionFile, error: SessionError, direction: int) -> None:
        """A file that cannot be used leaves the list; without any other the app ends."""
        place = self.files.index(file)
        self.files.remove(file)
        # What a folder holds beside sessions is passed over; a session that is gone is not.
        if file.named or (self.session is not None and not isinstance(error, NotASessionError)):
            self.notices.append(str(error))
        if not self.files:
            no_session = UsageError("no session found; name a session file or its folder")
            self.fatal = error if file.named else no_session
            return
        following = self.files[(place if direction > 0 else place - 1) % len(self.files)]
        if self.session is None or following != self.file:
            self._load(following, direction)

    def _say(self, problem: str) -> None:
        """A problem that stays on the screen, and is said once more."""
        self.problem = clean_line(problem, 1000)
        self.notices.append(self.problem)

    def set_chunk_chars(self, chunk_chars: int) -> None:
        """Plan with another chunk size.

        Raises:
            UsageError: out of range, or a judgment is in flight.
        """
        if chunk_chars == self.settings.chunk_chars:
            return
        if self.running:
            raise UsageError("a judgment is in flight: cancel it (x) first")
        self.settings = replace(self.settings, chunk_chars=chunk_chars)
        self._replan()

    def step_chunk_chars(self, direction: int) -> None:
        """Go to the next round chunk size, up (1) or down (-1).

        Raises:
            UsageError: a judgment is in flight.
        """
        here = self.settings.chunk_chars
        self.set_chunk_chars(next_size(here, direction, MIN_CHUNK_CHARS, MAX_CHUNK_CHARS))

    def set_time_limit(self, seconds: float) -> None:
        """Use another time limit from the next run on.

        Raises:
            UsageError: out of range.
        """
        self.settings = replace(self.settings, time_limit=seconds)

    def _replan(self) -> None:
        self.run, self.problem = None, ""
        if self.session is not None and self._estimator is not None:
            self.outlook = Outlook.of(
                self.session, self.settings.chunk_chars, self._estimator, self._maker, self._kept
            )
            self.generation += 1
            self._begin_preview()

    def _begin_preview(self) -> None:
        self._end_preview()
        if self.session is None or self.outlook is None or not self.applies:
            return
        if not self.outlook.totals.kept:
            return
        self.preview = Preview(self.session, self.outlook, self._kept, self._store)
        self._preview_task = asyncio.create_task(self._fill(self.preview))

    def _end_preview(self) -> None:
        self.preview = None
        if self._preview_task is not None:
            self._preview_task.cancel()

    async def _fill(self, preview: Preview) -> None:
        try:
            await preview.fill()
        except StoreError as error:
            self.notices.append(clean_line(str(error), 1000))
        if preview.lost and self.outlook is not None:
            self._kept -= preview.lost
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
        self._next = replace(self.settings, time_limit=limit)
        if self._run_task is None or self._run_task.done():
            self._run_task = asyncio.create_task(self._judge_on())

    async def _judge_on(self) -> None:
        """Judge as long as a judgment is wanted; one that was taken back meanwhile is not."""
        while (settings := self._next) is not None:
            self._next = None
            self._judging = True
            try:
                await self._judge(settings)
            finally:
                self._judging = False

    async def _judge(self, settings: Settings) -> None:
        session, outlook = self.session, self.outlook
        if session is None or outlook is None:
            return
        self._end_preview()
        run = Run(
            session,
            outlook,
            rubric=self.rubric,
            judge=self.judge,
            store=self._store,
            settings=settings,
            kept=self._kept,
        )
        self.run, self.problem = run, ""
        self.generation += 1
        try:
            await run.judge()
        except LongjudgeError as error:
            self._say(str(error))
            self.run = None
            self.generation += 1
        finally:
            run.take_kept()
            self.outlook = outlook.again(self._kept)
        if self.run is None:
            self._begin_preview()
        elif run.result is not None and run.result.error:
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
        for task in (self._run_task, self._load_task, self._preview_task):
            if task is not None and task.done() and not task.cancelled():
                task.result()

    def _let_go(self) -> None:
        """Close the session and what reads from it."""
        self._end_preview()
        if self.texts is not None:
            self.texts.close()
        if self.session is not None:
            self.session.close()

    async def aclose(self) -> None:
        """End everything in flight, for a bounded time."""
        reading = {task for task in (self._load_task, self._preview_task) if task is not None}
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
