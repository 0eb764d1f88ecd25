"""When a question that got no answer is asked again, in numbers.

The kind of an error is decided where it is caught (`judges`); here it becomes a wait or a gap.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from longjudge.judges.base import MAX_WAIT, Again, AskError
from longjudge.states import GapReason

MIN_ATTEMPTS = 3
"""A chunk is asked so often before it is given up for something that may pass."""
SOON_ATTEMPTS = 5
SOON_SECONDS = 30.0
TOLD_ATTEMPTS = 8
TOLD_MAX_WAIT = 30.0
FIRST_WAIT = 0.5
SOON_MAX_WAIT = SOON_SECONDS / MIN_ATTEMPTS
"""A longer wait that comes with a 5xx would leave no time for the attempts that are due."""
ORDERED_JITTER = 1.05
REPLIES_OF_A_KIND = 2
"""A bad reply is asked once more, a cut one with a larger cap; then the chunk is a gap."""
MAX_TOKENS = 4_096
"""Cap of the first question; thinking counts against it."""
MORE_TOKENS = 16_384
"""Cap after a reply was cut off at the first one."""


@dataclass(slots=True)
class RetryCount:
    """What has gone wrong with one chunk so far; `cut_off` is about the last reply."""

    soon: int = 0
    told: int = 0
    bad_replies: int = 0
    cut_replies: int = 0
    cut_off: bool = False
    first_failure: float | None = None
    max_tokens: int = MAX_TOKENS

    @property
    def attempts(self) -> int:
        """Questions that brought no verdict."""
        return self.soon + self.told + self.bad_replies + self.cut_replies

    def asks_again(self, reason: GapReason) -> bool:
        """Count a reply that is no verdict; whether its chunk is asked again."""
        self.cut_off = reason is GapReason.TRUNCATED
        if self.cut_off:
            self.cut_replies += 1
            self.max_tokens = MORE_TOKENS
            return self.cut_replies < REPLIES_OF_A_KIND
        self.bad_replies += 1
        return reason is not GapReason.REFUSED and self.bad_replies < REPLIES_OF_A_KIND


@dataclass(slots=True)
class RetryPolicy:
    """Turns an error into the seconds to wait, or None: give up."""

    random: random.Random = field(default_factory=random.Random)

    def next_wait(self, error: AskError, count: RetryCount, now: float) -> float | None:
        """Count the error and say how long to wait before the chunk is asked again.

        Connection errors and 5xx: at most `SOON_ATTEMPTS` attempts within `SOON_SECONDS`, however
        slow the answers are at least `MIN_ATTEMPTS`. 429 and 529: as told, else 1, 2, 4 … at most
        `TOLD_MAX_WAIT` seconds, given up after `TOLD_ATTEMPTS` such answers, or `MIN_ATTEMPTS`
        where the provider discourages more.
        """
        if error.again is Again.SOON:
            return self._soon(error, count, now)
        if error.again is Again.WHEN_TOLD:
            return self._when_told(error, count)
        return None

    def _soon(self, error: AskError, count: RetryCount, now: float) -> float | None:
        count.soon += 1
        if count.first_failure is None:
            count.first_failure = now
        ordered = None if error.wait is None else min(error.wait, SOON_MAX_WAIT)
        wait = self._jittered(ordered, FIRST_WAIT * 2 ** (count.soon - 1))
        late = now + wait - count.first_failure > SOON_SECONDS
        over = count.soon >= SOON_ATTEMPTS or (late and count.attempts >= MIN_ATTEMPTS)
        return None if over else wait

    def _when_told(self, error: AskError, count: RetryCount) -> float | None:
        count.told += 1
        # The server answers again, and the time that a wait takes is no time of its failing.
        count.first_failure = None
        most = MIN_ATTEMPTS if error.discouraged else TOLD_ATTEMPTS
        if count.told >= most:
            return None
        ordered = None if error.wait is None else min(error.wait, MAX_WAIT)
        return self._jittered(ordered, min(TOLD_MAX_WAIT, 2.0 ** (count.told - 1)))

    def _jittered(self, ordered: float | None, own: float) -> float:
        """A wait in no step with others': a little longer than ordered, or shorter than our own."""
        if ordered is not None:
            return ordered * self.random.uniform(1.0, ORDERED_JITTER)
        return own * self.random.uniform(0.75, 1.0)
