"""An archive of several session files, read as one file that holds all their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.gather import DistinctNames
from longjudge.sessions.model import Diagnostic, Severity
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions.model import Session

NO_SESSION = "files in the archive that are no session, left out"
_SHOWN = 5


class SeveralFilesError(NotASessionError):
    """An archive holds several files that may be sessions; `members` names them."""

    def __init__(self, words: str, members: Sequence[str] = ()) -> None:
        super().__init__(words)
        self.members = tuple(members)


def load_members(
    name: str, members: Sequence[str], load: Callable[[str], list[Session]]
) -> list[Session]:
    """The sessions of every member, each read by `load`; ids that several have get a number.

    Raises:
        NotASessionError: no member is a session, or they are of several formats.
        SessionError: a member cannot be read; all others are closed.
    """
    found: list[tuple[str, list[Session]]] = []
    left_out = 0
    try:
        for member in members:
            try:
                found.append((member, load(member)))
            except NotASessionError:
                left_out += 1
        _refuse_mixed(name, found, len(members))
    except BaseException:
        for _, sessions in found:
            for session in sessions:
                session.close()
        raise
    together = [session for _, sessions in found for session in sessions]
    names = DistinctNames()
    for session in together:
        session.id = names.distinct(session.id)
        session.siblings = len(together)
        session.growth = None
        if left_out:
            note = Diagnostic(NO_SESSION, left_out, None, Severity.INFO)
            session.diagnostics = (*session.diagnostics, note)
    return together


def _refuse_mixed(name: str, found: Sequence[tuple[str, list[Session]]], count: int) -> None:
    if not found:
        raise NotASessionError(f"{name}: a zip archive of {count} files, none of them a session")
    formats = {sessions[0].format for _, sessions in found}
    if len(formats) > 1:
        shown = ", ".join(f"{clean_line(m, 60)} ({s[0].format})" for m, s in found[:_SHOWN])
        more = ", …" if len(found) > _SHOWN else ""
        raise NotASessionError(
            f"{name}: a zip archive of sessions in {len(formats)} formats: {shown}{more};"
            " unpack it and name the folder"
        )
