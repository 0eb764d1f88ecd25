"""Opens the SQLite file: for writing, for reading, on media that cannot be written, and locked.

Another process may hold the lock at any moment. One try is short, since nothing can interrupt it;
what is locked is tried again for as long as the caller has patience.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import stat
import threading
from typing import TYPE_CHECKING, TypeVar, cast

import aiosqlite

from longjudge.store.backup import NoBackupError, back_up
from longjudge.store.damage import (
    CHECKED_BYTES,
    ENDS,
    DamageFoundError,
    fault_in,
    forget_damage,
    is_damage,
    is_noted,
    newer_store,
    no_store,
    refusal,
)
from longjudge.store.migrations import (
    MIGRATIONS,
    OLD_FOR_READERS,
    SCHEMA_VERSION,
)
from longjudge.store.names import LEAST_BYTES, log_of, uri
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

_MAKING = threading.Lock()
"""Held while a file is made and closed, so that nobody in this process has opened it by then."""

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


async def in_thread(
    work: Callable[[Callable[[], bool]], R], give_up: Callable[[], bool] = _never
) -> R:
    """Run what takes long in a thread; it is told to leave off where its caller is cancelled."""
    left = threading.Event()
    try:
        return await asyncio.to_thread(work, lambda: left.is_set() or give_up())
    finally:
        left.set()


def reading_modes(path: Path) -> list[tuple[str, bool]]:
    """How to open a store that must not change, and whether alone: the ways to try in turn.

    A reader in WAL mode needs files beside the store, and only one that may write removes them
    again. Where none can be made (the folder is read-only, the disk full), one who is alone needs
    none; and where there is no log to read, the file is as good as immutable.
    """
    may_write = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
    log = log_of(path)
    if log.exists() and log.stat().st_size:
        return [("mode=rw", False), ("mode=rw", True)] if may_write else [("mode=ro", False)]
    return [("mode=rw", False)] * may_write + [("mode=ro&immutable=1", False)]


def is_locked(error: sqlite3.OperationalError) -> bool:
    """Whether another process is in the way, and nothing else."""
    if isinstance(error, NoBackupError):
        return False
    return "locked" in str(error) or "busy" in str(error)


def make_file(path: Path) -> str | None:
    """Create an empty file with mode 0600 where there is none; what went wrong, or None.

    One that stands there is only looked at: who closes a file gives up every lock that its process
    has on it, and the store may be open here already. Another process then removes its log.

    Raises:
        StoreError: a file that is no database: SQLite takes one of a single byte for an empty one,
            and removes the log of one without any, or that has no head and a log that is torn.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _MAKING, contextlib.suppress(FileExistsError):
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        facts = path.stat()
        if not os.access(path, os.R_OK | os.W_OK):
            # It says why not; nobody here can have it open to write.
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
    except OSError as error:
        return f"{clean_line(str(path))}: {error.strerror or error}"
    if not stat.S_ISREG(facts.st_mode):
        return f"{clean_line(str(path))}: no file that could hold anything"
    if 0 < facts.st_size < LEAST_BYTES:
        raise refusal(path, "file is not a database")
    if _bytes(log_of(path)):
        if not facts.st_size:
            raise refusal(path, "it is empty, and what was written last still stands beside it")
        if _has_no_head(path):
            raise refusal(path, "file is not a database")
    return None


