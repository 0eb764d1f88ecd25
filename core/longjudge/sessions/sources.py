"""Where the bodies are: a file that is read again by offset, or events handed over in memory."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions.lines import open_regular, read_range
from longjudge.sessions.search_oddities import Oddities
from longjudge.sessions.search_places import FilePlace, MemoryPlace, Place

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.model import Event

_CACHED_RECORDS = 128
_CACHED_CHARS = 4_000_000

NOT_HELD = -1


class RecordCache:
    """The events of the records that were read last, bounded in number and in size."""

    def __init__(self, read: Callable[[int], Sequence[Event]]) -> None:
        self._read = read
        self._lock = Lock()
        self._kept: OrderedDict[int, Sequence[Event]] = OrderedDict()
        self._chars = 0

    def get(self, record: int) -> Sequence[Event]:
        """The events of a record, read when they are not at hand."""
        with self._lock:
            if record in self._kept:
                self._kept.move_to_end(record)
                return self._kept[record]
        events = self._read(record)
        with self._lock:
            if record not in self._kept:
                self._kept[record] = events
                self._chars += _chars(events)
            while len(self._kept) > 1 and (
                self._chars > _CACHED_CHARS or len(self._kept) > _CACHED_RECORDS
            ):
                self._chars -= _chars(self._kept.popitem(last=False)[1])
        return events

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._chars = 0


def _chars(events: Sequence[Event]) -> int:
    return sum(len(event.body) for event in events)


@dataclass(slots=True)
class FilePart:
    """One file of a session: its records are numbered from `first` on.

    `starts` is None where each record is a line, which begins where the line before ends. The
    file is closed once the last source that reads from it is; one that is not held open (its
    `descriptor` is `NOT_HELD`) is opened by its `path` whenever a record is read again.
    """

    name: str
    descriptor: int
    format: SessionFormat | None
    starts: array[int] | None
    ends: array[int]
    size: int = 0
    first: int = 0
    users: int = 0
    path: Path | None = None
    oddities: Oddities = field(default_factory=Oddities)

    def record_bytes(self, record: int) -> bytes:
        """A record as it stands in the file, without the end of its line."""
        number = record - self.first
        if self.starts is not None:
            start = self.starts[number]
        else:
            start = self.ends[number - 1] if number else 0
        try:
            return self._read(start, self.ends[number]).rstrip(b"\r\n")
        except OSError as error:
            raise SessionError(f"{self.name}: cannot be read again: {error.strerror}") from error
        except NotASessionError as error:
            raise SessionError(f"{self.name}: cannot be read again: {error}") from error

    def _read(self, start: int, end: int) -> bytes:
        if self.path is None or self.descriptor != NOT_HELD:
            return read_range(self.descriptor, start, end)
        descriptor, _ = open_regular(self.path)
        try:
            return read_range(descriptor, start, end)
        finally:
            os.close(descriptor)

    def place(self) -> Place:
        """The same records, to be searched.

        Raises:
            SessionError: the file was let go of.
        """
        format_ = self.format
        assert format_ is not None
        closed = self.path is None and self.descriptor == NOT_HELD
        return FilePlace(
            self.first,
            self.starts,
            self.ends,
            file=self.path if self.path is not None and not closed else self.descriptor,
            decode=partial(_events, format_),
            made=format_.made,
            oddities=self.oddities,
        )

    def leave(self) -> None:
        """One reader less; the last one closes the file."""
        with _leaving:
            self.users -= 1
            descriptor = self.descriptor if self.users <= 0 else NOT_HELD
            if self.users <= 0:
                self.descriptor, self.path = NOT_HELD, None
        if descriptor >= 0:
            os.close(descriptor)


_leaving = Lock()


class FileSource:
    """Records of open files, by the spans of their bytes: a session's file, then its companions.

    Several sources may read from one file that holds several sessions.
    """

    def __init__(self, parts: Sequence[FilePart]) -> None:
        self._parts = tuple(parts)
        self._firsts = [part.first for part in parts]
        self._open = True
        for part in parts:
            part.users += 1
        self._cache = RecordCache(self._read)

    def __del__(self) -> None:
        self.close()

    def record_events(self, record: int) -> Sequence[Event]:
        """All events that the record holds, in order, before copies are left out."""
        return self._cache.get(record)

    def record_bytes(self, record: int) -> bytes:
        """The record as it stands in the file, without the end of its line."""
        return self._part(record).record_bytes(record)

    def record_line(self, record: int) -> int | None:
        """The record's line, from 1; None in a whole document."""
        part = self._part(record)
        return record - part.first + 1 if part.starts is None else None

    def record_file(self, record: int) -> str | None:
        """The file that the record stands in."""
        return self._part(record).name

    def places(self) -> Sequence[Place]:
        """Where the records stand, to be searched."""
        return [part.place() for part in self._parts if len(part.ends)]

    def close(self) -> None:
        """Let go of the files."""
        if self._open:
            self._open = False
            for part in self._parts:
                part.leave()
            self._cache.clear()

    def forget(self) -> None:
        """Read every record anew from now on."""
        self._cache.clear()

    def _part(self, record: int) -> FilePart:
        return self._parts[bisect_right(self._firsts, record) - 1]

    def _read(self, record: int) -> Sequence[Event]:
        part = self._part(record)
        assert part.format is not None
        return _events(part.format, part.record_bytes(record))


class MemorySource:
    """Records that were handed over, each as the bytes of its JSON."""

    def __init__(self, format_: SessionFormat, records: Sequence[bytes]) -> None:
        self._format = format_
        self._records = records
        self._cache = RecordCache(self._read)

    def record_events(self, record: int) -> Sequence[Event]:
        """All events that the record holds, in order."""
        return self._cache.get(record)

    def record_bytes(self, record: int) -> bytes:
        """The record as JSON."""
        return self._records[record]

    def record_line(self, record: int) -> int | None:
        """None: there is no file."""
        return None

    def record_file(self, record: int) -> str | None:
        """None: there is no file."""
        return None

    def forget(self) -> None:
        """Render every record anew from now on."""
        self._cache.clear()

    def places(self) -> Sequence[Place]:
        """Where the records stand, to be searched."""
        return [MemoryPlace(self._records, partial(_events, self._format), self._format.made)]

    def close(self) -> None:
        """Nothing is held."""
        self._cache.clear()

    def _read(self, record: int) -> Sequence[Event]:
        return _events(self._format, self._records[record])


def _events(format_: SessionFormat, data: bytes) -> Sequence[Event]:
    """The events of a record, also where the caller's stack leaves no room to decode it."""
    try:
        return format_.line_events(data)
    except RecursionError:
        with ThreadPoolExecutor(1) as fresh_stack:
            try:
                return fresh_stack.submit(format_.line_events, data).result()
            except RecursionError as error:
                raise SessionError("a record is nested too deeply to be read") from error
