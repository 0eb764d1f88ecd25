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


class SessionKeys:
    """Keys for the sessions of a file: the first one's is empty.

    Files that were put together, or a log of several runs, hold more than one.
    """

    def __init__(self) -> None:
        self._first: str | None = None
        self._current = ""

    def of(self, named: str | None) -> str:
        """The key of the session that a record names, or else of the one that goes on."""
        if named:
            self._first = self._first or named
            self._current = "" if named == self._first else named
        return self._current


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

    def session(self, record: Record) -> str | None:
        """The id of the session that a record begins or belongs to, None where it names none."""
        return None

    def facts(self, record: Record, session: str, telling: Telling) -> None:
        """Say what a record tells of the session, which goes by that key."""

    def label(self, record: Record) -> str:
        """What a record without events is called in a note."""
        return f"{kind_name(record.get('type'))} records, no events"

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass."""
        keys = SessionKeys()
        for given in records:
            with passing_over(telling, given.number):
                session = keys.of(self.session(given.value))
                self.facts(given.value, session, telling)
                events = self.record_events(given.value)
                for event in events:
                    telling.event(event, given.number, session=session)
                if not events:
                    telling.note(self.label(given.value), given.number)
