"""Questions of this process, on their way and just answered, so that none is paid for twice.

One registry for all judgments, whatever their session, caller, store, thread or event loop, since
the key says everything that decides the answer. A verdict stays in it while any judgment that may
have looked into its store too early is still running.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from longjudge.store import KeptVerdict

Flight = Future["KeptVerdict | None"]
"""Ends with the verdict, or with None where no verdict came of it."""


class Flights:
    """Flights by verdict key; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[str, Flight] = {}
        self._judgments = 0

    @contextmanager
    def judging(self) -> Generator[Flights]:
        """A judgment is running; verdicts that arrive meanwhile stay to be had."""
        with self._lock:
            self._judgments += 1
        try:
            yield self
        finally:
            with self._lock:
                self._judgments -= 1
                if not self._judgments:
                    self._flights.clear()

    def depart(self, key: str) -> Flight | None:
        """Register that `key` is being asked, and None; else the flight of an equal question.

        Whoever departs must `arrive`.
        """
        with self._lock:
            if flight := self._flights.get(key):
                return flight
            self._flights[key] = Future()
            return None

    def arrive(self, key: str, kept: KeptVerdict | None) -> None:
        """End a flight and tell those who wait for it; one without a verdict is forgotten."""
        with self._lock:
            flight = self._flights[key]
            if kept is None or self._judgments < 2:
                del self._flights[key]
        flight.set_result(kept)


FLIGHTS = Flights()
"""The flights of this process."""
