"""Which chunk is asked next: fresh ones in order, waiting ones when their time has come.

Workers pull; a chunk that must wait is put back with the time before which it is not asked, and
frees its worker. A pause that the provider ordered holds for all workers at once.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Schedule:
    """Positions to ask. Every position taken must come back by `put_back` or `finish`."""

    def __init__(self, positions: Iterable[int]) -> None:
        self._fresh = deque(positions)
        self._later: list[tuple[float, int]] = []
        self._taken = 0
        self._paused_until = 0.0
        self._closed = False
        self._held = False
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        """Positions that are not done with, those taken included."""
        return len(self._fresh) + len(self._later) + self._taken

    async def take(self, wanted: Callable[[], bool] = lambda: True) -> int | None:
        """The next position that may be asked; waits for it.

        None: there is nothing left, or whoever asks is not `wanted` any more.
        """
        while wanted() and not self._closed:
            now = asyncio.get_running_loop().time()
            if now >= self._paused_until and not self._held:
                if self._later and self._later[0][0] <= now:
                    self._taken += 1
                    return heapq.heappop(self._later)[1]
                if self._fresh:
                    self._taken += 1
                    return self._fresh.popleft()
            if not len(self):
                break
            await self._wait(None if self._held else self._next_time())
        return None

    def put_back(self, position: int, not_before: float = 0.0) -> None:
        """Return a taken position, to be asked no earlier than `not_before` (loop time)."""
        self._taken -= 1
        heapq.heappush(self._later, (not_before, position))
        self._wake()

    def add(self, position: int) -> None:
        """Add a position that was not in the schedule, to be asked next."""
        self._fresh.appendleft(position)
        self._wake()

    def hold(self, position: int) -> None:
        """Return a taken position to be asked next, and give out nothing before `wake`."""
        self._taken -= 1
        self._fresh.appendleft(position)
        self._held = True

    def wake(self) -> None:
        """End a hold, and let everyone who waits look again."""
        self._held = False
        self._wake()

    def drain(self) -> list[int]:
        """Take out every position that is not taken, without counting it as taken."""
        positions = [*(position for _, position in sorted(self._later)), *self._fresh]
        self._fresh.clear()
        self._later.clear()
        self._wake()
        return positions

    def discard(self, position: int) -> None:
        """Forget a position that waits here, so that nobody waits for its time."""
        if position in self._fresh:
            self._fresh.remove(position)
        self._later = [entry for entry in self._later if entry[1] != position]
        heapq.heapify(self._later)
        self._wake()

    def finish(self) -> None:
        """One taken position is done with."""
        self._taken -= 1
        self._wake()

    def pause(self, until: float) -> None:
        """Let nobody take anything before `until` (loop time); never shortens a pause."""
        self._paused_until = max(self._paused_until, until)
        self._wake()

    @property
    def paused_until(self) -> float:
        """End of the last pause, in loop time."""
        return self._paused_until

    def close(self) -> None:
        """Give out nothing more."""
        self._closed = True
        self._wake()

    def _next_time(self) -> float | None:
        times = [self._later[0][0]] if self._later else []
        if self._fresh:
            times.append(0.0)
        return max(min(times), self._paused_until) if times else None

    def _wake(self) -> None:
        self._changed.set()

    async def _wait(self, until: float | None) -> None:
        # Clearing here is safe: whoever already waits is woken by the set that came before.
        self._changed.clear()
        try:
            async with asyncio.timeout_at(until):
                await self._changed.wait()
        except TimeoutError:
            return
