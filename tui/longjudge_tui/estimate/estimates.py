"""The estimate that was opened last, and the batch run: they go on while their screen is closed.

It knows no widget. The shelf owns it, and ends it with the app.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.errors import RubricError, UsageError
from longjudge.rubric import load_rubric
from longjudge_tui.chores import Chores
from longjudge_tui.commands import command
from longjudge_tui.estimate.batch_command import batch_command
from longjudge_tui.estimate.batch_run import BatchRuns
from longjudge_tui.estimate.estimating import Estimating
from longjudge_tui.estimate.judged_sample import JudgedSample
from longjudge_tui.estimate.subject import About

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping
    from pathlib import Path

    from longjudge.sessions import SessionFile
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.estimate.batch_command import BatchCommand
    from longjudge_tui.estimate.judged_sample import SessionEnd
    from longjudge_tui.estimate.subject import Subject


class Estimates:
    """`kept` are the keys of the verdicts that the store holds, `notice` is told what to say once.

    `judged` is the sample of `current` where it is judged, or was.
    """

    def __init__(self, bench: Bench, kept: Collection[str], notice: Callable[[str], None]) -> None:
        self.current: Estimating | None = None
        self.judged: JudgedSample | None = None
        self.runs = BatchRuns(bench.log, notice)
        self._bench = bench
        self._kept = kept
        self._chores = Chores()
        self._judged_of: Estimating | None = None

    def open(self, subject: Subject) -> Estimating:
        """The estimate of a subject: that of before where it is the same, else a new one.

        One that is whole is made anew once the store holds other verdicts, unless its sample was
        judged: then it stays with what that tells.
        """
        about, current = About.of(self._bench), self.current
        if (
            current is None
            or current.subject.files != subject.files
            or _basis(current.about) != _basis(about)
        ):
            return self._begin(subject, about)
        if current.complete and self.kept_since and self.judged is None:
            return self._begin(subject, about)
        return current

    def again(self) -> None:
        """Estimate the same anew, as the store is now; what a judged sample told stays."""
        if self.current is not None:
            judged = self.judged
            self._begin(self.current.subject, About.of(self._bench))
            self.judged = judged

    @property
    def kept_since(self) -> int:
        """How many verdicts more the store holds than when the estimate began."""
        current = self.current
        return 0 if current is None else len(self._kept) - current.kept_before

    @property
    def words(self) -> str:
        """How far a batch run and an estimate are that go on; empty where none does."""
        said = [self.runs.words]
        current = self.current
        if current is not None and current.working:
            shows = f"{command('show_estimate').shown} shows it"
            said.append(f"estimated {current.done:,} of {current.total:,}, {shows}")
        return " · ".join(filter(None, said))

    @property
    def cancels_run(self) -> str:
        """Where a batch run that goes on is cancelled; empty without one."""
        if not self.runs.running:
            return ""
        shows, cancels = command("show_estimate").shown, command("cancel_batch").shown
        return f": {shows}, then {cancels} cancels the batch run"

    def stop(self) -> bool:
        """Stop estimating; false where nothing was estimated. A batch run goes on."""
        return self.current is not None and self.current.stop()

    def judge_sample(self) -> list[SessionFile]:
        """The sessions of the sample that are to be judged now: those without a whole judgment."""
        current = self.current
        if current is None or current.sample is None:
            return []
        if self.judged is None or self._judged_of is not current:
            self._judged_of = current
            files = [current.listed(file) for file in current.drawn]
            self.judged = JudgedSample(current.sample, files, current.sampled)
        return self.judged.begin()

    def take(self, file: SessionFile, end: SessionEnd) -> None:
        """A session's judgment has ended."""
        if self.judged is not None:
            self.judged.take(file, end)

    async def command(self, per_file: Mapping[Path, int]) -> BatchCommand:
        """The command of a batch run about what is estimated.

        Raises:
            UsageError: there is none that would judge the same.
        """
        current, bench = self.current, self._bench
        if current is None:
            raise UsageError("nothing is estimated")
        if self.runs.running:
            raise UsageError("a batch run goes on: let it end, or cancel it first")
        if bench.forcing.spec:
            raise UsageError("forced failures are for live questions: turn them off first (F)")
        about = current.about
        try:
            rubric = await asyncio.to_thread(load_rubric, about.rubric_name, bench.config.rubrics)
        except RubricError:
            rubric = None
        if rubric is None or rubric.version != about.rubric.version:
            raise UsageError(
                "the rubric is one that no file holds as it is: save it in the editor first"
            )
        return await asyncio.to_thread(
            batch_command, current.subject, about, bench.store.path, per_file
        )

    def raise_failure(self) -> None:
        """Raise what a task died of."""
        self._chores.raise_failure()
        self.runs.raise_failure()
        if self.current is not None:
            self.current.raise_failure()

    async def aclose(self) -> None:
        """End what is estimated, for a bounded time; a batch run goes on."""
        ends = [self.runs.aclose(), self._chores.finish()]
        if self.current is not None:
            ends.append(self.current.aclose())
        await asyncio.gather(*ends)

    def _begin(self, subject: Subject, about: About) -> Estimating:
        if self.current is not None:
            self._chores.start(self.current.aclose())
        self.judged = None
        kept = len(self._kept)
        self.current = Estimating(subject, about, self._bench.store, kept)
        self.current.estimate_all()
        return self.current


def _basis(about: About) -> Hashable:
    settings, judge = about.settings, about.judge
    return (
        about.rubric.version,
        about.rubric_name,
        (judge.model, judge.endpoint, about.model_name),
        (settings.chunk_chars, settings.chunk_tokens, settings.concurrency, settings.redact),
    )
