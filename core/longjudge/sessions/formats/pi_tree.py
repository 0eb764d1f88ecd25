"""A tree of entries in the order in which they were appended to a file."""

from __future__ import annotations

from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.values import text_or_none

_ROOT = -1


class EntryTree:
    """Learns who follows whom, and tells the branch to the last entry from those left behind.

    An entry without ids follows the one before it, as does one whose parent is not in the file:
    a damaged line must not cost the rest of the branch.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._parents: list[int] = []
        self._leaf = _ROOT

    def add(self, entry: dict[str, object]) -> None:
        """Append an entry."""
        number = len(self._parents)
        parent = self._parent(entry, number)
        if entry.get("type") == "leaf":
            # Says where to go on from; what follows the mark follows that entry.
            target = text_or_none(entry.get("targetId"))
            parent = self._numbers.get(target, parent) if target else parent
        self._parents.append(parent)
        if own := text_or_none(entry.get("id")):
            self._numbers[own] = number
        self._leaf = number

    def threads(self) -> list[str]:
        """The thread of each entry, in order."""
        main: set[int] = set()
        number = self._leaf
        while number != _ROOT:
            main.add(number)
            number = self._parents[number]
        names: list[str] = []
        branches = 0
        for number, parent in enumerate(self._parents):
            if number in main:
                names.append(MAIN_THREAD)
            elif parent != _ROOT and parent not in main:
                names.append(names[parent])
            else:
                branches += 1
                names.append(f"branch-{branches}")
        return names

    def _parent(self, entry: dict[str, object], number: int) -> int:
        if "parentId" not in entry:
            return number - 1
        given = entry.get("parentId")
        if given is None:
            return _ROOT
        # Only earlier entries are known, so that no hostile file makes a ring.
        return self._numbers.get(given, number - 1) if isinstance(given, str) else number - 1
