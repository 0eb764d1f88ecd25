"""Opens the files of an estimate one after the other, each event once, and can be stopped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import (
    CopiedSessionError,
    LoadCancelledError,
    NotASessionError,
    SessionError,
)
from longjudge.sessions.copies import Copies
from longjudge.sessions.loader import load_sessions
from longjudge.text import clean_line

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from pathlib import Path

    from longjudge.sessions import Session, SessionFile
    from longjudge_tui.estimate.subject import Units


@dataclass(slots=True)
class Unread:
    """What came to no session: files that `passed` as none, `copied` ones, `failed` ones."""

    passed: int = 0
    copied: int = 0
    failed: int = 0
    first: str = ""

    def note(self, file: SessionFile, error: SessionError) -> None:
        """Count a file or a session that nothing is known about."""
        if isinstance(error, CopiedSessionError):
            self.copied += 1
        elif isinstance(error, NotASessionError) and not file.named:
            self.passed += 1
        else:
            self.failed += 1
            self.first = self.first or clean_line(str(error), 200)


class Reading:
    """Files that are read together: events that several of them repeat count in the first one.

    `stopped` ends what is being read with a `LoadCancelledError`, and nothing of that counts.
    `compared` is how many files it was looked at how they begin.
    """

    def __init__(self, units: Units, stopped: threading.Event) -> None:
        self.compared = 0
        self._stopped = stopped
        self._units = units
        self._copies: Copies | None = None

    async def compare(self) -> None:
        """Find out which files begin alike; done once.

        Raises:
            LoadCancelledError: it was stopped.
        """
        if self._copies is None and len(self._units.files) > 1:
            self.compared = 0
            self._copies = await asyncio.to_thread(Copies, self._paths())

    def _paths(self) -> Iterator[Path]:
        for file in self._units.files:
            self.compared += 1
            if self._stopped.is_set():
                raise LoadCancelledError("it is wanted no more")
            yield file.path

    async def open(self, file: SessionFile, *, alone: bool = False) -> list[Session]:
        """The wanted sessions of a file; `alone`, as if no other were read.

        Raises:
            SessionError: there is none.
        """
        read = None if alone or self._copies is None else self._copies.read_before(file.path)
        seen = set(read) if read is not None else None
        sessions = await asyncio.to_thread(load_sessions, file.path, self._goes_on, seen)
        if read is not None and seen is not None:
            # Not before it is read to its end: it may be read once more.
            read |= seen
        return self._chosen(file, sessions)

    def _goes_on(self, _done: int, _total: int) -> bool:
        return not self._stopped.is_set()

    def _chosen(self, file: SessionFile, sessions: list[Session]) -> list[Session]:
        wanted = self._units.wanted(file)
        if wanted is None:
            return sessions
        chosen = [each for each in sessions if each.id in wanted]
        for each in sessions:
            if each not in chosen:
                each.close()
        if not chosen:
            raise SessionError(f"{clean_line(str(file.path))}: its sessions are others by now")
        return chosen
