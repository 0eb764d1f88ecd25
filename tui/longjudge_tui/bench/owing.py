"""What the store is owed, offered to it again: now and then, when somebody asks, and at the end."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.store import Store

FIRST_SECONDS = 2.0
MOST_SECONDS = 30.0
"""How long nothing is offered after it was refused: twice as long each time, up to the second."""

QUIT_SECONDS = 1.0
"""How long who quits waits for the store to take what it is owed."""


class Owing:
    """Offers in a task of its own; `notice` is told what became of it."""

    def __init__(self, store: Store, notice: Callable[[str], None]) -> None:
        self._store = store
        self._notice = notice
        self._wait = FIRST_SECONDS
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def lost_words(self) -> str:
        """What would be lost if the app ended now; empty where nothing would."""
        owed = self._store.owed
        if not owed.verdicts:
            return ""
        are = "is" if owed.verdicts == 1 else "are"
        count = plural(owed.verdicts, "verdict")
        return f"{count} {are} not kept, and lost if you quit now: {line(owed.problem, 300)}"

    @property
    def left_words(self) -> str:
        """What the store still does not take; empty where it has everything."""
        owed = self._store.owed
        words: list[str] = []
        if owed.verdicts:
            are = "is" if owed.verdicts == 1 else "are"
            words.append(f"{plural(owed.verdicts, 'verdict')} {are} still not kept")
        if owed.leases:
            words.append(f"{plural(owed.leases, 'lease')} still could not be given back")
        return f"{', '.join(words)}: {line(owed.problem, 300)}" if words else ""

    def follow(self) -> None:
        """Offer what there is where that is due; called several times a second."""
        if not self._store.owed or self._store.write_error is not None:
            self._wait, self._due = FIRST_SECONDS, 0.0
            return
        now = time.monotonic()
        if not self._due:
            self._due = now + self._wait
        elif now >= self._due and (self._task is None or self._task.done()):
            self._wait = min(2 * self._wait, MOST_SECONDS)
            self._due = now + self._wait
            self._begin()

    async def offer(self, seconds: float | None = None) -> None:
        """Offer everything now, and wait for what becomes of it, but not longer than that."""
        if self._store.owed:
            await asyncio.wait({self._begin()}, timeout=seconds)

    def raise_failure(self) -> None:
        """Raise what the task died of."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """Offer it once more, for a bounded time."""
        await self.offer(QUIT_SECONDS)
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=QUIT_SECONDS)

    def _begin(self) -> asyncio.Task[None]:
        if self._task is None or self._task.done():
            self.raise_failure()
            self._task = asyncio.create_task(self._offer())
        return self._task

    async def _offer(self) -> None:
        owed = self._store.owed
        verdicts, leases = owed.verdicts, owed.leases
        await owed.offer()
        kept, released = verdicts - owed.verdicts, leases - owed.leases
        if kept > 0:
            late = "verdict that the store had" if kept == 1 else "verdicts that the store had"
            self._notice(f"kept {kept:,} {late} not taken before")
        if released > 0:
            self._notice(f"released {plural(released, 'lease')} of a judgment that is over")
