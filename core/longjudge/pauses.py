"""Waits that a provider ordered: they hold for every judgment of its endpoint in this process.

Kept in `time.monotonic()`, since judgments may run in several threads and event loops.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from longjudge.judges.base import MAX_WAIT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

GROWTH_SECONDS = 0.25
"""A wait that grows by less is not told again: each call in flight adds a little to it."""

SPREAD = 0.25
MAX_SPREAD = 5.0
"""After a wait the workers come back over this share of it, at most so many seconds."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is asked before `until`; workers come back over the `spread` seconds that follow."""

    until: float
    note: str
    spread: float

    @property
    def left(self) -> float:
        """Seconds until it is over."""
        return max(0.0, self.until - time.monotonic())


@dataclass(frozen=True, slots=True)
class _Listener:
    endpoint: str
    tell: Callable[[Pause], None]


class Pauses:
    """Pauses by endpoint; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses: dict[str, Pause] = {}
        self._told: dict[str, float] = {}
        self._listeners: dict[int, _Listener] = {}
        self._count = 0

    def order(self, endpoint: str, wait: float, note: str) -> None:
        """Let nobody ask `endpoint` for so many seconds; an order never shortens another.

        However long it is, it holds for `MAX_WAIT` at most; one of nothing is none.
        """
        if wait <= 0:
            return
        wait = min(wait, MAX_WAIT)
        pause = Pause(time.monotonic() + wait, note, min(MAX_SPREAD, SPREAD * wait))
        with self._lock:
            self._forget()
            earlier = self._pauses.get(endpoint)
            if earlier is not None and earlier.until >= pause.until:
                return
            self._pauses[endpoint] = pause
            told = self._told.get(endpoint)
            if told is not None and pause.until - told < GROWTH_SECONDS:
                return
            self._told[endpoint] = pause.until
            listeners = [each for each in self._listeners.values() if each.endpoint == endpoint]
        for listener in listeners:
            listener.tell(pause)

    def current(self, endpoint: str) -> Pause | None:
        """The wait that holds for an endpoint now."""
        with self._lock:
            self._forget()
            return self._pauses.get(endpoint)

    @contextlib.contextmanager
    def heard(self, endpoint: str, listener: Callable[[Pause], None]) -> Generator[None]:
        """Tell `listener` on the running loop of each wait that begins or grows.

        One that holds already is told at once.
        """
        loop = asyncio.get_running_loop()

        def tell(pause: Pause) -> None:
            # The listener's judgment, and its loop with it, may be over by then.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(hear, pause)

        def hear(pause: Pause) -> None:
            if number in self._listeners:
                listener(pause)

        with self._lock:
            self._count += 1
            number = self._count
            self._listeners[number] = _Listener(endpoint, tell)
        try:
            if pause := self.current(endpoint):
                listener(pause)
            yield
        finally:
            with self._lock:
                self._listeners.pop(number, None)

    def _forget(self) -> None:
        now = time.monotonic()
        for endpoint in [name for name, pause in self._pauses.items() if pause.until <= now]:
            del self._pauses[endpoint]
            self._told.pop(endpoint, None)


class Waits:
    """The waits that hold for one judgment: its endpoint's, and those forced on it alone."""

    def __init__(self, shared: Pauses, endpoint: str) -> None:
        self._shared = shared
        self._forced = Pauses()
        self._endpoint = endpoint

    def order(self, wait: float, note: str, *, forced: bool) -> None:
        """As `Pauses.order`; one that is forced concerns nobody else."""
        (self._forced if forced else self._shared).order(self._endpoint, wait, note)

    def current(self) -> Pause | None:
        """The wait that holds now; of two the one that ends last."""
        both = (pauses.current(self._endpoint) for pauses in (self._shared, self._forced))
        return max(filter(None, both), key=lambda pause: pause.until, default=None)

    @contextlib.contextmanager
    def heard(self, listener: Callable[[Pause], None]) -> Generator[None]:
        """As `Pauses.heard`."""
        with (
            self._shared.heard(self._endpoint, listener),
            self._forced.heard(self._endpoint, listener),
        ):
            yield


PAUSES = Pauses()
"""The pauses of this process."""

if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads, so nobody would ever release a lock that was held.
    os.register_at_fork(after_in_child=PAUSES.__init__)
