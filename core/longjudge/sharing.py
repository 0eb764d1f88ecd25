"""One judgment's part in the questions that others ask too, in this process and in others.

A chunk that another judgment is asking waits for that answer, and borrows its verdict.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.leases import Lease
from longjudge.store import KeptVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.flights import Flight, Flights
    from longjudge.leases import Leases


@dataclass(frozen=True, slots=True)
class Borrowed:
    """Another judgment's verdict; `stored` is true where it was found in this one's store."""

    kept: KeptVerdict
    stored: bool


class Sharing:
    """Departs, waits and lands by position.

    Within the process questions are shared through `flights`, with others through `leases`.
    `arrived` is called on the judgment's loop when a wait is over, with whether there is a verdict
    to borrow. With `fresh`, answers that landed before count as none. A question that is `alone` is
    shared with nobody: it is never sent, and nobody must wait for it.
    """

    def __init__(
        self,
        keys: Sequence[str],
        flights: Flights,
        leases: Leases,
        arrived: Callable[[int, bool], None],
        *,
        fresh: bool,
        alone: Callable[[int], bool],
    ) -> None:
        self._keys = keys
        self._flights = flights
        self._leases = leases
        self._arrived = arrived
        self._fresh = fresh
        self._alone = alone
        self._departed: dict[str, int] = {}
        self._waiting: set[int] = set()
        self._borrowed: dict[int, Borrowed] = {}

    async def take_on(self, position: int, given_up: Callable[[], bool]) -> bool:
        """Take the question on, and True; else wait for what another judgment makes of it.

        Where its verdict is there already, it can be borrowed. `given_up` says whether the caller
        has nothing more to do with the chunk; then nothing is waited for.
        """
        if self._alone(position):
            return True
        if not self._depart(position):
            return False
        lease = await self._leases.take(position)
        if isinstance(lease, KeptVerdict) and not given_up():
            self._borrowed[position] = Borrowed(lease, stored=True)
            return True
        if lease is not Lease.ELSEWHERE or given_up():
            return True
        self._waiting.add(position)
        self._leases.wait(position)
        return False

    def departed(self) -> list[int]:
        """The chunks whose questions are taken on and not over."""
        return list(self._departed.values())

    def came_elsewhere(self, position: int, kept: KeptVerdict | None) -> None:
        """Another process is done with a question that a chunk has waited for."""
        self._wait_is_over(position, Borrowed(kept, stored=True) if kept else None)

    def _depart(self, position: int) -> bool:
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
        self._wait_is_over(position, Borrowed(kept, stored=False) if kept else None)

    def _wait_is_over(self, position: int, borrowed: Borrowed | None) -> None:
        if not self.leave(position):
            return
        if borrowed is not None:
            self._borrowed[position] = borrowed
        self._arrived(position, borrowed is not None)

    def leave(self, position: int) -> bool:
        """Wait no longer about a chunk; False where it does not wait."""
        waits = position in self._waiting
        self._waiting.discard(position)
        self._leases.wait_no_more(position)
        return waits

    def has_borrowed(self, position: int) -> bool:
        """Whether another judgment's verdict is there for a chunk."""
        return position in self._borrowed

    def take(self, position: int) -> Borrowed | None:
        """The verdict that is there for a chunk, once."""
        return self._borrowed.pop(position, None)

    def land(self, position: int, kept: KeptVerdict | None, *, stored: bool = False) -> None:
        """The question is over, for those who wait for it too.

        `stored` says that its verdict is in the store.
        """
        key = self._keys[position]
        # An equal chunk that only follows has no flight of its own to end.
        if self._departed.get(key) == position:
            del self._departed[key]
            self._flights.arrive(key, kept)
            self._leases.end(position, kept=stored)

    def end(self) -> None:
        """Nothing comes of the questions that are still open, and nothing is waited for."""
        for key in self._departed:
            self._flights.arrive(key, None)
        self._departed.clear()
        self._waiting.clear()
