"""Huge events are read and redacted in a thread before questions about their pieces are made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.prompt import sent_event

if TYPE_CHECKING:
    from longjudge.chunks import ChunkPlan
    from longjudge.sessions.model import Session

HUGE_CHARS = 200_000
"""A text from here on takes so long that everything else would wait for it."""


class HugeTexts:
    """Has the session hold the huge text that a chunk is a piece of."""

    def __init__(self, session: Session, plan: ChunkPlan, *, redact: bool) -> None:
        self._session = session
        self._plan = plan
        self._redact = redact
        self._lock = asyncio.Lock()

    async def bring(self, position: int) -> None:
        """Return once the text of the chunk at a position can be had at once.

        Raises:
            SessionError: the file no longer holds what was indexed.
        """
        chunk = self._plan[position]
        if chunk.piece is None or self._session.index.chars[chunk.first] < HUGE_CHARS:
            return
        # One after the other: the second finds what the first has read.
        async with self._lock:
            await asyncio.to_thread(sent_event, self._session, chunk.first, redact=self._redact)
