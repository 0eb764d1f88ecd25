"""What a judgment of one session would ask and cost, before anything is asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks
from longjudge.estimate import Estimator
from longjudge.keys import KeyMaker
from longjudge.report.words import money, plural
from longjudge.store import token_factor

if TYPE_CHECKING:
    from collections.abc import Container

    from longjudge.chunks import ChunkPlan
    from longjudge.estimate import Totals
    from longjudge.factors import ObservedFactor
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan with its estimates; `kept` holds the keys that the store has.

    `observed` is how far the model's tokens were from such estimates until now, None where nothing
    was seen of it in sessions of this format.
    """

    plan: ChunkPlan
    estimator: Estimator
    keys: list[str]
    kept: set[str]
    totals: Totals
    observed: ObservedFactor | None = None

    @classmethod
    async def of(
        cls,
        session: Session,
        settings: Settings,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        *,
        fresh: bool = False,
    ) -> Preview:
        """Plan a session and look its chunks up in the store; `fresh` finds nothing there.

        The work is done in a thread, so that a signal is heard meanwhile.
        """
        plan, estimator, keys = await asyncio.to_thread(_planned, session, settings, rubric, judge)
        kept = set[str]() if fresh else await store.kept_keys(keys)
        totals = await asyncio.to_thread(estimator.totals, plan, keys, kept)
        observed = None
        if judge.judges_meaning:
            observed = await token_factor(store, judge.model, session.format)
        return cls(plan, estimator, keys, kept, totals, observed)

    def observed_cost(self, known: Container[str]) -> float | None:
        """The price of what is to ask by the tokens that were seen; None where it is unknown."""
        if self.observed is None:
            return None
        factor = self.observed.factor
        return self.estimator.observed_cost(self.plan, self.keys, known, factor)

    def observed_words(self) -> str:
        """What the tokens that were seen make of the estimate; empty where that is nothing."""
        if self.observed is None or not self.totals.to_ask:
            return ""
        tokens = self.totals.tokens.tokens * self.observed.factor
        cost = self.observed_cost(self.kept)
        return observed_words(self.observed.factor, self.observed.answers, round(tokens), cost)

    def asked(self, known: Container[str]) -> list[int]:
        """Positions of the chunks to ask where `known` keys have a verdict; equal ones once."""
        first: dict[str, int] = {}
        for position, key in enumerate(self.keys):
            if key not in known:
                first.setdefault(key, position)
        return list(first.values())


def thousands(tokens: int) -> str:
    """A number of tokens for people."""
    if tokens >= 10_000_000:
        return f"{tokens / 1e6:.1f}M"
    return f"{tokens / 1000:.0f}k" if tokens >= 10_000 else f"{tokens / 1000:.1f}k"


def observed_words(factor: float, answers: int, tokens: int, cost: float | None) -> str:
    """How a model's tokens turned out before, and what that makes of this estimate."""
    price = f", {money(cost)}" if cost else ""
    return (
        f"; ×{factor:.2f} seen in {plural(answers, 'answer')}, so about"
        f" {thousands(tokens)} tokens{price}"
    )


def _planned(
    session: Session, settings: Settings, rubric: Rubric, judge: Judge
) -> tuple[ChunkPlan, Estimator, list[str]]:
    plan = plan_chunks(session.index, settings.chunk_chars, settings.chunk_tokens)
    estimator = Estimator.of(session, rubric, judge.model, judge.price)
    keys = KeyMaker(judge, rubric, redactor=settings.redactor).keys(plan)
    return plan, estimator, list(keys)
