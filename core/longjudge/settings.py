"""The settings of one judgment, and their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from longjudge.chunks import DEFAULT_CHUNK_CHARS, check_chunk_chars, check_chunk_tokens
from longjudge.errors import UsageError
from longjudge.redaction import NO_REDACTOR, REDACTOR_VERSION

DEFAULT_MODEL = "claude-haiku-5-5"
DEFAULT_RUBRIC = "chunks"
DEFAULT_CONCURRENCY = 4
MAX_CONCURRENCY = 256
DEFAULT_TIME_LIMIT = 600.0
MAX_TIME_LIMIT = 30 * 86_400.0


def in_seconds(limit: float) -> str:
    """A limit for people, as exactly as it was given: `600`, `0.5`, `1234567`."""
    limit = float(limit)
    return str(int(limit)) if limit.is_integer() else f"{Decimal(repr(limit)):f}"


@dataclass(frozen=True, slots=True)
class Settings:
    """Chunk size in characters, calls in flight, time limit in seconds.

    With `chunk_tokens` the chunk size is that many tokens instead. `redact` says whether secrets
    are replaced in what the judge reads.

    Raises:
        UsageError: a value is out of range.
    """

    chunk_chars: int = DEFAULT_CHUNK_CHARS
    concurrency: int = DEFAULT_CONCURRENCY
    time_limit: float = DEFAULT_TIME_LIMIT
    chunk_tokens: int | None = None
    redact: bool = True

    def __post_init__(self) -> None:
        check_chunk_chars(self.chunk_chars)
        if self.chunk_tokens is not None:
            check_chunk_tokens(self.chunk_tokens)
        if not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise UsageError(
                f"concurrency {self.concurrency} is out of range; use 1 to {MAX_CONCURRENCY}"
            )
        if not 0 < self.time_limit <= MAX_TIME_LIMIT:
            raise UsageError(
                f"time limit {in_seconds(self.time_limit)} is out of range; use more than 0 and at"
                f" most {in_seconds(MAX_TIME_LIMIT)} seconds"
            )

    @property
    def redactor(self) -> str:
        """What replaces the secrets, as verdict keys have it."""
        return REDACTOR_VERSION if self.redact else NO_REDACTOR

    def to_dict(self) -> dict[str, int | float]:
        """The `settings` object of the JSON; a whole number of seconds stands as one."""
        limit = float(self.time_limit)
        by_chars = self.chunk_tokens is None
        unredacted = {} if self.redact else {"redact": False}
        return {
            "chunk_chars" if by_chars else "chunk_tokens": self.chunk_tokens or self.chunk_chars,
            "concurrency": self.concurrency,
            "time_limit": int(limit) if limit.is_integer() else limit,
            **unredacted,
        }
