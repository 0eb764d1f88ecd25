"""One judgment's part in the questions that all judgments of the process share.

A chunk that another judgment is asking waits for that answer, and borrows its verdict.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.flights import Flight, Flights
    from longjudge.store import KeptVerdict


class Sharing:
    """Departs, waits and lands by position.

    `arrived` is called on the judgment's loop when a wait is over, with whether there is a verdict
    to borrow. With `fresh`, answers that landed before count as none.
    """

    def __init__(
        self,
        keys: Sequence[str],
        flights: Flights,
        arrived: Callable[[int, bool], None],
        *,
        fresh: bool,
    ) -> None:
        self._keys = keys
        self._flights = flights
        self._arrived = arrived
        self._fresh = fresh
        self._departed: dict[str, int] = {}
        self._waiting: set[int] = set()
        self._borrowed: dict[int, KeptVerdict] = {}

    def depart(self, position: int) -> bool:
        """Take the question on, and True; else wait for what another judgment makes of it."""
        key = self._keys[position]
        if key in self._departed:
            return True
        flight = self._flights.depart(key, anew=self._fresh)
        if flight is None:
            self._departed[key] = position
            return True
        self._waiting.add(position)
        loop = asyncio.get_running_loop()

        def landed(flight: Flight) -> None:
            # The other judgment may run on any thread; this one, and its loop, may be over by then.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._landed, position, flight.result())

        flight.add_done_callback(landed)
        return False

    def _landed(self, position: int, kept: KeptVerdict | None) -> None:
        if not self.leave(position):
            return
        if kept is not None:
            self._borrowed[position] = kept
        self._arrived(position, kept is not None)

    def leave(self, position: int) -> bool:
        """Wait no longer about a chunk; False where it does not wait."""
        waits = position in self._waiting
        self._waiting.discard(position)
        return waits

    def has_borrowed(self, position: int) -> bool:
        """Whether another judgment's verdict is there for a chunk."""
        return position in self._borrowed

    def take(self, position: int) -> KeptVerdict | None:
        """The verdict that is there for a chunk, once."""
        return self._borrowed.pop(position, None)

    def land(self, position: int, kept: KeptVerdict | None) -> None:
        """The question is over, for those who wait for it too."""
        key = self._keys[position]
        # An equal chunk that only follows has no flight of its own to end.
        if self._departed.get(key) == position:
            del self._departed[key]
            self._flights.arrive(key, kept)

    def end(self) -> None:
        """Nothing comes of the questions that are still open, and nothing is waited for."""
        for key in self._departed:
            self._flights.arrive(key, None)
        self._departed.clear()
        self._waiting.clear()
