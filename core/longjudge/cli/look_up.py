"""What a report says beside a judgment of the past: where its findings stand in the files now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.api import open_session
from longjudge.errors import SessionError, SeveralSessionsError
from longjudge.redaction import redacted_text
from longjudge.report.gaps import gap_markdown
from longjudge.report.markdown import Beside
from longjudge.report.places import NOWHERE, places_of
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.report.gaps import ToldGap
    from longjudge.report.outcome import Outcome
    from longjudge.report.places import Place
    from longjudge.sessions import Session
    from longjudge.store import PastJudgment


async def look_up(
    judgment: PastJudgment,
    outcome: Outcome,
    gaps: Sequence[ToldGap],
    store: Path,
    *,
    digests: Sequence[str],
    redact: bool,
) -> Beside:
    """Read the session again, where it has findings, for the lines that they stand in.

    `digests` are those of the texts that the findings of `outcome` are about.
    """
    where = clean_line(str(store), 1_000)
    more = gap_markdown(gaps)
    if not outcome.findings:
        return Beside(more, store=where)
    path = judgment.real_path or judgment.path
    try:
        session = await _open(Path(path), judgment.session_id)
    except (SessionError, ValueError) as error:
        why = redacted_text(str(error)) if redact else str(error)
        return Beside(more, unplaced=f"not known: {clean_line(why, 400)}", store=where)
    try:
        places = places_of(session, outcome.findings, digests, redact=redact)
    finally:
        session.close()
    return Beside(more, places, unplaced_words(outcome, places), where)


def unplaced_words(outcome: Outcome, places: Sequence[Place]) -> str:
    """Why findings that name an event have no place; empty where all have."""
    named = [
        each for each in zip(outcome.findings, places, strict=True) if each[0].event is not None
    ]
    lost = sum(place == NOWHERE for _, place in named)
    if not lost:
        return ""
    return (
        f"not known for {lost} of {len(named)} findings: the file has other text there than what"
        " was judged, or nobody noted what was"
    )


async def _open(path: Path, session_id: str) -> Session:
    try:
        return await open_session(path)
    except SeveralSessionsError:
        return await open_session(path, session=session_id)
