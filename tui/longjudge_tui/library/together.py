"""Sessions that are estimated or judged together: what several of them repeat counts once.

A session that was resumed is a new file that repeats the old one. Read together, in the order of
the files, each event counts in the file that is read first, as on the command line.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING

from longjudge.errors import CopiedSessionError
from longjudge.sessions.copies import Copies
from longjudge.sessions.loader import choose_session, load_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from pathlib import Path

    from longjudge.sessions import Session, SessionFile

_FILES_HELD = 2

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


@dataclass(frozen=True, slots=True)
class _Held:
    """Sessions of a file by their id, and what tells the file from itself once it has changed."""

    version: tuple[int, ...]
    sessions: dict[str, Session]


class Together:
    """Sessions that are read one after the other.

    A file with many sessions is read once: those that are wanted later are held until then, or
    until `close`.

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
        self._held: OrderedDict[Path, _Held] = OrderedDict()
        self._holding = Lock()

    def expand(self, file: SessionFile, parts: Iterable[SessionFile]) -> None:
        """A file is several sessions."""
        self.files.discard(file)
        self.files.update(parts)

    def leave_out(self, file: SessionFile) -> None:
        """A session has nothing that counts here: it cannot be read, or is wanted no more."""
        self.files.discard(file)
        if held := self._take(file):
            held.close()

    def close(self) -> None:
        """Let go of what is held; a session that is loaded later is read anew."""
        with self._holding:
            held = [*self._held.values()]
            self._held.clear()
        for each in held:
            _close(each.sessions.values())

    def load(self, file: SessionFile, on_progress: Callable[[int, int], bool]) -> Loaded:
        """Read a session without what was read before it; for a thread, one at a time.

        Raises:
            CopiedSessionError: nothing is left of it.
            SessionError: as for `load_session`.
        """
        version = _version(file.path)
        if held := self._take(file, version):
            return Loaded(held, bool(self._before.get(file.path)))
        read = self._read_before(file.path)
        if read is None:
            sessions = load_sessions(file.path, on_progress)
            return Loaded(self._choose(sessions, file, version), False)
        # The sessions of one file may be read again, each with the whole file; and what was not
        # read to its end holds nothing for the others.
        before = self._before.setdefault(file.path, frozenset(read))
        seen = set(before)
        sessions = load_sessions(file.path, on_progress, seen)
        read |= seen
        if before and file.session is not None:
            self._refuse_copied(sessions, file.session)
        return Loaded(self._choose(sessions, file, version), bool(before))

    def _choose(
        self, sessions: list[Session], file: SessionFile, version: tuple[int, ...]
    ) -> Session:
        """The session that is asked for; others of its file that are wanted later are held."""
        by_id = {each.id: each for each in sessions}
        chosen = by_id.pop(file.session or "", None)
        if chosen is None or not by_id or not version:
            return choose_session(sessions, file.session)
        wanted = {each.session for each in [*self.files] if each.path == file.path}
        _close(each for each in by_id.values() if each.id not in wanted)
        later = _Held(version, {id_: each for id_, each in by_id.items() if id_ in wanted})
        with self._holding:
            gone = [self._held.pop(file.path, None)]
            self._held[file.path] = later
            while len(self._held) > _FILES_HELD:
                gone.append(self._held.popitem(last=False)[1])
        for held in gone:
            _close(held.sessions.values() if held else ())
        return chosen

    def _take(self, file: SessionFile, version: tuple[int, ...] | None = None) -> Session | None:
        """The session of a file, where it is held.

        With a version, what is held of another one is let go.
        """
        with self._holding:
            held = self._held.get(file.path)
            if held is None:
                return None
            if version is None or held.version == version:
                session = held.sessions.pop(file.session or "", None)
                gone: list[Session] = []
            else:
                session, gone = None, [*held.sessions.values()]
                held.sessions.clear()
            if held.sessions:
                self._held.move_to_end(file.path)
            else:
                del self._held[file.path]
        _close(gone)
        return session

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


def _version(path: Path) -> tuple[int, ...]:
    """What changes with a file, empty where there is none."""
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return ()
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _close(sessions: Iterable[Session]) -> None:
    for session in sessions:
        session.close()
