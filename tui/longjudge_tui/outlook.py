"""What a run would do with a session: the plan, its keys and its totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks

if TYPE_CHECKING:
    from collections.abc import Container

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
        return cls(plan, keys, estimator, estimator.totals(plan, keys, kept))

    def again(self, kept: Container[str]) -> Outlook:
        """The same plan after the store has grown."""
        totals = self.estimator.totals(self.plan, self.keys, kept)
        return Outlook(self.plan, self.keys, self.estimator, totals)

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
