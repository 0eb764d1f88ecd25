"""Compressed files and UTF-16 text, under whatever name: unpacked by their content, in slices."""

from __future__ import annotations

import bz2
import codecs
import lzma
import zlib
from typing import TYPE_CHECKING, Protocol

import zstandard

from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions.lines import read_range
from longjudge.sessions.model import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

_SLICE = 1 << 20
_READ = 1 << 16
_FED = 1 << 10
"""What is damaged costs what comes out of so much, and no more than this becomes text at once."""

_MOST_MEMORY = 256 << 20
_BOMB_BYTES = 128 << 20
_BOMB_RATIO = 500
"""What is larger than this, and was packed more than so many times smaller, is a bomb."""

_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPED = b"\x2a\x4d\x18"
"""Behind its first byte, how a frame begins that holds no data."""

_MAGIC_BYTES = 6
"""So many bytes tell whether another stream follows."""

_DAMAGE = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, zstandard.ZstdError)


class _Frame(Protocol):
    """One packed stream of those that a file may hold, one behind the other."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What comes out, in slices."""
        ...

    def rest(self) -> bytes | None:
        """What was fed beyond the end of the stream, None where it has not ended."""
        ...


class _Zlib:
    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def feed(self, data: bytes) -> Iterator[bytes]:
        made = b""
        while (data or len(made) == _SLICE) and not self._inflater.eof:
            made = self._inflater.decompress(data, _SLICE)
            data = self._inflater.unconsumed_tail
            yield made

    def rest(self) -> bytes | None:
        return self._inflater.unused_data if self._inflater.eof else None


class _Blocks:
    """bzip2 and xz, which are fed alike."""

    def __init__(self, inflater: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> None:
        self._inflater = inflater

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield self._inflater.decompress(data, _SLICE)
        while not self._inflater.eof and not self._inflater.needs_input:
            yield self._inflater.decompress(b"", _SLICE)

    def rest(self) -> bytes | None:
        return self._inflater.unused_data if self._inflater.eof else None


class _Zstandard:
    def __init__(self) -> None:
        self._inflater = zstandard.ZstdDecompressor().decompressobj()

    def feed(self, data: bytes) -> Iterator[bytes]:
        # A few bytes may become a block of 128 kB, and all that is fed comes out at once.
        yield self._inflater.decompress(data)

    def rest(self) -> bytes | None:
        return self._inflater.unused_data if self._inflater.eof else None


def _bzip2() -> _Frame:
    return _Blocks(bz2.BZ2Decompressor())


def _xz() -> _Frame:
    return _Blocks(lzma.LZMADecompressor(memlimit=_MOST_MEMORY))


class Compressed:
    """One way to compress a file."""

    folders = False

    def __init__(self, name: str, magic: bytes, frame: Callable[[], _Frame]) -> None:
        self.name = name
        self._magic = magic
        self._frame = frame

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a file begins as every file that is compressed this way."""
        return start.startswith(self._magic) or self._is_skipped(start)

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write out all streams, one behind the other; of a damaged one what comes out of it."""
        try:
            for piece in self._pieces(descriptor, into):
                if piece:
                    into.write(piece)
                    refuse_bomb(into, self.name)
        except _DAMAGE as error:
            if "memory" in str(error).lower():
                raise SessionError(
                    f"{self.name} data that needs too much memory; unpack it first"
                ) from error
            if not into.written:
                raise NotASessionError(
                    f"{self.name} data that is cut or damaged; copy it again"
                ) from error
            into.note(
                f"the {self.name} data is damaged; what comes behind is lost", Severity.WARNING
            )
        if not into.written:
            raise NotASessionError(f"{self.name}-compressed data with nothing in it")

    def _pieces(self, descriptor: int, into: Unpacking) -> Iterator[bytes]:
        frame: _Frame | None = self._frame()
        data = b""
        for position in range(0, into.packed, _READ):
            end = min(into.packed, position + _READ)
            data += read_range(descriptor, position, end)
            into.tell()
            while data:
                if frame is None:
                    # Some tools fill a file up.
                    data = data.lstrip(b"\0")
                    if not data or (len(data) < _MAGIC_BYTES and end < into.packed):
                        break
                    if self._is_other(data):
                        into.note(
                            f"something follows the {self.name} data, left out", Severity.WARNING
                        )
                        return
                    frame = self._frame()
                yield from frame.feed(data[:_FED])
                rest, data = frame.rest(), data[_FED:]
                if rest is not None:
                    frame, data = None, rest + data
        if frame is not None:
            if not into.written:
                raise EOFError
            into.note(
                f"the {self.name} data ends before its end: the file is cut, or still being"
                " written",
                Severity.WARNING,
            )

    def _is_other(self, data: bytes) -> bool:
        """Whether what follows a stream is none."""
        if self._is_skipped(data):
            return False
        known = min(len(data), len(self._magic))
        return data[:known] != self._magic[:known]

    def _is_skipped(self, data: bytes) -> bool:
        """Whether a frame without data begins, as parallel tools write before every other one."""
        return self._magic == _ZSTD and data[1:4] == _SKIPPED and data[0] >> 4 == 5


def refuse_bomb(into: Unpacking, name: str, foreseen: int = 0) -> None:
    """Refuse what grows beyond all reason, by the size of the file that holds all layers.

    Raises:
        NotASessionError: it does, or will by the size that is `foreseen`.
    """
    size = max(into.written, foreseen)
    if size > _BOMB_BYTES and size > _BOMB_RATIO * into.outer:
        raise NotASessionError(
            f"a decompression bomb: {into.outer} bytes of {name} data grow to more than"
            f" {size // 1_000_000} MB; unpack it by other means if you trust it"
        )


COMPRESSED = (
    Compressed("gzip", b"\x1f\x8b", _Zlib),
    Compressed("zstd", _ZSTD, _Zstandard),
    Compressed("bzip2", b"BZh", _bzip2),
    Compressed("xz", b"\xfd7zXZ\x00", _xz),
)


class WideText:
    """UTF-16 and UTF-32, with a mark of their order or without, as some shells write them."""

    name = "UTF-16"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether it begins with such a mark, or with JSON of two bytes a character."""
        return _encoding(start) is not None

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write it out as UTF-8."""
        encoding = _encoding(read_range(descriptor, 0, 8)) or "utf-16"
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        replaced = False
        for position in range(0, into.packed, _SLICE):
            end = min(into.packed, position + _SLICE)
            data = read_range(descriptor, position, end)
            try:
                text = decoder.decode(data, final=end == into.packed)
            except UnicodeError as error:
                raise NotASessionError(f"{encoding.upper()} text that is damaged") from error
            replaced = replaced or "\ufffd" in text
            into.write(text.encode("utf-8", "replace"))
        into.note(f"{encoding[:6].upper()} text, read as UTF-8")
        if replaced:
            into.note("characters that are no UTF-16 were replaced", Severity.WARNING)


def _encoding(start: bytes) -> str | None:
    if start.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if start[:1] in (b"{", b"[") and start[1:2] == b"\0" and start[3:4] == b"\0":
        return "utf-16-le" if start[2:3] != b"\0" else None
    if start[1:2] in (b"{", b"[") and start[:1] == b"\0" and start[2:3] == b"\0":
        return "utf-16-be" if start[3:4] != b"\0" else None
    return None
