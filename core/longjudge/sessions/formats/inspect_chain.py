"""The messages of a conversation in the order in which they were said.

A conversation that lost messages is mended by the requests that still held them: each of those
holds a stretch of it in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from longjudge.sessions.formats.inspect_samples import Handle


class Chain:
    """Messages in order; one that was missing stands behind the one that it was said after.

    A link is the number of a message's record, its handle and its key. `elsewhere` holds the
    keys of messages that are told in another thread.
    """

    def __init__(
        self, told: Iterable[tuple[int, Handle, str]], elsewhere: set[str] | None = None
    ) -> None:
        self._elsewhere = elsewhere or set()
        self._links: list[tuple[int, Handle, str]] = []
        self._next: list[int] = []
        self._places: dict[str, int] = {}
        self._first = -1
        self._at = -1
        for number, handle, key in told:
            self._insert(number, handle, key)

    def __iter__(self) -> Iterator[tuple[int, Handle, str]]:
        place = self._first
        while place >= 0:
            yield self._links[place]
            place = self._next[place]

    def restart(self) -> None:
        """Begin with the first message again."""
        self._at = -1

    def say(self, number: int, handle: Handle, key: str) -> None:
        """The next message of a request."""
        if key in self._places:
            self._at = self._places[key]
        elif key not in self._elsewhere:
            self._insert(number, handle, key)

    def _insert(self, number: int, handle: Handle, key: str) -> None:
        place = len(self._links)
        self._links.append((number, handle, key))
        if self._at < 0:
            self._next.append(self._first)
            self._first = place
        else:
            self._next.append(self._next[self._at])
            self._next[self._at] = place
        self._places.setdefault(key, place)
        self._at = place
