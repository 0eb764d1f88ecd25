"""What the store holds about a plan, put in its place before anything is asked."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from longjudge.board import Board
from longjudge.errors import SessionError
from longjudge.updates import ignore_updates
from longjudge_tui.records import Records
from longjudge_tui.texts import SLOW_CHARS

if TYPE_CHECKING:
    from collections.abc import Container

    from longjudge.sessions import Session
    from longjudge.store import KeptVerdict, Store
    from longjudge_tui.outlook import Outlook

SLICE = 100
"""Chunks looked up and placed before the loop gets a turn."""


class Preview(Records):
    """The kept verdicts of a plan; `fill` reads them.

    `done` says that all are in. `lost` holds keys that were listed and whose verdict does not read.
    """

    def __init__(
        self, session: Session, outlook: Outlook, kept: Container[str], store: Store
    ) -> None:
        super().__init__(Board(session, outlook.plan, ignore_updates))
        self.done = False
        self.lost: set[str] = set()
        self._session = session
        self._keys = outlook.keys
        self._kept = kept
        self._store = store

    async def fill(self) -> None:
        """Read and place every kept verdict; may be cancelled at any time.

        Raises:
            StoreError: the store cannot be read.
        """
        positions = [place for place, key in enumerate(self._keys) if key in self._kept]
        for start in range(0, len(positions), SLICE):
            part = positions[start : start + SLICE]
            found = await self._store.kept([self._keys[position] for position in part])
            for position in part:
                verdict = found.get(self._keys[position])
                if verdict is None:
                    self.lost.add(self._keys[position])
                else:
                    await self._place(position, verdict)
        self.done = True

    async def _place(self, position: int, kept: KeptVerdict) -> None:
        if kept.verdict.flagged:
            await self._bring_near(position)
        self._board.judged(position, kept, from_cache=True)
        self._changed(position)
        if kept.verdict.flagged:
            # Its quotes were searched for.
            await asyncio.sleep(0)

    async def _bring_near(self, position: int) -> None:
        """Read a huge event in a thread, so that looking for its quotes does not read it here."""
        chunk = self._board.plan[position]
        for event in range(chunk.first, chunk.last + 1):
            if self._session.index.chars[event] >= SLOW_CHARS:
                with contextlib.suppress(SessionError):
                    await asyncio.to_thread(self._session.text, event)
