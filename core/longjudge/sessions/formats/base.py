"""What a format module provides, and what the loader knows of it.

A format decodes one record and turns it into events without looking at any other record, so that
a body can be read again from its record alone. What depends on the order of records (copies,
titles, which records belong to the thread) is decided by its reader while the file is indexed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from longjudge.sessions.reading import RecordReading
from longjudge.sessions.records import decode_records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.keeper import RecordKeeper
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes

R = TypeVar("R")


class Reading(Protocol):
    """One pass over the records of a file, in order."""

    skipped: int
    kept: int

    @property
    def goes_on(self) -> bool:
        """Whether further records may be read after the end, behind what stands."""
        ...

    def read(self, lines: Sequence[bytes], first: int) -> None:
        """Index the records of some lines; `first` is the number of the first one, from 0."""
        ...

    def finish(self) -> None:
        """All records were read."""
        ...


class SessionFormat(Protocol):
    """What the loader knows of a format.

    `before` and `after` name the entries of a document beside its messages that are records of
    the session too, ahead of the messages or behind them. `made` holds the words that texts of
    events have and their records do not, beside placeholders for media, each with what stands in
    the records for which it is written: a search of the file must not miss them.
    """

    name: str
    before: Sequence[str]
    after: Sequence[str]
    made: Mapping[str, Sequence[str]]

    def fits(self, record: dict[str, object]) -> bool:
        """Whether a record looks like one of this format."""
        ...

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of the first records that fit, 0 to 1.

        `around` holds the other entries of a document whose list the records are.
        """
        ...

    def line_events(self, line: bytes) -> list[Event]:
        """Every event of one line or element, from it alone."""
        ...

    def readings(self) -> Sequence[SessionReader]:
        """The ways to read a file, in the order to try them until one yields an event."""
        ...

    def companions(self, path: Path, session_id: str | None) -> Sequence[Path]:
        """Further files of a session: those of the subagents that it started."""
        ...

    def companion_reader(self, path: Path) -> SessionReader:
        """How a companion is read into its session."""
        ...


class SessionReader(Protocol):
    """Starts one pass."""

    def start(
        self, gathering: Gathering, notes: Notes, *, base: int, unfinished: int | None
    ) -> Reading:
        """Begin a pass that adds to `gathering`.

        `base` is the number of the file's first record. Record `unfinished` is a last line
        without end.
        """
        ...


class Format(ABC, Generic[R]):
    """A format over decoded records of type `R`."""

    name: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    made: Mapping[str, Sequence[str]] = MappingProxyType({})

    @abstractmethod
    def fits(self, record: dict[str, object]) -> bool:
        """Whether a record looks like one of this format."""

    @abstractmethod
    def decode(self, line: bytes) -> R:
        """Decode a sound record quickly; raise ValueError for anything else."""

    @abstractmethod
    def convert(self, value: dict[str, object]) -> R:
        """Make a record of any JSON object, leaving out what does not fit."""

    @abstractmethod
    def record_events(self, record: R) -> list[Event]:
        """The events of a record, in order."""

    @abstractmethod
    def keepers(self) -> Sequence[type[RecordKeeper[R]]]:
        """The keepers to try in turn until one keeps an event."""

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of the first records that fit, 0 to 1."""
        return sum(map(self.fits, head)) / len(head) if head else 0.0

    def line_events(self, line: bytes) -> list[Event]:
        """Every event of one line or element, from it alone."""
        records = decode_records(line, self.decode, self.convert)
        if len(records) == 1:
            return self.record_events(records[0])
        return [event for record in records for event in self._events_or_none(record)]

    def _events_or_none(self, record: R) -> list[Event]:
        """The events of one of several records on a line, none where it is nested too deeply."""
        try:
            return self.record_events(record)
        except RecursionError:
            return []

    def readings(self) -> Sequence[SessionReader]:
        """The ways to read a file, in the order to try them until one yields an event."""
        return [KeeperReader(self, keeper) for keeper in self.keepers()]

    def companions(self, path: Path, session_id: str | None) -> Sequence[Path]:
        """Further files of a session; most formats have none."""
        return ()

    def companion_reader(self, path: Path) -> SessionReader:
        """How a companion is read into its session."""
        raise NotImplementedError


class KeeperReader(Generic[R]):
    """Starts passes with one keeper each."""

    def __init__(
        self, format_: Format[R], keeper: Callable[[Gathering, Notes], RecordKeeper[R]]
    ) -> None:
        self._format = format_
        self._keeper = keeper

    def start(
        self, gathering: Gathering, notes: Notes, *, base: int, unfinished: int | None
    ) -> Reading:
        """Begin a pass."""
        return RecordReading(self._format, self._keeper(gathering, notes), notes, base, unfinished)
