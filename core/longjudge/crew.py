"""The workers of one judgment, as many as the concurrency says and the work needs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

STAGGER_SECONDS = 0.015
"""Each four workers start this much after the four before, so that no burst blocks the loop."""


class Crew:
    """Starts workers in a task group, more or fewer while they work.

    `work` is what one worker does from beginning to end; it leaves early where it is not `wanted`.
    `left` is called when the last one has left.
    """

    def __init__(
        self,
        work: Callable[[], Coroutine[None, None, None]],
        concurrency: int,
        left: Callable[[], None],
    ) -> None:
        self.concurrency = concurrency
        self._work = work
        self._left = left
        self._group: asyncio.TaskGroup | None = None
        self._count = 0

    @property
    def at_work(self) -> bool:
        """Whether there is a group to work in."""
        return self._group is not None

    def begin(self, group: asyncio.TaskGroup, jobs: int) -> None:
        """Work in `group` from now on; `jobs` as in `fill_up`."""
        self._group = group
        self.fill_up(jobs)

    def end(self) -> None:
        """The group is over: nobody starts any more."""
        self._group = None

    def fill_up(self, jobs: int) -> None:
        """Start whoever is missing where `jobs` are to be done, those in hand included."""
        if self._group is None:
            return
        for number in range(min(self.concurrency, jobs) - self._count):
            self._count += 1
            self._group.create_task(self._begin(number))

    def wanted(self) -> bool:
        """Whether the worker that asks is not one too many."""
        return self._count <= self.concurrency

    async def _begin(self, number: int) -> None:
        try:
            if number >= 4:
                await asyncio.sleep(number // 4 * STAGGER_SECONDS)
            await self._work()
        finally:
            self._count -= 1
            if not self._count:
                self._left()
