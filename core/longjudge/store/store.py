"""The store: every verdict committed by itself, at once, so that paid work survives any end.

One aiosqlite connection in WAL mode, each statement its own transaction. A write is one short
coroutine behind a shield: a cancelled caller leaves it to finish, and `aclose` awaits what is
still on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import aiosqlite
import msgspec

from longjudge.errors import StoreError
from longjudge.store.migrations import MIGRATIONS, SCHEMA_VERSION
from longjudge.text import clean_line
from longjudge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from pathlib import Path

    from longjudge.judges.base import Usage

BUSY_SECONDS = 10.0
CLOSE_SECONDS = 5.0
LOOKUP_KEYS = 5_000
"""Keys of one look-up; more go in several, so that none blocks the connection for long."""


class StoreWriteError(StoreError):
    """A write failed (read-only, full disk, locked): judging goes on, nothing more is kept."""


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A verdict with what is kept beside it.

    `disagrees` is true where the offline rules flag the text that a model called clean.
    """

    verdict: Verdict
    raw_reply: str
    disagrees: bool


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who gave a verdict, by which rubric, and what it cost."""

    model: str
    endpoint: str
    rubric: str
    rubric_version: str
    usage: Usage
    cost_usd: float | None


class Store:
    """An open store. `write_error` says why nothing can be written, and is None while it can."""

    def __init__(self, path: Path, connection: aiosqlite.Connection, write_error: str | None):
        self.path = path
        self.write_error = write_error
        self._connection = connection
        self._pending: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, path: Path) -> Store:
        """Open the store at `path`, creating it (mode 0600) and its folder where missing.

        A store that can only be read is opened as such; where there is none and none can be
        made, an empty one in memory stands in. Both say so in `write_error`.

        Raises:
            StoreError: the file is no database, or was written by a newer longjudge.
        """
        problem = await asyncio.to_thread(_make_file, path)
        if problem is None:
            try:
                return cls(
                    path,
                    await _connect(path, f"file:{_quoted(path)}?mode=rw", _prepare_to_write),
                    None,
                )
            except sqlite3.OperationalError as error:
                problem = str(error)
        if await asyncio.to_thread(path.is_file):
            with contextlib.suppress(sqlite3.OperationalError):
                return await cls._open_existing(path, problem)
        return await cls._open_empty(path, problem)

    @classmethod
    async def open_to_read(cls, path: Path) -> Store:
        """Open the store without ever creating or changing it; an empty one where none exists.

        Raises:
            StoreError: as for `open`.
        """
        read_only = "opened to read"
        if not await asyncio.to_thread(_has_content, path):
            return await cls._open_empty(path, read_only)
        try:
            return await cls._open_existing(path, read_only)
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"{clean_line(str(path))}: cannot be read as a store ({error}); check the file's"
                " permissions, or name another with --store"
            ) from error

    @classmethod
    async def _open_existing(cls, path: Path, problem: str) -> Store:
        uri = f"file:{_quoted(path)}?mode=ro"
        return cls(path, await _connect(path, uri, _prepare_to_read), problem)

    @classmethod
    async def _open_empty(cls, path: Path, problem: str) -> Store:
        return cls(path, await _connect(path, ":memory:", _prepare_to_write), problem)

    async def kept(self, keys: Sequence[str]) -> dict[str, KeptVerdict]:
        """The verdicts that stand under `keys`."""
        found: dict[str, KeptVerdict] = {}
        for start in range(0, len(keys), LOOKUP_KEYS):
            rows = await self._connection.execute_fetchall(
                "SELECT key, verdict, raw_reply, disagrees FROM verdicts"
                " WHERE key IN (SELECT value FROM json_each(?))",
                (_json_list(keys[start : start + LOOKUP_KEYS]),),
            )
            for key, verdict, raw_reply, disagrees in rows:
                # A row that does not read is asked again rather than believed.
                with contextlib.suppress(ValueError):
                    found[key] = KeptVerdict(Verdict.from_json(verdict), raw_reply, bool(disagrees))
        return found

    async def kept_keys(self, keys: Sequence[str]) -> set[str]:
        """Which of `keys` have a verdict."""
        found: set[str] = set()
        for start in range(0, len(keys), LOOKUP_KEYS):
            rows = await self._connection.execute_fetchall(
                "SELECT key FROM verdicts WHERE key IN (SELECT value FROM json_each(?))",
                (_json_list(keys[start : start + LOOKUP_KEYS]),),
            )
            found.update(row[0] for row in rows)
        return found

    async def all_keys(self) -> set[str]:
        """Every key in the store; what a preview that follows a drag looks keys up in."""
        rows = await self._connection.execute_fetchall("SELECT key FROM verdicts")
        return {row[0] for row in rows}

    async def keep(self, key: str, kept: KeptVerdict, provenance: Provenance) -> None:
        """Commit a verdict; returns after the commit, which a cancelled caller cannot stop.

        Raises:
            StoreWriteError: nothing was written.
        """
        usage = provenance.usage
        await self._write(
            "INSERT OR REPLACE INTO verdicts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                key,
                kept.verdict.to_json(),
                kept.raw_reply,
                int(kept.disagrees),
                provenance.model,
                provenance.endpoint,
                provenance.rubric,
                provenance.rubric_version,
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                provenance.cost_usd,
                time.time(),
            ),
        )

    async def record_judgment(self, result: dict[str, object], row: Sequence[str]) -> None:
        """Commit a judgment's result.

        `row` holds id, path, session id, rubric, rubric version, model and status.

        Raises:
            StoreWriteError: nothing was written.
        """
        text = msgspec.json.encode(result).decode()
        await self._write(
            "INSERT OR REPLACE INTO judgments VALUES (?,?,?,?,?,?,?,?,?)",
            (*row, text, time.time()),
        )

    async def aclose(self) -> None:
        """Await the writes on their way, for a bounded time, and close the connection."""
        if self._pending:
            await asyncio.wait(set(self._pending), timeout=CLOSE_SECONDS)
        with contextlib.suppress(sqlite3.Error, ValueError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._connection.close()

    async def _write(self, sql: str, values: Sequence[object]) -> None:
        if self.write_error is not None:
            raise StoreWriteError(self.write_error)
        write = asyncio.ensure_future(self._execute(sql, values))
        self._pending.add(write)
        write.add_done_callback(self._pending.discard)
        await asyncio.shield(write)

    async def _execute(self, sql: str, values: Sequence[object]) -> None:
        try:
            await self._connection.execute(sql, values)
        except (sqlite3.Error, ValueError) as error:
            raise StoreWriteError(f"{clean_line(str(self.path))}: {error}") from error


def _json_list(keys: Sequence[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()


def _quoted(path: Path) -> str:
    return quote(os.fspath(path.absolute()))


def _make_file(path: Path) -> str | None:
    """Create an empty file with mode 0600 where there is none; what went wrong, or None."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
    except OSError as error:
        return f"{clean_line(str(path))}: {error.strerror or error}"
    return None


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


