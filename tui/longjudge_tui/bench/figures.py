"""The numbers of a run: what is judged, what it cost so far, how fast it is, how long it takes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW_SECONDS = 60
"""The rate is that of so many seconds."""

LEAST_ENDS = 3
LEAST_SECONDS = 1.0
"""Of less than this nobody can tell a rate."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The live line's numbers.

    `verified` is how many of the findings' quotes were found, `disagreements` the chunks that the
    offline rules flag and the model called clean, `saved` the chunks whose verdict needed no call.
    `seconds` leave out pauses by hand. `rate` is in chunks per minute, and None where nobody can
    tell; so is `left`, the seconds that it still takes at this rate. `open` are the chunks without
    an end, `in_batch` those of them in a batch, `until_limit` the seconds until the limit ends it.
    """

    findings: int
    disagreements: int
    verified: int
    score: float | None
    score_range: tuple[float, float]
    judged: int
    chunks: int
    gaps: int
    calls: int
    retries: int
    saved: int
    cost_usd: float | None
    seconds: float
    rate: float | None = None
    left: float | None = None
    open: int = 0
    until_limit: float = 0.0
    in_batch: int = 0


class Rate:
    """How many chunks end a minute, over the last of the seconds in which the run did not pause.

    What it says changes once in a second, so that whoever reads along can.
    """

    def __init__(self) -> None:
        self._ends: deque[tuple[int, int]] = deque()
        self._said: tuple[int, float | None] = -1, None
        self._left: tuple[int, float | None] = -1, None

    def ended(self, at: float) -> None:
        """A chunk ended that was asked about, so many seconds after the run began."""
        second = int(at)
        count = self._ends.pop()[1] if self._ends and self._ends[-1][0] == second else 0
        self._ends.append((second, count + 1))
        while self._ends[0][0] <= second - WINDOW_SECONDS:
            self._ends.popleft()

    def per_minute(self, now: float) -> float | None:
        """The rate, None while too few have ended."""
        second = int(now)
        if second != self._said[0]:
            self._said = second, self._count(second, now)
        return self._said[1]

    def left(self, now: float, open_chunks: int) -> float | None:
        """How many seconds so many chunks take at this rate; None where nobody can tell."""
        second = int(now)
        if second != self._left[0]:
            rate = self.per_minute(now)
            known = rate and open_chunks
            self._left = second, open_chunks * 60 / rate if rate and known else None
        return self._left[1]

    def _count(self, second: int, now: float) -> float | None:
        ends = sum(count for at, count in self._ends if at > second - WINDOW_SECONDS)
        if ends < LEAST_ENDS or now < LEAST_SECONDS:
            return None
        return 60 * ends / min(now, WINDOW_SECONDS)


def rate_words(rate: float | None, *, brief: bool = False) -> str:
    """Chunks per minute, in as many digits as can be read while they change."""
    if rate is None:
        return "?/min" if brief else "rate not known yet"
    if rate < 10:
        number = f"{rate:.1f}"
    else:
        step = 10 ** max(0, len(str(int(rate))) - 2)
        number = f"{round(rate / step) * step:,}"
    return f"{number}/min" if brief else f"{number} chunks/min"


def rounded_up(seconds: float) -> int:
    """A time that is left, in steps that grow with it: it is no more exact than that."""
    step = next((step for below, step in ((20, 1), (60, 5), (600, 10)) if seconds < below), 60)
    return max(1, -(-int(seconds + 0.999) // step) * step)
