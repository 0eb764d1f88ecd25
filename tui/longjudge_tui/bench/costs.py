"""What judging a session by other models would ask and cost, estimated beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.keys import KeyMaker
from longjudge_tui.bench.outlook import estimator_for

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from longjudge.estimate import Totals
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.tuning import Tuning


class ModelCosts:
    """The totals of one plan by the names that models are chosen by.

    `fill` makes them one after the other, until `stop`; those of the model that stands are there
    at once. A model that cannot judge by the rubric has None.
    """

    def __init__(
        self, tuning: Tuning, outlook: Outlook, kept: Container[str], names: Sequence[str]
    ) -> None:
        self.totals: dict[str, Totals | None] = {tuning.model_name: outlook.totals}
        self._tuning = tuning
        self._rubric = tuning.rubric
        self._outlook = outlook
        self._kept = kept
        self._names = [name for name in names if name not in self.totals]
        self._stopped = threading.Event()

    async def fill(self) -> None:
        """Estimate for every name; may be cancelled at any time."""
        try:
            await asyncio.to_thread(self._fill)
        finally:
            self._stopped.set()

    def stop(self) -> None:
        """Estimate no more."""
        self._stopped.set()

    def _fill(self) -> None:
        # Where a session is cut is the same for every model; only the keys and the price differ.
        digests = list(self._outlook.plan.digests())
        for name in self._names:
            if self._stopped.is_set():
                return
            self.totals[name] = self._totals(name, digests)

    def _totals(self, name: str, digests: Sequence[bytes]) -> Totals | None:
        try:
            judge = self._tuning.judge_of(name)
            judge.check_rubric(self._rubric)
        except LongjudgeError:
            return None
        redactor = self._tuning.settings.redactor
        key = KeyMaker(judge, self._rubric, redactor=redactor).key
        estimator = estimator_for(self._outlook.estimator, judge, self._rubric)
        keys = [key(digest) for digest in digests]
        return estimator.totals(self._outlook.plan, keys, self._kept)
