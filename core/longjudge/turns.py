"""Keeps long stretches of work from holding up the event loop."""

from __future__ import annotations

import asyncio
import time

HELD_SECONDS = 0.01
"""So long others wait for a turn."""


class Turns:
    """Gives the loop a turn between two pieces of work once they have taken long."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def give(self) -> None:
        """Let others have their turn, where it is time."""
        if time.monotonic() - self._began >= HELD_SECONDS:
            await asyncio.sleep(0)
            self._began = time.monotonic()


class Pace:
    """Lets tasks do what takes long one after the other, with turns of the loop between them.

    Without it the loop runs all that are ready before anything else, and sixty-four may be.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._began = float("-inf")

    async def turn(self) -> None:
        """Return when it is the caller's turn, which lasts until it awaits again."""
        async with self._lock:
            if time.monotonic() - self._began >= HELD_SECONDS:
                await asyncio.sleep(0)
                self._began = time.monotonic()
