"""`longjudge judge`: sessions one after the other, results as they finish, an honest exit code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.api import open_session
from longjudge.cli.files import Reading, session_files, warn_of_gaps
from longjudge.cli.present import result_text
from longjudge.cli.preview import Preview, summary
from longjudge.cli.progress import Progress
from longjudge.errors import CredentialError, SessionError
from longjudge.judgment import Judgment
from longjudge.rubric import Skip
from longjudge.signals import signals_to_handle
from longjudge.states import JudgmentStatus
from longjudge.store import Store
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.cli.options import Judging
    from longjudge.judges.base import Judge
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings


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


class _Stop:
    """A signal's effect: what is being loaded or judged ends, nothing new begins."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.judgment: Judgment | None = None
        self.loading: asyncio.Task[Session] | None = None

    def request(self, number: int) -> None:
        """A signal came; the first one names the exit code, later ones change nothing."""
        if self.signal is None:
            self.signal = number
        if self.loading is not None:
            self.loading.cancel()
        if self.judgment is not None:
            self.judgment.cancel()

    @property
    def requested(self) -> bool:
        """Whether a signal came."""
        return self.signal is not None


@dataclass(slots=True)
class _Run:
    """One `judge` command: what every session shares, and what came of those before."""

    rubric: Rubric
    judge: Judge
    settings: Settings
    store: Store
    stop: _Stop
    reading: Reading
    blocked: str | None = None
    credential: CredentialError | None = None

    async def judge_file(self, file: SessionFile) -> Result | None:
        """Load and judge one session; None where there is no result of it."""
        session = await self._load(file)
        if session is None:
            return None
        self.reading.read += 1
        warn_of_gaps(session)
        try:
            return await self._judge(session)
        except CredentialError as error:
            # Sessions that the store answers whole need no credential, so the others go on.
            self.credential = self.credential or error
            return None
        finally:
            session.close()

    async def _load(self, file: SessionFile) -> Session | None:
        self.stop.loading = asyncio.ensure_future(open_session(file.path))
        try:
            return await self.stop.loading
        except SessionError as error:
            self.reading.not_read(file, error)
            return None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.stop.requested or (task is not None and task.cancelling()):
                raise
            return None
        finally:
            self.stop.loading = None

    async def _judge(self, session: Session) -> Result | None:
        applies = self.rubric.skip is not Skip.NO_TOOL_CALL or session.index.tool_calls
        preview = await Preview.of(
            session, self.settings.chunk_chars, self.rubric, self.judge, self.store
        )
        if self.stop.requested:
            return None
        if applies:
            tell(f"{session.name}: {summary(preview.totals)}; {self.judge.label}")
        judgment = Judgment(
            session,
            rubric=self.rubric,
            judge=self.judge,
            store=self.store,
            settings=self.settings,
            estimator=preview.estimator,
            listener=Progress(len(preview.plan)),
            blocked=self.blocked,
        )
        self.stop.judgment = judgment
        try:
            result = await judgment.run()
        finally:
            self.stop.judgment = None
        self.blocked = judgment.fatal_error
        if judgment.failure is not None:
            self.reading.failed = True
        if result.error:
            tell(f"longjudge: {session.name}: stopped, {result.error}")
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
    loop, stop, reading, verdict = asyncio.get_running_loop(), _Stop(), Reading(), _Verdict()
    for number in signals_to_handle():
        loop.add_signal_handler(number, stop.request, number)
    store = await Store.open(judging.store_path(), give_up=lambda: stop.requested)
    try:
        if store.write_error:
            tell(f"longjudge: nothing is kept, the store cannot be written: {store.write_error}")
        run = _Run(rubric, judge, settings, store, stop, reading)
        begun = 0
        for file in files:
            result = None if stop.requested else await run.judge_file(file)
            if stop.requested and result is None:
                break
            begun += 1
            if result is not None:
                verdict.count(result, fail_under, max_gaps)
                click.echo(_line(result, as_json=as_json))
    finally:
        await judge.aclose()
        await store.aclose()
    if stop.requested and begun < len(files):
        tell(f"longjudge: {len(files) - begun} session(s) were not begun")
    if run.credential is not None:
        tell(f"longjudge: {run.credential}")
    elif not stop.requested:
        reading.close(paths)
    verdict.usage = reading.failed or run.credential is not None
    return verdict.code(stop.signal)


def _line(result: Result, *, as_json: bool) -> str:
    if as_json:
        return msgspec.json.encode(result.to_dict()).decode()
    return result_text(result)
