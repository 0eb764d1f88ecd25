"""What a plan would send and cost, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.judges.base import Usage
from longjudge.prices import cost_usd
from longjudge.prompt import system_text
from longjudge.tokens import TokenEstimate, TokenRatio, count_tokens, measure_ratio, model_factor

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from longjudge.chunks import ChunkPlan
    from longjudge.rubric import Rubric
    from longjudge.sessions.model import Session

REPLY_TOKENS = 300
"""Expected output of one question, thinking included; an assumption, corrected by what is seen."""

FENCE_TOKENS = 60
"""Tokens of the fences and of the lines after them."""

_STEP = 100


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a plan.

    `equal` counts chunks that are not kept and whose answer an equal one brings. `cost_usd` is for
    what is to ask, None if unknown.
    """

    chunks: int
    chars: int
    tokens: TokenEstimate
    kept: int
    equal: int
    cost_usd: float | None
    cost_usd_low: float | None
    cost_usd_high: float | None

    @property
    def to_ask(self) -> int:
        """Questions that a run would ask, retries aside."""
        return self.chunks - self.kept - self.equal


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates for the chunks of one session, one rubric and one model."""

    model: str
    ratio: TokenRatio
    prompt_tokens: int

    @classmethod
    def of(cls, session: Session, rubric: Rubric, model: str) -> Estimator:
        """Measure the session; reads some of its events."""
        prompt = count_tokens(system_text(rubric)) * model_factor(model)
        return cls(model, measure_ratio(session, model), round(prompt) + FENCE_TOKENS)

    def chunk(self, plan: ChunkPlan, position: int) -> TokenEstimate:
        """Tokens of the whole request about one chunk."""
        chunk = plan[position]
        return self.ratio.estimate(chunk.chars, chunk.last - chunk.first + 1, self.prompt_tokens)

    def cost(self, tokens: int) -> float | None:
        """Price of one question of `tokens` input tokens, None where it is unknown."""
        rounded = -(-tokens // _STEP) * _STEP
        return cost_usd(self.model, Usage(rounded, REPLY_TOKENS))

    def totals(self, plan: ChunkPlan, keys: Sequence[str], kept: Container[str]) -> Totals:
        """Sum a plan up; `kept` holds the verdict keys that the store has.

        Equal chunks are priced once, since they are asked once.
        """
        tokens = TokenEstimate(0, 0, 0)
        costs: tuple[float, float, float] | None = (0.0, 0.0, 0.0)
        kept_chunks = 0
        asked: set[str] = set()
        for position in range(len(plan)):
            estimate = self.chunk(plan, position)
            tokens += estimate
            key = keys[position]
            if key in kept:
                kept_chunks += 1
            elif key not in asked:
                asked.add(key)
                if costs is not None:
                    costs = _add_costs(costs, self._costs(estimate))
        equal = len(plan) - kept_chunks - len(asked)
        cost, low, high = costs or (None, None, None)
        return Totals(len(plan), plan.total_chars, tokens, kept_chunks, equal, cost, low, high)

    def _costs(self, estimate: TokenEstimate) -> tuple[float, float, float] | None:
        prices = (self.cost(estimate.tokens), self.cost(estimate.low), self.cost(estimate.high))
        if prices[0] is None or prices[1] is None or prices[2] is None:
            return None
        return prices[0], prices[1], prices[2]


def _add_costs(
    total: tuple[float, float, float], more: tuple[float, float, float] | None
) -> tuple[float, float, float] | None:
    if more is None:
        return None
    return total[0] + more[0], total[1] + more[1], total[2] + more[2]
