"""What takes long to read of an event: read in a thread, one at a time, and held once it is in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

from longjudge.errors import SessionError

if TYPE_CHECKING:
    from collections.abc import Callable

Found = TypeVar("Found")


class Aside(Generic[Found]):
    """Holds what `read` made of the event that was wanted last; `close` ends its task."""

    def __init__(self, read: Callable[[int], Found]) -> None:
        self._read = read
        self._held: tuple[int, Found | SessionError] | None = None
        self._wanted: int | None = None
        self._task: asyncio.Task[None] | None = None

    def at_hand(self, event: int) -> bool:
        """Whether what there is to read of an event can be had at once."""
        return self._held is not None and self._held[0] == event

    def get(self, event: int) -> Found | None:
        """What was read of an event; None where it is being read from now on.

        Raises:
            SessionError: it cannot be read.
        """
        if self._held is None or self._held[0] != event:
            self._wanted = event
            # One that died is not begun again as if nothing had been.
            self.raise_failure()
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._read_on())
            return None
        if isinstance(self._held[1], SessionError):
            raise self._held[1]
        return self._held[1]

    def raise_failure(self) -> None:
        """Raise what the task died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    def close(self) -> None:
        """Wait for nothing any more."""
        self._wanted = None
        if self._task is not None:
            self._task.cancel()

    async def _read_on(self) -> None:
        """Read what was wanted last; what is wanted meanwhile comes next."""
        while (event := self._wanted) is not None:
            self._wanted = None
            try:
                self._held = event, await asyncio.to_thread(self._read, event)
            except SessionError as error:
                self._held = event, error
