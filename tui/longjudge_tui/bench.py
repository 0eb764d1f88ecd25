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
from longjudge.errors import LongjudgeError, SessionError, UsageError
from longjudge.estimate import Estimator
from longjudge.keys import KeyMaker
from longjudge.rubric import Skip
from longjudge.text import clean_line
from longjudge_tui.outlook import Outlook, next_size
from longjudge_tui.run import Run

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings
    from longjudge.store import Store

CLOSE_SECONDS = 4.0
CUT_SECONDS = 1.0
LIVE_TOTALS = 2_000
"""Up to this many chunks the totals follow every verdict; larger plans wait for the end."""


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
        self.file: SessionFile | None = None
        self.outlook: Outlook | None = None
        self.loading: Loading | None = None
        self.run: Run | None = None
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
        self._queued = False

    @property
    def running(self) -> bool:
        """Whether a judgment is in flight, its end included."""
        return self._run_task is not None and not self._run_task.done()

    @property
    def stopping(self) -> bool:
        """Whether the judgment in flight is on its way to an end."""
        return self.running and self.run is not None and self.run.stopping

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
        self._load(self.files[0])

    def step(self, direction: int) -> None:
        """Load the next (1) or previous (-1) session; says so where that cannot be."""
        if self.running:
            self.notices.append("a judgment is in flight: cancel it (x) first")
            return
        here = self.loading.file if self.loading else self.file
        if len(self.files) < 2 or here not in self.files:
            self.notices.append("there is no other session")
            return
        self._load(self.files[(self.files.index(here) + direction) % len(self.files)])

    def _load(self, file: SessionFile) -> None:
        before = self._load_task
        if before is not None:
            before.cancel()
        self.loading = Loading(file, 0, file.bytes)
        self._load_task = asyncio.create_task(self._load_after(before, file))

    async def _load_after(self, before: asyncio.Task[None] | None, file: SessionFile) -> None:
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
            self._drop(file, error)
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
        if self.session is not None:
            self.session.close()
        self.session, self.file, self._estimator = session, file, estimator
        self.run, self.problem = None, ""
        self._replan()

    def _drop(self, file: SessionFile, error: SessionError) -> None:
        """A file that cannot be used leaves the list; without any other the app ends."""
        place = self.files.index(file)
        self.files.remove(file)
        if file.named:
            self.notices.append(str(error))
        if not self.files:
            no_session = UsageError("no session found; name a session file or its folder")
            self.fatal = error if file.named else no_session
        elif self.session is None:
            self._load(self.files[place % len(self.files)])

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
        self.run, self.problem = None, ""
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
        if self.session is not None and self._estimator is not None:
            self.outlook = Outlook.of(
                self.session, self.settings.chunk_chars, self._estimator, self._maker, self._kept
            )
            self.generation += 1

    def start(self, time_limit: float | None = None) -> None:
        """Begin a judgment; one that is being stopped is awaited first."""
        if self.loading is not None or self.session is None or self.outlook is None:
            self.notices.append("the session is still being read")
            return
        if self.running and not self.stopping:
            self.notices.append("a judgment is in flight already")
            return
        if self._queued:
            return
        limit = self.settings.time_limit if time_limit is None else time_limit
        settings = replace(self.settings, time_limit=limit)
        self._queued = True
        self._run_task = asyncio.create_task(self._run_after(self._run_task, settings))

    async def _run_after(self, before: asyncio.Task[None] | None, settings: Settings) -> None:
        if before is not None:
            await asyncio.wait({before})
        queued, self._queued = self._queued, False
        session, outlook = self.session, self.outlook
        if not queued or session is None or outlook is None:
            return
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
            self.problem = clean_line(str(error), 1000)
            self.notices.append(self.problem)
            self.run = None
            self.generation += 1
        finally:
            self.outlook = outlook.again(self._kept)

    def cancel(self) -> None:
        """End the judgment in flight; safe to call again."""
        if not self.running:
            self.notices.append("nothing is being judged")
            return
        self._queued = False
        if self.run is not None:
            self.run.cancel()

    def cancel_part(self, position: int) -> None:
        """End one chunk of the judgment in flight."""
        if not self.running or self.run is None or not self.run.cancel_part(position + 1):
            self.notices.append(f"part {position + 1} is not being judged")

    def refresh_totals(self) -> None:
        """Let "kept" and "to ask" follow the verdicts of the judgment in flight."""
        if self.outlook is not None and len(self.outlook.plan) <= LIVE_TOTALS:
            self.outlook = self.outlook.again(self._kept)

    def raise_failure(self) -> None:
        """Raise what a task of this object died of: a fault of the program, never swallowed."""
        for task in (self._run_task, self._load_task):
            if task is not None and task.done() and not task.cancelled():
                task.result()

    async def aclose(self) -> None:
        """End everything in flight, for a bounded time."""
        if self._load_task is not None:
            self._load_task.cancel()
        self._queued = False
        if self.run is not None:
            self.run.cancel()
        tasks = {task for task in (self._load_task, self._run_task) if task is not None}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=CUT_SECONDS)
        if self.session is not None:
            self.session.close()
