"""An archive of several session files, read as one file that holds all their sessions."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from longjudge.errors import CopiedSessionError, NotASessionError
from longjudge.sessions.gather import DistinctNames
from longjudge.sessions.model import Diagnostic, Severity
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions.model import Session

NO_SESSION = "files in the archive that are no session, left out"
_SHOWN = 5
_OF_SESSIONS = frozenset({".jsonl", ".ndjson", ".traj", ".eval"})


class SeveralFilesError(NotASessionError):
    """An archive holds several files that may be sessions; `members` names them.

    `notes` holds what was odd about the archive: reason, severity and count.
    """

    def __init__(
        self,
        words: str,
        members: Sequence[str] = (),
        notes: Sequence[tuple[str, Severity, int]] = (),
    ) -> None:
        super().__init__(words)
        self.members = tuple(members)
        self.notes = tuple(notes)


def load_members(
    name: str, archive: SeveralFilesError, load: Callable[[str], list[Session]]
) -> list[Session]:
    """The sessions of every member, each read by `load`; ids that several have get a number.

    Raises:
        CopiedSessionError: all of them stand in other files.
        NotASessionError: no member is a session, or they are of several formats.
        SessionError: a member cannot be read; all others are closed.
    """
    found: list[tuple[str, list[Session]]] = []
    left_out: list[str] = []
    copied = 0
    try:
        for member in archive.members:
            try:
                found.append((member, load(member)))
            except CopiedSessionError:
                copied += 1
            except NotASessionError:
                left_out.append(member)
        if copied and not found:
            raise CopiedSessionError(f"{name}: all of it stands in other files that continue it")
        _refuse_mixed(name, found, archive.members)
    except BaseException:
        for _, sessions in found:
            for session in sessions:
                session.close()
        raise
    together = [session for _, sessions in found for session in sessions]
    notes = [Diagnostic(reason, count, None, severity) for reason, severity, count in archive.notes]
    if left_out:
        notes.append(Diagnostic(NO_SESSION, len(left_out), None, _severity(left_out)))
    names = DistinctNames()
    for session in together:
        session.id = names.distinct(session.id)
        session.siblings = len(together)
        session.growth = None
        session.diagnostics = (*session.diagnostics, *notes)
    return together


def _severity(left_out: Sequence[str]) -> Severity:
    """A warning where one of the files is called as only sessions are, packed or not."""
    suffixes = {suffix.lower() for each in left_out for suffix in PurePosixPath(each).suffixes[-2:]}
    return Severity.WARNING if suffixes & _OF_SESSIONS else Severity.INFO


def _refuse_mixed(
    name: str, found: Sequence[tuple[str, list[Session]]], members: Sequence[str]
) -> None:
    if not found:
        shown = ", ".join(clean_line(member, 60) for member in members[:_SHOWN])
        more = ", …" if len(members) > _SHOWN else ""
        raise NotASessionError(
            f"{name}: a zip archive of {len(members)} files, none of them a session: {shown}{more};"
            " unpack one and name it to see why"
        )
    formats = {sessions[0].format for _, sessions in found}
    if len(formats) > 1:
        shown = ", ".join(f"{clean_line(m, 60)} ({s[0].format})" for m, s in found[:_SHOWN])
        more = ", …" if len(found) > _SHOWN else ""
        raise NotASessionError(
            f"{name}: a zip archive of sessions in {len(formats)} formats: {shown}{more};"
            " unpack it and name the folder"
        )
