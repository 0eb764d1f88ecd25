"""Chance that gives the same on every computer and every Python for the same seed.

Python promises that for `random()` and `getrandbits()` only, so everything is made of these two.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [one + other for one in _LETTERS for other in _LETTERS]
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


class Dice:
    """Throws that follow from the seed."""

    def __init__(self, seed: str) -> None:
        chance = Random(seed)
        self._share = chance.random
        self._bits = chance.getrandbits

    def below(self, end: int) -> int:
        """A number from 0 to `end`, exclusive."""
        return int(self._share() * end)

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`, inclusive."""
        return low + int(self._share() * (high - low + 1))

    def chance(self, share: float) -> bool:
        """True as often as `share` says."""
        return self._share() < share

    def pick(self, choices: Sequence[T]) -> T:
        """One of some."""
        return choices[int(self._share() * len(choices))]

    def two(self, choices: Sequence[T]) -> tuple[T, T]:
        """Two of some, different ones where there are two."""
        first = self.below(len(choices))
        second = (first + 1 + self.below(max(1, len(choices) - 1))) % len(choices)
        return choices[first], choices[second]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of them, in any order."""
        left, mixed = list(items), list[T]()
        while left:
            mixed.append(left.pop(self.below(len(left))))
        return mixed

    def hex(self, digits: int) -> str:
        """Hexadecimal digits."""
        return f"{self._bits(4 * digits):0{digits}x}"

    def uuid(self) -> str:
        """A random UUID."""
        digits = self.hex(32)
        variant = "89ab"[int(digits[16], 16) & 3]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        )

    def word(self, length: int) -> str:
        """Letters and digits."""
        number, pairs = self._bits(6 * length), _PAIRS
        parts: list[str] = []
        for _ in range(0, length, 2):
            number, pair = divmod(number, len(pairs))
            parts.append(pairs[pair])
        return "".join(parts)[:length]

    def capitals(self, length: int) -> str:
        """Capital letters and digits."""
        return "".join([self.pick(_CAPITALS) for _ in range(length)])
