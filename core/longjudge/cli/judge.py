"""`longjudge judge`: sessions one after the other, results as they finish, an honest exit code."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.api import open_session
from longjudge.cli.files import Reading, say, session_files
from longjudge.cli.present import result_text
from longjudge.cli.preview import Preview, summary
from longjudge.cli.progress import Progress
from longjudge.errors import CredentialError, SessionError
from longjudge.judgment import Judgment
from longjudge.rubric import Skip
from longjudge.states import JudgmentStatus
from longjudge.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.cli.options import Judging
    from longjudge.judges.base import Judge
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class _Verdict:
    """The exit code so far, strongest reason first."""

    usage: bool = False
    gaps: bool = False
    low_score: bool = False

    def count(self, result: Result, fail_under: float | None, max_gaps: int) -> None:
        if result.unjudged_chunks > max_gaps or result.status is JudgmentStatus.FAILED:
            self.gaps = True
        if fail_under is not None and result.score is not None and result.score < fail_under:
            self.low_score = True

    def code(self, stopped_by: int | None) -> int:
        if stopped_by is not None:
            return 128 + stopped_by
        if self.usage:
            return 2
        if self.gaps:
            return 3
        return 1 if self.low_score else 0


@dataclass(slots=True)
class _Run:
    """One `judge` command: what every session shares."""

    rubric: Rubric
    judge: Judge
    settings: Settings
    store: Store
    as_json: bool
    stopped_by: int | None = None
    blocked: str | None = None
    judgment: Judgment | None = None
    loading: asyncio.Task[Session] | None = field(default=None)

    def stop(self, number: int) -> None:
        """A signal came: the running judgment ends, nothing new begins; the first one counts."""
        if self.stopped_by is None:
            self.stopped_by = number
        if self.loading is not None:
            self.loading.cancel()
        if self.judgment is not None:
            self.judgment.cancel()

    async def load(self, file: SessionFile) -> Session | None:
        """Load a session; None where a signal came first."""
        self.loading = asyncio.ensure_future(open_session(file.path))
        try:
            return await self.loading
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self.stopped_by is None or (task is not None and task.cancelling()):
                raise
            return None
        finally:
            self.loading = None

    async def judge_one(self, session: Session) -> Result | None:
        """Judge one session; None where a signal came before it began."""
        applies = self.rubric.skip is not Skip.NO_TOOL_CALL or session.index.tool_calls
        preview = await Preview.of(
            session, self.settings.chunk_chars, self.rubric, self.judge, self.store
        )
        if self.stopped_by is not None:
            return None
        if applies:
            say(f"{session.name}: {summary(preview.totals)}; {self.judge.label}")
        progress = Progress(len(preview.plan))
        self.judgment = Judgment(
            session,
            rubric=self.rubric,
            judge=self.judge,
            store=self.store,
            settings=self.settings,
            estimator=preview.estimator,
            listener=progress,
            blocked=self.blocked,
        )
        try:
            result = await self.judgment.run()
            self.blocked = self.judgment.fatal_error
        finally:
            self.judgment = None
        if result.error:
            say(f"longjudge: {session.name}: stopped, {result.error}")
        return result


def judge_paths(
    paths: Sequence[str],
    judging: Judging,
    *,
    as_json: bool,
    fail_under: float | None,
    max_gaps: int,
) -> int:
    """Judge every session in `paths` and return the exit code.

    Raises:
        LongjudgeError: what was named cannot be used.
    """
    return asyncio.run(_judge_paths(paths, judging, as_json, fail_under, max_gaps))


async def _judge_paths(
    paths: Sequence[str],
    judging: Judging,
    as_json: bool,
    fail_under: float | None,
    max_gaps: int,
) -> int:
    settings, rubric, judge = judging.settings(), judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    files = session_files(paths, "judge")
    store = await Store.open(judging.store_path())
    run = _Run(rubric, judge, settings, store, as_json)
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, run.stop, int(number))
    try:
        if store.write_error:
            say(f"longjudge: nothing is kept, the store cannot be written: {store.write_error}")
        return await _judge_files(run, files, paths, fail_under, max_gaps)
    finally:
        await judge.aclose()
        await store.aclose()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _judge_files(
    run: _Run,
    files: Sequence[SessionFile],
    paths: Sequence[str],
    fail_under: float | None,
    max_gaps: int,
) -> int:
    reading, verdict = Reading(), _Verdict()
    credential: CredentialError | None = None
    begun = 0
    for file in files:
        if run.stopped_by is not None:
            break
        try:
            session = await run.load(file)
        except SessionError as error:
            begun += 1
            reading.not_read(file, error)
            continue
        if session is None:
            break
        reading.read += 1
        try:
            result = await run.judge_one(session)
        except CredentialError as error:
            # Sessions that the store answers whole need no credential, so the others go on.
            begun += 1
            credential = credential or error
            continue
        except SessionError as error:
            begun += 1
            say(f"longjudge: {error}")
            reading.failed = True
            continue
        finally:
            session.close()
        if result is None:
            break
        begun += 1
        verdict.count(result, fail_under, max_gaps)
        click.echo(_line(result, as_json=run.as_json))
    if run.stopped_by is not None:
        if begun < len(files):
            say(f"longjudge: {len(files) - begun} session(s) were not begun")
    elif credential is None:
        reading.close(paths)
    if credential is not None:
        say(f"longjudge: {credential}")
    verdict.usage = reading.failed or credential is not None
    return verdict.code(run.stopped_by)


def _line(result: Result, *, as_json: bool) -> str:
    if as_json:
        return msgspec.json.encode(result.to_dict()).decode()
    return result_text(result)
