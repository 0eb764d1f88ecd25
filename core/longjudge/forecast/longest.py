"""The sessions with the most to ask, out of any number."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge.forecast.needs import Needs

SHOWN = 10


@dataclass(frozen=True, slots=True)
class LongSession:
    """A session by its chunks to ask and their expected tokens; a cost that is unknown is None.

    It is less than a longer one; of equals, the one whose path comes first counts as longer.
    """

    path: str
    id: str
    chunks: int
    to_ask: int
    tokens: int
    cost_usd: float | None

    @classmethod
    def of(cls, path: str, id: str, needs: Needs) -> LongSession:
        """A session that needs something."""
        cost = needs.cost.middle if needs.cost else None
        return cls(path, id, needs.chunks, needs.to_ask, needs.tokens.tokens, cost)

    def __lt__(self, other: LongSession) -> bool:
        # The one that is let go first is the least.
        return (self.to_ask, self.tokens, other.path, other.id) < (
            other.to_ask,
            other.tokens,
            self.path,
            self.id,
        )

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "path": self.path,
            "id": self.id,
            "chunks": self.chunks,
            "to_ask": self.to_ask,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
        }


class Longest:
    """Holds the longest of the sessions that were added, `SHOWN` at most."""

    def __init__(self, most: int = SHOWN) -> None:
        self._most = most
        self._heap: list[LongSession] = []

    def add(self, session: LongSession) -> None:
        """Take a session in; one with nothing to ask is none of the longest."""
        if not session.to_ask:
            return
        if len(self._heap) < self._most:
            heappush(self._heap, session)
        else:
            heappushpop(self._heap, session)

    def rows(self) -> list[LongSession]:
        """They, the longest first."""
        return sorted(self._heap, reverse=True)
