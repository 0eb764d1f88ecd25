"""Chunk sizes as people choose them: the unit, round steps, and the slider's scale."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor, log, log10

LADDER = (10, 15, 20, 30, 40, 50, 60, 80)
"""Leading digits of the chunk sizes that one key steps through."""

MOST_CHUNKS = 2_000
"""About as many chunks as the slider makes of a session: as many as are planned, looked up and
priced within a frame (tests/benchmarks/bench_drag.py). A typed size makes more."""


class Unit(StrEnum):
    """What a chunk size counts."""

    CHARACTERS = "characters"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes that the slider reaches, evenly spaced in their logarithm."""

    low: int
    high: int

    @classmethod
    def of(cls, total: int, unit: Unit, low: int, high: int) -> Scale:
        """What is of use for a session of `total`: up to all of it in one chunk of a usual model.

        Every scale stays inside `low` to `high`, the sizes that are sizes at all.
        """
        smallest, large, largest = (
            (1_000, 100_000, 1_000_000) if unit is Unit.CHARACTERS else (500, 50_000, 400_000)
        )
        least = max(smallest, two_digits_up(total / MOST_CHUNKS))
        most = max(10 * least, min(largest, max(large, two_digits_up(total))))
        return cls(min(max(low, least), high // 2), min(most, high))

    def share(self, size: int) -> float:
        """Where a size stands, from 0 to 1."""
        share = log(max(1, size) / self.low) / log(self.high / self.low)
        return min(1.0, max(0.0, share))

    def size(self, share: float) -> int:
        """The size that stands at a share of the way, in two digits."""
        exact = self.low * (self.high / self.low) ** min(1.0, max(0.0, share))
        return min(self.high, max(self.low, two_digits(exact)))


def two_digits(size: float) -> int:
    """A size rounded to its first two digits."""
    step = _step(size)
    return round(size / step) * step


def next_size(size: int, direction: int, low: int, high: int) -> int:
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
        return next((step for step in steps if step > size), high)
    return next((step for step in reversed(steps) if step < size), low)


def two_digits_up(size: float) -> int:
    """A size rounded up to its first two digits."""
    step = _step(size)
    return ceil(size / step) * step


def _step(size: float) -> int:
    return 10 ** max(0, floor(log10(max(1.0, size))) - 1)
