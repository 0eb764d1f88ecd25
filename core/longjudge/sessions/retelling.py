"""Keeps what a retold format tells: rows in the index, bodies in a file without a name."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import SessionError
from longjudge.sessions.encoded_heads import EncodedHeads
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.given import unchanged
from longjudge.sessions.lines import read_range
from longjudge.sessions.model import (
    DIGEST_BYTES,
    KIND_CODES,
    KINDS,
    Event,
    EventKind,
    Severity,
    tokens_of,
)
from longjudge.sessions.search_oddities import Oddities
from longjudge.sessions.search_places import FilePlace
from longjudge.sessions.sources import RecordCache
from longjudge.sessions.unnamed import append, open_unnamed
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.notes import Notes
    from longjudge.sessions.search_places import Place
    from longjudge.sessions.sources import FilePart

_BUFFER_BYTES = 1 << 20
_encode = msgspec.json.Encoder().encode


class _Row(msgspec.Struct, array_like=True):
    """One event as the spool holds it; the body stands last."""

    kind: int
    tool: str | None
    call_id: str | None
    is_error: bool | None
    timestamp: str | None
    body: str


_decode = msgspec.json.Decoder(_Row).decode


class Spool:
    """The bodies of told events, one JSON line each, in a file that has no name.

    `ends` holds where each line ends; `origins` the record that each event comes from. The file
    is gone with the process, however that ends.
    """

    def __init__(self) -> None:
        with open_unnamed() as file:
            # A number and no object: of two that are collected together either may go first.
            self.descriptor = os.dup(file.fileno())
        self.ends: array[int] = array("Q")
        self.origins: array[int] = array("I")
        self.oddities = Oddities()
        self.users = 0
        self._buffer = bytearray()
        self._written = 0

    def __len__(self) -> int:
        return len(self.ends)

    def add(self, event: Event, origin: int) -> int:
        """Append an event and return its number.

        Raises:
            SessionError: there is no room for it.
            UnicodeEncodeError: lone surrogates are in it; nothing was appended.
        """
        row = _Row(
            KIND_CODES[event.kind],
            event.tool,
            event.call_id,
            event.is_error,
            event.timestamp,
            event.body,
        )
        # A line may be very long: no more copies of it than there must be.
        self._buffer += _encode(row)
        self._buffer += b"\n"
        self.ends.append(self._written + len(self._buffer))
        self.origins.append(origin)
        if len(self._buffer) >= _BUFFER_BYTES:
            self.flush()
        return len(self.ends) - 1

    def flush(self) -> None:
        """Write what is still in memory.

        Raises:
            SessionError: there is no room for it.
        """
        # What was written of it when there was no room is written over.
        os.lseek(self.descriptor, self._written, os.SEEK_SET)
        append(self.descriptor, self._buffer, self._written, "the events do")
        self._written += len(self._buffer)
        self._buffer = bytearray()

    def line(self, number: int) -> bytes:
        """The JSON line of an event."""
        start = self.ends[number - 1] if number else 0
        return read_range(self.descriptor, start, self.ends[number])

    def event(self, number: int) -> Event:
        """Read an event again.

        Raises:
            SessionError: the file was written over.
        """
        try:
            return _told(self.line(number))[0]
        except (msgspec.DecodeError, OSError) as error:
            raise SessionError("the file with its events cannot be read again") from error

    def leave(self) -> None:
        """One reader less; the last one closes the file."""
        self.users -= 1
        if self.users <= 0:
            self.close()

    def close(self) -> None:
        """Give the room back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
        # Whatever is opened next may go by the same number.
        self.descriptor = -1


def _told(line: bytes) -> Sequence[Event]:
    """The event of a line."""
    row = _decode(line)
    kind = KINDS[row.kind]
    return [Event(kind, row.body, row.tool, row.call_id, row.is_error, row.timestamp)]


