"""Replays a log of changes to one object, as VS Code writes its chats: a line each.

`{"kind": 0, "v": …}` is the object, 1 sets what stands at a path, 2 appends to a list that may be
shortened first, 3 deletes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    Entry = dict[str, object]

_WHOLE, _SET, _PUSH, _DELETE = range(4)
_MAX_INDEX = 1_000_000


def is_log_entry(record: Entry) -> bool:
    """Whether a record is one line of such a log."""
    kind = record.get("kind")
    if isinstance(kind, bool) or not isinstance(kind, int):
        return False
    if kind == _WHOLE:
        return is_object(record.get("v"))
    return kind in (_SET, _PUSH, _DELETE) and is_array(record.get("k"))


class MutationLog:
    """The object as it stands after the changes so far; it takes over the values of the log."""

    def __init__(self, touched: Callable[[list[object], int, int], object]) -> None:
        self.value: object = None
        self.misfits = 0
        self._touched = touched

    def take(self, entry: Entry, record: int) -> None:
        """Apply one change; one that does not fit is counted and changes nothing.

        `touched` hears of the path, the record and for a list where its new items begin.
        """
        kind, path = entry.get("kind"), entry.get("k")
        if kind == _WHOLE:
            self.value = entry.get("v")
            self._touched([], record, 0)
        elif not is_array(path) or not path or not self._apply(kind, path, entry, record):
            self.misfits += 1

    def _apply(self, kind: object, path: list[object], entry: Entry, record: int) -> bool:
        parent = self._at(path[:-1])
        last = path[-1]
        if kind == _SET:
            done = _set(parent, last, entry.get("v"))
        elif kind == _DELETE:
            done = is_object(parent) and isinstance(last, str)
            if is_object(parent) and isinstance(last, str):
                parent.pop(last, None)
        else:
            return self._push(parent, path, entry, record)
        if done:
            self._touched(path, record, 0)
        return done

    def _push(self, parent: object, path: list[object], entry: Entry, record: int) -> bool:
        target = _get(parent, path[-1])
        if target is None and _set(parent, path[-1], []):
            target = _get(parent, path[-1])
        if not is_array(target):
            return False
        keep, more = entry.get("i"), entry.get("v")
        if isinstance(keep, int) and 0 <= keep < len(target):
            del target[keep:]
        first = len(target)
        target += more if is_array(more) else []
        self._touched(path, record, first)
        return True

    def _at(self, path: list[object]) -> object:
        value = self.value
        for key in path:
            value = _get(value, key)
        return value


def _get(value: object, key: object) -> object:
    if is_object(value) and isinstance(key, str):
        return value.get(key)
    if is_array(value) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]
    return None


def _set(parent: object, key: object, value: object) -> bool:
    if is_object(parent) and isinstance(key, str):
        parent[key] = value
        return True
    if is_array(parent) and isinstance(key, int) and 0 <= key < min(_MAX_INDEX, len(parent) + 1):
        parent[key : key + 1] = [value]
        return True
    return False
