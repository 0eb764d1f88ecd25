"""What a run goes by, and how it is changed: chunk size, model, rubric, calls in flight, limit.

It knows no widget and no judgment. A value that cannot be used raises and changes nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.chunks import (
    MAX_CHUNK_CHARS,
    MAX_CHUNK_TOKENS,
    MIN_CHUNK_CHARS,
    MIN_CHUNK_TOKENS,
)
from longjudge.keys import KeyMaker
from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.bench.outlook import Outlook, estimator_for
from longjudge_tui.bench.sizes import Scale, Unit, next_size, two_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container

    from longjudge.estimate import Estimator
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings

USUAL_TOKENS_PER_CHAR = 0.4
CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A plan that was made beside the event loop: what it goes by, and how much was kept then."""

    outlook: Outlook
    settings: Settings
    judge: Judge
    rubric: Rubric
    kept: int


class Tuning:
    """The settings, the judge and the rubric, with what follows from them.

    `make_judge` gives the judge behind a model's name; those made here are closed by `aclose`.
    `model_name` is the name that the first judge was chosen by, `rubric_name` what the rubric was:
    its name, or the path of its file.
    What a plan or its keys follow from is changed between `refuse`, which raises a `UsageError`
    where that cannot be now, and `changed`. Calls in flight and limit may change at any time.
    """

    def __init__(
        self,
        settings: Settings,
        judge: Judge,
        rubric: Rubric,
        *,
        make_judge: Callable[[str], Judge],
        model_name: str | None,
        refuse: Callable[[], None],
        changed: Callable[[], None],
        calls_changed: Callable[[int], None],
    ) -> None:
        self.settings = settings
        self.judge = judge
        self.rubric = rubric
        self.model_name = model_name or judge.model
        self.rubric_name = rubric.name
        self._make_judge = make_judge
        self._refuse = refuse
        self._changed = changed
        self._calls_changed = calls_changed
        self._maker = KeyMaker(judge, rubric, redactor=settings.redactor)
        self._estimator: Estimator | None = None
        self._judges: dict[str, Judge] = {OFFLINE_MODEL: judge} if _is_offline(judge) else {}
        self._made: list[Judge] = []
        self._tokens_per_char = USUAL_TOKENS_PER_CHAR
        self._switched = (0, 0)

    @property
    def unit(self) -> Unit:
        """What the chunk size counts."""
        return Unit.CHARACTERS if self.settings.chunk_tokens is None else Unit.TOKENS

    @property
    def size(self) -> int:
        """The chunk size, in its unit."""
        tokens = self.settings.chunk_tokens
        return self.settings.chunk_chars if tokens is None else tokens

    def scale(self, chars: int) -> Scale:
        """What the slider reaches in a session of so many characters."""
        total = chars if self.unit is Unit.CHARACTERS else round(chars * self._tokens_per_char)
        return Scale.of(total, self.unit, *_limits(self.unit))

    def set_size(self, size: int) -> None:
        """Use another chunk size in the unit that stands.

        Raises:
            UsageError: out of range, or not now.
        """
        if size == self.size:
            return
        if self.unit is Unit.CHARACTERS:
            self._set(replace(self.settings, chunk_chars=size))
        else:
            self._set(replace(self.settings, chunk_tokens=size))

    def step_size(self, direction: int) -> None:
        """Go to the next round chunk size, up (1) or down (-1).

        Raises:
            UsageError: not now.
        """
        self.set_size(next_size(self.size, direction, *_limits(self.unit)))

    def switch_unit(self) -> None:
        """Count in the other unit from now on, with about the same size.

        There and back again is where one was.

        Raises:
            UsageError: not now.
        """
        settings = self.settings
        if settings.chunk_tokens is None:
            tokens = _clip(settings.chunk_chars * self._tokens_per_char, Unit.TOKENS)
            self._set(replace(settings, chunk_tokens=tokens))
            self._switched = (tokens, settings.chunk_chars)
            return
        tokens, chars = self._switched
        if tokens != settings.chunk_tokens:
            chars = _clip(settings.chunk_tokens / self._tokens_per_char, Unit.CHARACTERS)
        self._set(replace(settings, chunk_tokens=None, chunk_chars=chars))

    def _set(self, settings: Settings) -> None:
        self._refuse()
        self.settings = settings
        self._changed()

    def set_concurrency(self, calls: int) -> None:
        """Have so many calls in flight, in a judgment that runs too.

        Raises:
            UsageError: out of range.
        """
        self.settings = replace(self.settings, concurrency=calls)
        self._calls_changed(calls)

    def set_time_limit(self, seconds: float) -> None:
        """Use another time limit from the next run on.

        Raises:
            UsageError: out of range.
        """
        self.settings = replace(self.settings, time_limit=seconds)

    def judge_of(self, name: str) -> Judge:
        """The judge behind a model's name, made once; a thread may ask as well.

        Nothing is connected to, and no credential is looked for.

        Raises:
            LongjudgeError: no such judge.
        """
        judge = self._judges.get(name)
        if judge is None:
            judge = self._make_judge(name)
            self._made.append(judge)
            self._judges[name] = judge
        return judge

    def use_model(self, name: str) -> None:
        """Ask another model.

        Raises:
            LongjudgeError: no such judge, it cannot answer the rubric, or not now.
        """
        self._refuse()
        judge = self.judge_of(name)
        judge.check_rubric(self.rubric)
        self.model_name = name
        self._use(judge, self.rubric)

    def use_rubric(self, rubric: Rubric) -> None:
        """Judge by another rubric.

        Raises:
            LongjudgeError: the judge cannot answer it, or not now.
        """
        self._refuse()
        self.judge.check_rubric(rubric)
        self._use(self.judge, rubric)

    def use_all(self, settings: Settings, name: str, rubric: Rubric) -> None:
        """Use other settings, another model and another rubric, all of them or none.

        Raises:
            LongjudgeError: no such judge, it cannot answer the rubric, or not now.
        """
        self._refuse()
        judge = self.judge_of(name)
        judge.check_rubric(rubric)
        self.settings, self.model_name = settings, name
        if rubric != self.rubric:
            self.rubric_name = rubric.name
        self._use(judge, rubric)

    def measured(self, session: Session, estimator: Estimator) -> None:
        """Take what a session was measured to be; the model may be another one by now."""
        self._estimator = estimator_for(estimator, self.judge, self.rubric)
        index = session.index
        if index.total_chars:
            # The fixed count that a plan by tokens goes by, not the one of the model.
            self._tokens_per_char = max(0.01, index.total_tokens / index.total_chars)

    def foresee(self, session: Session, estimator: Estimator, kept: Collection[str]) -> Foreseen:
        """The same as `outlook`, for a thread: a long session takes longer to plan than a frame."""
        settings, judge, rubric, maker = self.settings, self.judge, self.rubric, self._maker
        count, ours = len(kept), estimator_for(estimator, judge, rubric)
        outlook = Outlook.of(session, settings, ours, maker, kept)
        return Foreseen(outlook, settings, judge, rubric, count)

    def still_holds(self, foreseen: Foreseen, kept: Collection[str]) -> bool:
        """Whether a plan is still the one that would be made now."""
        made_by = (foreseen.settings, foreseen.judge, foreseen.rubric, foreseen.kept)
        return made_by == (self.settings, self.judge, self.rubric, len(kept))

    def outlook(self, session: Session, kept: Container[str]) -> Outlook | None:
        """What a run would do with a session that was measured."""
        if self._estimator is None:
            return None
        return Outlook.of(session, self.settings, self._estimator, self._maker, kept)

    def _use(self, judge: Judge, rubric: Rubric) -> None:
        self.judge, self.rubric = judge, rubric
        self._maker = KeyMaker(judge, rubric, redactor=self.settings.redactor)
        if self._estimator is not None:
            self._estimator = estimator_for(self._estimator, judge, rubric)
        self._changed()

    async def aclose(self) -> None:
        """Close the judges that were made here, each for a bounded time."""
        for judge in self._made:
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await judge.aclose()
            except TimeoutError:
                continue


def _is_offline(judge: Judge) -> bool:
    return judge.model == OFFLINE_MODEL


def _limits(unit: Unit) -> tuple[int, int]:
    if unit is Unit.CHARACTERS:
        return MIN_CHUNK_CHARS, MAX_CHUNK_CHARS
    return MIN_CHUNK_TOKENS, MAX_CHUNK_TOKENS


def _clip(size: float, unit: Unit) -> int:
    low, high = _limits(unit)
    return min(high, max(low, two_digits(size)))
