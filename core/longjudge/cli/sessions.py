"""`longjudge sessions`: one row per session, largest file first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.files import Reading, files_at_hand
from longjudge.sessions import Severity
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions import Session


def list_sessions(paths: Sequence[str], *, as_json: bool, wanted: str | None = None) -> int:
    """Print a row per session, or of the `wanted` one, and return the exit code.

    Raises:
        UsageError: no session in what was named, or none on this computer.
    """
    return asyncio.run(_list(paths, as_json, wanted))


async def _list(paths: Sequence[str], as_json: bool, wanted: str | None) -> int:
    reading, files = Reading(wanted), files_at_hand(paths, "sessions")
    reading.begin(files)
    for file in files:
        for session in await reading.open(file, warn=False):
            click.echo(_json(session) if as_json else _row(session))
            session.close()
    reading.close(paths)
    return 2 if reading.failed else 0


def _json(session: Session) -> str:
    fields: dict[str, object] = dict(session.describe())
    skipped = fields.pop("skipped_lines")
    fields["started"], fields["ended"] = session.started, session.ended
    fields["skipped_lines"] = skipped
    fields["diagnostics"] = [diagnostic.to_dict() for diagnostic in session.diagnostics]
    return msgspec.json.encode(fields).decode()


def _row(session: Session) -> str:
    index = session.index
    skipped = f" · {session.skipped_lines} lines skipped" if session.skipped_lines else ""
    which = f"  {clean_line(session.id, 60)}" if session.siblings > 1 else ""
    row = (
        f"{session.bytes:>12,} B  {len(index):>7,} events  {index.tool_calls:>6,} tool calls"
        f"  {session.format:<12} {clean_line(session.name)}{which}{skipped}"
    )
    warnings = [
        f"{'':>14}! {clean_line(diagnostic.reason)} ({diagnostic.count})"
        for diagnostic in session.diagnostics
        if diagnostic.severity is Severity.WARNING
    ]
    return "\n".join([row, *warnings])
