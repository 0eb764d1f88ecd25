"""Lets a judgment pause and go on, as often as somebody wants.

While it pauses nothing is asked, and answers that are on their way are kept as they come. What is
to be asked later is not held meanwhile: another process may ask it, and its verdict is found when
this one goes on. The time limit stands still, and so does every time that is measured of a wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from longjudge.updates import PausedByHand, WentOn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from longjudge.board import Board
    from longjudge.retries import RetryCount
    from longjudge.schedule import Schedule
    from longjudge.sharing import Sharing
    from longjudge.updates import Listener


class Pausing:
    """Pauses of one judgment; all of it is called on the judgment's own loop.

    `retries` are counted by position, and their times move with the pause.
    """

    def __init__(
        self,
        board: Board,
        schedule: Schedule,
        sharing: Sharing,
        retries: Mapping[int, RetryCount],
        listener: Listener,
    ) -> None:
        self._board = board
        self._schedule = schedule
        self._sharing = sharing
        self._retries = retries
        self._listener = listener
        self._since: float | None = None
        self._before = 0.0
        self._over = False
        self._timer: asyncio.Timeout | None = None
        self._left = 0.0

    @property
    def on(self) -> bool:
        """Whether it pauses now."""
        return self._since is not None

    @property
    def seconds(self) -> float:
        """How long it has paused until now, all pauses together."""
        return self._before + (0.0 if self._since is None else time.monotonic() - self._since)

    def pause(self) -> bool:
        """Ask nothing from now on; False where it pauses already, or is being ended."""
        if self._over or self.on:
            return False
        self._since = time.monotonic()
        self._schedule.halt()
        self._board.stand_still()
        if self._timer is not None and (ends := self._timer.when()) is not None:
            self._left = max(0.0, ends - asyncio.get_running_loop().time())
            self._set_timer(None)
        for position in self._sharing.departed():
            self.let_go(position)
        self._listener(PausedByHand())
        return True

    def go_on(self) -> bool:
        """Ask again; False where it does not pause."""
        if self._since is None:
            return False
        began = self._since
        self._count()
        now = time.monotonic()
        for count in self._retries.values():
            if count.first_failure is not None:
                # The seconds within which a server may fail are those in which it was asked.
                count.first_failure += now - max(began, count.first_failure)
        self._board.move_on()
        self._set_timer(self._left)
        self._schedule.resume()
        self._listener(WentOn())
        return True

    def end(self) -> None:
        """The judgment is being ended, or over: it pauses no more, and never again."""
        self._over = True
        self._count()

    def let_go(self, position: int) -> bool:
        """In a pause, hold nothing on a chunk that is to be asked later; False without one."""
        if self.on and self._schedule.has(position):
            self._sharing.land(position, None)
        return self.on

    def keeps_back(self, position: int) -> bool:
        """Put a chunk back that was just going to be asked, where it pauses by now."""
        if self.on:
            self._schedule.put_back(position)
            self.let_go(position)
        return self.on

    @contextlib.asynccontextmanager
    async def limited(self, seconds: float) -> AsyncGenerator[None]:
        """Inside, raise TimeoutError after so many seconds in which it did not pause."""
        self._left = seconds
        async with asyncio.timeout(None if self.on else seconds) as self._timer:
            try:
                yield
            finally:
                self._timer = None

    def _set_timer(self, seconds: float | None) -> None:
        # One that has run out already is on its way to whoever waits for it.
        if self._timer is not None and not self._timer.expired():
            ends = None if seconds is None else asyncio.get_running_loop().time() + seconds
            self._timer.reschedule(ends)

    def _count(self) -> None:
        self._before, self._since = self.seconds, None