class RetoldSource:
    """Bodies from the spool, and the records that they were told from out of the files themselves.

    `lines` says where the records of the session's own file stand, and `checksums` what they are;
    `companions` are further files.
    """

    def __init__(
        self,
        spool: Spool,
        part: FilePart,
        lines: array[int] | None = None,
        companions: Sequence[FilePart] = (),
        checksums: Sequence[int] = (),
    ) -> None:
        self.spool = spool
        self._parts = (part, *companions)
        self._firsts = [each.first for each in self._parts]
        self._lines = lines
        self._checksums = checksums
        self._open = True
        spool.users += 1
        for each in self._parts:
            each.users += 1
        self._cache = RecordCache(self._read)

    def __del__(self) -> None:
        self.close()

    def record_events(self, record: int) -> Sequence[Event]:
        """The one event that goes by this number in the spool."""
        return self._cache.get(record)

    def record_bytes(self, record: int) -> bytes:
        """The record of the file that an event was told from."""
        origin = self.spool.origins[record]
        part = self._part(origin)
        known = self._checksums if part is self._parts[0] else ()
        return unchanged(part.record_bytes(origin), origin, known)

    def record_line(self, record: int) -> int | None:
        """The line of that record, from 1; None where it stands on no line of its own."""
        origin = self.spool.origins[record]
        part = self._part(origin)
        if self._lines is not None and part is self._parts[0]:
            return self._lines[origin] or None
        return origin - part.first + 1 if part.starts is None else None

    def record_file(self, record: int) -> str | None:
        """The file that the event was told from."""
        return self._part(self.spool.origins[record]).name

    def forget(self) -> None:
        """Read every event anew from now on."""
        self._cache.clear()

    def places(self) -> Sequence[Place]:
        """Where the events stand, to be searched: their texts stand there as they are."""
        spool = self.spool
        return [
            FilePlace(
                0,
                None,
                spool.ends,
                file=spool.descriptor,
                decode=_told,
                made=None,
                oddities=spool.oddities,
            )
        ]

    def close(self) -> None:
        """Let go of all files."""
        if self._open:
            self._open = False
            self.spool.leave()
            for part in self._parts:
                part.leave()
            self._cache.clear()

    def _part(self, origin: int) -> FilePart:
        return self._parts[bisect_right(self._firsts, origin) - 1]

    def _read(self, record: int) -> Sequence[Event]:
        return [self.spool.event(record)]


class Retelling:
    """Takes what a retold format tells; `skipped` counts records that should have held an event."""

    def __init__(self, gathering: Gathering, notes: Notes, spool: Spool) -> None:
        self.skipped = 0
        self._gathering = gathering
        self._notes = notes
        self._spool = spool
        self._calls: dict[str, dict[str, tuple[str, int]]] = {}
        self._pending: list[tuple[str, str, str, str | None]] = []
        self._heads = EncodedHeads()

    def event(
        self, event: Event, record: int, *, session: str = "", thread: str = MAIN_THREAD
    ) -> None:
        """Index the next event of a thread and keep its body."""
        try:
            number = self._spool.add(event, record)
        except UnicodeEncodeError:
            event = _encodable(event)
            number = self._spool.add(event, record)
        rows = self._gathering.session(session)
        rows.facts.learn(event)
        index = rows.thread(thread)
        if event.kind is EventKind.TOOL_CALL and event.call_id:
            self._calls.setdefault(session, {})[event.call_id] = (thread, len(index))
        head, chars = self._heads[event.kind, event.tool, event.is_error]
        body = event.body
        data = body.encode()
        if not body:
            head, chars = head[:-1], chars - 1
        digest = sha256(head)
        digest.update(data)
        chars, size = chars + len(body), len(head) + len(data)
        key = digest.digest()[:DIGEST_BYTES]
        index.add(event, number, 0, key, chars, tokens_of(chars, size))

    def facts(
        self,
        *,
        session: str = "",
        id: str | None = None,
        title: str | None = None,
        started: str | None = None,
        ended: str | None = None,
    ) -> None:
        """Take what the records say about a session; what was said first stays."""
        facts = self._gathering.session(session).facts
        facts.id = facts.id or _text(id)
        if title:
            facts.said_title = facts.said_title or _text(title)
        facts.started = facts.started or _text(started)
        facts.said_end = _text(ended) or facts.said_end

    def starts(
        self, thread: str, *, call_id: str, session: str = "", parent: str | None = None
    ) -> None:
        """Link a thread to the call that started it, once both are known."""
        wanted = (session, thread, call_id, parent)
        if not self._link(wanted):
            self._pending.append(wanted)

    def note(
        self,
        reason: str,
        record: int | None,
        severity: Severity = Severity.INFO,
        count: int = 1,
    ) -> None:
        """Count an oddity."""
        self._notes.add(reason, None if record is None else record + 1, severity, count)

    def skip(self, reason: str, record: int) -> None:
        """Count a record that is lost."""
        self.skipped += 1
        self._notes.add(reason, record + 1)

    def finish(self) -> None:
        """Everything was told."""
        for wanted in self._pending:
            self._link(wanted)
        self._spool.flush()
        for rows in self._gathering.sessions():
            facts = rows.facts
            facts.title = facts.said_title or facts.title
            facts.ended = facts.said_end or facts.ended

    def _link(self, wanted: tuple[str, str, str, str | None]) -> bool:
        session, thread, call_id, parent = wanted
        call = self._calls.get(session, {}).get(call_id)
        if call is None or parent not in (None, call[0]):
            return False
        self._gathering.session(session).link(thread, *call)
        return True


def _text(value: str | None) -> str | None:
    return without_surrogates(value) if value else None


def _encodable(event: Event) -> Event:
    """The event without lone surrogates, which a format may have put together from pieces."""
    return Event(
        event.kind,
        without_surrogates(event.body),
        _text(event.tool),
        _text(event.call_id),
        event.is_error,
        _text(event.timestamp),
    )
