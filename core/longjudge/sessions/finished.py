"""From rows that are complete to sessions, each with an id of its own and a title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.gather import DistinctNames
from longjudge.sessions.model import Session, short_title
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.gather import SessionRows
    from longjudge.sessions.notes import Notes
    from longjudge.sessions.source import Source


def finished_sessions(
    path: Path,
    stem: str,
    found: Sequence[SessionRows],
    source: Callable[[], Source],
    *,
    format_: str,
    size: int,
    notes: Notes,
    skipped: int,
    around: Mapping[str, object],
) -> list[Session]:
    """The sessions of a file; `around` holds what a document says about all of it.

    `stem` is the id of a single session that names none.
    """
    around_id = _entry(around, "session_id", "sessionId", "id") if len(found) == 1 else None
    around_title = _entry(around, "title", "name") if len(found) == 1 else None
    diagnostics = notes.diagnostics()
    names = DistinctNames()
    sessions: list[Session] = []
    for number, rows in enumerate(found, 1):
        facts = rows.facts
        fallback = stem if len(found) == 1 else str(number)
        title = _entry(around, "title") if len(found) == 1 else None
        sessions.append(
            Session(
                path=path,
                format=format_,
                id=names.distinct(clean_line(facts.id or around_id or fallback, 200)),
                title=short_title(title or facts.title or around_title) or clean_line(path.name),
                bytes=size,
                index=rows.finish(),
                source=source(),
                started=facts.started,
                ended=facts.ended,
                skipped_lines=skipped,
                diagnostics=diagnostics,
                siblings=len(found),
            )
        )
    return sessions


def no_event(notes: Notes) -> str:
    """Why a file without any event is no session."""
    seen = [f"{note.reason} ({note.count})" for note in notes.diagnostics()[:4]]
    what = "; ".join(seen) or "no records"
    return f"no session: no message, call or result in it, only: {what}"


def _entry(around: Mapping[str, object], *keys: str) -> str | None:
    for key in keys:
        value = around.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None
