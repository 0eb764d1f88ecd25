"""What the store holds about a plan, put in its place before anything is asked."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from longjudge.board import Board
from longjudge.errors import SessionError, StoreError
from longjudge.prompt import sent_event
from longjudge.text import clean_line
from longjudge.updates import ignore_updates
from longjudge_tui.bench.records import Records
from longjudge_tui.bench.texts import SLOW_TO_REDACT_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from longjudge.sessions import Session
    from longjudge.store import KeptVerdict, Store
    from longjudge_tui.bench.outlook import Outlook

STANDING_SECONDS = 0.1
"""How long a plan stands before its kept verdicts are read: no plan of a drag does."""

SLICE = 100
"""Chunks looked up and placed before the loop gets a turn."""


class Preview(Records):
    """The kept verdicts of a plan; `fill` reads them.

    `done` says that all are in. `lost` holds keys that were listed and whose verdict does not read.
    """

    def __init__(
        self, session: Session, outlook: Outlook, kept: Container[str], store: Store
    ) -> None:
        super().__init__(Board(session, outlook.plan, ignore_updates, redacted=outlook.redact))
        self.done = False
        self.lost: set[str] = set()
        self._session = session
        self._redact = outlook.redact
        self._keys = outlook.keys
        self._kept = kept
        self._store = store

    def is_about(self, position: int, key: str) -> bool:
        """Whether the chunk there has this key, so that what is kept for it counts."""
        return position < len(self._keys) and self._keys[position] == key

    async def fill(self) -> None:
        """Read and place every kept verdict; may be cancelled at any time.

        Raises:
            StoreError: the store cannot be read.
        """
        kept, owed = self._kept, self._store.owed
        positions = [
            place for place, key in enumerate(self._keys) if key in kept or owed.newest(key)
        ]
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
        stored = self._store.owed.newest(self._keys[position]) is None
        self._board.judged(position, kept, from_cache=True, stored=stored)
        self._changed(position)
        if kept.verdict.flagged:
            # Its quotes were searched for.
            await asyncio.sleep(0)

    async def _bring_near(self, position: int) -> None:
        """Read a huge event in a thread, so that looking for its quotes does not read it here."""
        chunk = self._board.plan[position]
        for event in range(chunk.first, chunk.last + 1):
            if self._session.index.chars[event] >= SLOW_TO_REDACT_CHARS:
                with contextlib.suppress(SessionError):
                    await asyncio.to_thread(sent_event, self._session, event, redact=self._redact)


class Lookup:
    """Fills one preview at a time, in a task of its own.

    Keys whose verdict does not read are taken out of `kept`, and then `lost` is called.
    """

    def __init__(
        self,
        store: Store,
        kept: set[str],
        *,
        lost: Callable[[], None],
        notice: Callable[[str], None],
    ) -> None:
        self.preview: Preview | None = None
        self.task: asyncio.Task[None] | None = None
        self._store = store
        self._kept = kept
        self._lost = lost
        self._notice = notice

    def begin(self, session: Session, outlook: Outlook) -> None:
        """Look up what is kept once the plan has stood for a moment."""
        self.end()
        self.task = asyncio.create_task(self._fill(session, outlook))

    def end(self) -> None:
        """Forget the preview; what fills it is cancelled."""
        self.preview = None
        if self.task is not None:
            self.task.cancel()

    async def _fill(self, session: Session, outlook: Outlook) -> None:
        await asyncio.sleep(STANDING_SECONDS)
        preview = self.preview = Preview(session, outlook, self._kept, self._store)
        try:
            await preview.fill()
        except StoreError as error:
            self._notice(clean_line(str(error), 1000))
        if preview.lost:
            self._kept -= preview.lost
            self._lost()
