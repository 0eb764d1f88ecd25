"""Remembers which of millions of keys were seen, in a fraction of the room that a set takes."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FEW = 1 << 15
_BITS = (1 << 64) - 1


def as_key(parts: tuple[object, ...]) -> int:
    """A key for what some parts say together; never 0."""
    return hash(parts) & _BITS or 1


class KeySet:
    """Hashes that were added; a plain set while they are few, then a table of 8 bytes a slot.

    A set takes 60 to 90 bytes for each of its numbers, which is more than all that the index
    holds of an event. A slot that is free holds 0, which is no key.
    """

    def __init__(self) -> None:
        self._few: set[int] = set()
        self._table: array[int] = array("Q")
        self._mask = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count + len(self._few)

    def __iter__(self) -> Iterator[int]:
        if self._few:
            yield from self._few
        else:
            yield from filter(None, self._table)

    def add(self, key: int) -> bool:
        """Remember a key, made by `as_key`; false where it was known."""
        if not self._mask:
            before = len(self._few)
            self._few.add(key)
            if before == _FEW:
                self._spread(self._few, 4 * _FEW)
                self._few = set()
            return len(self) > before
        if not self._place(self._table, self._mask, key):
            return False
        self._count += 1
        if 3 * self._count > 2 * (self._mask + 1):
            self._spread(self._table, 2 * (self._mask + 1))
        return True

    def _spread(self, keys: set[int] | array[int], size: int) -> None:
        table, mask, count = array("Q", [0]) * size, size - 1, 0
        for key in keys:
            if key:
                self._place(table, mask, key)
                count += 1
        self._table, self._mask, self._count = table, mask, count

    @staticmethod
    def _place(table: array[int], mask: int, key: int) -> bool:
        slot = key & mask
        while found := table[slot]:
            if found == key:
                return False
            slot = (slot + 1) & mask
        table[slot] = key
        return True
