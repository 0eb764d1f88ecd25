"""Keeps a long stretch of work from holding up the event loop."""

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
