"""A retold format whose records each have their events in themselves."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling
    from longjudge.sessions.model import Event

    Record = dict[str, object]


class OneByOne(RetoldFormat):
    """Tells record after record; what has no event is noted by its label.

    `surely` says that at least one of the first records can be of no other format.
    """

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of the first records that fit, provided that one of them surely does."""
        if not any(map(self.surely, head)):
            return 0.0
        return sum(map(self.fits, head)) / len(head)

    @abstractmethod
    def surely(self, record: Record) -> bool:
        """Whether a record can be of no other format."""

    @abstractmethod
    def fits(self, record: Record) -> bool:
        """Whether a record may be of this format."""

    @abstractmethod
    def record_events(self, record: Record) -> list[Event]:
        """The events of a record, in order."""

    def facts(self, record: Record, telling: Telling) -> None:
        """Say what a record tells of the session."""

    def label(self, record: Record) -> str:
        """What a record without events is called in a note."""
        return f"{kind_name(record.get('type'))} records, no events"

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass."""
        for given in records:
            with passing_over(telling, given.number):
                self.facts(given.value, telling)
                events = self.record_events(given.value)
                for event in events:
                    telling.event(event, given.number)
                if not events:
                    telling.note(self.label(given.value), given.number)
