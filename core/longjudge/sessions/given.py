"""The records of a file as a retold format reads them: decoded one at a time, as often as asked."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from longjudge.errors import SessionError
from longjudge.sessions.formats.retold import Given
from longjudge.sessions.joining import note_torn
from longjudge.sessions.lines import CHANGED, read_line_blocks, read_record, read_span_blocks
from longjudge.sessions.model import Severity
from longjudge.sessions.records import (
    DECODE_ERRORS,
    NOT_JSON,
    NOT_OBJECT,
    UNFINISHED,
    parse_line,
    wrap_array,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from longjudge.sessions.notes import Notes

_decode = msgspec.json.Decoder(dict[str, object]).decode


class FileRecords:
    """Records by the spans of their bytes; `starts` is None where each is a line.

    `runs` says how many of them, in order, stand in which list of a document. What is odd about a
    record is noted, and what is lost counted in `skipped`, the first time that it is read.
    `checksums` are those of the records read so far, without the end of a line.
    """

    def __init__(
        self,
        descriptor: int,
        starts: array[int] | None,
        ends: array[int],
        runs: Sequence[tuple[str, int]],
        *,
        notes: Notes,
        unfinished: int | None,
        tell: Callable[[int], None],
    ) -> None:
        self.skipped = 0
        self._descriptor = descriptor
        self._starts = starts
        self._ends = ends
        self._runs = runs
        self._notes = notes
        self._unfinished = unfinished
        self._tell = tell
        self._noted = 0
        self.checksums: array[int] = array("I")

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[Given]:
        entries = self._entries()
        for first, lines in self._blocks():
            for offset in range(len(lines)):
                number, entry = first + offset, next(entries)
                values = self._read(lines[offset], number)
                # One may be very long: it is not held beside what becomes of it.
                lines[offset] = b""
                for value in values:
                    yield Given(number, value, entry)
            self._tell(self._ends[first + len(lines) - 1])

    def size(self, number: int) -> int:
        """How many bytes the records with a number take."""
        return self._ends[number] - self._start(number)

    def at(self, number: int) -> list[Given]:
        """The records with a number, read again."""
        self._tell(self._ends[number])
        line = read_record(self._descriptor, self._start(number), self._ends[number])
        if self._starts is None:
            line = line.removesuffix(b"\n")
        entry = self._entry(number)
        return [Given(number, value, entry) for value in self._read(line, number)]

    def _start(self, number: int) -> int:
        if self._starts is not None:
            return self._starts[number]
        return self._ends[number - 1] if number else 0

    def _blocks(self) -> Iterable[tuple[int, list[bytes]]]:
        if self._starts is None:
            return read_line_blocks(self._descriptor, self._ends)
        return read_span_blocks(self._descriptor, self._starts, self._ends)

    def _entry(self, number: int) -> str:
        end = 0
        for entry, count in self._runs:
            end += count
            if number < end:
                return entry
        return ""

    def _entries(self) -> Iterator[str]:
        for entry, count in self._runs:
            for _ in range(count):
                yield entry
        while True:
            yield ""

    def _read(self, line: bytes, number: int) -> list[dict[str, object]]:
        self._check(line, number)
        try:
            value = _decode(line)
        except DECODE_ERRORS:
            return self._read_patiently(line, number) if line else []
        self._noted = max(self._noted, number + 1)
        return [value]

    def _check(self, line: bytes, number: int) -> None:
        """Make sure that a record is the one that was read before: formats go by what they saw.

        Raises:
            SessionError: it is another one.
        """
        checksum, known = crc32(line.rstrip(b"\r\n")), self.checksums
        if number == len(known):
            known.append(checksum)
        elif number < len(known) and known[number] != checksum:
            raise SessionError(CHANGED)

    def _read_patiently(self, line: bytes, number: int) -> list[dict[str, object]]:
        found = parse_line(wrap_array(line))
        if number < self._noted:
            return found.objects
        self._noted = number + 1
        for oddity in found.oddities:
            self._notes.add(oddity, number + 1)
        if found.fault is not None:
            self.skipped += 1
            note_torn(self._notes, line, number, found.fault)
            if number == self._unfinished and found.fault in (NOT_JSON, NOT_OBJECT):
                self._notes.add(UNFINISHED, number + 1, Severity.INFO)
            else:
                self._notes.add(found.fault, number + 1)
        return found.objects


def unchanged(record: bytes, number: int, checksums: Sequence[int]) -> bytes:
    """A record that was read again, where it still is the one with that number.

    Raises:
        SessionError: it is another one by now.
    """
    if number < len(checksums) and crc32(record.rstrip(b"\r\n")) != checksums[number]:
        raise SessionError("the file changed while it was open; open it again")
    return record
