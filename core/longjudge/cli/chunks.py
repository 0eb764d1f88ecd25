"""`longjudge chunks`: the plan of a session, with estimates; asks nobody."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.files import Reading, session_files, words_for
from longjudge.cli.model_note import ModelNote
from longjudge.cli.preview import Preview, secrets_in_words, summary, thousands
from longjudge.redaction import redacted_fields
from longjudge.replaced import count_secrets
from longjudge.store import Store
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.cli.options import Judging
    from longjudge.sessions import Session
    from longjudge.settings import Settings


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
    reading, note = Reading(wanted), ModelNote(judging)
    reading.begin(files)
    store = await Store.open_to_read(judging.store_path())
    try:
        for file in files:
            for session in await reading.open(file):
                preview = await Preview.of(session, settings, rubric, judge, store)
                await note.say(preview.totals.to_ask)
                redacted = None
                if settings.redact:
                    asked = preview.asked(preview.kept)
                    redacted = await count_secrets(session, preview.plan, asked)
                if as_json:
                    click.echo(_json(session, preview, settings, redacted))
                else:
                    _print(session, preview, redacted)
                session.close()
    finally:
        await store.aclose()
    reading.close(paths)
    return 2 if reading.failed else 0


def _json(
    session: Session, preview: Preview, settings: Settings, redacted: Mapping[str, int] | None
) -> str:
    totals, about = preview.totals, session.describe()
    return msgspec.json.encode(
        {
            "session": redacted_fields(about) if settings.redact else about,
            "settings": settings.to_dict(),
            "chunks": [_chunk(preview, position) for position in range(len(preview.plan))],
            "totals": {
                "chunks": totals.chunks,
                "chars": totals.chars,
                "tokens": totals.tokens.tokens,
                "tokens_low": totals.tokens.low,
                "tokens_high": totals.tokens.high,
                "kept": totals.kept,
                "cost_usd": totals.cost_usd,
                "redacted": redacted,
                "observed_factor": preview.observed.factor if preview.observed else None,
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


def _print(session: Session, preview: Preview, redacted: Mapping[str, int] | None) -> None:
    name = words_for(session, redact=redacted is not None)
    words = f"{summary(preview.totals)}{preview.observed_words()}"
    if preview.totals.to_ask:
        words += secrets_in_words(redacted)
    click.echo(f"{name}: {words}")
    for position, key in enumerate(preview.keys):
        chunk = preview.plan[position]
        tokens = preview.estimator.chunk(preview.plan, position)
        piece = f" piece {chunk.piece.number} of {chunk.piece.of}" if chunk.piece else ""
        kept = "kept" if key in preview.kept else "to ask"
        click.echo(
            f"{chunk.part:>6}  {clean_line(chunk.thread):<8} events {chunk.first}-{chunk.last}"
            f"{piece}  {chunk.chars:,} chars  ~{thousands(tokens.tokens)} tokens  {kept}"
        )
