"""What is done by what the store holds at that moment: other processes judge meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge_tui.chores import Chores

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class FreshLook:
    """Has the store read by `look`, for a bounded time, before what is wanted is done."""

    def __init__(self, look: Callable[[], Awaitable[None]]) -> None:
        self._look = look
        self._chores = Chores()
        self._dropped = 0

    def then(self, act: Callable[[], None]) -> None:
        """Do something once the store has been read."""
        self._chores.start(self._look_and(act))

    def drop(self) -> None:
        """Do nothing of what is wanted."""
        self._dropped += 1

    def raise_failure(self) -> None:
        """Raise what a task died of."""
        self._chores.raise_failure()

    async def aclose(self) -> None:
        """Stop, for a bounded time."""
        self.drop()
        await self._chores.end()

    async def _look_and(self, act: Callable[[], None]) -> None:
        dropped = self._dropped
        await self._look()
        if dropped == self._dropped:
            act()
