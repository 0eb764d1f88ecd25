"""Records that a raw newline inside a string has spread over several lines, put together again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.lines import read_line_blocks, read_range
from longjudge.sessions.model import Severity
from longjudge.sessions.records import NOT_JSON, parse_line

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from longjudge.sessions.notes import Notes

JOINED = "records with a line end inside a string, put together from their lines"

_MAX_TORN = 1000
_MAX_LINES = 200
_MAX_BYTES = 4 << 20
_MAX_TRIED_BYTES = 8 << 20
_FILL = b"\xef\xbb\xbf\x00 \t\r\n"
_CLOSED = re.compile(rb'[^"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"]*+)*+', re.DOTALL)


def note_torn(notes: Notes, line: bytes, number: int, fault: str) -> None:
    """Remember a line whose record the lines behind it may complete."""
    if fault == NOT_JSON and len(notes.torn) < _MAX_TORN and _is_torn(line):
        notes.torn.append(number)


def _is_torn(line: bytes) -> bool:
    """Whether a damaged line begins a record, and ends inside one of its strings."""
    data = line.lstrip(_FILL)
    match = _CLOSED.match(data)
    return data.startswith(b"{") and match is not None and match.end() < len(data)


def torn_lines(descriptor: int, ends: array[int]) -> list[int]:
    """The lines that may be torn, found by how they and the lines behind them begin and end."""
    found: list[int] = []
    before, number_before = b"", -1
    for first, lines in read_line_blocks(descriptor, ends):
        for number, line in enumerate(lines, first):
            data = line.strip(_FILL)
            if not data:
                continue
            is_whole = before.endswith(b"}") and data.startswith(b"{")
            if before and not is_whole and len(found) < _MAX_TORN and _is_torn(before):
                found.append(number_before)
            before, number_before = data, number
    return found


def join_torn(descriptor: int, ends: array[int], torn: Sequence[int]) -> list[int]:
    """Let each torn line end where its record does; returns the lines for which that was found.

    The lines that one takes in become empty, so that every line keeps its number.
    """
    joining = _Joining(descriptor, ends)
    return [line for line in torn if joining.join(line)]


def note_joined(notes: Notes, joined: Sequence[int]) -> None:
    """Say that lines were put together."""
    if joined:
        notes.add(JOINED, joined[0] + 1, Severity.INFO, len(joined))


class _Joining:
    """Tries lines one after the other, and no more than so many bytes in a file."""

    def __init__(self, descriptor: int, ends: array[int]) -> None:
        self._descriptor = descriptor
        self._ends = ends
        self._left = _MAX_TRIED_BYTES

    def join(self, line: int) -> bool:
        """Whether the lines behind one complete its record; if so, they are put together."""
        ends = self._ends
        start = ends[line - 1] if line else 0
        for last in range(line + 1, min(len(ends), line + _MAX_LINES)):
            if ends[last] - start > _MAX_BYTES or ends[last] == ends[line] or self._left < 0:
                break
            following = read_range(self._descriptor, ends[last - 1], ends[last]).strip()
            self._left -= len(following)
            if not following.endswith(b"}"):
                continue
            if following.startswith(b"{") and self._is_whole(following):
                break
            if self._is_whole(read_range(self._descriptor, start, ends[last])):
                for number in range(line, last):
                    ends[number] = ends[last]
                return True
        return False

    def _is_whole(self, data: bytes) -> bool:
        self._left -= len(data)
        found = parse_line(data)
        return found.fault is None and len(found.objects) == 1
