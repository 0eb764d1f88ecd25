"""Two ways to write that one statement by itself is not: several as one, and at once."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from typing import TYPE_CHECKING, Final

from longjudge.store.names import uri

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import aiosqlite

NOW_SECONDS: Final = 0.25
"""How long a write that cannot wait for its turn may wait for the file."""


async def execute_together(
    connection: aiosqlite.Connection,
    statements: Sequence[tuple[str, Sequence[Sequence[object]]]],
    *,
    durably: bool,
) -> int:
    """Execute statements in one transaction; `durably` waits until the disk has it."""
    if durably:
        await connection.execute("PRAGMA synchronous=FULL")
    try:
        # Locked at once or not at all: the steps in between cannot fail for that.
        await connection.execute("BEGIN IMMEDIATE")
        try:
            for sql, rows in statements:
                await connection.executemany(sql, rows)
            await connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error, ValueError):
                await asyncio.shield(connection.execute("ROLLBACK"))
            raise
    finally:
        if durably:
            await connection.execute("PRAGMA synchronous=NORMAL")
    return len(statements)


def execute_now(path: Path, sql: str, values: Sequence[object]) -> int:
    """Commit one statement by a connection of its own, and block until it is done.

    How many rows it changed.

    Raises:
        sqlite3.Error: nothing was written.
    """
    connection = sqlite3.connect(
        f"{uri(path)}?mode=rw", uri=True, isolation_level=None, timeout=NOW_SECONDS
    )
    with contextlib.closing(connection):
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection.execute(sql, values).rowcount
