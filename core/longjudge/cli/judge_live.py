"""Judging on the command line with live questions: one session after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.cli.in_batches import in_batches_words
from longjudge.cli.judge_run import open_store
from longjudge.cli.present import too_large_words
from longjudge.cli.preview import summary
from longjudge.cli.progress import Progress
from longjudge.errors import CredentialError, SessionError
from longjudge.judgment import Judgment
from longjudge.rubric import Skip
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.cli.judge_run import Run
    from longjudge.result import Result
    from longjudge.sessions import Session, SessionFile


class LiveRun:
    """Judges the files of a `run`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def judge_file(self, file: SessionFile, show: Callable[[Result], None]) -> None:
        """Load and judge the sessions of a file; what was not begun is counted."""
        sessions = await self._run.load(file)
        if sessions is None:
            self._run.not_begun += 1
            return
        try:
            while sessions:
                result = await self._judge_session(sessions[0])
                if result is None and self._run.stop.requested:
                    break
                sessions.pop(0).close()
                if result is not None:
                    show(result)
        finally:
            self._run.not_begun += len(sessions)
            for session in sessions:
                session.close()

    async def _judge_session(self, session: Session) -> Result | None:
        if self._run.stop.requested:
            return None
        try:
            return await self._judge(session)
        except CredentialError as error:
            # Sessions that the store answers whole need no credential, so the others go on.
            self._run.credential = self._run.credential or error
        except SessionError as error:
            # The file was changed or taken away after it was opened; the others go on.
            self._run.reading.failed = True
            tell(f"longjudge: {error}")
        return None

    async def _judge(self, session: Session) -> Result | None:
        applies = self._run.rubric.skip is not Skip.NO_TOOL_CALL or session.index.tool_calls
        preview = await self._run.preview(session)
        if self._run.store.stale and not self._run.stop.requested:
            # A damaged one is put aside now, before anything is paid for that it would not keep.
            await self._run.store.aclose()
            owed = self._run.store.owed
            self._run.store = await open_store(self._run.store.path, self._run.stop)
            self._run.store.owed.take_over(owed)
            preview = await self._run.preview(session)
        if self._run.stop.requested:
            return None
        if applies:
            await self._run.note.say(preview.totals.to_ask)
            words = f"{summary(preview.totals)}{preview.observed_words()}"
            words += f"; {self._run.judge.label}{await self._run.secrets(session, preview)}"
            words += self._run.forced(preview)
            words += await in_batches_words(self._run.store, preview)
            tell(f"{self._run.name(session)}: {words}")
            await self._run.warn_of_the_limit(session, preview.totals.to_ask)
            if self._run.stop.requested:
                return None
        progress = Progress(len(preview.plan))
        judgment = Judgment(
            session,
            rubric=self._run.rubric,
            judge=self._run.judge,
            store=self._run.store,
            settings=self._run.settings,
            estimator=preview.estimator,
            listener=progress,
            blocked=self._run.blocked,
            fresh=self._run.fresh,
            budget=self._run.budget,
            fault=self._run.fault,
        )
        self._run.stop.judgment = judgment
        try:
            async with progress.counting_down():
                result = await judgment.run()
        finally:
            self._run.stop.judgment = None
        self._run.blocked = judgment.fatal_error
        if judgment.failure is not None:
            self._run.reading.failed = True
        if result.error:
            tell(f"longjudge: {self._run.name(session)}: stopped, {result.error}")
        if words := too_large_words(result):
            tell(f"longjudge: {self._run.name(session)}: {words}")
        if judgment.budget_ended and not self._run.budget_told:
            self._run.budget_told = True
            tell(
                f"longjudge: {self._run.name(session)}: the budget ended it with"
                f" {result.judged_chunks} of {result.chunks} parts judged:"
                f" {self._run.budget.ended}; give more, or run again"
            )
        return result
