"""What was odd in a session's file, and what was left out of it: reason, count, first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.redaction import redacted_text
from longjudge.sessions import Severity
from longjudge.text import clean_line
from longjudge_tui.bench.prompt_text import FullText
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from longjudge.sessions import Diagnostic, Session
    from longjudge_tui.bench.bench import Bench

_HEADS = {
    Severity.WARNING: "── LOST, OR PERHAPS LOST ──",
    Severity.INFO: "── ODD OR LEFT OUT, NOTHING LOST ──",
}


async def oddities_text(bench: Bench) -> FullText:
    """All diagnostics of the open session, what may be lost first."""
    session = bench.session
    if session is None:
        return FullText(("THE FILE",), "no session has been read yet")
    name = line(session.name, 200)
    skipped = session.skipped_lines
    lost = f"⚠ {plural(skipped, 'line')} skipped" if skipped else "no line skipped"
    titles = (f"THE FILE · {lost} · {name}", f"THE FILE · {lost}", "THE FILE")
    if not session.diagnostics:
        return FullText(titles, f"Nothing odd was met in {name}, and nothing was left out.")
    pieces: list[str] = []
    heads: list[tuple[int, int]] = []
    length = 0
    for severity, head in _HEADS.items():
        found = [each for each in session.diagnostics if each.severity is severity]
        if not found:
            continue
        heads.append((length, length + len(head)))
        piece = "\n".join([head, "", *map(_row, found), "", ""])
        pieces.append(piece)
        length += len(piece)
    text = "".join(pieces).rstrip("\n") + "\n"
    return FullText(titles, text, _copied(session, text), tuple(heads))


def _row(diagnostic: Diagnostic) -> str:
    where = f"line {diagnostic.line}" if diagnostic.line is not None else ""
    if diagnostic.count > 1:
        where = f"{where}, {diagnostic.count:,} times" if where else f"{diagnostic.count:,} times"
        where = where.replace("line", "first in line")
    return f"{redacted_text(clean_line(diagnostic.reason))}{f' ({where})' if where else ''}"


def _copied(session: Session, text: str) -> str:
    return f"{clean_line(session.name, 1000)}\n\n{text}"
