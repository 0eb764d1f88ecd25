"""How far the tokens that a provider counted are from those that were estimated.

The factor of a model and a session format is an exponentially weighted mean over its answers, as
the store keeps it. Estimates stay what they are: the factor is shown beside them, and a budget
reserves by it where it makes a question dearer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.prices import Usage

WEIGHT = 0.2
"""What one more answer weighs against all those before it."""

MOST = 5.0
"""A server that counts more than so many times the estimate, or less than its inverse, does not
count what was estimated: a part of the request, or characters, or nothing."""


@dataclass(frozen=True, slots=True)
class ObservedFactor:
    """The smoothed ratio, its smoothed deviation, and how many answers it was seen in."""

    factor: float
    deviation: float
    answers: int


def observed_ratio(usage: Usage, estimated: int) -> float | None:
    """Counted over estimated tokens of one request; None where that teaches nothing."""
    if estimated <= 0 or usage.prompt_tokens <= 0:
        return None
    ratio = usage.prompt_tokens / estimated
    return ratio if 1 / MOST <= ratio <= MOST else None


def learned(before: ObservedFactor | None, ratios: Iterable[float]) -> ObservedFactor | None:
    """The factor after more answers, in their order; None where there never were any."""
    mean, variance, answers = 0.0, 0.0, 0
    if before is not None:
        mean, variance, answers = before.factor, before.deviation**2, before.answers
    for ratio in ratios:
        if answers:
            off = ratio - mean
            mean += WEIGHT * off
            variance = (1 - WEIGHT) * (variance + WEIGHT * off**2)
        else:
            mean = ratio
        answers += 1
    return ObservedFactor(mean, sqrt(variance), answers) if answers else None


class TokenWatch:
    """What the answers of one judgment teach; `known` is what was seen before it."""

    def __init__(self, known: ObservedFactor | None = None) -> None:
        self.known = known
        self.ratios: list[float] = []
        self._highest = 0.0

    def see(self, usage: Usage, estimated: int) -> None:
        """Take in one answer."""
        ratio = observed_ratio(usage, estimated)
        if ratio is not None:
            self.ratios.append(ratio)
        # What is paid for is paid for, also where nothing is to be learned from it.
        self._highest = max(self._highest, usage.prompt_tokens / max(1, estimated))

    @property
    def dearer_by(self) -> float:
        """What an estimate is multiplied with so that no budget is passed; never below 1."""
        known = self.known.factor if self.known is not None else 1.0
        return max(1.0, known, self._highest)
