"""What can be said beside a run before it begins, and what its result leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import ref

from longjudge.fitting import fitting_size
from longjudge.keys import KeyMaker
from longjudge.states import GapReason
from longjudge_tui.bench.curving import Curving

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.limits import LimitAdvice
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.reasons import Reasons
    from longjudge_tui.bench.run import Run
    from longjudge_tui.bench.sought import Sought
    from longjudge_tui.bench.stock import Stock


@dataclass(frozen=True, slots=True)
class Fit:
    """How many parts were too large for the model, and a chunk size that fits."""

    parts: int
    size: int

    @classmethod
    def of(cls, run: Run) -> Fit | None:
        """What to offer after a run; None where nothing was too large, or cannot be smaller."""
        parts = run.result.parts if run.result is not None else ()
        gaps = [part.part - 1 for part in parts if part.reason is GapReason.TOO_LARGE]
        size = fitting_size(run.outlook.plan, gaps, run.settings)
        return None if size is None else cls(len(gaps), size)


class Foresight:
    """The part of the bench that advises; what it advises about is the bench's own.

    `sought` is what another screen has found, for the workbench to go to. `chosen_before` is the
    judgment that somebody chose to compare with: the session's name and id, and its own.
    """

    outlook: Outlook | None
    run: Run | None
    session: Session | None
    _stock: Stock

    def __init__(self) -> None:
        self._fit: tuple[ref[Run], Fit | None] | None = None
        self.sought: Sought | None = None
        self.chosen_before: tuple[str, str, str] | None = None

    @property
    def kept_keys(self) -> set[str]:
        """Keys of the verdicts that the store holds: one set for all who look things up."""
        return self._stock.keys

    async def refresh_store(self) -> None:
        """Know what is kept now, by whomever; not for long."""
        await self._stock.refresh()

    @property
    def applies(self) -> bool:
        """Whether the rubric applies to the session."""
        raise NotImplementedError

    @property
    def settings(self) -> Settings:
        """What the next run goes by."""
        raise NotImplementedError

    @property
    def judge(self) -> Judge:
        """Who is asked."""
        raise NotImplementedError

    @property
    def rubric(self) -> Rubric:
        """What is judged by."""
        raise NotImplementedError

    @property
    def limit_advice(self) -> LimitAdvice | None:
        """How long a run would take, as far as that is known; None where nothing is asked."""
        outlook = self.outlook
        if outlook is None or not self.applies or not outlook.totals.to_ask:
            return None
        to_ask, calls = outlook.totals.to_ask, self.settings.concurrency
        return self._stock.durations.advice(self.judge.model, to_ask, calls)

    def time_needed(self, to_ask: int) -> LimitAdvice | None:
        """How long so many questions would take; None until it is known."""
        if not self.applies:
            return None
        return self._stock.durations.advice(self.judge.model, to_ask, self.settings.concurrency)

    def curving(self) -> Curving | None:
        """The curve of chunk sizes by what stands now; None before there is a plan."""
        session, outlook, settings = self.session, self.outlook, self.settings
        if session is None or outlook is None:
            return None
        return Curving(
            session.index,
            outlook.estimator,
            KeyMaker(self.judge, self.rubric, redactor=settings.redactor),
            self._stock.keys,
            by_tokens=settings.chunk_tokens is not None,
        )

    @property
    def reasons(self) -> Reasons:
        """Why the chunks that a run would ask about are not kept."""
        return self._stock.reasons

    @property
    def told(self) -> int:
        """Counts how often the store had something else to say about the chunks."""
        return self._stock.changes

    def times_asked(self, position: int) -> int:
        """How many verdicts the store holds about a chunk, the earlier ones too."""
        return self._stock.times_asked(self.outlook.keys[position]) if self.outlook else 0

    @property
    def fit(self) -> Fit | None:
        """The chunk size that is offered where the last run left chunks that were too large."""
        run = self.run
        if run is None or run.result is None:
            return None
        if self._fit is None or self._fit[0]() is not run:
            # A run holds its session's plan, and is not kept alive here.
            self._fit = ref(run), Fit.of(run)
        return self._fit[1]
