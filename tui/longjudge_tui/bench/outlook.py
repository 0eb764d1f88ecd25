"""What a run would do with a session: the plan, its keys and its totals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks
from longjudge.estimate import FENCE_TOKENS
from longjudge.prompt import system_text
from longjudge.tokens import TokenRatio, count_tokens, model_factor

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from longjudge.chunks import ChunkPlan
    from longjudge.estimate import Estimator, Totals
    from longjudge.judges.base import Judge
    from longjudge.keys import KeyMaker
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings


class Copies:
    """How many chunks of a plan share a key; counted when it is asked for, not on every frame."""

    __slots__ = ("_counts", "_keys")

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._counts: Counter[str] | None = None

    def of(self, key: str) -> int:
        """Chunks with this key."""
        if self._counts is None:
            self._counts = Counter(self._keys)
        return self._counts[key]


@dataclass(frozen=True, slots=True)
class Outlook:
    """A plan with its estimates; a new one is made when the settings or the store change.

    `redact` says whether the judge reads the texts without their secrets.
    """

    plan: ChunkPlan
    keys: list[str]
    copies: Copies
    estimator: Estimator
    totals: Totals
    redact: bool = True

    @classmethod
    def of(
        cls,
        session: Session,
        settings: Settings,
        estimator: Estimator,
        maker: KeyMaker,
        kept: Container[str],
    ) -> Outlook:
        """Plan a session and look its chunks up in `kept`."""
        plan = plan_chunks(session.index, settings.chunk_chars, settings.chunk_tokens)
        keys = list(maker.keys(plan))
        totals = estimator.totals(plan, keys, kept)
        return cls(plan, keys, Copies(keys), estimator, totals, settings.redact)

    def again(self, kept: Container[str]) -> Outlook:
        """The same plan after the store has changed."""
        return replace(self, totals=self.estimator.totals(self.plan, self.keys, kept))

    def with_kept(self, more: Iterable[str]) -> Outlook:
        """The same plan with more keys kept, counted on; the price shrinks with the questions."""
        before = self.totals
        copies = [self.copies.of(key) for key in more]
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

    def to_ask(self, kept: Container[str]) -> list[int]:
        """Positions of the chunks that a run would ask about; equal ones once."""
        first: dict[str, int] = {}
        for position, key in enumerate(self.keys):
            if key not in kept:
                first.setdefault(key, position)
        return list(first.values())

    def tokens(self, position: int) -> int:
        """Estimated tokens of the request about one chunk."""
        return self.estimator.chunk(self.plan, position).tokens


def estimator_for(measured: Estimator, judge: Judge, rubric: Rubric) -> Estimator:
    """What was measured of a session, for another judge or rubric, without reading it again."""
    factor = model_factor(judge.model)
    ratio = measured.ratio
    prompt = round(count_tokens(system_text(rubric)) * factor) + FENCE_TOKENS
    per_char = ratio.per_char / model_factor(measured.model) * factor
    return replace(
        measured,
        model=judge.model,
        ratio=TokenRatio(per_char, ratio.spread),
        prompt_tokens=prompt,
        price=judge.price,
    )
