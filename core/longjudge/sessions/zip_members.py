"""The members of a zip archive, by its directory or, where that is missing, by their own headers.

Python's own reader refuses Zstandard members before 3.14, and an archive that was never finished.
Members are inflated in slices, and one that inflates beyond all reason is refused.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING

import zstandard

from longjudge.errors import NotASessionError
from longjudge.sessions.lines import read_range
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
HEADER = b"PK\x03\x04"

_DIRECTORY = b"PK\x01\x02"
_DESCRIPTOR = b"PK\x07\x08"
_ENDS = (HEADER, _DIRECTORY, b"PK\x05\x06", b"PK\x06\x06")
_FIELDS = struct.Struct("<4sHHHHHLLLHH")
_UNKNOWN = 0xFFFFFFFF
_ENCRYPTED, _SIZED_LATER = 0x1, 0x8
_ZIP64 = 1
_SLICE = 1 << 20
_SCANNED = 1 << 16
"""Read at a time where headers are looked for: the next one may be near."""

_MAX_VERSION = 100
_MAX_NAME = 1000

_BOMB_RATIO = 500
_BOMB_BYTES = 128 << 20
"""A member larger than this that was packed more than so many times smaller is a bomb."""


@dataclass(frozen=True, slots=True)
class Member:
    """Where a member stands: `start` is the position of its packed bytes, `packed` their number.

    `size` and `checksum` are None where only its end tells them.
    """

    name: str
    start: int
    packed: int
    method: int
    size: int | None = None
    checksum: int | None = None
    encrypted: bool = False


class CutMemberError(Exception):
    """A member ends before its end, or its bytes are damaged."""


def members_of(descriptor: int, size: int) -> tuple[list[Member], bool]:
    """The members of an archive, the last one of each name, and whether its directory was whole."""
    listed = _listed(descriptor, size)
    found = list(_scanned(descriptor, size)) if listed is None else listed
    return list({member.name: member for member in found}.values()), listed is not None


def inflate(descriptor: int, member: Member) -> Iterator[bytes]:
    """The bytes of a member, in slices.

    Raises:
        CutMemberError: it is cut or damaged.
        NotASessionError: it is a decompression bomb, encrypted or packed in an unknown way.
    """
    if member.encrypted:
        raise NotASessionError("an encrypted zip archive; unpack it first")
    if member.size is not None:
        _refuse_bomb(member, member.size)
    slices = _SLICES.get(member.method)
    if slices is None:
        raise NotASessionError(f"a zip archive packed by method {member.method}; unpack it first")
    done = checksum = 0
    for piece in slices(descriptor, member):
        done += len(piece)
        _refuse_bomb(member, done)
        checksum = zlib.crc32(piece, checksum)
        yield piece
    if member.size not in (None, done) or member.checksum not in (None, checksum):
        raise CutMemberError(member.name)


def _refuse_bomb(member: Member, size: int) -> None:
    if size > _BOMB_BYTES and size > _BOMB_RATIO * member.packed:
        name = clean_line(member.name, 80)
        raise NotASessionError(
            f"a decompression bomb: {name} grows from {member.packed} bytes to more than"
            f" {size // 1_000_000} MB; unpack it by other means if you trust it"
        )


def _listed(descriptor: int, size: int) -> list[Member] | None:
    """The members by the directory at the end, None where there is none."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, ValueError, struct.error, OSError, NotImplementedError):
            return None
    members: list[Member] = []
    for entry in entries:
        fields = _header(descriptor, entry.header_offset)
        if fields is None:
            return None
        start = entry.header_offset + _FIELDS.size + fields[9] + fields[10]
        if start + entry.compress_size > size:
            return None
        encrypted = bool(entry.flag_bits & _ENCRYPTED)
        members.append(
            Member(
                entry.filename,
                start,
                entry.compress_size,
                entry.compress_type,
                entry.file_size,
                entry.CRC,
                encrypted,
            )
        )
    return members


