"""When a question that got no answer is asked again, in numbers.

The kind of an error is decided where it is caught (`judges`); here it becomes a wait or a gap.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from longjudge.judges.base import Again, AskError
from longjudge.states import GapReason

SOON_ATTEMPTS = 5
SOON_SECONDS = 30.0
TOLD_ATTEMPTS = 8
TOLD_MAX_WAIT = 30.0
FIRST_WAIT = 0.5
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

        Connection errors and 5xx: at most `SOON_ATTEMPTS` attempts within `SOON_SECONDS`.
        429 and 529: as told, else 1, 2, 4 … at most `TOLD_MAX_WAIT` seconds with jitter, given
        up after `TOLD_ATTEMPTS` such answers.
        """
        if count.first_failure is None:
            count.first_failure = now
        if error.again is Again.SOON:
            count.soon += 1
            wait = error.wait if error.wait is not None else FIRST_WAIT * 2 ** (count.soon - 1)
            wait *= self.random.uniform(0.75, 1.0)
            late = now + wait - count.first_failure > SOON_SECONDS
            return None if count.soon >= SOON_ATTEMPTS or late else wait
        if error.again is Again.WHEN_TOLD:
            count.told += 1
            if count.told >= TOLD_ATTEMPTS:
                return None
            if error.wait is not None:
                return error.wait
            return min(TOLD_MAX_WAIT, 2.0 ** (count.told - 1)) * self.random.uniform(0.75, 1.0)
        return None
