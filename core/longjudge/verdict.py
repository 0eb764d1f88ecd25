"""A verdict: a judge's valid, complete answer about one chunk, as it is kept in the store.

Event numbers are the chunk's, from 1, so that one verdict serves every equal chunk wherever it
stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

MAX_NOTE_CHARS = 300
MAX_QUOTE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem. `event` is None where the judge named none that exists in the chunk."""

    criterion: str
    note: str
    event: int | None
    quote: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The criteria that were judged, in the rubric's order, and everything found."""

    criteria: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def flagged(self) -> bool:
        """Whether anything was found."""
        return bool(self.findings)

    def to_json(self) -> str:
        """The form in the store."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Verdict:
        """Read what `to_json` wrote.

        Raises:
            ValueError: anything else.
        """
        try:
            return msgspec.json.decode(text, type=cls)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
