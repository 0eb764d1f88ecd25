"""Turns the paths of a command line into sessions, and reports what could not be read."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.api import open_sessions
from longjudge.cli.age import age_in_seconds
from longjudge.errors import CopiedSessionError, NotASessionError, SessionError, UsageError
from longjudge.redaction import redacted_text
from longjudge.report.words import plural
from longjudge.sessions import Severity, discover_sessions, find_sessions
from longjudge.sessions.copies import Copies
from longjudge.sessions.places import DESCRIBED
from longjudge.sessions.recent import Since
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions import Diagnostic, Session, SessionFile


_LOOKED_AT = 500
"""Files that are looked at in one go: between two of them a signal is heard."""


def since_of(age: str | None) -> Since | None:
    """What `--since AGE` asks for; None without it.

    Raises:
        UsageError: it is no age.
    """
    return None if age is None else Since(time.time() - age_in_seconds("--since", age))


def words_for(session: Session, *, redact: bool) -> str:
    """What a session goes by in a line: its file, and its id where that holds several."""
    which = f" · session {clean_line(session.id, 80)}" if session.siblings > 1 else ""
    words = f"{session.name}{which}"
    return clean_line(redacted_text(words) if redact else words)


def warn_of_gaps(session: Session, said: set[Diagnostic]) -> None:
    """Say on stderr what the file lost, so that a shortened session does not look whole.

    What is in `said` was told of another session of the file, and is not told again.
    """
    for diagnostic in session.diagnostics:
        if diagnostic.severity is Severity.WARNING and diagnostic not in said:
            said.add(diagnostic)
            line = f" line {diagnostic.line}:" if diagnostic.line is not None else ""
            tell(f"longjudge: {session.name}:{line} {diagnostic.reason} ({diagnostic.count})")


@dataclass(slots=True)
class Reading:
    """What reading the named files came to: `failed` is set by a named one, `passed` counts.

    `wanted` is the id of the one session to read, None for all. `read` counts sessions, `left_out`
    those that are older than `since`.
    """

    wanted: str | None = None
    since: Since | None = None
    failed: bool = False
    passed: int = 0
    copied: int = 0
    read: int = 0
    left_out: int = 0
    _others: int = 0
    _copies: Copies | None = None

    async def recent(self, files: Sequence[SessionFile]) -> list[SessionFile]:
        """The files to read: those that `since` leaves out for sure are counted, and not read.

        To be called before `begin`, so that an old session never claims what a recent one repeats.
        """
        since = self.since
        if since is None:
            return [*files]
        recent: list[SessionFile] = []
        for start in range(0, len(files), _LOOKED_AT):
            some = files[start : start + _LOOKED_AT]
            recent += await asyncio.to_thread(list, filter(since.may_hold, some))
        self.left_out += len(files) - len(recent)
        return recent

    def begin(self, files: Sequence[SessionFile]) -> None:
        """Files that are read together: events that several of them repeat count once."""
        if self.wanted is None and len(files) > 1:
            self._copies = Copies(file.path for file in files)

    async def open(self, file: SessionFile, *, warn: bool = True) -> list[Session]:
        """The wanted sessions of a file; none where it is unreadable, which is reported.

        With `warn`, what the file lost is said on stderr.
        """
        before = self._copies.read_before(file.path) if self._copies else None
        try:
            found = await open_sessions(file.path, read_before=before)
        except SessionError as error:
            self.not_read(file, error)
            return []
        chosen = [each for each in found if self.wanted in (None, each.id)]
        for each in found:
            if self.wanted not in (None, each.id):
                self._others += 1
                each.close()
        if self.since is not None:
            chosen = self._recent_of(chosen, file, self.since)
        said: set[Diagnostic] = set()
        for session in chosen if warn else ():
            warn_of_gaps(session, said)
        self.read += len(chosen)
        return chosen

    def _recent_of(
        self, sessions: Sequence[Session], file: SessionFile, since: Since
    ) -> list[Session]:
        recent: list[Session] = []
        for session in sessions:
            if since.holds(session, file):
                recent.append(session)
            else:
                self.left_out += 1
                session.close()
        return recent

    def not_read(self, file: SessionFile, error: SessionError) -> None:
        """Report a named file, and pass over one that was met in a folder."""
        if isinstance(error, CopiedSessionError):
            self.copied += 1
            return
        if file.named or not isinstance(error, NotASessionError):
            tell(f"longjudge: {error}")
        if file.named:
            self.failed = True
        else:
            self.passed += 1

    def close(self, paths: Sequence[str]) -> None:
        """Say what was passed over; an error where nothing named held a session.

        Where `since` has left all of them out, that is no error.

        Raises:
            UsageError: there was no session in what was named.
        """
        if self.passed:
            tell(f"longjudge: passed over {self.passed} file(s) that are no sessions")
        if self.copied:
            tell(f"longjudge: passed over {self.copied} session(s) that other files continue")
        if self.left_out:
            tell(f"longjudge: left out {plural(self.left_out, 'session')} older than --since")
            return
        if not self.read and self._others:
            raise UsageError(
                f"no session {clean_line(self.wanted or '', 80)} among {self._others};"
                " `longjudge sessions PATH` lists them, with --json their ids"
            )
        if not self.read and not self.failed:
            names = ", ".join(clean_line(path) for path in paths[:3]) or DESCRIBED
            raise UsageError(f"{names}: no session found; name a session file or its folder")


def session_files(paths: Sequence[str], command: str) -> list[SessionFile]:
    """The files behind the paths, largest first.

    Raises:
        UsageError: no path was given.
    """
    if not paths:
        raise UsageError(f"`{command}` needs a PATH: a session file or its folder")
    if not all(paths):
        # An empty word is a variable that was not set, and would mean the current folder.
        raise UsageError("a PATH is empty; name a session file or its folder")
    return find_sessions([Path(path) for path in paths])


def files_at_hand(paths: Sequence[str], command: str) -> list[SessionFile]:
    """The files behind the paths; with none, those that are found on this computer.

    Raises:
        UsageError: there is none.
    """
    if paths:
        return session_files(paths, command)
    files = discover_sessions()
    if not files:
        raise UsageError(f"no sessions of {DESCRIBED} are here; name a session file or its folder")
    return files
