"""One pass over a file's records: decode, render, digest, keep. The hot path of loading."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from longjudge.sessions.encoded_heads import EncodedHeads
from longjudge.sessions.joining import note_torn
from longjudge.sessions.model import DIGEST_BYTES, Severity, tokens_of
from longjudge.sessions.records import (
    DECODE_ERRORS,
    NOT_JSON,
    NOT_OBJECT,
    TOO_DEEP,
    UNFINISHED,
    parse_line,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions.keeper import RecordKeeper
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes

R = TypeVar("R")

SKIPPED = "records without text, tool, input or output"


class RecordFormat(Protocol[R]):
    """What a pass asks of a format."""

    def decode(self, line: bytes) -> R:
        """Decode a sound record quickly; raise ValueError for anything else."""
        ...

    def convert(self, value: dict[str, object]) -> R:
        """Make a record of any JSON object, leaving out what does not fit."""
        ...

    def record_events(self, record: R) -> list[Event]:
        """The events of a record, in order."""
        ...


class RecordReading(Generic[R]):
    """Reads records in order into rows, and counts what it had to skip and the events it kept."""

    def __init__(
        self,
        format_: RecordFormat[R],
        keeper: RecordKeeper[R],
        notes: Notes,
        base: int,
        unfinished: int | None,
    ) -> None:
        self._format = format_
        self._keeper = keeper
        self._notes = notes
        self._base = base
        self._unfinished = unfinished
        self._heads = EncodedHeads()
        self.skipped = 0
        self.kept = 0

    @property
    def goes_on(self) -> bool:
        """Whether further records may be read after the end, behind what stands."""
        return self._keeper.goes_on and self._unfinished is None

    def read(self, lines: Sequence[bytes], first: int) -> None:
        """Index the records of some lines; `first` is the number of the first one, from 0."""
        decode, record_events = self._format.decode, self._format.record_events
        for number, line in enumerate(lines, first):
            try:
                record = decode(line)
                events = record_events(record)
            except DECODE_ERRORS:
                # A file may end with millions of empty lines.
                if line:
                    self._read_patiently(line, number)
                continue
            if events:
                self._take(record, events, number, 0)
            else:
                self._pass_over(record, number)

    def finish(self) -> None:
        """All records were read."""
        self._keeper.finish()

    def _take(self, record: R, events: list[Event], number: int, offset: int) -> None:
        keep, heads, stored = self._keeper.keep, self._heads, self._base + number
        for position, event in enumerate(events, offset):
            head, chars = heads[event.kind, event.tool, event.is_error]
            body = event.body
            if body:
                text = head + body.encode()
                chars += len(body)
            else:
                text = head[:-1]
                chars -= 1
            digest = sha256(text).digest()[:DIGEST_BYTES]
            rows = keep(record, position, event, digest, number + 1)
            if rows is not None:
                self.kept += 1
                rows.add(event, stored, position, digest, chars, tokens_of(chars, len(text)))

    def _pass_over(self, record: R, number: int) -> None:
        if self._keeper.pass_over(record, number + 1):
            self.skipped += 1
            self._notes.add(SKIPPED, number + 1)

    def _read_patiently(self, line: bytes, number: int) -> None:
        found = parse_line(line)
        fault = found.fault
        offset = 0
        for value in found.objects:
            try:
                record = self._format.convert(value)
                events = self._format.record_events(record)
            except RecursionError:
                fault = TOO_DEEP
                continue
            if events:
                self._take(record, events, number, offset)
            else:
                self._pass_over(record, number)
            offset += len(events)
        for oddity in found.oddities:
            self._notes.add(oddity, number + 1)
        if fault is None:
            return
        self.skipped += 1
        note_torn(self._notes, line, number, fault)
        if number == self._unfinished and fault in (NOT_JSON, NOT_OBJECT):
            self._notes.add(UNFINISHED, number + 1, Severity.INFO)
        else:
            self._notes.add(fault, number + 1)
