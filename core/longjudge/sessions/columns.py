"""Columns of the event index: arrays whose items take no more room than their values need.

A column is made of the smallest items and widened once a value does not fit. No step holds the
interpreter for long, however long the column is, so that a screen stays alive meanwhile.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def running_total(column: array[int]) -> array[int]:
    """What comes before each value, and at last all of them together."""
    total = sum(sum(part) for part in _parts(column))
    totals: array[int] = array("I" if total < 1 << 32 else "Q", [0])
    for part in _parts(column):
        totals.extend(islice(accumulate(part, initial=totals[-1]), 1, None))
    return totals


def _parts(column: array[int]) -> Iterator[array[int]]:
    for start in range(0, len(column), _SLICE):
        yield column[start : start + _SLICE]
