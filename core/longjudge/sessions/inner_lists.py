"""Large elements of a document whose own lists hold the records: these are found one by one.

An export of traces may hold all of its spans in a single element. Decoded as a whole it takes
several times its size, so that what stands in its lists becomes the document's elements.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.scanning import DamagedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from longjudge.sessions.layout import Document
    from longjudge.sessions.scanning import Scanner

LARGE_BYTES = 2 << 20
"""Smaller elements stay as they are."""

_MAX_NAME = 1000
_name = msgspec.json.Decoder(str).decode


def split_large(
    document: Document, inner: Mapping[str, Collection[str]], scanner: Scanner
) -> Document:
    """The document with the records in its large elements in place of these.

    `inner` holds for a list of the document the names of the lists in its elements that hold
    records, by their paths. An element without any of them, or a damaged one, stays whole.
    """
    if not any(name in inner for name, _ in document.runs):
        return document
    starts, ends = array("Q"), array("Q")
    runs: list[tuple[str, int]] = []
    first = 0
    for name, count in document.runs:
        begun = len(starts)
        paths = frozenset(inner.get(name, ()))
        for number in range(first, first + count):
            start, end = document.starts[number], document.ends[number]
            if paths and end - start > LARGE_BYTES and (found := _inside(scanner, start, paths)):
                starts.extend(span[0] for span in found)
                ends.extend(span[1] for span in found)
            else:
                starts.append(start)
                ends.append(end)
        runs.append((name, len(starts) - begun))
        first += count
    return replace(document, starts=starts, ends=ends, runs=runs)


def _inside(scanner: Scanner, start: int, paths: frozenset[str]) -> list[tuple[int, int]]:
    try:
        return _Walk(scanner, paths).walk(start)
    except DamagedError:
        return []


class _Walk:
    def __init__(self, scanner: Scanner, paths: frozenset[str]) -> None:
        self._scanner = scanner
        self._paths = paths
        self._parents = {path.rpartition(".")[0] for path in paths} - {""}
        self._found: list[tuple[int, int]] = []

    def walk(self, position: int) -> list[tuple[int, int]]:
        """The spans of the records inside the object at a position."""
        if self._scanner.byte_at(position) == b"{":
            self._entries(position, "")
        return self._found

    def _value(self, position: int, path: str) -> int:
        is_list = self._scanner.byte_at(position) == b"["
        if is_list and (path in self._paths or path in self._parents):
            return self._items(position, path)
        return self._scanner.value_end(position)

    def _items(self, position: int, path: str) -> int:
        scanner = self._scanner
        position = scanner.after_space(position + 1)
        while (byte := scanner.byte_at(position)) != b"]":
            if path in self._parents and byte == b"{":
                end = self._entries(position, f"{path}.")
            else:
                end = scanner.value_end(position)
                if path in self._paths:
                    self._found.append((position, end))
            position = self._scanner.next_behind(end, b"]")
        return position + 1

    def _entries(self, position: int, above: str) -> int:
        scanner = self._scanner
        position = scanner.after_space(position + 1)
        while scanner.byte_at(position) != b"}":
            if scanner.byte_at(position) != b'"':
                raise DamagedError(position)
            end = scanner.string_end(position)
            try:
                name = _name(scanner.bytes_at(position, min(end - position, _MAX_NAME)))
            except DECODE_ERRORS:
                # Longer, or odder, than the name of any list.
                name = "."
            colon = scanner.after_space(end)
            if scanner.byte_at(colon) != b":":
                raise DamagedError(colon)
            end = self._value(scanner.after_space(colon + 1), above + name)
            position = self._scanner.next_behind(end, b"}")
        return position + 1
