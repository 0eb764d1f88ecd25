"""One judgment's part in the questions that all judgments of the process share."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.flights import Flight, Flights
    from longjudge.store import KeptVerdict


class Sharing:
    """Departs and lands by position; with `fresh`, answers that landed before count as none."""

    def __init__(self, keys: Sequence[str], flights: Flights, *, fresh: bool) -> None:
        self._keys = keys
        self._flights = flights
        self._fresh = fresh
        self._departed: dict[str, int] = {}

    def depart(self, position: int, arrived: Callable[[int, KeptVerdict | None], None]) -> bool:
        """Take the question on, and True; else `arrived` is called with what another makes of it.

        That other judgment may run on any thread; `arrived` is called on this one's loop.
        """
        key = self._keys[position]
        if key in self._departed:
            return True
        flight = self._flights.depart(key, anew=self._fresh)
        if flight is None:
            self._departed[key] = position
            return True
        loop = asyncio.get_running_loop()

        def landed(flight: Flight) -> None:
            # This judgment, and its loop with it, may be over by then.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(arrived, position, flight.result())

        flight.add_done_callback(landed)
        return False

    def land(self, position: int, kept: KeptVerdict | None) -> None:
        """The question is over, for those who wait for it too."""
        key = self._keys[position]
        # An equal chunk that only follows has no flight of its own to end.
        if self._departed.get(key) == position:
            del self._departed[key]
            self._flights.arrive(key, kept)

    def land_all(self) -> None:
        """Nothing comes of the questions that are still open."""
        for key in self._departed:
            self._flights.arrive(key, None)
        self._departed.clear()
