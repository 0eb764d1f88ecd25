"""`longjudge chunks`: the plan of a session, with estimates; asks nobody."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.files import Reading, session_files
from longjudge.cli.preview import Preview, summary, thousands
from longjudge.store import Store
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.cli.options import Judging
    from longjudge.sessions import Session


def show_chunks(
    paths: Sequence[str], judging: Judging, *, as_json: bool, wanted: str | None = None
) -> int:
    """Print each session's plan, or the `wanted` one's, and return the exit code.

    Raises:
        LongjudgeError: what was named cannot be used.
    """
    return asyncio.run(_show(paths, judging, as_json, wanted))


async def _show(paths: Sequence[str], judging: Judging, as_json: bool, wanted: str | None) -> int:
    settings, rubric, judge = judging.settings(), judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    files = session_files(paths, "chunks")
    reading = Reading(wanted)
    reading.begin(files)
    store = await Store.open_to_read(judging.store_path())
    try:
        for file in files:
            for session in await reading.open(file):
                preview = await Preview.of(session, settings, rubric, judge, store)
                if as_json:
                    click.echo(_json(session, preview, settings.to_dict()))
                else:
                    _print(session, preview)
                session.close()
    finally:
        await store.aclose()
    reading.close(paths)
    return 2 if reading.failed else 0


def _json(session: Session, preview: Preview, settings: dict[str, int | float]) -> str:
    totals = preview.totals
    return msgspec.json.encode(
        {
            "session": session.describe(),
            "settings": settings,
            "chunks": [_chunk(preview, position) for position in range(len(preview.plan))],
            "totals": {
                "chunks": totals.chunks,
                "chars": totals.chars,
                "tokens": totals.tokens.tokens,
                "tokens_low": totals.tokens.low,
                "tokens_high": totals.tokens.high,
                "kept": totals.kept,
                "cost_usd": totals.cost_usd,
            },
        }
    ).decode()


def _chunk(preview: Preview, position: int) -> dict[str, object]:
    chunk = preview.plan[position]
    tokens = preview.estimator.chunk(preview.plan, position)
    return {
        "part": chunk.part,
        "thread": chunk.thread,
        "first_event": chunk.first,
        "last_event": chunk.last,
        "chars": chunk.chars,
        "tokens": tokens.tokens,
        "tokens_low": tokens.low,
        "tokens_high": tokens.high,
        "kept": preview.keys[position] in preview.kept,
        "split": chunk.split,
    }


def _print(session: Session, preview: Preview) -> None:
    click.echo(f"{clean_line(session.name)}: {summary(preview.totals)}")
    for position, key in enumerate(preview.keys):
        chunk = preview.plan[position]
        tokens = preview.estimator.chunk(preview.plan, position)
        piece = f" piece {chunk.piece.number} of {chunk.piece.of}" if chunk.piece else ""
        kept = "kept" if key in preview.kept else "to ask"
        click.echo(
            f"{chunk.part:>6}  {clean_line(chunk.thread):<8} events {chunk.first}-{chunk.last}"
            f"{piece}  {chunk.chars:,} chars  ~{thousands(tokens.tokens)} tokens  {kept}"
        )
