"""Questions of this process, on their way and just answered, so that none is paid for twice.

One registry per event loop: judgments of other sessions, of other callers and of other stores
share it, since the key says everything that decides the answer. A verdict stays in it while any
judgment that may have looked into its store too early is still running.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Generator

    from longjudge.store import KeptVerdict

Flight = asyncio.Future["KeptVerdict | None"]
"""Ends with the verdict, or with None where no verdict came of it."""


class Flights:
    """The flights of one event loop, by verdict key."""

    def __init__(self) -> None:
        self._flights: dict[str, Flight] = {}
        self._judgments = 0

    @contextmanager
    def judging(self) -> Generator[Flights]:
        """A judgment is running; verdicts that arrive meanwhile stay to be had."""
        self._judgments += 1
        try:
            yield self
        finally:
            self._judgments -= 1
            if not self._judgments:
                self._flights.clear()

    def get(self, key: str) -> Flight | None:
        """The flight of an equal question, on its way or landed with a verdict."""
        return self._flights.get(key)

    def depart(self, key: str) -> None:
        """Register that `key` is being asked; whoever departs must `arrive`."""
        self._flights[key] = asyncio.get_running_loop().create_future()

    def arrive(self, key: str, kept: KeptVerdict | None) -> None:
        """End a flight and tell those who wait for it; one without a verdict is forgotten."""
        flight = self._flights[key]
        flight.set_result(kept)
        if kept is None or self._judgments < 2:
            del self._flights[key]


_registries: WeakKeyDictionary[asyncio.AbstractEventLoop, Flights] = WeakKeyDictionary()


def flights() -> Flights:
    """The running loop's flights."""
    return _registries.setdefault(asyncio.get_running_loop(), Flights())
