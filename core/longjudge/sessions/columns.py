"""Columns of the event index: arrays whose items take no more room than their values need.

A column is made of the smallest items and widened once a value does not fit. No step holds the
interpreter for long, however long the column is, so that a screen stays alive meanwhile.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SLICE = 1 << 16
_SMALLEST_FIRST = "BHIQ"


def widened(column: array[int], code: str | None = None) -> array[int]:
    """The same values in the next larger items, or in those of `code`."""
    wider = code or _SMALLEST_FIRST[_SMALLEST_FIRST.index(column.typecode) + 1]
    values: array[int] = array(wider)
    for part in _parts(column):
        values.extend(iter(part))
    return values


def joined(column: array[int], more: array[int], offset: int = 0) -> array[int]:
    """A column with another one behind it, `offset` added to each of its values.

    The column itself is added to where its items are large enough.
    """
    code = max(column.typecode, more.typecode, key=_SMALLEST_FIRST.index)
    if code != column.typecode:
        column = widened(column, code)
    for part in _parts(more):
        if offset:
            column.extend(value + offset for value in part)
        elif part.typecode == code:
            column.extend(part)
        else:
            column.extend(iter(part))
    return column


def total(column: array[int]) -> int:
    """All values together."""
    return sum(sum(part) for part in _parts(column))


def running_total(column: array[int]) -> array[int]:
    """What comes before each value, and at last all of them together."""
    totals: array[int] = array("I" if total(column) < 1 << 32 else "Q", [0])
    for part in _parts(column):
        totals.extend(islice(accumulate(part, initial=totals[-1]), 1, None))
    return totals


def counted(column: Sequence[int]) -> Sequence[int]:
    """The same values in no room at all where they are 0, 1, 2, … to the end."""
    if isinstance(column, array) and _counts_from(column, 0):
        return range(len(column))
    return column


def _counts_from(column: array[int], start: int) -> bool:
    for part in _parts(column):
        if part != array(part.typecode, range(start, start + len(part))):
            return False
        start += len(part)
    return True


def followed(column: Sequence[int], more: array[int]) -> Sequence[int]:
    """Such a column, or any, with another one behind it."""
    if isinstance(column, array):
        return joined(column, more)
    if _counts_from(more, len(column)):
        return range(len(column) + len(more))
    values: array[int] = array("I")
    for start in range(0, len(column), _SLICE):
        values.extend(column[start : start + _SLICE])
    return joined(values, more)


def continued_total(totals: array[int], column: array[int]) -> array[int]:
    """A running total with further values behind it."""
    more = running_total(column)
    more.pop(0)
    if totals.typecode == "I" and more and totals[-1] + more[-1] >= 1 << 32:
        totals = widened(totals, "Q")
    return joined(totals, more, totals[-1])


def crossings(calls: array[int], known: bytes = b"") -> bytes:
    """For each row, 1 where a result from there on answers a call before it, else 0.

    `calls` says for each row which row it answers, itself where none; `known` is what was found
    of the first rows, without those that follow.
    """
    found = bytearray(known)
    found.extend(bytes(len(calls) - len(known)))
    # From the last result to the first: what is marked already begins at `low` or later.
    low = len(calls)
    for row in range(len(calls) - 1, len(known) - 1, -1):
        call = calls[row]
        if call < row:
            end = min(row + 1, low)
            if call + 1 < end:
                found[call + 1 : end] = b"\x01" * (end - call - 1)
                low = call + 1
    return bytes(found)


def _parts(column: array[int]) -> Iterator[array[int]]:
    for start in range(0, len(column), _SLICE):
        yield column[start : start + _SLICE]