async def _connect(
    path: Path,
    uri: str,
    prepare: Callable[[Path, aiosqlite.Connection], Coroutine[None, None, None]],
) -> aiosqlite.Connection:
    """Connect and prepare; whatever goes wrong, the connection's thread is let go.

    Raises:
        StoreError: no database, or a newer one.
        sqlite3.OperationalError: it cannot be opened this way.
    """
    connection = await aiosqlite.connect(
        uri, uri=uri.startswith("file:"), isolation_level=None, timeout=BUSY_SECONDS
    )
    try:
        await prepare(path, connection)
    except BaseException as error:
        await asyncio.shield(connection.close())
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        ):
            raise _no_database(path, error) from error
        raise
    return connection


async def _prepare_to_write(path: Path, connection: aiosqlite.Connection) -> None:
    # Several processes may start at once; the busy time-out covers all but the switch to WAL,
    # which fails at once while another holds the lock, and is tried again later.
    for attempt in range(50):
        try:
            await connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == 49:
                raise
            await asyncio.sleep(0.02 + 0.001 * (os.getpid() % 17))
    await connection.execute("PRAGMA synchronous=NORMAL")
    await _migrate(path, connection)


async def _prepare_to_read(path: Path, connection: aiosqlite.Connection) -> None:
    version = await _version(connection)
    _check_version(path, version)
    if version == 0:
        # Another process has made the file and not yet its tables.
        raise sqlite3.OperationalError("it has no tables yet")


def _no_database(path: Path, error: Exception) -> StoreError:
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


async def _migrate(path: Path, connection: aiosqlite.Connection) -> None:
    version = await _version(connection)
    _check_version(path, version)
    if version == SCHEMA_VERSION:
        return
    await connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = await _version(connection)
        _check_version(path, version)
        tables = list(await connection.execute_fetchall("SELECT name FROM sqlite_master"))
        if version == 0 and tables:
            raise sqlite3.DatabaseError("it is the database of another program")
        for number in range(version, SCHEMA_VERSION):
            for statement in MIGRATIONS[number]:
                await connection.execute(statement)
        await connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")
    except BaseException:
        await asyncio.shield(connection.execute("ROLLBACK"))
        raise
    await connection.execute("COMMIT")
