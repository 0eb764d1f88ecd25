"""Rows out of a damaged database's pages, where SQLite itself finds no way to them any more.

Reads index leaves and index nodes alone: that is how tables `WITHOUT ROWID` keep their rows, each
whole. What is no page, no cell or no record is passed over.
https://www.sqlite.org/fileformat.html
"""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
from typing import TYPE_CHECKING, BinaryIO

from longjudge.store.names import MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Value = str | bytes | int | float | None

PAGE_BYTES = 4096
"""How large a page of a store is where its head does not say."""

_LEAF, _NODE = 0x0A, 0x02
_LEAF_HEAD, _NODE_HEAD = 8, 12
_LOG_HEAD, _LOG_SALT, _FRAME_HEAD = 32, 16, 24
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_MOST_COLUMNS = 100

_MOST_READ = 8
"""How often the pages may be read for what overflows, all in all; a row has its pages alone."""

_FAULTS = (IndexError, ValueError, OSError, struct.error)


class Pages:
    """The pages of an open database and of its log, by number; the log's newest count first."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None = None) -> None:
        self._file = file
        self._log = log
        self._bytes = file.seek(0, os.SEEK_END)
        file.seek(0)
        self.size = _page_bytes(file.read(18))
        self._newest: dict[int, int] = {}
        self._most_bytes = self._bytes
        if log is not None:
            self._most_bytes += log.seek(0, os.SEEK_END)
            frame, end = _FRAME_HEAD + self.size, log.seek(0, os.SEEK_END)
            for start in range(_LOG_HEAD, end - frame + 1, frame):
                number, salt = struct.unpack(">I4x8s", _read(log, start, 16))
                # Behind its end stands what the log held before it was begun anew.
                if salt == _read(log, _LOG_SALT, 8):
                    self._newest[number] = start + _FRAME_HEAD
        self._following = _MOST_READ * self._most_bytes // self.size

    def __getitem__(self, number: int) -> bytes:
        """A page, from 1; the first one's head stands before what it is."""
        if number < 1:
            raise IndexError(number)
        if self._log is not None and number in self._newest:
            return _read(self._log, self._newest[number], self.size)
        return _read(self._file, (number - 1) * self.size, self.size)

    def __iter__(self) -> Iterator[bytes]:
        """Every page as it is now, those that nothing leads to included; not the unreadable."""
        in_file = self._bytes // self.size
        beyond = sorted(number for number in self._newest if number > in_file)
        for number in itertools.chain(range(1, in_file + 1), beyond):
            with contextlib.suppress(*_FAULTS):
                yield self[number]

    def overflow(self, first: int, size: int) -> bytes:
        """That many bytes of what overflows from a cell into a chain of pages.

        Raises:
            ValueError: there are fewer, or pages have been read again and again for such chains.
        """
        if size > self._most_bytes:
            raise ValueError("larger than all of it")
        found, number = bytearray(), first
        while len(found) < size:
            self._following -= 1
            if self._following < 0:
                raise ValueError("chains that share their pages")
            page = self[number]
            [number] = struct.unpack_from(">I", page)
            found += page[4 : 4 + size - len(found)]
        return bytes(found)


def records(pages: Pages, go_on: Callable[[], None] = lambda: None) -> Iterator[list[Value]]:
    """Every record in an index page; `go_on` is called for each page, and may raise."""
    for page in pages:
        go_on()
        yield from _records(page, pages)


def _records(page: bytes, pages: Pages) -> Iterator[list[Value]]:
    kind = page[0]
    if kind not in (_LEAF, _NODE):
        return
    head = _LEAF_HEAD if kind == _LEAF else _NODE_HEAD
    [cells] = struct.unpack_from(">H", page, 3)
    for number in range(min(cells, (pages.size - head) // 2)):
        try:
            [start] = struct.unpack_from(">H", page, head + 2 * number)
            yield _record(_payload(page, start if kind == _LEAF else start + 4, pages))
        except _FAULTS:
            continue


def _payload(page: bytes, start: int, pages: Pages) -> bytes:
    """A cell's content, with what overflows into other pages."""
    size, start = _varint(page, start)
    most, least = (pages.size - 12) * 64 // 255 - 23, (pages.size - 12) * 32 // 255 - 23
    here = size
    if size > most:
        here = least + (size - least) % (pages.size - 4)
        here = here if here <= most else least
    payload = page[start : start + here]
    if size > here:
        [following] = struct.unpack_from(">I", page, start + here)
        payload += pages.overflow(following, size - here)
    if len(payload) != size:
        raise ValueError("a part of it is missing")
    return payload


def _record(payload: bytes) -> list[Value]:
    head, position = _varint(payload, 0)
    kinds: list[int] = []
    while position < head and len(kinds) <= _MOST_COLUMNS:
        kind, position = _varint(payload, position)
        kinds.append(kind)
    if position != head or not 0 < len(kinds) <= _MOST_COLUMNS:
        raise ValueError("no record")
    values: list[Value] = []
    for kind in kinds:
        value, position = _value(payload, position, kind)
        values.append(value)
    if position != len(payload):
        raise ValueError("no record")
    return values


def _value(payload: bytes, position: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), position
    if kind in (10, 11):
        raise ValueError("no record")
    size = _INTEGER_BYTES.get(kind) or (8 if kind == 7 else (kind - 12) // 2)
    data = payload[position : position + size]
    if len(data) != size:
        raise ValueError("no record")
    if kind == 7:
        return struct.unpack(">d", data)[0], position + size
    if kind < 7:
        return int.from_bytes(data, "big", signed=True), position + size
    return (data.decode() if kind % 2 else data), position + size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for number in range(8):
        byte = data[position + number]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, position + number + 1
    return value << 8 | data[position + 8], position + 9


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    data = file.read(size)
    if len(data) != size:
        raise IndexError(start)
    return data


def _page_bytes(data: bytes) -> int:
    if data[: len(MAGIC)] != MAGIC:
        return PAGE_BYTES
    [size] = struct.unpack_from(">H", data, 16)
    size = 65_536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else PAGE_BYTES
