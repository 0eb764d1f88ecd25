"""Judgments of the past, newest first and a page at a time, so that the first ones come at once.

What was recorded in a store of any size is never in memory together.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.store.past import WHOLE_PAGE, PastJudgment, from_row, select
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Sequence

    from longjudge.store.file import StoreFile

FIRST_PAGE: Final = 50
"""So many come first: as many as a screen has rows."""

PAGE: Final = 200

# The indexes end with the id, so that no page is sorted.
_OF_ALL = """
    SELECT id, created FROM judgments WHERE (created, id) < (?, ?)
    ORDER BY created DESC, id DESC LIMIT ?
"""
_OF_ALL_FIRST = "SELECT id, created FROM judgments ORDER BY created DESC, id DESC LIMIT ?"

# By its id in the index alone: a session that was copied or moved has another path.
_OF_SESSION = """
    SELECT id, created FROM judgments WHERE session_id = ? ORDER BY created DESC, id DESC
"""
_OF_FILE = """
    SELECT id, created FROM judgments WHERE real_path = ? ORDER BY created DESC, id DESC
"""
_BY_THE_SAME = """
    SELECT id FROM judgments WHERE session_id = ? AND real_path = ? AND rubric_version = ?
    AND model = ? ORDER BY created DESC, id DESC LIMIT ?
"""


async def count_judgments(store: StoreFile) -> int:
    """How many there are.

    Raises:
        StoreError: the store cannot be read.
    """
    return int((await store.read("SELECT count(*) FROM judgments"))[0][0])


async def pages(store: StoreFile) -> AsyncGenerator[list[PastJudgment]]:
    """All judgments; their results have no `parts`. Those recorded meanwhile are left out.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(_OF_ALL_FIRST, (FIRST_PAGE,))
    while rows:
        yield await _read(store, [row[0] for row in rows])
        rows = await store.read(_OF_ALL, (rows[-1][1], rows[-1][0], PAGE))


async def pages_of_session(
    store: StoreFile, real_path: str, session_id: str | None
) -> AsyncGenerator[list[PastJudgment]]:
    """The judgments of a session's id, wherever its file was; without one, those of a file.

    Raises:
        StoreError: the store cannot be read.
    """
    if session_id is None:
        rows = await store.read(_OF_FILE, (without_surrogates(real_path),))
    else:
        rows = await store.read(_OF_SESSION, (without_surrogates(session_id),))
    ids = [row[0] for row in rows]
    for start in range(0, len(ids), PAGE):
        yield await _read(store, ids[start : start + PAGE])


async def whole_judgment(store: StoreFile, id: str) -> PastJudgment | None:
    """One judgment with its parts, read beside the event loop; None where it does not read.

    Raises:
        StoreError: the store cannot be read.
    """
    found = await _read(store, [id], whole=True)
    return found[0] if found else None


async def by_the_same(
    store: StoreFile, past: PastJudgment, most: int
) -> AsyncGenerator[PastJudgment]:
    """The newest judgments of the session of `past` by its rubric and judge, without `parts`.

    Raises:
        StoreError: the store cannot be read.
    """
    about = (past.session_id, past.real_path, past.rubric_version, past.model)
    rows = await store.read(_BY_THE_SAME, (*map(without_surrogates, about), most))
    for row in rows:
        for each in await _read(store, [row[0]]):
            yield each


async def _read(store: StoreFile, ids: Sequence[str], *, whole: bool = False) -> list[PastJudgment]:
    found: list[PastJudgment] = []
    # Results are as large as they are: few rows at once, where they are whole.
    size = WHOLE_PAGE if whole else PAGE
    for start in range(0, len(ids), size):
        page = ids[start : start + size]
        rows = await store.read(select(whole=whole), (_json_list(page),))
        by_id = await asyncio.to_thread(_decode, rows)
        found += [by_id[id] for id in page if id in by_id]
    return found


def _decode(rows: Sequence[sqlite3.Row]) -> dict[str, PastJudgment]:
    judgments = (from_row(row) for row in rows)
    return {each.id: each for each in judgments if each is not None}


def _json_list(ids: Sequence[str]) -> str:
    return msgspec.json.encode(list(ids)).decode()
