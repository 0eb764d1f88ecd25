"""What every chunk size would make of a session: chunks, tokens, what is kept, and the price.

A point is made by the very planner, keys and estimates that a run goes by, so that it says what a
run of that size would do. It reads arrays alone, and may be made in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.chunks import DEFAULT_CHUNK_CHARS, plan_chunks

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from longjudge.estimate import Estimator
    from longjudge.keys import KeyMaker
    from longjudge.sessions.model import EventIndex
    from longjudge.tokens import TokenEstimate

WORTH_SAVING = 0.03
"""From this share of the price on, larger chunks are said to save something."""

_NOTHING = frozenset[str]()


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One chunk size. `tokens` are those of all requests, kept ones too.

    `cost_usd` with its band is what is to ask; `anew_usd` what all would cost were nothing kept,
    None where the price is unknown. `fixed_share` is how much of that, without a price of the
    tokens, comes back with every question whatever its chunk holds.
    """

    size: int
    chunks: int
    tokens: TokenEstimate
    kept: int
    to_ask: int
    cost_usd: float | None
    cost_usd_low: float | None
    cost_usd_high: float | None
    anew_usd: float | None
    fixed_share: float

    @property
    def burden(self) -> float:
        """What all of it takes, to be compared with other sizes: its price, else its tokens."""
        return self.anew_usd or self.tokens.tokens


@dataclass(frozen=True, slots=True)
class CurveBase:
    """What is the same for every size: the session, who judges it, and what is kept."""

    index: EventIndex
    estimator: Estimator
    maker: KeyMaker
    kept: Container[str]
    by_tokens: bool

    def point(self, size: int) -> CurvePoint:
        """What one size makes.

        Raises:
            UsageError: it is out of range.
        """
        chars, tokens = (DEFAULT_CHUNK_CHARS, size) if self.by_tokens else (size, None)
        plan = plan_chunks(self.index, chars, tokens)
        keys = list(self.maker.keys(plan))
        totals = self.estimator.totals(plan, keys, self.kept)
        anew = self.estimator.totals(plan, keys, _NOTHING) if totals.kept else totals
        prompt = self.estimator.prompt_tokens
        question = self.estimator.cost(prompt)
        if anew.cost_usd and question is not None:
            fixed = question * anew.to_ask / anew.cost_usd
        else:
            fixed = prompt * totals.chunks / max(1, totals.tokens.tokens)
        return CurvePoint(
            size=size,
            chunks=totals.chunks,
            tokens=totals.tokens,
            kept=totals.kept,
            to_ask=totals.to_ask,
            cost_usd=totals.cost_usd,
            cost_usd_low=totals.cost_usd_low,
            cost_usd_high=totals.cost_usd_high,
            anew_usd=anew.cost_usd,
            fixed_share=min(1.0, fixed),
        )


@dataclass(frozen=True, slots=True)
class CurveMeaning:
    """What a curve says, as far as its points reach.

    Up to `mostly_fixed` what comes back with every question is most of the burden; None where it
    never is. From `flat_from` on larger chunks save less than `WORTH_SAVING`. `spared` is how much
    less than now the best size takes, as a share, and `best` that size. From `dearer_from` on
    larger chunks take more again, up to `dearer` times as much; None where they never do.
    """

    mostly_fixed: int | None
    flat_from: int
    best: int
    spared: float
    dearer_from: int | None
    dearer: float
    by_price: bool

    @classmethod
    def of(cls, points: Sequence[CurvePoint], now: CurvePoint) -> CurveMeaning | None:
        """What points by ascending size say beside the one of the size that is set.

        None where there are too few to say anything.
        """
        if len(points) < 3:
            return None
        fixed = [point.size for point in points if point.fixed_share >= 0.5]
        best = min(reversed(points), key=lambda point: point.burden)
        above = (1 + WORTH_SAVING) * best.burden
        dearer = [p for p in points if p.size > best.size and p.burden > above]
        return cls(
            mostly_fixed=max(fixed, default=None),
            flat_from=_flat_from(points),
            best=best.size,
            spared=max(0.0, 1 - best.burden / now.burden) if now.burden else 0.0,
            dearer_from=dearer[0].size if dearer else None,
            dearer=max((p.burden for p in dearer), default=0.0) / best.burden if best.burden else 1,
            by_price=bool(now.anew_usd),
        )


def _flat_from(points: Sequence[CurvePoint]) -> int:
    """The smallest size from which on no larger one saves what is worth it."""
    least = points[-1].burden
    flat = points[-1].size
    for point in reversed(points):
        least = min(least, point.burden)
        if point.burden - least >= WORTH_SAVING * point.burden:
            break
        flat = point.size
    return flat
