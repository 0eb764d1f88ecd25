"""Settles chunks whose verdict has come: committed first, then shown, and those equal to them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longjudge.prices import Usage
from longjudge.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.board import Board
    from longjudge.equals import Equals
    from longjudge.keeping import Keeper
    from longjudge.sharing import Borrowed, Sharing
    from longjudge.store import KeptVerdict


class Settling:
    """Takes verdicts by position.

    An answer of its own replaces what the store holds; what another judgment was given replaces
    only what was kept before `since` (seconds since 1970).

    A position is in `under_way` while its verdict is on its way into the store.
    """

    def __init__(
        self,
        board: Board,
        keys: Sequence[str],
        keeper: Keeper,
        sharing: Sharing,
        equals: Equals,
    ) -> None:
        self.since = -math.inf
        self.under_way: set[int] = set()
        self._board = board
        self._keys = keys
        self._keeper = keeper
        self._sharing = sharing
        self._equals = equals

    async def settle(
        self,
        position: int,
        kept: KeptVerdict,
        usage: Usage,
        cost: float | None,
        *,
        from_cache: bool,
    ) -> None:
        """Commit a verdict, then show it, on the chunk and on those equal to it."""
        stored = False
        self.under_way.add(position)
        try:
            stored = await self._keeper.keep(
                self._keys[position],
                kept,
                self._board.plan.digest(position),
                usage,
                cost,
                part=position + 1,
                replaces_before=self.since if from_cache else math.inf,
            )
        finally:
            self.under_way.discard(position)
            # Also where the caller was cancelled: the verdict is paid for, and on its way.
            self._sharing.land(position, kept, stored=stored)
        await self._show(position, kept, from_cache=from_cache, stored=stored)

    async def settle_borrowed(self, position: int, borrowed: Borrowed) -> None:
        """Show another judgment's verdict, committed first where this store does not have it."""
        if not borrowed.stored:
            await self.settle(position, borrowed.kept, Usage(), 0.0, from_cache=True)
            return
        self._sharing.land(position, borrowed.kept, stored=True)
        await self._show(position, borrowed.kept, from_cache=True, stored=True)

    async def show(self, position: int, kept: KeptVerdict) -> None:
        """Show a new verdict that is in the store, on the chunk and on those equal to it."""
        self._sharing.land(position, kept, stored=True)
        await self._show(position, kept, from_cache=False, stored=True)

    async def _show(
        self, position: int, kept: KeptVerdict, *, from_cache: bool, stored: bool
    ) -> None:
        if not self._board.ended(position):
            self._board.judged(position, kept, from_cache=from_cache, stored=stored)
        turns = Turns()
        for follower in self._equals.release(position):
            await turns.give()
            if not self._board.ended(follower):
                self._board.judged(follower, kept, from_cache=True, stored=stored)
