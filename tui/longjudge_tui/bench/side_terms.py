"""What one side of a comparison is judged by, in a form that the bench can judge by again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.comparison.sides import JudgedBy
from longjudge.errors import UsageError
from longjudge.keys import KeyMaker
from longjudge.rubric import known_rubrics
from longjudge.store import rubric_of_version
from longjudge.text import clean_line
from longjudge_tui.bench.outlook import Outlook, estimator_for

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from longjudge.estimate import Estimator
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge_tui.bench.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Terms:
    """A judge with the name it was chosen by, a rubric with the name or path of its, settings."""

    judge: Judge
    model_name: str
    rubric: Rubric
    rubric_name: str
    settings: Settings

    @classmethod
    def standing(cls, tuning: Tuning) -> Terms:
        """Those that a run would go by now."""
        names = tuning.model_name, tuning.rubric_name
        return cls(tuning.judge, names[0], tuning.rubric, names[1], tuning.settings)

    @property
    def by(self) -> JudgedBy:
        """The same, as a side says it."""
        settings, rubric = self.settings, self.rubric
        return JudgedBy(
            self.judge.model,
            rubric.name,
            rubric.version,
            settings.chunk_tokens or settings.chunk_chars,
            by_tokens=settings.chunk_tokens is not None,
            redact=settings.redact,
        )

    def same_as(self, other: Terms) -> bool:
        """Whether the same verdicts would count for both."""
        return self.by == other.by and self.judge.endpoint == other.judge.endpoint

    def outlook(self, session: Session, measured: Estimator, kept: Container[str]) -> Outlook:
        """Plan and price a session by these; for a thread."""
        estimator = estimator_for(measured, self.judge, self.rubric)
        maker = KeyMaker(self.judge, self.rubric, redactor=self.settings.redactor)
        return Outlook.of(session, self.settings, estimator, maker, kept)

    def use(self, tuning: Tuning) -> None:
        """Let the next run go by these.

        Raises:
            LongjudgeError: the judge cannot answer the rubric, or not now.
        """
        if not self.same_as(Terms.standing(tuning)):
            tuning.use_all(self.settings, self.model_name, self.rubric)
            tuning.rubric_name = self.rubric_name


async def terms_of(
    by: JudgedBy, tuning: Tuning, store: Store, rubrics: Sequence[Path] = ()
) -> Terms:
    """What a judgment was judged by, to judge by it again; `rubrics` are the folders of them.

    Raises:
        LongjudgeError: its rubric, its judge or its chunk size is not known any more.
    """
    if by.size is None:
        raise UsageError("the chunk size of that judgment was not noted; choose another side")
    now = Terms.standing(tuning)
    settings = replace(
        now.settings,
        redact=by.redact,
        chunk_chars=now.settings.chunk_chars if by.by_tokens else by.size,
        chunk_tokens=by.size if by.by_tokens else None,
    )
    rubric, name = now.rubric, now.rubric_name
    if rubric.version != by.version:
        rubric = await _rubric(by, store, rubrics)
        name = rubric.name
    judge, model_name = now.judge, now.model_name
    if judge.model != by.model:
        judge, model_name = await asyncio.to_thread(tuning.judge_of, by.model), by.model
    judge.check_rubric(rubric)
    return Terms(judge, model_name, rubric, name, settings)


async def _rubric(by: JudgedBy, store: Store, folders: Sequence[Path]) -> Rubric:
    """The text of a version: as the store noted it, else one that is known by its name."""
    rubric = await rubric_of_version(store, by.version)
    if rubric is not None:
        return rubric
    known = await asyncio.to_thread(known_rubrics, folders)
    for each in known.rubrics:
        if each.rubric.version == by.version:
            return each.rubric
    raise UsageError(
        f"the text of the rubric {clean_line(by.rubric, 60)} in its version"
        f" {clean_line(by.version, 20)} is not known any more, so nothing can be asked by it;"
        " compare with what stands in the settings instead"
    )
