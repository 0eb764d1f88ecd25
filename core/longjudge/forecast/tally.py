"""The sum over the sessions of a run, in memory that does not grow with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.forecast.forecaster import Expected
from longjudge.forecast.longest import Longest, LongSession

if TYPE_CHECKING:
    from longjudge.forecast.forecaster import SessionForecast
    from longjudge.forecast.needs import Needs


@dataclass(slots=True)
class Tally:
    """What the sessions so far come to; `needs` begins as `Forecaster.nothing`."""

    needs: Needs
    sessions: int = 0
    not_applicable: int = 0
    longest: Longest = field(default_factory=Longest)

    def add(self, path: str, id: str, forecast: SessionForecast) -> None:
        """Take a session in, by the names that it is shown with."""
        self.sessions += 1
        self.not_applicable += forecast.status is Expected.NOT_APPLICABLE
        self.needs += forecast.needs
        self.longest.add(LongSession.of(path, id, forecast.needs))

    def to_dict(self) -> dict[str, object]:
        """The JSON form of the sum; it has the keys of a session's line, and further ones."""
        return {
            "path": None,
            "id": None,
            "status": None,
            "total": True,
            "sessions": self.sessions,
            **self.needs.to_dict(),
            "not_applicable": self.not_applicable,
            "extrapolated": False,
            "longest": [each.to_dict() for each in self.longest.rows()],
        }
