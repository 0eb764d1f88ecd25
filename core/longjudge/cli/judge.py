"""`longjudge judge`: sessions one after the other, results as they finish, an honest exit code."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.files import Reading, session_files, words_for
from longjudge.cli.holds import sweep_at_start
from longjudge.cli.model_note import ModelNote
from longjudge.cli.present import result_text, too_large_words
from longjudge.cli.preview import Preview, secrets_in_words, summary
from longjudge.cli.progress import Progress
from longjudge.errors import CredentialError, SessionError
from longjudge.faults import FaultKind, forced_words
from longjudge.judges.offline import offline_caveat
from longjudge.judgment import Judgment
from longjudge.limits import advice, measure
from longjudge.prompt import chunk_tag
from longjudge.redaction import redacted_fields
from longjudge.replaced import count_secrets
from longjudge.report.words import plural
from longjudge.rubric import Skip
from longjudge.signals import heed_signals
from longjudge.states import JudgmentStatus
from longjudge.store import Store
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longjudge.budget import Budget
    from longjudge.cli.options import Judging
    from longjudge.faults import Fault
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
        self.loading: asyncio.Task[list[Session]] | None = None

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

    def is_requested(self) -> bool:
        """The same, for a thread to ask."""
        return self.requested


@dataclass(slots=True)
class _Run:
    """One `judge` command: what every session shares, and what came of those before."""

    rubric: Rubric
    judge: Judge
    settings: Settings
    store: Store
    stop: _Stop
    reading: Reading
    fresh: bool
    budget: Budget
    note: ModelNote
    fault: Fault | None
    budget_told: bool = False
    said_not_kept: bool = False
    not_begun: int = 0
    blocked: str | None = None
    credential: CredentialError | None = None

    def say_what_is_not_kept(self) -> None:
        """Say what the store did not take to the end, or that it has everything after all."""
        owed = self.store.owed
        if self.store.write_error is not None:
            return
        if owed.words is not None:
            tell(f"longjudge: NOT ALL IS KEPT: {owed.words}; what is not is asked by the next run")
        elif self.said_not_kept and self.fault is None:
            tell("longjudge: what the store did not take at first is kept by now")
        if owed.leases:
            tell(f"longjudge: {plural(owed.leases, 'lease')} could not be given back")

    async def judge_file(self, file: SessionFile, show: Callable[[Result], None]) -> None:
        """Load and judge the sessions of a file; what was not begun is counted."""
        sessions = await self._load(file)
        if sessions is None:
            self.not_begun += 1
            return
        try:
            while sessions:
                result = await self._judge_session(sessions[0])
                if result is None and self.stop.requested:
                    break
                sessions.pop(0).close()
                if result is not None:
                    show(result)
        finally:
            self.not_begun += len(sessions)
            for session in sessions:
                session.close()

    async def _judge_session(self, session: Session) -> Result | None:
        if self.stop.requested:
            return None
        try:
            return await self._judge(session)
        except CredentialError as error:
            # Sessions that the store answers whole need no credential, so the others go on.
            self.credential = self.credential or error
        except SessionError as error:
            # The file was changed or taken away after it was opened; the others go on.
            self.reading.failed = True
            tell(f"longjudge: {error}")
        return None

    async def _load(self, file: SessionFile) -> list[Session] | None:
        """The sessions of a file, none where it cannot be read; None where a signal came first."""
        if self.stop.requested:
            return None
        self.stop.loading = asyncio.ensure_future(self.reading.open(file))
        try:
            return await self.stop.loading
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.stop.requested or (task is not None and task.cancelling()):
                raise
            return None
        finally:
            self.stop.loading = None

    async def _judge(self, session: Session) -> Result | None:
        applies = self.rubric.skip is not Skip.NO_TOOL_CALL or session.index.tool_calls
        preview = await self._preview(session)
        if self.store.stale and not self.stop.requested:
            # A damaged one is put aside now, before anything is paid for that it would not keep.
            await self.store.aclose()
            owed = self.store.owed
            self.store = await _open_store(self.store.path, self.stop)
            self.store.owed.take_over(owed)
            preview = await self._preview(session)
        if self.stop.requested:
            return None
        if applies:
            await self.note.say(preview.totals.to_ask)
            words = f"{summary(preview.totals)}{preview.observed_words()}"
            words += f"; {self.judge.label}{await self._secrets(session, preview)}"
            words += self._forced(preview)
            tell(f"{self._name(session)}: {words}")
            await self._warn_of_the_limit(session, preview.totals.to_ask)
            if self.stop.requested:
                return None
        progress = Progress(len(preview.plan))
        judgment = Judgment(
            session,
            rubric=self.rubric,
            judge=self.judge,
            store=self.store,
            settings=self.settings,
            estimator=preview.estimator,
            listener=progress,
            blocked=self.blocked,
            fresh=self.fresh,
            budget=self.budget,
            fault=self.fault,
        )
        self.stop.judgment = judgment
        try:
            async with progress.counting_down():
                result = await judgment.run()
        finally:
            self.stop.judgment = None
        self.blocked = judgment.fatal_error
        if judgment.failure is not None:
            self.reading.failed = True
        if result.error:
            tell(f"longjudge: {self._name(session)}: stopped, {result.error}")
        if words := too_large_words(result):
            tell(f"longjudge: {self._name(session)}: {words}")
        if judgment.budget_ended and not self.budget_told:
            self.budget_told = True
            tell(
                f"longjudge: {self._name(session)}: the budget ended it with"
                f" {result.judged_chunks} of {result.chunks} parts judged:"
                f" {self.budget.ended}; give more, or run again"
            )
        return result

    async def _warn_of_the_limit(self, session: Session, to_ask: int) -> None:
        """Say that the time limit is expected to end it, and which one would not."""
        measured = await measure(self.store, self.judge.model)
        times = advice(measured, to_ask, self.settings.concurrency)
        if warning := times.warning(self.settings.time_limit):
            tell(f"{self._name(session)}: {warning}")

    async def _preview(self, session: Session) -> Preview:
        return await Preview.of(
            session, self.settings, self.rubric, self.judge, self.store, fresh=self.fresh
        )

    async def _secrets(self, session: Session, preview: Preview) -> str:
        """What is replaced in what leaves the machine."""
        if not self.judge.judges_meaning or not preview.totals.to_ask:
            return ""
        if not self.settings.redact:
            return secrets_in_words(None)
        asked = preview.asked(preview.kept)
        counts = await count_secrets(session, preview.plan, asked, self.stop.is_requested)
        return secrets_in_words(counts)

    def _forced(self, preview: Preview) -> str:
        """In how many parts a failure may be forced; in none that is kept, or by a crash alone."""
        fault = self.fault
        if fault is None or all(each.kind is FaultKind.CRASH for each in fault.forced):
            return ""
        chunks = enumerate(zip(preview.keys, preview.plan.digests(), strict=True), start=1)
        met = sum(
            key not in preview.kept and fault.meets(part, chunk_tag(digest))
            for part, (key, digest) in chunks
        )
        return f"; failures are forced in {met} of {plural(len(preview.plan), 'part')}"

    def _name(self, session: Session) -> str:
        return words_for(session, redact=self.settings.redact)


def judge_paths(
    paths: Sequence[str],
    judging: Judging,
    *,
    as_json: bool,
    fail_under: float | None,
    max_gaps: int,
    fresh: bool,
    budget: Budget,
    wanted: str | None,
    fault: Fault | None = None,
) -> int:
    """Judge every session in `paths`, or the `wanted` one, and return the exit code.

    Raises:
        LongjudgeError: what was named cannot be used.
    """

    async def judge() -> int:
        with contextlib.ExitStack() as signals:
            return await _judge_paths(
                paths,
                judging,
                as_json,
                fail_under,
                max_gaps,
                fresh,
                budget,
                wanted,
                fault,
                signals,
            )

    return asyncio.run(judge())


async def _judge_paths(
    paths: Sequence[str],
    judging: Judging,
    as_json: bool,
    fail_under: float | None,
    max_gaps: int,
    fresh: bool,
    budget: Budget,
    wanted: str | None,
    fault: Fault | None,
    signals: contextlib.ExitStack,
) -> int:
    settings, rubric, judge = judging.settings(), judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    budget.check_judge(judge)
    if caveat := offline_caveat(judge, rubric):
        tell(f"longjudge: {caveat}")
    if fault is not None:
        tell(f"longjudge: {forced_words(fault.spec)}")
    files = session_files(paths, "judge")
    loop, stop, reading, verdict = asyncio.get_running_loop(), _Stop(), Reading(wanted), _Verdict()
    signals.enter_context(heed_signals(loop, stop.request))
    store = await _open_store(judging.store_path(), stop)
    note = ModelNote(judging, asks=True)
    run = _Run(rubric, judge, settings, store, stop, reading, fresh, budget, note, fault)
    try:
        await sweep_at_start(store)

        def show(result: Result) -> None:
            verdict.count(result, fail_under, max_gaps)
            run.said_not_kept |= result.store_error is not None
            click.echo(_line(result, as_json=as_json, redact=settings.redact))

        reading.begin(files)
        for file in files:
            await run.judge_file(file, show)
    finally:
        try:
            await judge.aclose()
        finally:
            await run.store.aclose()
            run.say_what_is_not_kept()
    if stop.requested and run.not_begun:
        tell(f"longjudge: {run.not_begun} session(s) were not begun")
    if run.credential is not None:
        tell(f"longjudge: {run.credential}")
    elif not stop.requested:
        reading.close(paths)
    verdict.usage = reading.failed or run.credential is not None
    return verdict.code(stop.signal)


async def _open_store(path: Path, stop: _Stop) -> Store:
    store = await Store.open(path, give_up=stop.is_requested)
    for notice in store.notices:
        tell(f"longjudge: {notice}")
    if store.write_error:
        tell(f"longjudge: nothing is kept, the store cannot be written: {store.write_error}")
    return store


def _line(result: Result, *, as_json: bool, redact: bool) -> str:
    fields = result.to_dict()
    if redact:
        fields = redacted_fields(fields)
    return msgspec.json.encode(fields).decode() if as_json else result_text(fields)