def _header(descriptor: int, position: int) -> tuple[int, ...] | None:
    """The fields of the header at a position, None where none is."""
    data = read_range(descriptor, position, position + _FIELDS.size)
    if len(data) < _FIELDS.size or not data.startswith(HEADER):
        return None
    fields = _FIELDS.unpack(data)
    sound = fields[1] <= _MAX_VERSION and 0 < fields[9] <= _MAX_NAME
    return fields if sound else None


def _scanned(descriptor: int, size: int) -> Iterator[Member]:
    """The members by their own headers, one after the other."""
    position = 0
    while position < size:
        fields = _header(descriptor, position)
        if fields is None:
            position = _next_mark(descriptor, position + 1, size)
            continue
        names = position + _FIELDS.size
        start = names + fields[9] + fields[10]
        extra = read_range(descriptor, names + fields[9], start)
        name = read_range(descriptor, names, names + fields[9]).decode("utf-8", "replace")
        packed, whole = fields[7], fields[8]
        if _UNKNOWN in (packed, whole):
            whole, packed = _large_sizes(extra, whole, packed)
        checksum: int | None = fields[6]
        if fields[2] & _SIZED_LATER and not packed:
            packed = _sized_by_end(descriptor, start, size)
            whole, checksum = None, None
        encrypted = bool(fields[2] & _ENCRYPTED)
        yield Member(name, start, min(packed, size - start), fields[3], whole, checksum, encrypted)
        position = start + packed


def _large_sizes(extra: bytes, whole: int, packed: int) -> tuple[int, int]:
    """The sizes that stand behind the name because they do not fit into the header."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        if kind == _ZIP64 and length >= 16 and position + 20 <= len(extra):
            whole, packed = struct.unpack_from("<QQ", extra, position + 4)
            break
        position += 4 + length
    return whole, packed


def _sized_by_end(descriptor: int, start: int, size: int) -> int:
    """How many packed bytes there are up to the next header, and what describes them behind."""
    end = _next_mark(descriptor, start, size)
    tail = read_range(descriptor, max(start, end - 24), end)
    described = tail.rfind(_DESCRIPTOR)
    return end - start - (len(tail) - described if described >= 0 else 0)


def _next_mark(descriptor: int, position: int, size: int) -> int:
    """Where the next header begins, or the directory, or the file ends."""
    while position < size:
        data = read_range(descriptor, position, min(size, position + _SCANNED))
        at = data.find(b"PK")
        while at >= 0:
            mark = data[at : at + 4]
            known = mark in _ENDS
            if known and (mark != HEADER or _header(descriptor, position + at) is not None):
                return position + at
            at = data.find(b"PK", at + 1)
        if len(data) < 4 or position + len(data) >= size:
            return size
        position += len(data) - 3
    return size


def _stored(descriptor: int, member: Member) -> Iterator[bytes]:
    end = member.start + member.packed
    for position in range(member.start, end, _SLICE):
        yield read_range(descriptor, position, min(end, position + _SLICE))


def _deflated(descriptor: int, member: Member) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in _stored(descriptor, member):
        while piece and not inflater.eof:
            try:
                made = inflater.decompress(piece, _SLICE)
            except zlib.error as error:
                raise CutMemberError(member.name) from error
            if made:
                yield made
            piece = inflater.unconsumed_tail
    if not inflater.eof:
        raise CutMemberError(member.name)


def _zstandard(descriptor: int, member: Member) -> Iterator[bytes]:
    """Frame after frame; how much comes out at once is bounded, whatever is in them."""
    source = BufferedReader(_Range(descriptor, member.start, member.start + member.packed))
    reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
    while True:
        try:
            made = reader.read(_SLICE)
        except zstandard.ZstdError as error:
            raise CutMemberError(member.name) from error
        if not made:
            return
        yield made


class _Range(RawIOBase):
    """A stretch of a file, to be read from once."""

    def __init__(self, descriptor: int, start: int, end: int) -> None:
        self._descriptor = descriptor
        self._position = start
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore
        data = read_range(
            self._descriptor, self._position, min(self._end, self._position + len(buffer))
        )
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


_SLICES = {STORED: _stored, DEFLATED: _deflated, ZSTANDARD: _zstandard}
