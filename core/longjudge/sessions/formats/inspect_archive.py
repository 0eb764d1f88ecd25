"""The archive that an Inspect log is (`.eval`): one record for each of its samples.

A sample that is one member becomes a record as it stands. One in chunks becomes a record for each
chunk, which names what it holds, and one for its shell behind them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.inspect_large import take_apart
from longjudge.sessions.formats.inspect_samples import ITEMS, PART, PREFIX, SHELL, START
from longjudge.sessions.model import Severity
from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.scanning import Scanner
from longjudge.sessions.unnamed import append, open_unnamed
from longjudge.sessions.values import is_object, text_or_none
from longjudge.sessions.zip_members import HEADER, CutMemberError, Member, inflate, members_of
from longjudge.sessions.zipped import Zipped
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

UNFINISHED = "the log was not finished: what was running when it was written is not in it"
NO_DIRECTORY = "the archive has no directory: its members were found one by one"
CUT = "members that are cut or damaged, left out"
CUT_SAMPLE = "samples that are cut or damaged: what is whole in them was read"
TOO_LARGE = "chunks of more than 256 MB, left out"
IN_PARTS = "samples of which only parts are in the log, left out"
UNKNOWN = "files among the samples that are none, left out"

_LARGE_SAMPLE = 24 << 20
"""A sample from here on is taken apart, so that it is never in memory as a whole."""
_LIKELY_RATIO = 8
_MAX_MEMBER = 256 << 20
_MAX_TOTAL = 4 << 30
_TOTAL_RATIO = 500
_SAMPLES = "samples/"
_OUTLINES = ("header.json", "_journal/start.json")
_STARTS = ("_journal/", _SAMPLES, "header.json", "summaries.json", "reductions.json")
_SEQUENCES = ("attachments", "messages", "events")
_NAME_AT = 30
_NUMBERS = re.compile(r"(\d{1,18})")
_encode = msgspec.json.Encoder().encode


class InspectArchive:
    """Unpacks the samples of a log."""

    name = "inspect"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a zip archive begins with a member of a log."""
        name = start[_NAME_AT : _NAME_AT + 60].decode("latin-1")
        return start.startswith(HEADER) and name.startswith(_STARTS)

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write out the samples, one at a time.

        Raises:
            NotASessionError: there is none, or a member is a decompression bomb.
        """
        members, whole = members_of(descriptor, into.packed)
        by_name = {member.name: member for member in members}
        found = _samples(members, into)
        if not found and not any(name in by_name for name in _OUTLINES):
            # Other archives may begin with a folder of the same name.
            Zipped().unpack(path, descriptor, into)
            return
        reader = _Reader(descriptor, into)
        outline = next((by_name[name] for name in _OUTLINES if name in by_name), None)
        if outline is not None:
            into.around.update(reader.outline(outline))
        if not whole:
            into.note(NO_DIRECTORY, Severity.WARNING)
        if _OUTLINES[0] not in by_name:
            into.note(UNFINISHED, Severity.WARNING)
        reader.refuse_bomb(sum(member.size or 0 for member in members))
        for sample in found:
            sample.write(reader)
        if not reader.samples:
            raise NotASessionError(_without_samples(into))


@dataclass(slots=True)
class _SampleMembers:
    """The members of a sample: one, or a shell and the chunks of its sequences by their start."""

    prefix: str
    whole: Member | None = None
    shell: Member | None = None
    chunks: dict[str, dict[int, Member]] = field(default_factory=dict[str, "dict[int, Member]"])

    def write(self, reader: _Reader) -> None:
        """Write the records of the sample."""
        if self.whole is not None:
            reader.add_sample(self.whole, self.prefix)
            return
        for sequence in _SEQUENCES:
            for start, member in sorted(self.chunks.get(sequence, {}).items()):
                reader.add(member, self._head(sequence, start), b"}")
        if self.shell is not None:
            reader.add(self.shell, self._head(SHELL, 0), b"}")

    def _head(self, part: str, start: int) -> bytes:
        """The beginning of a record that holds a chunk."""
        fields = _encode({PART: part, PREFIX: self.prefix, START: start})
        return fields[:-1] + b',"' + ITEMS.encode() + b'":'


class _Reader:
    """Inflates members into records, within bounds."""

    def __init__(self, descriptor: int, into: Unpacking) -> None:
        self._descriptor = descriptor
        self._into = into
        self._total = 0
        self.samples = 0

    def outline(self, member: Member) -> dict[str, object]:
        """What a log says about all of its samples; nothing where it cannot be read."""
        data = self._bytes(member)
        try:
            value = json.loads(data or b"null", strict=False)
        except DECODE_ERRORS:
            return {}
        return value if is_object(value) else {}

    def add(self, member: Member, head: bytes, tail: bytes) -> None:
        """A member as a record."""
        data = self._bytes(member)
        if data is not None:
            self._into.add(b"%b%b%b" % (head, data, tail))
            self.samples += 1

    def add_sample(self, member: Member, prefix: str) -> None:
        """A sample as a record as it stands; as chunks where it is large, or cut."""
        try:
            if (member.size or _LIKELY_RATIO * member.packed) <= _LARGE_SAMPLE:
                data = b"".join(self._pieces(member))
                if not data.strip():
                    raise CutMemberError(member.name)
                self._into.add(data)
                self.samples += 1
                return
        except CutMemberError:
            pass
        self._take_apart(member, prefix)

    def _pieces(self, member: Member) -> Iterator[bytes]:
        for piece in inflate(self._descriptor, member):
            self._into.tell()
            self._count(len(piece))
            yield piece

    def _take_apart(self, member: Member, prefix: str) -> None:
        with open_unnamed() as file:
            size = 0
            try:
                for piece in self._pieces(member):
                    append(file.fileno(), bytearray(piece), size, "its samples do")
                    size += len(piece)
                is_whole = True
            except CutMemberError:
                is_whole = False
            scanner = Scanner(file.fileno(), size, self._into.tell)
            is_whole = take_apart(scanner, prefix, self._into.add) and is_whole
        if not is_whole:
            self._into.note(CUT_SAMPLE, Severity.WARNING)
        self.samples += 1

    def _bytes(self, member: Member) -> bytes | None:
        """All of a member; None where it is damaged or too large, which is noted."""
        pieces: list[bytes] = []
        size = 0
        if (member.size or 0) <= _MAX_MEMBER:
            try:
                for piece in self._pieces(member):
                    pieces.append(piece)
                    size += len(piece)
                    if size > _MAX_MEMBER:
                        break
            except CutMemberError:
                self._into.note(CUT, Severity.WARNING)
                return None
        if size > _MAX_MEMBER or (member.size or 0) > _MAX_MEMBER:
            self._into.note(TOO_LARGE, Severity.WARNING)
            return None
        return b"".join(pieces)

    def _count(self, size: int) -> None:
        self._total += size
        self.refuse_bomb(self._total)

    def refuse_bomb(self, size: int) -> None:
        """Refuse a log that grows beyond all reason; members of a hostile one may overlap.

        Raises:
            NotASessionError: it does.
        """
        if size > _MAX_TOTAL and size > _TOTAL_RATIO * self._into.outer:
            raise NotASessionError(
                f"a decompression bomb: it grows from {self._into.outer} bytes to more than"
                f" {size // 1_000_000} MB; unpack it by other means if you trust it"
            )


def _samples(members: list[Member], into: Unpacking) -> list[_SampleMembers]:
    """The samples of an archive, in the order of their names with numbers by their value."""
    found: dict[str, _SampleMembers] = {}
    unknown = 0
    for member in members:
        if not member.name.startswith(_SAMPLES) or not member.name.endswith(".json"):
            continue
        # The id of a sample may hold slashes itself, so names are read from their end.
        prefix, _, last = member.name.rpartition("/")
        stem = last.removesuffix(".json")
        above, _, sequence = prefix.rpartition("/")
        if "_epoch_" in stem:
            name = f"{prefix}/{stem}"
            found.setdefault(name, _SampleMembers(name)).whole = member
        elif stem == SHELL and "_epoch_" in prefix:
            found.setdefault(prefix, _SampleMembers(prefix)).shell = member
        elif sequence in _SEQUENCES and stem.isdecimal() and len(stem) < 15:
            chunks = found.setdefault(above, _SampleMembers(above)).chunks
            chunks.setdefault(sequence, {})[int(stem)] = member
        elif "_epoch_" not in prefix:
            unknown += 1
    sound = [each for each in found.values() if each.whole or each.shell]
    if sound:
        into.note(UNKNOWN, Severity.WARNING, unknown)
    into.note(IN_PARTS, Severity.WARNING, len(found) - len(sound))
    return sorted(sound, key=lambda each: _natural(each.prefix))


def _natural(name: str) -> list[tuple[int, str]]:
    parts = _NUMBERS.split(name)
    return [(int(part), "") if at % 2 else (-1, part) for at, part in enumerate(parts)]


def _without_samples(into: Unpacking) -> str:
    status = text_or_none(into.around.get("status"))
    said = f" (its status: {clean_line(status, 40)})" if status else ""
    damaged = any(reason in (CUT, IN_PARTS) for reason, _, _ in into.notes)
    lost = "; its samples are cut or damaged" if damaged else ""
    return f"an Inspect log without samples{said}{lost}"
