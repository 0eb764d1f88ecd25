"""One session out of a file that may hold several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import SessionError, SeveralSessionsError
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.sessions.model import Session


def choose_session(sessions: list[Session], wanted: str | None) -> Session:
    """The session with an id, or the only one; the others are closed.

    Raises:
        SessionError: there are several and none was named, or none has the id.
    """
    name = clean_line(sessions[0].name)
    fitting = [each for each in sessions if wanted in (None, each.id)]
    if len(fitting) == 1:
        for each in sessions:
            if each is not fitting[0]:
                each.close()
        return fitting[0]
    for each in sessions:
        each.close()
    ids = ", ".join(each.id for each in sessions[:5]) + (", …" if len(sessions) > 5 else "")
    if wanted is None:
        raise SeveralSessionsError(
            f"{name}: holds {len(sessions)} sessions; choose one with --session: {ids}"
        )
    raise SessionError(f"{name}: no session {clean_line(wanted, 80)} in it; it holds: {ids}")