def _has_no_head(path: Path) -> bool:
    """Whether the file itself is no database; its log is not looked at, nor any lock touched.

    One that another process is taking its log into may be shorter than its head says.
    """
    reading = f"{uri(path)}?mode=ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(reading, uri=True)) as connection:
            connection.execute("PRAGMA user_version").fetchall()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_NOTADB
    return False


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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
        DamagedStoreError: a store, and damaged.
        StoreError: no database, or a newer one.
        sqlite3.OperationalError: it cannot be opened this way.
    """
    connection = await aiosqlite.connect(
        uri, uri=uri.startswith("file:"), isolation_level=None, timeout=TRY_SECONDS
    )
    try:
        # A byte that is no text must not keep all other rows from being read.
        connection.text_factory = _text
        await prepare(connection)
    except BaseException as error:
        await asyncio.shield(connection.close())
        if is_damage(error):
            no_words = isinstance(error, UnicodeDecodeError)
            fault = "malformed database schema" if no_words else str(error)
            raise await asyncio.to_thread(refusal, path, fault) from error
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        ):
            raise no_store(path, str(error)) from error
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


async def prepare_to_write(
    path: Path,
    connection: aiosqlite.Connection,
    give_up: Callable[[], bool],
    notices: list[str],
) -> None:
    """Switch to WAL, bring the schema up to date, and look whether the file is in order.

    What the user should know is added to `notices`.
    """

    async def prepare() -> None:
        # First of all, since the mode of another program's file is not ours to change.
        await _check_content(path, connection)
        # Before there is a log, whose mode is taken from the file's.
        await asyncio.to_thread(_make_private, path)
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=NORMAL")
        if backup := await _migrate(path, connection, give_up):
            notices.append(backup)
        await _look(path, connection)

    try:
        await patiently(prepare, PATIENCE_SECONDS, give_up)
    except NoBackupError:
        raise
    except sqlite3.OperationalError:
        if give_up() or not 0 < await _version(connection) < SCHEMA_VERSION:
            raise
        await patiently(prepare, MIGRATION_SECONDS, give_up)


def _make_private(path: Path) -> None:
    """Sessions' words stand in it, which are nobody else's to read."""
    with contextlib.suppress(OSError):
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)


async def prepare_empty(path: Path, connection: aiosqlite.Connection) -> None:
    """Make the tables of a store in memory, which stands in for the one at the path."""
    await _migrate(path, connection, _never)


async def prepare_to_read(
    path: Path, connection: aiosqlite.Connection, *, alone: bool = False
) -> None:
    """Check the schema, and change nothing; an older one is made to read like today's.

    A reader that is `alone` keeps all others out, and needs no file beside the store for that.
    """
    if alone:
        await connection.execute("PRAGMA locking_mode=EXCLUSIVE")
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


async def _version(connection: aiosqlite.Connection) -> int:
    rows = list(await connection.execute_fetchall("PRAGMA user_version"))
    return int(rows[0][0])


async def _check_content(path: Path, connection: aiosqlite.Connection) -> int:
    """The version of the schema, 0 before there is one.

    Raises:
        StoreError: a newer one.
        sqlite3.DatabaseError: the tables of another program.
    """
    [(version, tables, verdicts)] = await connection.execute_fetchall(_CONTENT)
    if version > SCHEMA_VERSION:
        raise newer_store(path, version)
    if tables if version == 0 else not verdicts:
        raise sqlite3.DatabaseError("it is the database of another program")
    return version


async def _migrate(
    path: Path, connection: aiosqlite.Connection, give_up: Callable[[], bool]
) -> str | None:
    """Bring the schema up to date; in one line, where the store is as it was before."""
    if await _version(connection) == SCHEMA_VERSION:
        return None
    await _name_functions(connection)
    await connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = await _check_content(path, connection)
        backup: Path | None = None
        if 0 < version < SCHEMA_VERSION:
            # Nobody else can write now, and readers are not kept from reading.
            backup = await in_thread(lambda stop: back_up(path, version, stop), give_up)
        for number in range(version, SCHEMA_VERSION):
            for statement in MIGRATIONS[number]:
                await connection.execute(statement)
        await connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")
        await connection.execute("COMMIT")
    except BaseException:
        # A full disk may have undone everything by itself.
        with contextlib.suppress(sqlite3.Error):
            await asyncio.shield(connection.execute("ROLLBACK"))
        raise
    if backup is None:
        return None
    return (
        f"{clean_line(str(path))}: brought from schema {version} to {SCHEMA_VERSION}; as it was"
        f" before it stands beside it as {clean_line(backup.name)}"
    )


async def _look(path: Path, connection: aiosqlite.Connection) -> None:
    """See whether the file is in order: at its ends, or all of it where it is small or suspect.

    Raises:
        sqlite3.DatabaseError: it is damaged.
    """
    noted = await asyncio.to_thread(is_noted, path)
    if noted or await asyncio.to_thread(_bytes, path) <= CHECKED_BYTES:
        check = "integrity_check" if noted else "quick_check"
        rows = [(row[0],) for row in await connection.execute_fetchall(f"PRAGMA {check}(20)")]
        if fault := fault_in(rows):
            raise DamageFoundError(fault)
        if noted:
            await asyncio.to_thread(forget_damage, path)
    else:
        for statement in ENDS:
            await connection.execute_fetchall(statement)
