"""Stores as tests want them: of an older schema, filled, or damaged."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from typing import TYPE_CHECKING

from longjudge.prices import Usage
from longjudge.store import KeptVerdict, PastJudgment, Provenance, Store
from longjudge.store.migrations import MIGRATIONS
from longjudge.store.past import known_real_path
from longjudge.verdict import Finding, Verdict

if TYPE_CHECKING:
    from pathlib import Path

VERDICT = Verdict(("a", "b"), (Finding("a", "note \ufffd", 2, 'quote "x"\n'),))
KEPT = KeptVerdict(VERDICT, '{"raw": true}', disagrees=False)
BY = Provenance("claude-x", "https://e", "chunks", "12345678", Usage(10, 2), 0.5)
OLD_RESULT = {"id": "j_old", "score": 0.5, "findings": [], "parts": [{"part": 1}]}
PAGE = 4096


def old_store(
    path: Path, session: str = "/sessions/a.jsonl", judgments: int = 1, version: int = 1
) -> None:
    """A store as an older schema left it, with a verdict under `k1`."""
    connection = sqlite3.connect(path)
    connection.create_function("known_real_path", 1, known_real_path)
    for statements in MIGRATIONS[:version]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(
        "INSERT INTO verdicts (key, verdict, raw_reply, disagrees, model, endpoint, rubric,"
        " rubric_version, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,"
        " cost_usd, created) VALUES ('k1', ?, '{\"raw\": true}', 0, 'claude-x', 'https://e',"
        " 'chunks', '12345678', 10, 2, 0, 0, 0.5, 1.0)",
        (VERDICT.to_json(),),
    )
    for number in range(judgments):
        connection.execute(
            "INSERT INTO judgments (id, path, session_id, rubric, rubric_version, model, status,"
            " result, created) VALUES (?, ?, 's1', 'chunks', 'v', 'offline', 'complete', ?, ?)",
            (f"j_old{number}", session, json.dumps(OLD_RESULT), 100.0 + number),
        )
    if version > 1:
        connection.execute("UPDATE judgments SET summary = json_remove(result, '$.parts')")
    connection.execute(f"PRAGMA user_version = {version:d}")
    connection.commit()
    connection.close()


def judgment(
    id: str, created: float, real_path: str = "/a", session_id: str = "s", **members: object
) -> PastJudgment:
    """A judgment of the past."""
    result = {"id": id, "findings": [], "parts": [{"part": 1}]} | members
    return PastJudgment(
        id, "a", real_path, session_id, "chunks", "v", "offline", "complete", created, result, ()
    )


def key_of(number: int) -> str:
    """A key as keys are: hexadecimal, and in no order."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def full_store(path: Path, verdicts: int = 200) -> set[str]:
    """A store with verdicts, each about half a page; their keys."""
    keys = {key_of(number) for number in range(verdicts)}
    kept = KeptVerdict(VERDICT, "x" * 2_000, disagrees=False)

    async def fill() -> None:
        store = await Store.open(path)
        for key in sorted(keys):
            await store.keep(key, kept, BY)
        await store.aclose()

    asyncio.run(fill())
    return keys


def root_page(path: Path, table: str) -> int:
    """Where a table or an index begins."""
    connection = sqlite3.connect(path)
    [(page,)] = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
    ).fetchall()
    connection.close()
    return page


def leaf_pages(path: Path, words: bytes = b"xxxxxxxxxxxx") -> list[int]:
    """The numbers of the pages that hold whole rows with these words, as they stand in the file."""
    data = path.read_bytes()
    pages = [data[start : start + PAGE] for start in range(0, len(data), PAGE)]
    return [n for n, page in enumerate(pages, 1) if page[0] == 0x0A and words in page]


def spoil(path: Path, *pages: int, byte: bytes = b"\xaa") -> None:
    """Write over whole pages, numbered from 1."""
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(byte * PAGE)
