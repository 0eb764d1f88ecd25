"""What a format provides whose records need one another: it tells its sessions anew.

A trace repeats the whole conversation in each span, a stream sends an answer in pieces, a log
keeps attachments apart. No such record has events by itself. A retold format reads all records of
a file in order, as often as it likes, and tells what happened; the loader keeps the events' bodies
in a file of its own, so that nothing is held in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.model import Event


@dataclass(frozen=True, slots=True)
class Given:
    """One record of a file: a JSON object on a line, an element of a document, or all of one.

    `number` counts the file's records from 0; several objects on one line share it. `entry` names
    the list of a document that the record stands in, and is empty for lines, for the elements of
    a plain array and for a document as a whole.
    """

    number: int
    value: dict[str, object]
    entry: str = ""


class Records(Protocol):
    """The records of a file, in order, decoded one at a time; may be gone through repeatedly."""

    def __iter__(self) -> Iterator[Given]: ...

    def __len__(self) -> int:
        """How many lines or elements there are; a line may hold no record, or several."""
        ...

    def size(self, number: int) -> int:
        """How many bytes the records with a number take."""
        ...

    def at(self, number: int) -> list[Given]:
        """The records with a number: one, unless the line is damaged."""
        ...


class Telling(Protocol):
    """Takes what a retold format tells.

    `session` is a key within the file, of the format's choosing; a file whose events all go by
    one key holds one session. A session begins with its first event, a thread too. Threads other
    than `main` are those of subagents.
    """

    def event(
        self, event: Event, record: int, *, session: str = "", thread: str = MAIN_THREAD
    ) -> None:
        """Tell the next event of a thread; `record` is the number of the one it comes from."""
        ...

    def facts(
        self,
        *,
        session: str = "",
        id: str | None = None,
        title: str | None = None,
        started: str | None = None,
        ended: str | None = None,
    ) -> None:
        """Say what the records tell of a session; without a title, its first user message is one.

        Times are given as the file writes them; without them, those of the events count. What was
        said first stays, but for `ended`.
        """
        ...

    def starts(
        self, thread: str, *, call_id: str, session: str = "", parent: str | None = None
    ) -> None:
        """Say which call started a subagent's thread: the last one told with that id.

        `parent` names the thread of the call where it is known.
        """
        ...

    def note(
        self,
        reason: str,
        record: int | None,
        severity: Severity = Severity.INFO,
        count: int = 1,
    ) -> None:
        """Say what was odd or left out on purpose. A warning says that something may be lost."""
        ...

    def skip(self, reason: str, record: int) -> None:
        """Count a record as skipped, with a warning: it should have held an event."""
        ...


class RetoldFormat(ABC):
    """A format whose events are told by one pass or more over all records.

    `lists` names the lists of a document whose elements are the records (`steps`, or `log.entries`
    for a list inside an entry); what stands beside them is `around`. Without a list of that name
    a document is one record. `inner` names lists inside those elements by their paths: of an
    element too large to be held as a whole, what stands in them are the records.
    """

    name: str
    lists: Sequence[str] = ()
    inner: Sequence[str] = ()

    @abstractmethod
    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of the first records (50 at most) that surely are of this format, 0 to 1.

        `around` holds the other entries of a document, small ones decoded and of large ones the
        name of their type; None for lines and plain arrays.
        """

    @abstractmethod
    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell every event, in order, once.

        Values may be of any shape: what does not fit is told as it stands or skipped, never
        raised. A record without events of its own (metadata, a copy) needs no word; one of an
        unknown kind is noted by its kind.

        Raises:
            NotASessionError: the records hold no conversation; says what they hold instead.
        """

    def companions(self, path: Path, session_id: str | None) -> Sequence[Path]:
        """Further files of the session of a file: those of the subagents that it started.

        Asked once the file was told, and only where it holds one session. Each is told by
        `retell` as well, and what it tells is one thread. Most formats have none.
        """
        return ()

    def companion_thread(self, path: Path) -> str:
        """The name of a companion's thread, by which `starts` links it to its call."""
        return path.stem
