"""What can be said beside a run before it begins, and what its result leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import ref

from longjudge.fitting import fitting_size
from longjudge.states import GapReason

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.limits import LimitAdvice
    from longjudge.settings import Settings
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.reasons import Reasons
    from longjudge_tui.bench.run import Run
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
    """The part of the bench that advises; what it advises about is the bench's own."""

    outlook: Outlook | None
    run: Run | None
    _stock: Stock

    def __init__(self) -> None:
        self._fit: tuple[ref[Run], Fit | None] | None = None

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
    def limit_advice(self) -> LimitAdvice | None:
        """How long a run would take, as far as that is known; None where nothing is asked."""
        outlook = self.outlook
        if outlook is None or not self.applies or not outlook.totals.to_ask:
            return None
        to_ask, calls = outlook.totals.to_ask, self.settings.concurrency
        return self._stock.durations.advice(self.judge.model, to_ask, calls)

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
