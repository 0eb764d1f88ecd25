"""What a run would do with a session: the plan, its keys and its totals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from longjudge.chunks import ChunkPlan
    from longjudge.estimate import Estimator, Totals
    from longjudge.keys import KeyMaker
    from longjudge.sessions import Session

LADDER = (10, 15, 20, 30, 40, 50, 60, 80)
"""Leading digits of the chunk sizes that one key steps through."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """A plan with its estimates; a new one is made when the chunk size or the store changes."""

    plan: ChunkPlan
    keys: list[str]
    copies: Counter[str]
    estimator: Estimator
    totals: Totals

    @classmethod
    def of(
        cls,
        session: Session,
        chunk_chars: int,
        estimator: Estimator,
        maker: KeyMaker,
        kept: Container[str],
    ) -> Outlook:
        """Plan a session and look its chunks up in `kept`."""
        plan = plan_chunks(session.index, chunk_chars)
        keys = list(maker.keys(plan))
        totals = estimator.totals(plan, keys, kept)
        return cls(plan, keys, Counter(keys), estimator, totals)

    def again(self, kept: Container[str]) -> Outlook:
        """The same plan after the store has grown."""
        return replace(self, totals=self.estimator.totals(self.plan, self.keys, kept))

    def with_kept(self, more: Iterable[str]) -> Outlook:
        """The same plan with more keys kept, counted on; the price shrinks with the questions."""
        before = self.totals
        copies = [self.copies[key] for key in more]
        kept = before.kept + sum(copies)
        equal = before.equal - sum(copies) + len(copies)
        share = (before.chunks - kept - equal) / before.to_ask if before.to_ask else 0.0
        cost, low, high = (
            None if price is None else price * share
            for price in (before.cost_usd, before.cost_usd_low, before.cost_usd_high)
        )
        totals = replace(
            before, kept=kept, equal=equal, cost_usd=cost, cost_usd_low=low, cost_usd_high=high
        )
        return replace(self, totals=totals)

    def tokens(self, position: int) -> int:
        """Estimated tokens of the request about one chunk."""
        return self.estimator.chunk(self.plan, position).tokens


def next_size(chunk_chars: int, direction: int, low: int, high: int) -> int:
    """The next chunk size on the ladder of round numbers, up (1) or down (-1)."""
    steps = sorted(
        {
            low,
            high,
            *(
                lead * 10**power
                for power in range(8)
                for lead in LADDER
                if low <= lead * 10**power <= high
            ),
        }
    )
    if direction > 0:
        return next((step for step in steps if step > chunk_chars), high)
    return next((step for step in reversed(steps) if step < chunk_chars), low)
