"""The curve of chunk sizes, worked out beside the event loop: a few sizes first, then the rest."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

from longjudge.chunks import MAX_CHUNK_CHARS, MAX_CHUNK_TOKENS, MIN_CHUNK_CHARS, MIN_CHUNK_TOKENS
from longjudge.curve import CurveBase
from longjudge_tui.bench.sizes import two_digits, two_digits_up

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from longjudge.curve import CurvePoint, RoughPoint
    from longjudge.estimate import Estimator
    from longjudge.keys import KeyMaker
    from longjudge.sessions.model import EventIndex

MOST_CHUNKS = 10_000
"""About as many chunks as the smallest size of a curve makes: more take long, and nobody asks."""


SLICE_SECONDS = 0.004
"""So long the points are worked on before the event loop has its turn."""

LONGEST_TURN = 0.25
"""An event loop that takes longer than this is held up by something else."""


class Curving:
    """The points of one curve: `points` by size, filled in until `stop`.

    `points` is another dictionary with every point, and never changes while somebody reads it.
    `rough` says about what the sizes make whose points are still to be made.

    `kept` is copied when the first point is made, so that all points speak of the same moment.
    """

    def __init__(
        self,
        index: EventIndex,
        estimator: Estimator,
        maker: KeyMaker,
        kept: Collection[str],
        *,
        by_tokens: bool,
    ) -> None:
        self.points: dict[int, CurvePoint] = {}
        self.rough: dict[int, RoughPoint] = {}
        self.by_tokens = by_tokens
        self._index = index
        self._estimator = estimator
        self._maker = maker
        self._kept = kept
        self._base: CurveBase | None = None
        self._lock = threading.Lock()
        self._queue: list[int] = []
        self._stopped = threading.Event()
        self.filling = False

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest size: from very many chunks to one for each thread."""
        index = self._index
        total = index.total_tokens if self.by_tokens else index.total_chars
        least, most = (
            (MIN_CHUNK_TOKENS, MAX_CHUNK_TOKENS)
            if self.by_tokens
            else (MIN_CHUNK_CHARS, MAX_CHUNK_CHARS)
        )
        low = min(most // 10, max(least, two_digits_up(total / MOST_CHUNKS)))
        return low, min(most, max(10 * low, two_digits_up(total)))

    def sizes(self, count: int, today: int) -> list[int]:
        """Sizes evenly spaced in their logarithm, ascending; the one that is set is among them.

        Round ones, as far as they are different ones still.
        """
        low, high = self.bounds
        low, high = min(low, today), max(high, today)
        steps = max(1, count - 1)
        sizes: list[int] = []
        least = low
        for step in range(count):
            exact = low * (high / low) ** (step / steps)
            wanted = (two_digits(exact), round(exact), least)
            sizes.append(next(size for size in wanted if size >= least))
            least = sizes[-1] + 1
        nearest = min(range(count), key=lambda place: abs(_ratio(sizes[place], today)))
        sizes[nearest] = today
        return sorted(sizes)

    def want(self, sizes: Sequence[int], first: int) -> None:
        """Make these points, and no others that are still to be made; `first` before all."""
        missing = [size for size in coarse_first(sizes, first) if size not in self.points]
        with self._lock:
            self._queue = missing

    @property
    def left(self) -> int:
        """How many points are still to be made."""
        return len(self._queue)

    async def fill(self) -> None:
        """Make what is wanted; may be cancelled at any time."""
        self.filling = True
        turns = _Turns(asyncio.get_running_loop(), self._stopped)
        try:
            await asyncio.to_thread(self._fill, turns)
        except asyncio.CancelledError:
            self._stopped.set()
            raise
        finally:
            self.filling = False

    def stop(self) -> None:
        """Make no more points."""
        self._stopped.set()

    def _fill(self, turns: _Turns) -> None:
        while not self._stopped.is_set():
            with self._lock:
                size = self._queue[0] if self._queue else None
            if size is None:
                return
            if self._base is None:
                self._base = CurveBase(
                    self._index,
                    self._estimator,
                    self._maker,
                    frozenset(self._kept),
                    self.by_tokens,
                )
            try:
                point = self._base.point(size, turns.give_way)
            except _StoppedError:
                return
            # Another dictionary each time: somebody may be going through this one.
            self.points = {**self.points, size: point}
            with self._lock:
                if size in self._queue:
                    self._queue.remove(size)
                unseen = [each for each in (size, *self._queue) if each not in self.rough]
            if unseen:
                base = self._base
                self.rough = {**self.rough, **{each: base.rough(each) for each in unseen}}


class _StoppedError(Exception):
    """Nobody wants the point that is being made."""


class _Turns:
    """Lets the event loop have its turn every few milliseconds.

    Two threads that both compute take turns so often that a frame takes twice as long; so the
    worker waits until the loop has done all that was due.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, stopped: threading.Event) -> None:
        self._loop = loop
        self._stopped = stopped
        self._turn = threading.Event()
        self._began = time.perf_counter()

    def give_way(self) -> None:
        """Wait for the loop where it was kept waiting.

        Raises:
            _StoppedError: there is nothing to go on with.
        """
        if self._stopped.is_set():
            raise _StoppedError
        if time.perf_counter() - self._began < SLICE_SECONDS:
            return
        self._turn.clear()
        try:
            self._loop.call_soon_threadsafe(self._turn.set)
        except RuntimeError as error:
            # The loop is closed.
            raise _StoppedError from error
        self._turn.wait(LONGEST_TURN)
        self._began = time.perf_counter()


def coarse_first(sizes: Sequence[int], first: int) -> list[int]:
    """The same sizes in an order in which a few of them soon show the whole curve.

    Both ends come early. Larger ones come before smaller ones, since these make more chunks and
    take longer.
    """
    if not sizes:
        return [first]
    last = len(sizes) - 1
    order: dict[int, None] = dict.fromkeys((first, sizes[last], sizes[0]))
    # Steps of powers of two, so that every round lies in the middle of the one before.
    step = 1 << last.bit_length()
    while step > 1:
        step //= 2
        order |= dict.fromkeys(sizes[place] for place in range(last, -1, -step))
    return list(order)


def _ratio(size: int, other: int) -> float:
    return max(size, other) / max(1, min(size, other)) - 1
