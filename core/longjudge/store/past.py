"""Judgments of the past: how a row is made and read, and how a session is found again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from longjudge.text import without_surrogates

if TYPE_CHECKING:
    import sqlite3

    from longjudge.store.gap_replies import GapReply

PAGE = 200
"""Judgments read at once without their parts; more go in several reads."""

WHOLE_PAGE = 20

INSERT = """
    INSERT OR REPLACE INTO judgments (
        id, path, session_id, rubric, rubric_version, model, status, created, real_path, digests,
        result, summary, asked, asked_seconds
    ) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)
"""

LAST_IDS = """
    SELECT max(created), id FROM judgments WHERE real_path != ''
    GROUP BY real_path, session_id ORDER BY 1 DESC, id DESC
"""
"""SQLite takes `id` from the row that has the maximum, and finds both in the index alone."""


@dataclass(frozen=True, slots=True)
class PastJudgment:
    """One judgment that was recorded.

    `path` is the session's as it was named, `real_path` where it really was: empty for events in
    memory and where nobody noted it. `digests[i]` is the hexadecimal digest of the text that
    `result["findings"][i]` is about: its event's, or its chunk's where it names no event; empty
    where nobody noted them. `created` is in seconds since 1970. `gaps` are recorded with it, and
    read back by `gap_replies` alone. `batched` are the batch and the key of every answer in
    a batch that it counts, and are not read back.
    """

    id: str
    path: str
    real_path: str
    session_id: str
    rubric: str
    rubric_version: str
    model: str
    status: str
    created: float
    result: dict[str, object]
    digests: tuple[str, ...]
    gaps: tuple[GapReply, ...] = ()
    batched: tuple[tuple[str, str], ...] = ()


class _Part(msgspec.Struct):
    state: str
    from_cache: bool
    attempts: int
    seconds: float
    waited: float = 0.0
    in_batch: bool = False


def select(*, whole: bool) -> str:
    """The query for judgments by id; `whole` with their parts."""
    return (
        "SELECT id, path, real_path, session_id, rubric, rubric_version, model, status, created,"
        f" {'result' if whole else 'summary'}, digests FROM judgments"
        " WHERE id IN (SELECT value FROM json_each(?))"
    )


def to_row(judgment: PastJudgment) -> tuple[str | int | float, ...]:
    """The values of `INSERT`."""
    asked, seconds = _measure(judgment.result)
    summary = {name: value for name, value in judgment.result.items() if name != "parts"}
    return (
        judgment.id,
        judgment.path,
        judgment.session_id,
        judgment.rubric,
        judgment.rubric_version,
        judgment.model,
        judgment.status,
        judgment.created,
        judgment.real_path,
        _json(judgment.digests),
        _json(judgment.result),
        _json(summary),
        asked,
        seconds,
    )


def from_row(row: sqlite3.Row) -> PastJudgment | None:
    """What a row of `select` holds; None where it does not read."""
    id, path, real_path, session_id, rubric, version, model, status, created, result, digests = row
    texts = (id, path, real_path, session_id, rubric, version, model, status)
    if not all(isinstance(text, str) for text in texts) or not isinstance(created, float):
        return None
    try:
        return PastJudgment(
            id=id,
            path=path,
            real_path=real_path,
            session_id=session_id,
            rubric=rubric,
            rubric_version=version,
            model=model,
            status=status,
            created=created,
            result=msgspec.json.decode(result, type=dict[str, object]),
            digests=msgspec.json.decode(digests, type=tuple[str, ...]),
        )
    except (ValueError, TypeError, RecursionError):
        return None


@lru_cache(maxsize=65_536)
def known_real_path(path: str) -> str:
    """The real path behind a noted one; empty where it was relative to a folder nobody noted."""
    return real_path(path) if os.path.isabs(path) else ""


def real_path(path: str | os.PathLike[str] | None) -> str:
    """How the store names a session's file: links followed, bytes that are no text replaced.

    Empty for events in memory, which have no file.
    """
    if path is None:
        return ""
    try:
        return without_surrogates(os.path.realpath(path))
    except (OSError, ValueError):
        return ""


def _measure(result: dict[str, object]) -> tuple[int, float]:
    """How many chunks were judged by asking, and how long they took together, waits included.

    Where failures were forced, they took as long as somebody chose, and in a batch as long as the
    provider's queue was, which measures nothing.
    """
    if result.get("fault") is not None:
        return 0, 0.0
    try:
        parts = msgspec.convert(result.get("parts", []), list[_Part])
    except msgspec.ValidationError:
        return 0, 0.0
    asked = [
        part.seconds + part.waited
        for part in parts
        if part.state != "gap" and part.attempts and not part.in_batch
    ]
    return len(asked), sum(asked)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
