"""Where JSON values end, by their brackets and strings alone, in slices of a file of any size.

Nothing is decoded and nothing is held but a slice and a byte for each open bracket. What cannot
be the structure of JSON is noticed early, so that a reader can go on behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.lines import read_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLICE_BYTES = 1 << 20

_OVERLAP_BYTES = 512
_SEARCHED_FIRST = 4096

_SPACE = re.compile(rb"[ \t\r\n]*+")
_FILL = re.compile(rb"[ \t\r\n,\0]*+")
_SCALAR = re.compile(rb"[\w+.\-]*+")
# Strings, scalars, commas and colons up to the next bracket. A string is followed by a comma, a
# colon or a closing bracket: one that is not has lost a quote.
_RUN = re.compile(
    rb"[ \t\r\n:,\w+.\-]*+"
    rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[ \t\r\n]*+(?=[:,\]}])[ \t\r\n:,\w+.\-]*+)*+',
    re.DOTALL,
)
_CLOSERS = {ord("}"): ord("{"), ord("]"): ord("[")}
_OPENERS = frozenset(b"{[")
_BLANKS = frozenset(b" \t\r\n")
_QUOTE, _COLON, _COMMA, _BRACE, _BRACKET, _BACKSLASH = b'":,{[\\'


class DamagedError(ValueError):
    """What stands at a position cannot be JSON, or the file ends before a value does."""

    def __init__(self, position: int, *, is_end: bool = False) -> None:
        super().__init__(position)
        self.position = position
        self.is_end = is_end


class Scanner:
    """Reads a file of `size` bytes in slices; `tell` is called for each one and may raise."""

    def __init__(
        self,
        descriptor: int,
        size: int,
        tell: Callable[[], object],
        slice_bytes: int = SLICE_BYTES,
    ) -> None:
        self.size = size
        self._descriptor = descriptor
        self._tell = tell
        self._slice_bytes = slice_bytes
        self._start = 0
        self._slice = b""
        self.scanned = 0
        """How many bytes of containers were gone through, those more than once that were so."""

    def bytes_at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from a position on; fewer at the end of the file."""
        offset = position - self._start
        if offset < 0 or offset + count > len(self._slice):
            self._load(position, count)
            offset = 0
        return self._slice[offset : offset + count]

    def bytes_behind(self, start: int, end: int) -> bytes:
        """A few bytes that stand before where the reading is, which stays there."""
        offset = start - self._start
        if offset >= 0 and offset + end - start <= len(self._slice):
            return self._slice[offset : offset + end - start]
        return read_range(self._descriptor, start, end)

    def byte_at(self, position: int) -> bytes:
        """The byte at a position, nothing at the end."""
        return self.bytes_at(position, 1)

    def after_space(self, position: int) -> int:
        """Where what is no blank begins."""
        return self._after(_SPACE, position)

    def next_behind(self, end: int, closer: bytes) -> int:
        """Where the value or entry behind one that ends here begins, or the closer stands.

        Raises:
            DamagedError: neither follows.
        """
        position = self.after_space(end)
        byte = self.byte_at(position)
        if byte == b",":
            return self.after_space(position + 1)
        if byte != closer:
            raise DamagedError(position, is_end=not byte)
        return position

    def after_fill(self, position: int) -> int:
        """Where what is no blank, no comma and no NUL begins."""
        return self._after(_FILL, position)

    def _after(self, pattern: re.Pattern[bytes], position: int) -> int:
        while True:
            offset = self._offset(position)
            match = pattern.match(self._slice, offset)
            end = match.end() if match else offset
            position = self._start + end
            if end < len(self._slice) or position >= self.size:
                return position

    def value_end(self, position: int) -> int:
        """Where the value that begins at a position ends.

        Raises:
            DamagedError: it is none.
        """
        first = self.byte_at(position)
        if first in (b"{", b"["):
            try:
                return self._container_end(position)
            except DamagedError as damage:
                self.scanned += damage.position - position
                raise
        if first == b'"':
            return self.string_end(position)
        end = self._after(_SCALAR, position)
        if end == position:
            raise DamagedError(position, is_end=not first)
        return end

    def string_end(self, position: int) -> int:
        """Where the string whose quote stands at a position ends.

        Raises:
            DamagedError: it does not end.
        """
        start = self._offset(position)
        data = self._slice
        inside = start + 1
        while True:
            found = _closing_quote(data, inside)
            if found >= 0:
                return self._start + found + 1
            # One slice after the other, and nothing of those before is kept. One that ends in the
            # middle of an escape is left before its backslash.
            position = self._start + len(data) - _trailing_backslashes(data, inside) % 2
            if position >= self.size or data == b"\\":
                raise DamagedError(self.size, is_end=True)
            self._load(position, 2)
            data, inside = self._slice, 0

    def search(
        self, pattern: re.Pattern[bytes], position: int
    ) -> Iterator[tuple[int, re.Match[bytes]]]:
        """Matches of a pattern from a position on, each with the position of its slice.

        One that is longer than a few hundred bytes may be missed.
        """
        # Most searches end soon, and a damaged file takes many of them.
        count = min(self._slice_bytes, _SEARCHED_FIRST)
        while position < self.size:
            data = read_range(self._descriptor, position, min(self.size, position + count))
            count = min(self._slice_bytes, 4 * count)
            self._tell()
            if not data:
                return
            last = position + len(data) >= self.size
            limit = len(data) if last else max(1, len(data) - _OVERLAP_BYTES)
            for match in pattern.finditer(data):
                if match.start() >= limit:
                    break
                yield position, match
            position += limit

    def _container_end(self, position: int) -> int:
        containers = bytearray()
        begun, before = position, _COLON
        offset, data = self._offset(position), self._slice
        while True:
            match = _RUN.match(data, offset)
            end = match.end() if match else offset
            byte = data[end] if end < len(data) else 0
            if byte in _OPENERS:
                last = data[end - 1] if end > offset else before
                if last in _BLANKS:
                    consumed = data[offset:end].rstrip()
                    last = consumed[-1] if consumed else before
                if containers and not _may_open(last, containers[-1]):
                    raise DamagedError(self._start + end)
                containers.append(byte)
                before, offset = byte, end + 1
            elif byte in _CLOSERS:
                if not containers or containers.pop() != _CLOSERS[byte]:
                    raise DamagedError(self._start + end)
                before, offset = byte, end + 1
                if not containers:
                    self.scanned += self._start + offset - begun
                    return self._start + offset
            else:
                consumed = data[offset:end].rstrip()
                before = consumed[-1] if consumed else before
                position = self._start + end
                if byte == _QUOTE:
                    position = self._long_string(position)
                    before = _QUOTE
                elif end < len(data):
                    raise DamagedError(position)
                if position >= self.size:
                    raise DamagedError(self.size, is_end=True)
                offset, data = self._offset(position), self._slice

    def _long_string(self, position: int) -> int:
        """The end of a string that the slice cuts, or that something odd follows."""
        end = self.string_end(position)
        after = self.byte_at(self.after_space(end))
        if after not in (b":", b",", b"]", b"}"):
            raise DamagedError(end, is_end=not after)
        return end

    def _offset(self, position: int) -> int:
        offset = position - self._start
        if not 0 <= offset < len(self._slice):
            self._load(position, 1)
            offset = 0
        return offset

    def _load(self, position: int, count: int) -> None:
        end = min(self.size, position + max(count, self._slice_bytes))
        self._slice = read_range(self._descriptor, position, end) if end > position else b""
        self._start = position
        self._tell()
        if len(self._slice) < min(count, self.size - position):
            # The file has become shorter.
            self.size = position + len(self._slice)


def _closing_quote(data: bytes, start: int) -> int:
    """Where the first quote stands that no backslash is meant for, -1 where none does."""
    found = data.find(b'"', start)
    while found >= 0 and _trailing_backslashes(data, start, found) % 2:
        found = data.find(b'"', found + 1)
    return found


def _trailing_backslashes(data: bytes, start: int, end: int | None = None) -> int:
    """How many backslashes stand before a position."""
    stop = before = len(data) if end is None else end
    while before > start and data[before - 1] == _BACKSLASH:
        before -= 1
    return stop - before


def _may_open(last: int, container: int) -> bool:
    """Whether a value may begin behind the byte `last` in a container."""
    if container == _BRACE:
        return last == _COLON
    return last in (_COMMA, _BRACKET)
