"""What judging would take: chunks, tokens, price and time, for one session or several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from longjudge.judges.batch_api import BATCH_SHARE
from longjudge.tokens import TokenEstimate

BATCH_PACE = "usually within an hour, at most a day"
"""How long a batch takes: "most within an hour, at most 24 hours" [the provider's documents]."""

NO_TOKENS = TokenEstimate(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Cost:
    """Expected price with its band, in US dollars."""

    middle: float
    low: float
    high: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.middle + other.middle, self.low + other.low, self.high + other.high)

    @property
    def batch(self) -> float:
        """The expected price of the same as a batch."""
        return self.middle * BATCH_SHARE


@dataclass(frozen=True, slots=True)
class Seen:
    """What is to ask by the tokens that the model took before; `cost` is None where unknown.

    `sources` holds the factor and the number of answers of each format of session.
    """

    tokens: float
    cost: float | None
    sources: frozenset[tuple[float, int]]

    @property
    def answers(self) -> int:
        """Answers that it was seen in."""
        return sum(answers for _, answers in self.sources)

    def __add__(self, other: Seen) -> Seen:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Seen(self.tokens + other.tokens, cost, self.sources | other.sources)


@dataclass(frozen=True, slots=True)
class Needs:
    """What judging would take: tokens, cost and seconds are for the chunks to ask alone.

    `equal` counts chunks that an equal one answers, of this session or of one before it. `cost`
    is None where the price is unknown; `seen` where nothing was seen of the model before;
    `redacted` where no secret is replaced. `advised` is the time limit that the longest session
    needs, 0 where nothing is to ask; `measured` says whether the durations are more than a guess.
    """

    chunks: int = 0
    kept: int = 0
    equal: int = 0
    to_ask: int = 0
    tokens: TokenEstimate = NO_TOKENS
    cost: Cost | None = Cost(0.0, 0.0, 0.0)
    seconds: float = 0.0
    seen: Seen | None = None
    redacted: Counter[str] | None = None
    advised: float = 0.0
    measured: bool = True

    @classmethod
    def nothing(cls, *, redact: bool) -> Needs:
        """What nothing takes; `redact` says whether secrets are replaced."""
        return cls(redacted=Counter() if redact else None)

    def __add__(self, other: Needs) -> Needs:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        seen = self.seen if not other.to_ask else other.seen
        if self.to_ask and other.to_ask:
            seen = self.seen + other.seen if self.seen and other.seen else None
        return Needs(
            self.chunks + other.chunks,
            self.kept + other.kept,
            self.equal + other.equal,
            self.to_ask + other.to_ask,
            self.tokens + other.tokens,
            cost,
            self.seconds + other.seconds,
            seen,
            None if other.redacted is None else other.redacted + (self.redacted or Counter()),
            max(self.advised, other.advised),
            self.measured and other.measured,
        )

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        cost = self.cost
        return {
            "chunks": self.chunks,
            "kept": self.kept,
            "to_ask": self.to_ask,
            "tokens_low": self.tokens.low,
            "tokens_high": self.tokens.high,
            "cost_usd_low": cost.low if cost else None,
            "cost_usd_high": cost.high if cost else None,
            "cost_usd_batch": cost.batch if cost else None,
            "seconds": self.seconds,
            "advised_time_limit": self.advised or None,
            "redacted": self.redacted,
            "observed_factor": self.observed_factor,
        }

    @property
    def observed_factor(self) -> float | None:
        """How many times the estimate the model's tokens were; None where nothing was seen."""
        if self.seen is None:
            return None
        if self.tokens.tokens:
            return self.seen.tokens / self.tokens.tokens
        return max(self.seen.sources)[0]
