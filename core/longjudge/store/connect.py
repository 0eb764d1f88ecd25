"""Opens the SQLite file: for writing, for reading, on media that cannot be written, and locked.

Another process may hold the lock at any moment. One try is short, since nothing can interrupt it;
what is locked is tried again for as long as the caller has patience.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import quote

import aiosqlite

from longjudge.errors import StoreError
from longjudge.store.migrations import (
    MIGRATIONS,
    OLD_FOR_READERS,
    SCHEMA_VERSION,
)
from longjudge.store.past import known_real_path
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path

    _NameFunction = Callable[[str, int, Callable[[str], str]], Awaitable[None]]

R = TypeVar("R")

PATIENCE_SECONDS = 5.0
"""How long a locked store is tried again before it is given up."""

MIGRATION_SECONDS = 30.0
"""The same for a store of an older schema, which another process may be bringing up to date."""

TRY_SECONDS = 0.1
"""How long one try may hold the connection's thread, which nothing can interrupt."""

_MAGIC = b"SQLite format 3\0"
"""How every database begins that holds anything: https://www.sqlite.org/fileformat.html."""

_CONTENT = """
    SELECT user_version, (SELECT count(*) FROM sqlite_master),
        (SELECT count(*) FROM sqlite_master AS own, pragma_table_info('verdicts') AS its
            WHERE own.name = 'verdicts' AND own.type = 'table'
            AND its.name IN ('key', 'verdict', 'raw_reply', 'rubric_version')) = 4
    FROM pragma_user_version
"""
"""In one statement, since another process may make the tables between two."""


class NoTablesYetError(sqlite3.OperationalError):
    """Another process has made the file, and not yet its tables; or it was killed before."""


def _never() -> bool:
    return False


async def patiently(
    step: Callable[[], Awaitable[R]],
    seconds: float,
    give_up: Callable[[], bool] = _never,
) -> R:
    """Run a step again while another process holds the lock, each try short, for `seconds`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            return await step()
        except sqlite3.OperationalError as error:
            if not is_locked(error) or give_up() or loop.time() >= deadline:
                raise
        # Two processes that start in step are set apart by their numbers.
        await asyncio.sleep(0.02 + 0.001 * (os.getpid() % 17))


def uri(path: Path) -> str:
    """The file's URI; bytes that are no text, `?` and `#` in its name included."""
    return f"file://{quote(os.fsencode(path.absolute()))}"


def file_id(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def reading_modes(path: Path) -> list[str]:
    """How to open a store that must not change: the ways to try in turn.

    A reader in WAL mode needs files beside the store, and only one that may write removes them
    again. Where none can be made (the folder is read-only, the disk full) and there is no log to
    read, the file is as good as immutable.
    """
    may_write = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return ["mode=rw" if may_write else "mode=ro"]
    return ["mode=rw"] * may_write + ["mode=ro&immutable=1"]


def is_locked(error: sqlite3.OperationalError) -> bool:
    """Whether another process is in the way, and nothing else."""
    return "locked" in str(error) or "busy" in str(error)


def make_file(path: Path) -> str | None:
    """Create an empty file with mode 0600 where there is none; what went wrong, or None.

    Raises:
        StoreError: a file that is no database: SQLite takes one of a single byte for an empty one.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            begin = os.read(file, len(_MAGIC))
        finally:
            os.close(file)
    except OSError as error:
        return f"{clean_line(str(path))}: {error.strerror or error}"
    if begin and begin != _MAGIC:
        raise _no_database(path, "file is not a database")
    return None


def has_content(path: Path) -> bool:
    """Whether there is a file that is more than just made.

    Raises:
        OSError: nobody can know (a folder that may not be entered, an impossible name).
    """
    return path.is_file() and path.stat().st_size > 0


async def connect(
    path: Path,
    uri: str,
    prepare: Callable[[aiosqlite.Connection], Coroutine[None, None, None]],
) -> aiosqlite.Connection:
    """Connect and prepare; whatever goes wrong, the connection's thread is let go.

    Raises:
        StoreError: no database, or a newer one.
        sqlite3.OperationalError: it cannot be opened this way.
    """
    connection = await aiosqlite.connect(
        uri, uri=uri.startswith("file:"), isolation_level=None, timeout=TRY_SECONDS
    )
    try:
        await prepare(connection)
    except BaseException as error:
        await asyncio.shield(connection.close())
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        ):
            raise _no_database(path, error) from error
        raise
    return connection


async def prepare_to_write(
    path: Path, connection: aiosqlite.Connection, give_up: Callable[[], bool] = _never
) -> None:
    """Switch to WAL and bring the schema up to date."""

    async def prepare() -> None:
        # First of all, since the mode of another program's file is not ours to change.
        await _check_content(path, connection)
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=NORMAL")
        await _migrate(path, connection)

    try:
        await patiently(prepare, PATIENCE_SECONDS, give_up)
    except sqlite3.OperationalError:
        if give_up() or not 0 < await _version(connection) < SCHEMA_VERSION:
            raise
        await patiently(prepare, MIGRATION_SECONDS, give_up)


async def prepare_to_read(path: Path, connection: aiosqlite.Connection) -> None:
    """Check the schema, and change nothing; an older one is made to read like today's."""
    version = await patiently(lambda: _check_content(path, connection), PATIENCE_SECONDS)
    if version == 0:
        raise NoTablesYetError("it has no tables yet")
    if version < SCHEMA_VERSION:
        # They live in this connection's memory, and hide the tables of the same name.
        await connection.execute("PRAGMA temp_store=MEMORY")
        await _name_functions(connection)
        for statement in OLD_FOR_READERS[version]:
            await patiently(lambda sql=statement: connection.execute(sql), PATIENCE_SECONDS)
    await connection.execute("PRAGMA query_only=ON")


async def _name_functions(connection: aiosqlite.Connection) -> None:
    name = cast("_NameFunction", connection.create_function)  # pyright: ignore[reportUnknownMemberType]
    await name("known_real_path", 1, known_real_path)


def _no_database(path: Path, error: Exception | str) -> StoreError:
    return StoreError(
        f"{clean_line(str(path))}: not a longjudge store ({error}); move it away, or name another"
        " with --store"
    )


async def _version(connection: aiosqlite.Connection) -> int:
    rows = list(await connection.execute_fetchall("PRAGMA user_version"))
    return int(rows[0][0])


def _check_version(path: Path, version: int) -> None:
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{clean_line(str(path))}: written by a newer longjudge (schema {version}, this one"
            f" knows {SCHEMA_VERSION}); update longjudge, or name another store with --store"
        )


async def _check_content(path: Path, connection: aiosqlite.Connection) -> int:
    """The version of the schema, 0 before there is one.

    Raises:
        StoreError: a newer one.
        sqlite3.DatabaseError: the tables of another program.
    """
    [(version, tables, verdicts)] = await connection.execute_fetchall(_CONTENT)
    _check_version(path, version)
    if tables if version == 0 else not verdicts:
        raise sqlite3.DatabaseError("it is the database of another program")
    return version


async def _migrate(path: Path, connection: aiosqlite.Connection) -> None:
    if await _version(connection) == SCHEMA_VERSION:
        return
    await _name_functions(connection)
    await connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = await _check_content(path, connection)
        for number in range(version, SCHEMA_VERSION):
            for statement in MIGRATIONS[number]:
                await connection.execute(statement)
        await connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")
    except BaseException:
        await asyncio.shield(connection.execute("ROLLBACK"))
        raise
    await connection.execute("COMMIT")
