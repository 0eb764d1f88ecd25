"""Who decides, record after record, to which session and thread an event belongs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.index import IndexBuilder
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes

R = TypeVar("R")


class RecordKeeper(ABC, Generic[R]):
    """Decides, record after record, where events belong.

    Made for one pass over one file. `session` is the file's first session; a keeper for files
    with many asks `gathering` for each of them. One that `goes_on` may be given further records
    after it was told that all were read: what it has decided by then stays as it is.
    """

    goes_on = False

    def __init__(self, gathering: Gathering, notes: Notes) -> None:
        self.gathering = gathering
        self.notes = notes
        self.session = gathering.session()
        self.facts = self.session.facts

    @abstractmethod
    def keep(
        self, record: R, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """The rows that the event at a position of its record goes to; None leaves it out."""

    @abstractmethod
    def pass_over(self, record: R, line: int) -> bool:
        """Take note of a record without events; true when it counts as skipped."""

    def finish(self) -> None:
        """All records were read."""
