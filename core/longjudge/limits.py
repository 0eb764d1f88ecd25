"""Which time limit is long enough, by how long a model took for chunks until now."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from longjudge.prices import OFFLINE_MODEL
from longjudge.settings import MAX_TIME_LIMIT, in_seconds
from longjudge.store import upkeep

if TYPE_CHECKING:
    from longjudge.store import Store

DEFAULT_SECONDS = 5.0
"""Expected for a chunk of a model that was never measured here."""

OFFLINE_SECONDS = 0.02

MARGIN = 2.0
"""So many times what is expected is advised: an answer may be long, and a provider busy."""

LEAST_ADVISED = 60.0
"""Less is never advised: one slow answer must have room in it."""

_ROUND = (60, 90, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600, 5_400, 7_200)
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Measured:
    """What a chunk took, waits and retries included: on average, and in a slow judgment.

    `chunks` is how many were measured; 0 where it is known without.
    """

    seconds: float
    slow: float
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class LimitAdvice:
    """How long a judgment should take, and the time limit that is advised, in seconds.

    `measured` is false where it is a guess.
    """

    expected: float
    advised: float
    measured: bool

    def is_short(self, limit: float) -> bool:
        """Whether a limit ends the judgment before it can be expected to be through."""
        return limit < self.expected

    def warning(self, limit: float) -> str:
        """What to say before a run that its limit is expected to end; else empty."""
        if not self.is_short(limit):
            return ""
        return f"the limit is short: {self.words(limit)}"

    def words(self, limit: float) -> str:
        """What to say beside a limit: `about 4 min; a limit of 600 s is enough`."""
        expected = expected_words(self.expected, measured=self.measured)
        return f"{expected}; {limit_words(self.advised, limit)}"


def advice(measured: Measured | None, to_ask: int, concurrency: int) -> LimitAdvice:
    """What to expect of `to_ask` questions, `concurrency` at a time.

    As long as one question at least, however many may be in flight.
    """
    known = measured or Measured(DEFAULT_SECONDS, DEFAULT_SECONDS)
    if to_ask <= 0:
        return LimitAdvice(0.0, LEAST_ADVISED, measured is not None)
    rounds = max(1.0, to_ask / max(1, concurrency))
    expected = known.seconds * rounds
    enough = max(MARGIN * expected, known.slow * rounds)
    return LimitAdvice(expected, round_limit(enough), measured is not None)


async def measure(store: Store, model: str) -> Measured | None:
    """How long a model took for a chunk lately; None where nobody knows."""
    rows = await upkeep.durations(store, model)
    chunks = sum(asked for asked, _ in rows)
    if not chunks:
        offline = model == OFFLINE_MODEL
        return Measured(OFFLINE_SECONDS, OFFLINE_SECONDS) if offline else None
    seconds = sum(seconds for _, seconds in rows) / chunks
    variance = sum(asked * (took / asked - seconds) ** 2 for asked, took in rows) / chunks
    return Measured(seconds, seconds + 2 * variance**0.5, chunks)


def round_limit(seconds: float) -> float:
    """The smallest limit that people would type, no shorter than `seconds`."""
    for limit in _ROUND:
        if seconds <= limit:
            return float(limit)
    return min(MAX_TIME_LIMIT, float(ceil(seconds / _HOUR) * _HOUR))


def limit_words(advised: float, limit: float) -> str:
    """Whether a limit is enough, and which one is advised where it is not."""
    if advised <= limit:
        return f"a limit of {in_seconds(limit)} s is enough"
    return f"--time-limit {in_seconds(advised)} advised ({in_seconds(limit)} s is set)"


def expected_words(seconds: float, *, measured: bool) -> str:
    """How long something should take, and whether anybody knows."""
    guess = "" if measured else " (a guess, nothing was measured yet)"
    return f"about {duration_words(seconds)}{guess}"


def duration_words(seconds: float) -> str:
    """A duration for people: `12 s`, `25 min`, `2.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 1 else "1 s"
    if seconds < 6_000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h"
