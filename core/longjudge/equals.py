"""Equal chunks: one of them leads and is asked, the others follow it to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Equals:
    """Who leads and who follows, by position; chunks are equal where their keys are."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._leaders: dict[str, int] = {}
        self._followers: dict[int, list[int]] = {}
        self._equal: dict[str, list[int]] = {}
        self._seen = 0

    def join(self, position: int) -> bool:
        """Let a chunk lead from now on, and True; or follow the one that leads its equals."""
        leader = self._leaders.setdefault(self._keys[position], position)
        if leader == position and position not in self._followers:
            self._followers[position] = []
            return True
        if leader != position:
            self._followers[leader].append(position)
        return False

    def release(self, position: int) -> list[int]:
        """A chunk has ended and leads no more: those that followed it."""
        if self._leaders.get(self._keys[position]) == position:
            del self._leaders[self._keys[position]]
        return self._followers.pop(position, [])

    def equal_to(self, position: int) -> list[int]:
        """All chunks with the same key, the chunk itself first."""
        # Keys are added while a judgment begins; looking through all of them each time takes long.
        for number in range(self._seen, len(self._keys)):
            self._equal.setdefault(self._keys[number], []).append(number)
        self._seen = len(self._keys)
        return [position, *(i for i in self._equal[self._keys[position]] if i != position)]
