"""Questions of this process, on their way and just answered, so that none is paid for twice.

One registry for all judgments, whatever their session, caller, store, thread or event loop, since
the key says everything that decides the answer. A verdict stays in it while any judgment that began
before it landed, and so may have looked into its store too early, is still running.
"""

from __future__ import annotations

import os
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
        self._landed: dict[str, int] = {}
        self._running: set[int] = set()
        self._begun = 0

    @contextmanager
    def judging(self) -> Generator[Flights]:
        """A judgment is running; verdicts that arrive meanwhile stay to be had."""
        with self._lock:
            self._begun += 1
            number = self._begun
            self._running.add(number)
        try:
            yield self
        finally:
            with self._lock:
                self._running.discard(number)
                self._forget()

    def depart(self, key: str, *, anew: bool = False) -> Flight | None:
        """Register that `key` is being asked, and None; else the flight of an equal question.

        With `anew` one that has landed is none: it answers an earlier question. Whoever departs
        must `arrive`.
        """
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None and not (anew and flight.done()):
                return flight
            self._landed.pop(key, None)
            self._flights[key] = Future()
            return None

    def arrive(self, key: str, kept: KeptVerdict | None) -> None:
        """End a flight and tell those who wait for it; one without a verdict is forgotten."""
        with self._lock:
            flight = self._flights[key]
            if kept is None or len(self._running) < 2:
                del self._flights[key]
            else:
                self._landed[key] = self._begun
        flight.set_result(kept)

    def _forget(self) -> None:
        """Drop what landed before every judgment that still runs began."""
        oldest = min(self._running, default=self._begun + 1)
        for key in [key for key, begun in self._landed.items() if begun < oldest]:
            del self._landed[key]
            del self._flights[key]


FLIGHTS = Flights()
"""The flights of this process."""

if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads, and nothing would ever land in it.
    os.register_at_fork(after_in_child=FLIGHTS.__init__)
