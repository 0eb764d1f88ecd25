"""How large batches are, how often they are looked at, and how long a provider may be silent."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000
MOST_REQUESTS, MOST_BYTES = 100_000, 256 * MEGABYTE
"""What a provider takes as one batch [the provider's documents]."""

DAY = 86_400.0
"""Seconds until a batch expires [the provider's documents], and its time limit without another."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Sizes and times; times are in seconds.

    `max_requests` and `max_bytes` bound one batch: far below what a provider takes, since all of a
    batch is in memory while it is sent, and comes home in one piece. `queued` questions are on
    their way at most, so that memory does not follow the number of sessions.

    A batch is looked at first after `first_look`, then ever less often, at least each
    `longest_look`. A new one may be unknown for `hidden_for` [SDK issue 1432: seconds], and is in
    the list no later than `listed_after`. A stop waits `end` for batches to end.
    """

    max_requests: int = 10_000
    max_bytes: int = 32 * MEGABYTE
    queued: int = 100_000
    first_look: float = 0.5
    longest_look: float = 30.0
    hidden_for: float = 300.0
    listed_after: float = 60.0
    unknown_for: float = DAY + 300.0
    end: float = 10.0

    def next_look(self, age: float) -> float:
        """Seconds until a batch of that age is looked at again."""
        return min(max(self.first_look, age / 8), self.longest_look)
