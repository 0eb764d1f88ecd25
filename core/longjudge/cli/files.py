"""Turns the paths of a command line into sessions, and reports what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError, SessionError, UsageError
from longjudge.sessions import Severity, find_sessions
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions import Session, SessionFile


def warn_of_gaps(session: Session) -> None:
    """Say on stderr what the file lost, so that a shortened session does not look whole."""
    for diagnostic in session.diagnostics:
        if diagnostic.severity is Severity.WARNING:
            line = f" line {diagnostic.line}:" if diagnostic.line is not None else ""
            tell(f"longjudge: {session.name}:{line} {diagnostic.reason} ({diagnostic.count})")


@dataclass(slots=True)
class Reading:
    """What reading the named files came to: `failed` is set by a named one, `passed` counts."""

    failed: bool = False
    passed: int = 0
    read: int = 0

    def not_read(self, file: SessionFile, error: SessionError) -> None:
        """Report a named file, and pass over one that was met in a folder."""
        if file.named or not isinstance(error, NotASessionError):
            tell(f"longjudge: {error}")
        if file.named:
            self.failed = True
        else:
            self.passed += 1

    def close(self, paths: Sequence[str]) -> None:
        """Say what was passed over; an error where nothing named held a session.

        Raises:
            UsageError: there was no session in what was named.
        """
        if self.passed:
            tell(f"longjudge: passed over {self.passed} file(s) that are no sessions")
        if not self.read and not self.failed:
            names = ", ".join(clean_line(path) for path in paths[:3])
            raise UsageError(f"{names}: no session found; name a session file or its folder")


def session_files(paths: Sequence[str], command: str) -> list[SessionFile]:
    """The files behind the paths, longest first.

    Raises:
        UsageError: no path was given.
    """
    if not paths:
        raise UsageError(f"`{command}` needs a PATH; finding sessions by itself is not built yet")
    if not all(paths):
        # An empty word is a variable that was not set, and would mean the current folder.
        raise UsageError("a PATH is empty; name a session file or its folder")
    return find_sessions([Path(path) for path in paths])
