"""Questions on their way in this process, so that an equal one waits instead of being paid twice.

One registry per event loop: judgments of other sessions, of other callers and of other stores
share it, since the key says everything that decides the answer.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from longjudge.store import KeptVerdict

Flight = asyncio.Future["KeptVerdict | None"]
"""Ends with the verdict, or with None where no verdict came of it."""

_registries: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Flight]] = WeakKeyDictionary()


def flights() -> dict[str, Flight]:
    """The running loop's flights, by verdict key."""
    return _registries.setdefault(asyncio.get_running_loop(), {})


def depart(key: str) -> Flight:
    """Register that `key` is being asked; whoever departs must `arrive`."""
    flight = asyncio.get_running_loop().create_future()
    flights()[key] = flight
    return flight


def arrive(key: str, kept: KeptVerdict | None) -> None:
    """End a flight; those who waited for it are told."""
    flight = flights().pop(key, None)
    if flight is not None and not flight.done():
        flight.set_result(kept)
