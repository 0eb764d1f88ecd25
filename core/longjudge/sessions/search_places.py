"""Where the records of a session stand: bytes to look through, and the events in them.

A place holds what it needs open for itself, so that it can be read in a thread while the session
that it is of is closed.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from itertools import accumulate, islice
from operator import le
from typing import TYPE_CHECKING, Protocol

from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions.lines import open_regular, read_range
from longjudge.sessions.search_oddities import Oddities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.model import Event

    Made = Mapping[str, Sequence[str]]
    Decode = Callable[[bytes], Sequence[Event]]

_CLOSED = "the session is closed"


class Place(Protocol):
    """Records `first` to `end` (exclusive).

    `made` is what the texts of their events hold and the records do not, with what stands in the
    records for which it is made; None where texts stand there as they are.
    """

    first: int
    end: int
    made: Made | None
    oddities: Oddities

    @property
    def ordered(self) -> bool:
        """Whether the records stand one behind the other."""
        ...

    def span(self, record: int) -> tuple[int, int]:
        """From where to where a record stands."""
        ...

    def last_before(self, offset: int) -> int:
        """The last record that ends at an offset or before it; `first - 1` where none does."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """What stands there.

        Raises:
            SessionError: it cannot be read.
        """
        ...

    def events(self, record: bytes) -> Sequence[Event]:
        """The events of a record.

        Raises:
            SessionError, ValueError: it is not what it was.
        """
        ...

    def rest(self) -> None:
        """Hold nothing open that can be opened again: another place is read now."""
        ...

    def close(self) -> None:
        """Let go of what was held open."""
        ...


class Spans:
    """Where records stand, by their ends, and by their starts where something is between them."""

    def __init__(self, first: int, starts: array[int] | None, ends: array[int]) -> None:
        self.first = first
        self.end = first + len(ends)
        self._starts = starts
        self._ends = ends
        self._ordered: bool | None = None if starts is not None else True

    @property
    def ordered(self) -> bool:
        """Whether the records stand one behind the other; looked at when it is first asked."""
        if self._ordered is None:
            self._ordered = all(map(le, self._ends, islice(self._starts or (), 1, None)))
        return self._ordered

    def span(self, record: int) -> tuple[int, int]:
        """From where to where a record stands."""
        number = record - self.first
        if self._starts is not None:
            return self._starts[number], self._ends[number]
        return self._ends[number - 1] if number else 0, self._ends[number]

    def last_before(self, offset: int) -> int:
        """The last record that ends at an offset or before it."""
        return self.first + bisect_right(self._ends, offset) - 1


class FilePlace(Spans):
    """Records in a file: in one that is open, or in one that is opened by its name."""

    def __init__(
        self,
        first: int,
        starts: array[int] | None,
        ends: array[int],
        *,
        file: int | Path,
        decode: Decode,
        made: Made | None,
        oddities: Oddities,
    ) -> None:
        super().__init__(first, starts, ends)
        self.made = made
        self.oddities = oddities
        self._decode = decode
        self._path = None if isinstance(file, int) else file
        self._descriptor: int | None = None
        if isinstance(file, int):
            try:
                self._descriptor = os.dup(file)
            except OSError as error:
                raise SessionError(_CLOSED) from error

    def read(self, start: int, end: int) -> bytes:
        """What stands there."""
        try:
            if self._descriptor is None:
                if self._path is None:
                    raise SessionError(_CLOSED)
                self._descriptor, _ = open_regular(self._path)
            return read_range(self._descriptor, start, end)
        except OSError as error:
            raise SessionError(f"cannot be read again: {error.strerror}") from error
        except NotASessionError as error:
            raise SessionError(f"cannot be read again: {error}") from error

    def events(self, record: bytes) -> Sequence[Event]:
        """The events of a record."""
        return self._decode(record.rstrip(b"\r\n"))

    def rest(self) -> None:
        """Close a file that is opened by its name: a session may have thousands of them."""
        if self._path is not None:
            self._leave()

    def close(self) -> None:
        """Let go of the file."""
        self._path = None
        self._leave()

    def _leave(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class MemoryPlace(Spans):
    """Records in memory, as if they stood one behind the other."""

    def __init__(self, records: Sequence[bytes], decode: Decode, made: Made | None) -> None:
        super().__init__(0, None, array("Q", accumulate(map(len, records))))
        self.made = made
        self.oddities = Oddities()
        self._records = records
        self._decode = decode

    def read(self, start: int, end: int) -> bytes:
        """What stands there."""
        first = self.last_before(start) + 1
        last = min(self.last_before(end) + 1, self.end - 1)
        begin = self.span(first)[0] if first < self.end else start
        return b"".join(self._records[first : last + 1])[start - begin : end - begin]

    def events(self, record: bytes) -> Sequence[Event]:
        """The events of a record."""
        return self._decode(record)

    def rest(self) -> None:
        """Nothing is held open."""

    def close(self) -> None:
        """Nothing is held open."""
