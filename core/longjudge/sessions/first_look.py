"""The first events of a long file, at once: what there is to look at while all of it is read.

Only the beginning is read. What follows may still change what it says (a copy that is told again
later, a title), so that the session is marked as partial and is never judged.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import Gathering
from longjudge.sessions.given import FileRecords
from longjudge.sessions.lines import open_regular, read_range
from longjudge.sessions.model import Session, short_title
from longjudge.sessions.notes import Notes
from longjudge.sessions.recognise import HEAD_RECORDS, recognise
from longjudge.sessions.records import DECODE_ERRORS, parse_line, wrap_array
from longjudge.sessions.retelling import Retelling, RetoldSource, Spool
from longjudge.sessions.sources import FilePart, FileSource
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.gather import SessionRows
    from longjudge.sessions.source import Source

LONG_BYTES = 8_000_000
"""From this size on a file is worth a first look: a shorter one is read whole in a moment."""

LOOK_BYTES = 1 << 20
LOOK_RECORDS = 300


def first_events(path: Path, session: str | None = None) -> Session | None:
    """The first events of a file of records, read in a few hundredths of a second.

    None where that cannot be: the file is short, packed or one document, its first record alone is
    very long, or what it begins with is not the `session` that is wanted or no session at all.
    Whoever reads the whole file finds out why.
    """
    try:
        descriptor, size = open_regular(path)
    except (SessionError, OSError):
        return None
    try:
        look = _Look(path, descriptor, size).session(session)
    except (*DECODE_ERRORS, SessionError, OSError):
        look = None
    if look is None:
        os.close(descriptor)
    return look


class _Look:
    """The steps of a first look; the file is the session's once there is one."""

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._size = size
        self._name = clean_line(str(path))

    def session(self, wanted: str | None) -> Session | None:
        lines = self._lines()
        head: list[dict[str, object]] = []
        for line in lines:
            head += parse_line(wrap_array(line)).objects
            if len(head) >= HEAD_RECORDS:
                break
        if not head:
            return None
        format_ = recognise(head[:HEAD_RECORDS])
        if isinstance(format_, RetoldFormat):
            return self._retold(format_, lines, wanted)
        gathering = self._read(format_, lines)
        rows = _chosen(gathering, wanted)
        if rows is None:
            return None
        part = FilePart(self._name, self._descriptor, format_, None, _ends(lines), self._size)
        return self._made(rows, format_.name, FileSource([part]))

    def _lines(self) -> list[bytes]:
        """The first complete lines, none where they are no JSON objects one below the other."""
        if self._size < LONG_BYTES:
            return []
        start = read_range(self._descriptor, 0, LOOK_BYTES)
        lines = start.split(b"\n")[:-1][:LOOK_RECORDS]
        first = next((line for line in lines if line.strip()), b"")
        first = first.removeprefix(b"\xef\xbb\xbf").strip()
        return lines if first.startswith(b"{") and first.endswith(b"}") else []

    def _read(self, format_: SessionFormat, lines: Sequence[bytes]) -> Gathering:
        gathering = Gathering(Notes())
        for reader in format_.readings():
            notes = Notes()
            gathering = Gathering(notes)
            reading = reader.start(gathering, notes, base=0, unfinished=None)
            reading.read(lines, 0)
            reading.finish()
            if len(gathering):
                break
        return gathering

    def _retold(
        self, format_: RetoldFormat, lines: Sequence[bytes], wanted: str | None
    ) -> Session | None:
        notes, spool, ends = Notes(), Spool(), _ends(lines)
        gathering = Gathering(notes)
        records = FileRecords(
            self._descriptor,
            None,
            ends,
            [],
            notes=notes,
            unfinished=None,
            tell=lambda done: None,
        )
        try:
            telling = Retelling(gathering, notes, spool)
            format_.retell(records, {}, telling)
            telling.finish()
            rows = _chosen(gathering, wanted)
        except BaseException:
            spool.close()
            raise
        if rows is None:
            spool.close()
            return None
        part = FilePart(self._name, self._descriptor, None, None, ends, self._size)
        return self._made(rows, format_.name, RetoldSource(spool, part))

    def _made(self, rows: SessionRows, format_: str, source: Source) -> Session:
        facts = rows.facts
        return Session(
            path=self._path,
            format=format_,
            id=clean_line(facts.id or self._path.stem, 200),
            title=short_title(facts.title) or clean_line(self._path.name),
            bytes=self._size,
            index=rows.finish(),
            source=source,
            started=facts.started,
            partial=True,
        )


def _chosen(gathering: Gathering, wanted: str | None) -> SessionRows | None:
    """The session that the file begins with, where it is the one that is meant."""
    found = gathering.sessions()
    if wanted is not None:
        return next((rows for rows in found if rows.facts.id == wanted), None)
    return found[0] if len(found) == 1 else None


def _ends(lines: Sequence[bytes]) -> array[int]:
    return array("I", accumulate(len(line) + 1 for line in lines))


@dataclass(frozen=True, slots=True)
class EventPlace:
    """What an event is found by once its file was read again.

    `offset` is how far it is from the first event of its thread, `position` that in its record.
    """

    thread: str
    offset: int
    digest: bytes
    record: int
    position: int

    @classmethod
    def of(cls, session: Session, event: int) -> EventPlace:
        """The place of an event."""
        index, thread = session.index, session.index.thread_of(event)
        record, position = index.records[event], index.positions[event]
        return cls(thread.name, event - thread.first, index.digest(event), record, position)

    def event_of(self, session: Session) -> int:
        """The number of the event in a session that was read later; 0 where it is gone."""
        index = session.index
        thread = next((each for each in index.threads if each.name == self.thread), None)
        if thread is None:
            return 0
        # The records of a subagent have other numbers once there are more before them.
        at = thread.first + self.offset
        if at < thread.end and index.digest(at) == self.digest:
            return at
        at = bisect_left(index.records, self.record, thread.first, thread.end)
        while at < thread.end and index.records[at] == self.record:
            if index.positions[at] == self.position:
                return at
            at += 1
        return 0


def same_event(before: Session, event: int, after: Session) -> int:
    """The number that an event has where its file was read again; 0 where it is gone."""
    return EventPlace.of(before, event).event_of(after)
