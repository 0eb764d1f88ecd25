"""The texts of a session's events for the screen; what takes long to read is read in a thread."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge_tui.bench.raw_record import RawRecords

if TYPE_CHECKING:
    from longjudge.sessions import Session

SLOW_CHARS = 1_000_000
"""A text from here on takes longer to read again than a frame may."""


class Texts:
    """Hands texts out; a slow one once it is in. `close` ends its tasks, and those of `raw`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.raw = RawRecords(session)
        self._held: tuple[int, str | SessionError] | None = None
        self._wanted: int | None = None
        self._task: asyncio.Task[None] | None = None

    def is_slow(self, event: int) -> bool:
        """Whether a text has to be waited for at first."""
        return self.session.index.chars[event] >= SLOW_CHARS

    def at_hand(self, event: int) -> bool:
        """Whether a text can be had at once."""
        return not self.is_slow(event) or (self._held is not None and self._held[0] == event)

    def get(self, event: int) -> str | None:
        """A text; None where it is being read from now on, until it is `at_hand`.

        Raises:
            SessionError: the file no longer holds it.
        """
        if not self.is_slow(event):
            return self.session.text(event)
        if self._held is None or self._held[0] != event:
            self._wanted = event
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._read())
            return None
        if isinstance(self._held[1], SessionError):
            raise self._held[1]
        return self._held[1]

    def close(self) -> None:
        """Wait for no text any more."""
        self.raw.close()
        self._wanted = None
        if self._task is not None:
            self._task.cancel()

    async def _read(self) -> None:
        """Read what was wanted last; what is wanted meanwhile comes next."""
        while (event := self._wanted) is not None:
            self._wanted = None
            try:
                self._held = event, await asyncio.to_thread(self.session.text, event)
            except SessionError as error:
                self._held = event, error
