"""In which line of a file records stand that are not a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.lines import read_range

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from longjudge.sessions.unpack import Plain

_SLICE_BYTES = 1 << 20


def lines_of_records(plain: Plain, starts: array[int] | None) -> Callable[[int], int | None] | None:
    """What gives the line (from 1) of a record by its number; None where each is a line."""
    lines = plain.lines
    if lines is not None:
        return lambda record: lines[record] or None if record < len(lines) else None
    if plain.starts is not None:
        return lambda record: None
    return None if starts is None else _LinesOfSpans(plain.descriptor, starts).line


class _LinesOfSpans:
    """Counts the lines before a record, on from the last one that was asked for."""

    def __init__(self, descriptor: int, starts: array[int]) -> None:
        self._descriptor = descriptor
        self._starts = starts
        self._position = 0
        self._line = 1

    def line(self, record: int) -> int | None:
        if record >= len(self._starts):
            return None
        start = self._starts[record]
        if start < self._position:
            self._position, self._line = 0, 1
        while self._position < start:
            end = min(start, self._position + _SLICE_BYTES)
            data = read_range(self._descriptor, self._position, end)
            self._line += data.count(b"\n")
            self._position = end
        return self._line
