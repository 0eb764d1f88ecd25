"""Sound documents in memory, split by the fast decoder, which looks at every byte but once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.layout import SMALL_BYTES, Document, Layout
from longjudge.sessions.records import DECODE_ERRORS

if TYPE_CHECKING:
    import mmap
    from collections.abc import Collection

_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*+:[ \t\r\n]*+', re.DOTALL)

_raw_array = msgspec.json.Decoder(list[msgspec.Raw])
_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_key = msgspec.json.Decoder(str)


def split_sound(data: bytes | mmap.mmap, start: int, lists: Collection[str]) -> Document | None:
    """Split the array or object that begins at `start`; None when it is not sound or repeats a key.

    The decoder holds the interpreter until it has seen all of it.
    """
    try:
        return _Split(data, lists).split(start)
    except DECODE_ERRORS:
        return None


class _Split:
    def __init__(self, data: bytes | mmap.mmap, lists: Collection[str]) -> None:
        self._data = data
        self._layout = Layout(lists)

    def split(self, start: int) -> Document:
        layout, view = self._layout, memoryview(self._data)[start:]
        if self._data[start : start + 1] == b"[":
            self._elements(view, start)
            layout.document.wrapper = ""
            layout.close("")
            return layout.document
        end = self._object(view, start, "", layout.document.around)
        return layout.finish(start, end)

    def _elements(self, view: memoryview | msgspec.Raw, start: int) -> int:
        position = start + 1
        element = self._layout.element
        match = _SPACE.match
        data = self._data
        for raw in _raw_array.decode(view):
            found = match(data, position)
            begin = found.end() if found else position
            position = begin + memoryview(raw).nbytes
            element(begin, position)
            found = match(data, position)
            position = (found.end() if found else position) + 1
        return position

    def _object(
        self,
        view: memoryview | msgspec.Raw,
        start: int,
        prefix: str,
        around: dict[str, object],
    ) -> int:
        position = self._after_space(start + 1)
        for name, raw in _raw_object.decode(view).items():
            match = _KEY.match(self._data, position)
            if match is None or _key.decode(match[1]) != name:
                raise ValueError("a name stands in it twice")
            begin = match.end()
            end = begin + memoryview(raw).nbytes
            self._value(raw, begin, prefix + name, name, around)
            if not prefix:
                self._layout.entry(position, end, name, self._data[begin : min(end, begin + 8)])
            position = self._after_space(end)
            if self._data[position : position + 1] == b",":
                position = self._after_space(position + 1)
        if self._data[position : position + 1] != b"}":
            raise ValueError("a name stands in it twice")
        return position + 1

    def _value(
        self, raw: msgspec.Raw, begin: int, path: str, name: str, around: dict[str, object]
    ) -> None:
        layout, size = self._layout, memoryview(raw).nbytes
        first = self._data[begin : begin + 1]
        if first == b"[" and path in layout.lists:
            self._elements(raw, begin)
            layout.close(path)
        elif first == b"{" and path in layout.parents:
            inside: dict[str, object] = {}
            around[name] = inside
            self._object(raw, begin, path + ".", inside)
            return
        shown = size if size <= SMALL_BYTES else 1
        layout.around(around, name, self._data[begin : begin + shown], size)

    def _after_space(self, position: int) -> int:
        match = _SPACE.match(self._data, position)
        return match.end() if match else position
