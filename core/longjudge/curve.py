"""What every chunk size would make of a session: chunks, tokens, what is kept, and the price.

A point is made by the very planner, keys and estimates that a run goes by, so that it says what a
run of that size would do. It reads arrays alone, and may be made in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from longjudge.chunks import DEFAULT_CHUNK_CHARS, plan_chunks
from longjudge.tokens import MARK_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from longjudge.estimate import Estimator
    from longjudge.keys import KeyMaker
    from longjudge.sessions.model import EventIndex
    from longjudge.tokens import TokenEstimate

WORTH_SAVING = 0.03
"""From this share of the price on, larger chunks are said to save something."""

_NOTHING = frozenset[str]()

_KEYS_AT_ONCE = 500
"""So many keys are made between two rests."""


def _no_rest() -> None:
    """Go on at once."""


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
class RoughPoint:
    """About what one size makes, from the length of the session alone; nothing is kept."""

    chunks: float
    tokens: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class CurveBase:
    """What is the same for every size: the session, who judges it, and what is kept."""

    index: EventIndex
    estimator: Estimator
    maker: KeyMaker
    kept: Container[str]
    by_tokens: bool

    def rough(self, size: int) -> RoughPoint:
        """About what one size makes: no event is looked at, so it takes no time.

        How far it is off changes slowly from size to size, so that exact points mend their
        neighbours.
        """
        index, estimator = self.index, self.estimator
        total = index.total_tokens if self.by_tokens else index.total_chars
        threads = max(1, len(index.threads))
        # The last chunk of a thread is half full.
        chunks = max(float(threads), total / size + (threads - 1) / 2)
        text = index.total_chars * estimator.ratio.per_char + len(index) * MARK_TOKENS
        tokens = text + chunks * estimator.prompt_tokens
        question = estimator.cost(round(tokens / chunks))
        return RoughPoint(chunks, tokens, None if question is None else chunks * question)

    def point(self, size: int, rest: Callable[[], None] = _no_rest) -> CurvePoint:
        """What one size makes; `rest` is called every few milliseconds.

        Raises:
            UsageError: it is out of range.
        """
        chars, tokens = (DEFAULT_CHUNK_CHARS, size) if self.by_tokens else (size, None)
        plan = plan_chunks(self.index, chars, tokens)
        keys: list[str] = []
        making = self.maker.keys(plan)
        while len(keys) < len(plan):
            rest()
            keys += islice(making, _KEYS_AT_ONCE)
        totals = self.estimator.totals(plan, keys, self.kept, rest)
        anew = self.estimator.totals(plan, keys, _NOTHING, rest) if totals.kept else totals
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
    never is. From `flat_from` on larger chunks save less than `WORTH_SAVING`. `best` is the
    smallest size that takes no more than that above the least, `spared` how much less than now it
    takes, as a share, and `above` how much more than the least is taken now. From `dearer_from` on
    larger chunks take more again, up to `dearer` times as much; None where they never do. All of it
    is of what every chunk takes; `kept` is whether some need not be asked about.
    """

    mostly_fixed: int | None
    flat_from: int
    best: int
    spared: float
    above: float
    dearer_from: int | None
    dearer: float
    by_price: bool
    kept: bool

    @classmethod
    def of(cls, points: Sequence[CurvePoint], now: CurvePoint) -> CurveMeaning | None:
        """What points by ascending size say beside the one of the size that is set.

        None where there are too few to say anything.
        """
        if len(points) < 3:
            return None
        fixed = [point.size for point in points if point.fixed_share >= 0.5]
        least = min(point.burden for point in points)
        hardly_more = (1 + WORTH_SAVING) * least
        # Not the least itself, which may be far too large for any model.
        best = next(point for point in points if point.burden <= hardly_more)
        cheap = max(point.size for point in points if point.burden <= hardly_more)
        dearer = [p for p in points if p.size > cheap]
        return cls(
            mostly_fixed=max(fixed, default=None),
            flat_from=_flat_from(points),
            best=best.size,
            spared=max(0.0, 1 - best.burden / now.burden) if now.burden else 0.0,
            above=max(0.0, now.burden / least - 1) if least else 0.0,
            dearer_from=dearer[0].size if dearer else None,
            dearer=max((p.burden for p in dearer), default=0.0) / least if least else 1.0,
            by_price=bool(now.anew_usd),
            kept=any(point.kept for point in points),
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
