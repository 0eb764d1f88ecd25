"""What every way of judging on the command line shares: the run, its exit code, its stop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.cli.files import Reading, words_for
from longjudge.cli.preview import Preview, secrets_in_words
from longjudge.faults import FaultKind
from longjudge.limits import advice, measure
from longjudge.prompt import chunk_tag
from longjudge.replaced import count_secrets
from longjudge.report.words import plural
from longjudge.states import JudgmentStatus
from longjudge.store import Store
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.budget import Budget
    from longjudge.cli.model_note import ModelNote
    from longjudge.errors import CredentialError
    from longjudge.faults import Fault
    from longjudge.judges.base import Judge
    from longjudge.judgment import Judgment
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings


@dataclass(slots=True)
class ExitCode:
    """The exit code so far, strongest reason first."""

    usage: bool = False
    gaps: bool = False
    low_score: bool = False

    def count(self, result: Result, fail_under: float | None, max_gaps: int) -> None:
        """Take one result in."""
        if result.unjudged_chunks > max_gaps or result.status is JudgmentStatus.FAILED:
            self.gaps = True
        if fail_under is not None and result.score is not None and result.score < fail_under:
            self.low_score = True

    def code(self, stopped_by: int | None) -> int:
        """The code; `stopped_by` is the signal that ended it, None without one."""
        if stopped_by is not None:
            return 128 + stopped_by
        if self.usage:
            return 2
        if self.gaps:
            return 3
        return 1 if self.low_score else 0


class Stop:
    """A signal's effect: what is being loaded or judged ends, nothing new begins."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.judgment: Judgment | None = None
        self.loading: asyncio.Task[list[Session]] | None = None
        self.heard: Callable[[int], None] | None = None

    def request(self, number: int) -> None:
        """A signal came; the first one names the exit code. `heard` is told of each."""
        if self.signal is None:
            self.signal = number
        if self.loading is not None:
            self.loading.cancel()
        if self.judgment is not None:
            self.judgment.cancel()
        if self.heard is not None:
            self.heard(number)

    @property
    def requested(self) -> bool:
        """Whether a signal came."""
        return self.signal is not None

    def is_requested(self) -> bool:
        """The same, for a thread to ask."""
        return self.requested


@dataclass(slots=True)
class Run:
    """One `judge` command: what every session shares, and what came of those before.

    `unsent` says that questions which nobody waits for will never be answered.
    """

    rubric: Rubric
    judge: Judge
    settings: Settings
    store: Store
    stop: Stop
    reading: Reading
    fresh: bool
    budget: Budget
    note: ModelNote
    fault: Fault | None
    budget_told: bool = False
    said_not_kept: bool = False
    not_begun: int = 0
    unsent: bool = False
    blocked: str | None = None
    credential: CredentialError | None = None

    def say_what_is_not_kept(self) -> None:
        """Say what the store did not take to the end, or that it has everything after all."""
        owed = self.store.owed
        if self.store.write_error is not None:
            return
        if owed.words is not None:
            tell(f"longjudge: NOT ALL IS KEPT: {owed.words}; what is not is asked by the next run")
        elif owed.judgments:
            what = plural(owed.judgments, "result")
            tell(f"longjudge: NOT ALL IS KEPT: {owed.problem}; {what} not recorded")
        elif self.said_not_kept and self.fault is None:
            tell("longjudge: what the store did not take at first is kept by now")
        if owed.leases:
            tell(f"longjudge: {plural(owed.leases, 'lease')} could not be given back")

    async def load(self, file: SessionFile) -> list[Session] | None:
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

    async def warn_of_the_limit(self, session: Session, to_ask: int) -> None:
        """Say that the time limit is expected to end it, and which one would not."""
        measured = await measure(self.store, self.judge.model)
        times = advice(measured, to_ask, self.settings.concurrency)
        if warning := times.warning(self.settings.time_limit):
            tell(f"{self.name(session)}: {warning}")

    async def preview(self, session: Session) -> Preview:
        """What the session would ask and cost now."""
        return await Preview.of(
            session, self.settings, self.rubric, self.judge, self.store, fresh=self.fresh
        )

    async def secrets(self, session: Session, preview: Preview) -> str:
        """What is replaced in what leaves the machine."""
        if not self.judge.judges_meaning or not preview.totals.to_ask:
            return ""
        if not self.settings.redact:
            return secrets_in_words(None)
        asked = preview.asked(preview.kept)
        counts = await count_secrets(session, preview.plan, asked, self.stop.is_requested)
        return secrets_in_words(counts)

    def forced(self, preview: Preview) -> str:
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

    def name(self, session: Session) -> str:
        """What the session goes by in a line."""
        return words_for(session, redact=self.settings.redact)


async def open_store(path: Path, stop: Stop) -> Store:
    """Open the store, and say what there is to know about it."""
    store = await Store.open(path, give_up=stop.is_requested)
    for notice in store.notices:
        tell(f"longjudge: {notice}")
    if store.write_error:
        tell(f"longjudge: nothing is kept, the store cannot be written: {store.write_error}")
    return store
