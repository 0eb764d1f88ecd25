"""Whole JSON documents: where each element of the lists that matter begins and ends.

A list may be the document itself, or stand in it under a name such as `events`. A small sound
document is split by the fast decoder here, a large one by a process of its own; any other is
walked, and gives up its complete elements. No large document is ever in memory as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.apart import split_apart
from longjudge.sessions.layout import Document
from longjudge.sessions.lines import read_range
from longjudge.sessions.scanning import SLICE_BYTES, Scanner
from longjudge.sessions.splitting import split_sound
from longjudge.sessions.walking import TRAILING, walk_document

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["TRAILING", "WRAPPERS", "Document", "read_document"]

WRAPPERS = ("events", "messages", "steps", "trajectory", "data", "items")
"""The names under which lists of events, records and messages stand in a document."""

_BOM = b"\xef\xbb\xbf"
_FILL = b"\x00 \t\r\n"
_FIRST_BYTES = 4096
_SMALL_BYTES = 16 << 20


def read_document(
    descriptor: int, size: int, lists: Collection[str], tell: Callable[[], object]
) -> Document | None:
    """Find the elements of a document's lists; None when the file is none, but lines.

    `tell` is called between slices and may raise to stop.
    """
    start = _first(descriptor, size, tell)
    shape = _shape(descriptor, size, start, tell)
    if not shape:
        return None
    document = None
    if size <= _SMALL_BYTES:
        document = split_sound(read_range(descriptor, 0, size), start, lists)
    else:
        document = split_apart(descriptor, size, start, lists, tell)
    if document is None:
        document = walk_document(Scanner(descriptor, size, tell), start, lists)
    if document is None or not len(document.starts):
        return None
    document.is_line = shape == "line"
    # One line that wraps nothing is a record like any other, and has its line.
    return None if document.is_line and document.wrapper is None else document


def _first(descriptor: int, size: int, tell: Callable[[], object]) -> int:
    """Where what is neither blank nor fill begins."""
    position = len(_BOM) if read_range(descriptor, 0, min(size, 3)) == _BOM else 0
    while position < size:
        data = read_range(descriptor, position, min(size, position + SLICE_BYTES))
        rest = data.lstrip(_FILL)
        position += len(data) - len(rest)
        if rest or not data:
            break
        tell()
    return position


def _line_end(descriptor: int, size: int, start: int, tell: Callable[[], object]) -> int:
    """Where the line that goes on at a position ends, its newline included."""
    position = start
    while position < size:
        data = read_range(descriptor, position, min(size, position + SLICE_BYTES))
        found = data.find(b"\n")
        if found >= 0:
            return position + found + 1
        if not data:
            break
        position += len(data)
        tell()
    return size


def _shape(descriptor: int, size: int, start: int, tell: Callable[[], object]) -> str:
    """`array`, `object` or `line` where the first line may begin a document, else nothing."""
    line = read_range(descriptor, start, min(size, start + _FIRST_BYTES))
    if not line.startswith((b"[", b"{")):
        return ""
    end = _line_end(descriptor, size, start, tell)
    line = line[: end - start].strip(_FILL)
    inside = line[1:].lstrip()[:1]
    rest = read_range(descriptor, end, min(size, end + _FIRST_BYTES)).strip()
    last = read_range(descriptor, max(start, end - _FIRST_BYTES), end).rstrip()[-1:]
    if line.startswith(b"["):
        # An array a line: each is a conversation.
        if last == b"]" and rest.startswith(b"["):
            return ""
        return "array" if inside in (b"", b"{", b"]", b"[") else ""
    if not rest:
        return "line"
    return "object" if not inside or last in (b"[", b"{", b",", b":") else ""
