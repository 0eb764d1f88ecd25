"""The words for what becomes of a chunk and of a judgment."""

from __future__ import annotations

from enum import Enum, StrEnum


class ChunkState(StrEnum):
    """`queued` → `waiting` → `running` → (`retrying` →) `clean` · `flagged` · `gap`.

    A gap that is asked again goes back to `queued`.
    """

    QUEUED = "queued"
    WAITING = "waiting"
    RUNNING = "running"
    RETRYING = "retrying"
    CLEAN = "clean"
    FLAGGED = "flagged"
    GAP = "gap"

    @property
    def ended(self) -> bool:
        """Whether a chunk in this state is done with."""
        return self in _ENDED


_ENDED = frozenset({ChunkState.CLEAN, ChunkState.FLAGGED, ChunkState.GAP})

TRANSITIONS: dict[ChunkState, frozenset[ChunkState]] = {
    ChunkState.QUEUED: frozenset({ChunkState.WAITING, ChunkState.RUNNING}) | _ENDED,
    ChunkState.WAITING: frozenset({ChunkState.QUEUED, ChunkState.RUNNING}) | _ENDED,
    ChunkState.RUNNING: frozenset({ChunkState.RETRYING}) | _ENDED,
    ChunkState.RETRYING: frozenset({ChunkState.RUNNING, ChunkState.WAITING}) | _ENDED,
    ChunkState.CLEAN: frozenset(),
    ChunkState.FLAGGED: frozenset(),
    ChunkState.GAP: frozenset({ChunkState.QUEUED}),
}
"""Where a chunk may go from each state; of what has ended only a gap opens again.

A chunk that is to be asked again waits where another process has begun to ask the same meanwhile.
"""

WAITS = frozenset({ChunkState.WAITING, ChunkState.RETRYING})
"""Where a chunk is neither worked on nor just next in turn."""


class GapReason(StrEnum):
    """Why a chunk has no verdict."""

    UNPARSABLE = "unparsable"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    PROVIDER_ERROR = "provider_error"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class StopCause(Enum):
    """What ends a judgment before all its chunks have ended, and what it makes of asked ones."""

    LIMIT = GapReason.TIMED_OUT
    CANCEL = GapReason.CANCELLED
    FATAL = GapReason.PROVIDER_ERROR


class JudgmentStatus(StrEnum):
    """How a judgment ended."""

    NOT_APPLICABLE = "not_applicable"
    COMPLETE = "complete"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    FAILED = "failed"
    PARTIAL = "partial"
