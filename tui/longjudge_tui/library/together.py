"""Sessions that are estimated or judged together: what several of them repeat counts once.

A session that was resumed is a new file that repeats the old one. Read together, in the order of
the files, each event counts in the file that is read first, as on the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from longjudge.errors import CopiedSessionError
from longjudge.sessions.copies import Copies
from longjudge.sessions.loader import choose_session, load_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from pathlib import Path

    from longjudge.sessions import Session, SessionFile

_numbers = count()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A session that was read; `leans` where another file holds some of its events."""

    session: Session
    leans: bool


@dataclass(frozen=True, slots=True)
class Either:
    """What is in one of two containers."""

    one: Container[str]
    other: Container[str]

    def __contains__(self, key: str) -> bool:
        return key in self.one or key in self.other


class Together:
    """Sessions that are read one after the other.

    `files` are those that count, `number` is higher for whatever began later, and `answered` holds
    the keys of what was estimated so far: an equal chunk of a later session is asked no more.
    """

    def __init__(self, files: Iterable[SessionFile]) -> None:
        self.files = set(files)
        self.number = next(_numbers)
        self.answered: set[str] = set()
        self._paths = {file.path for file in self.files}
        self._copies: Copies | None = None
        self._before: dict[Path, frozenset[int]] = {}

    def expand(self, file: SessionFile, parts: Iterable[SessionFile]) -> None:
        """A file is several sessions."""
        self.files.discard(file)
        self.files.update(parts)

    def leave_out(self, file: SessionFile) -> None:
        """A session has nothing that counts here: it cannot be read, or is wanted no more."""
        self.files.discard(file)

    def load(self, file: SessionFile, on_progress: Callable[[int, int], bool]) -> Loaded:
        """Read a session without what was read before it; for a thread, one at a time.

        Raises:
            CopiedSessionError: nothing is left of it.
            SessionError: as for `load_session`.
        """
        read = self._read_before(file.path)
        if read is None:
            sessions = load_sessions(file.path, on_progress)
            return Loaded(choose_session(sessions, file.session), False)
        # The sessions of one file are read one by one, each with the whole file; and what was not
        # read to its end holds nothing for the others.
        before = self._before.setdefault(file.path, frozenset(read))
        seen = set(before)
        sessions = load_sessions(file.path, on_progress, seen)
        read |= seen
        if before and file.session is not None:
            self._refuse_copied(sessions, file.session)
        return Loaded(choose_session(sessions, file.session), bool(before))

    def _read_before(self, path: Path) -> set[int] | None:
        if len(self._paths) < 2:
            return None
        if self._copies is None:
            self._copies = Copies(self._paths)
        return self._copies.read_before(path)

    @staticmethod
    def _refuse_copied(sessions: list[Session], wanted: str) -> None:
        if any(each.id == wanted for each in sessions):
            return
        for each in sessions:
            each.close()
        raise CopiedSessionError(f"{sessions[0].name}: all of it stands in another file")
