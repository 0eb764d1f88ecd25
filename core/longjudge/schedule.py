"""Which chunk is asked next: fresh ones in order, waiting ones when their time has come.

Workers pull; a chunk that must wait is put back with the time before which it is not asked, and
frees its worker. A pause that the provider ordered holds for all workers at once; they come back
one after the other. All times are `time.monotonic()`. No call takes longer where there are many
positions: what is taken out from the middle stays where it is, and is passed over.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from longjudge.pauses import Pause


def never_paused() -> Pause | None:
    """Of an endpoint that orders nothing."""
    return None


class Schedule:
    """Positions to ask. Every position taken must come back by `put_back` or `finish`.

    `pause` is the one that holds now, if any.
    """

    def __init__(
        self,
        positions: Iterable[int] = (),
        pause: Callable[[], Pause | None] = never_paused,
    ) -> None:
        self._fresh = deque(positions)
        # Those that are really there: of several entries about one position the first counts.
        self._is_fresh = set(self._fresh)
        self._later: list[tuple[float, int]] = []
        self._due: dict[int, float] = {}
        self._taken = 0
        self._pause = pause
        self._closed = False
        self._held = False
        self._halted = False
        self._changed = asyncio.Event()
        self._random = random.Random()

    def __len__(self) -> int:
        """Positions that are not done with, those taken included."""
        return len(self._is_fresh) + len(self._due) + self._taken

    async def take(self, wanted: Callable[[], bool] = lambda: True) -> int | None:
        """The next position that may be asked; waits for it.

        None: there is nothing left, or whoever asks is not `wanted` any more.
        """
        paused = back = 0.0
        while wanted() and not self._closed:
            pause, now = self._pause(), time.monotonic()
            if pause is not None and pause.until > paused:
                # Each worker draws its own moment, so that they do not all ask in the same one.
                paused = pause.until
                back = paused + self._random.uniform(0.0, pause.spread)
            if now >= back and not self._rests:
                position = self._next(now)
                if position is not None:
                    self._taken += 1
                    return position
            if not len(self):
                break
            await self._wait(None if self._rests else self._next_time(back))
        return None

    def fill(self, positions: Iterable[int]) -> None:
        """Add positions that were not in the schedule, to be asked after the rest, in order."""
        added = list(positions)
        self._fresh.extend(added)
        self._is_fresh.update(added)
        self._wake()

    def put_back(self, position: int, not_before: float = 0.0) -> None:
        """Return a taken position, to be asked no earlier than `not_before`."""
        self._taken -= 1
        self._due[position] = not_before
        heapq.heappush(self._later, (not_before, position))
        self._wake()

    def add(self, position: int) -> None:
        """Add a position that was not in the schedule, to be asked next."""
        self._add_first(position)
        self._wake()

    def hold(self, position: int) -> None:
        """Return a taken position to be asked next, and give out nothing before `wake`."""
        self._taken -= 1
        self._add_first(position)
        self._held = True

    def wake(self) -> None:
        """End a hold, and let everyone who waits look again."""
        self._held = False
        self._wake()

    def halt(self) -> None:
        """Give out nothing before `resume`, whatever happens meanwhile."""
        self._halted = True

    def resume(self) -> None:
        """End a halt; those whose time has come meanwhile are next."""
        self._halted = False
        self._wake()

    def has(self, position: int) -> bool:
        """Whether a position waits here, and so is in nobody's hands."""
        return position in self._is_fresh or position in self._due

    def drain(self) -> list[int]:
        """Take out every position that is not taken, without counting it as taken."""
        later = sorted((due, position) for position, due in self._due.items())
        positions = [position for _, position in later]
        while (position := self._next_fresh()) is not None:
            positions.append(position)
        self._later.clear()
        self._due.clear()
        self._wake()
        return positions

    def take_all(self) -> list[int]:
        """Take every position that is in nobody's hands, in the order in which it is due."""
        positions = self.drain()
        self._taken += len(positions)
        return positions

    def discard(self, position: int) -> None:
        """Forget a position that waits here, so that nobody waits for its time."""
        self._is_fresh.discard(position)
        self._due.pop(position, None)
        self._wake()

    def finish(self) -> None:
        """One taken position is done with."""
        self._taken -= 1
        self._wake()

    def close(self) -> None:
        """Give out nothing more."""
        self._closed = True
        self._wake()

    @property
    def _rests(self) -> bool:
        return self._held or self._halted

    def _add_first(self, position: int) -> None:
        self._fresh.appendleft(position)
        self._is_fresh.add(position)

    def _next(self, now: float) -> int | None:
        """Take out what is due, else what is fresh."""
        due = self._first_due()
        if due is not None and due <= now:
            _, position = heapq.heappop(self._later)
            del self._due[position]
            return position
        return self._next_fresh()

    def _next_fresh(self) -> int | None:
        while self._fresh:
            position = self._fresh.popleft()
            if position in self._is_fresh:
                self._is_fresh.discard(position)
                return position
        return None

    def _first_due(self) -> float | None:
        """When the first that was put back is due; drops what was discarded before it."""
        while self._later:
            due, position = self._later[0]
            if self._due.get(position) == due:
                return due
            heapq.heappop(self._later)
        return None

    def _next_time(self, back: float) -> float | None:
        """When there is something to take, for a worker that is not to ask before `back`."""
        if self._is_fresh:
            return back
        due = self._first_due()
        return None if due is None else max(due, back)

    def _wake(self) -> None:
        self._changed.set()

    async def _wait(self, until: float | None) -> None:
        # Clearing here is safe: whoever already waits is woken by the set that came before.
        self._changed.clear()
        try:
            # The loop's own clock may be another one.
            async with asyncio.timeout(None if until is None else until - time.monotonic()):
                await self._changed.wait()
        except TimeoutError:
            return
