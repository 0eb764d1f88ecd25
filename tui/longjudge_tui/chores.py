"""Short tasks that somebody started with a key: owned, watched, and ended with their owner."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine

CLOSE_SECONDS = 2.0


class Chores:
    """Tasks in flight. What one dies of is raised by `raise_failure`."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Begin a task."""
        self._tasks.add(asyncio.create_task(work))

    def raise_failure(self) -> None:
        """Forget what is done; raise what a task died of: a fault of the program."""
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.discard(task)
            if not task.cancelled():
                task.result()

    async def finish(self) -> None:
        """Wait for what is in flight, for a bounded time, and end the rest."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
            await self._end(late)

    async def end(self) -> None:
        """End what is in flight."""
        await self._end(set(self._tasks))

    async def _end(self, tasks: set[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
