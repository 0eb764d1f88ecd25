"""The store: every verdict committed by itself, at once, so that paid work survives any end.

One aiosqlite connection in WAL mode, each statement its own transaction. A write is one short
coroutine behind a shield: a cancelled caller leaves it to finish, and `aclose` awaits what is
still on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import StoreError
from longjudge.store.connect import (
    PATIENCE_SECONDS,
    connect,
    file_id,
    has_content,
    make_file,
    patiently,
    prepare_to_read,
    prepare_to_write,
    reading_mode,
    uri,
)
from longjudge.text import clean_line
from longjudge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import aiosqlite

    from longjudge.judges.base import Usage

SHORT_PATIENCE_SECONDS = 0.3
"""How long a locked store is tried again once a write was given up, and at the end."""

CLOSE_SECONDS = 2.0
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
        self._patience = PATIENCE_SECONDS
        self._closing = False
        self._turn = asyncio.Lock()
        self._given_up_at = float("-inf")
        self._file_id = file_id(path) if write_error is None else None

    @classmethod
    async def open(cls, path: Path, give_up: Callable[[], bool] = lambda: False) -> Store:
        """Open the store at `path`, creating it (mode 0600) and its folder where missing.

        A store that can only be read is opened as such; where there is none and none can be
        made, an empty one in memory stands in. Both say so in `write_error`, as does a store
        that another process holds for longer than `PATIENCE_SECONDS`, or until `give_up()`.

        Raises:
            StoreError: the file is no database, or was written by a newer longjudge.
        """
        problem = await asyncio.to_thread(make_file, path)
        if problem is None:
            try:
                connection = await connect(
                    path, f"{uri(path)}?mode=rw", lambda c: prepare_to_write(path, c, give_up)
                )
            except sqlite3.OperationalError as error:
                problem = str(error)
            else:
                return cls(path, connection, None)
        if await asyncio.to_thread(has_content, path):
            with contextlib.suppress(sqlite3.OperationalError):
                return await cls._open_existing(path, problem)
        return await cls._open_empty(path, problem)

    @classmethod
    async def open_to_read(cls, path: Path) -> Store:
        """Open the store without changing it; an empty one in memory where there is none.

        Raises:
            StoreError: as for `open`.
        """
        read_only = "opened to read"
        if not await asyncio.to_thread(has_content, path):
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
        mode = await asyncio.to_thread(reading_mode, path)
        connection = await connect(path, f"{uri(path)}?{mode}", lambda c: prepare_to_read(path, c))
        return cls(path, connection, problem)

    @classmethod
    async def _open_empty(cls, path: Path, problem: str) -> Store:
        return cls(
            path, await connect(path, ":memory:", lambda c: prepare_to_write(path, c)), problem
        )

    async def kept(self, keys: Sequence[str]) -> dict[str, KeptVerdict]:
        """The verdicts that stand under `keys`."""
        found: dict[str, KeptVerdict] = {}
        for start in range(0, len(keys), LOOKUP_KEYS):
            rows = await self._read(
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
            rows = await self._read(
                "SELECT key FROM verdicts WHERE key IN (SELECT value FROM json_each(?))",
                (_json_list(keys[start : start + LOOKUP_KEYS]),),
            )
            found.update(row[0] for row in rows)
        return found

    async def all_keys(self) -> set[str]:
        """Every key in the store; what a preview that follows a drag looks keys up in."""
        rows = await self._read("SELECT key FROM verdicts")
        return {row[0] for row in rows}

    async def keep(
        self, key: str, kept: KeptVerdict, provenance: Provenance, *, replace: bool = True
    ) -> None:
        """Commit a verdict; returns after the commit, which a cancelled caller cannot stop.

        With `replace` false a verdict that stands under the key already stays.

        Raises:
            StoreWriteError: nothing was written.
        """
        usage = provenance.usage
        clash = "REPLACE" if replace else "IGNORE"
        await self._write(
            f"INSERT OR {clash} INTO verdicts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
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
        self._patience = min(self._patience, SHORT_PATIENCE_SECONDS)
        await self._write(
            "INSERT OR REPLACE INTO judgments VALUES (?,?,?,?,?,?,?,?,?)",
            (*row, text, time.time()),
        )

    async def aclose(self) -> None:
        """Await the writes on their way, for a bounded time, and close the connection."""
        self._closing = True
        if self._pending:
            await asyncio.wait(set(self._pending), timeout=CLOSE_SECONDS)
        with contextlib.suppress(sqlite3.Error, ValueError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._connection.close()

    async def _read(self, sql: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        try:
            return list(
                await patiently(
                    lambda: self._connection.execute_fetchall(sql, values), PATIENCE_SECONDS
                )
            )
        except sqlite3.Error as error:
            raise StoreError(
                f"{clean_line(str(self.path))}: the store cannot be read ({error}); if it is"
                " damaged, move it away, or name another with --store"
            ) from error

    async def _write(self, sql: str, values: Sequence[object]) -> None:
        if self.write_error is not None:
            raise StoreWriteError(self.write_error)
        write = asyncio.ensure_future(self._execute(sql, values))
        self._pending.add(write)
        write.add_done_callback(self._written)
        await asyncio.shield(write)

    def _written(self, write: asyncio.Task[None]) -> None:
        self._pending.discard(write)
        if not write.cancelled():
            # A caller that was cancelled is not there any more to be told.
            write.exception()

    async def _execute(self, sql: str, values: Sequence[object]) -> None:
        if file_id(self.path) != self._file_id:
            raise StoreWriteError(
                f"{clean_line(str(self.path))}: the file was removed or replaced while it was open"
            )
        loop = asyncio.get_running_loop()
        begun = loop.time()
        # One write tries at a time, so that none waits behind the tries of others.
        async with self._turn:
            if begun < self._given_up_at:
                raise StoreWriteError(f"{clean_line(str(self.path))}: another process holds it")
            tried = loop.time()
            try:
                await patiently(
                    lambda: self._connection.execute(sql, values),
                    PATIENCE_SECONDS,
                    give_up=lambda: self._closing or loop.time() - tried > self._patience,
                )
            except (sqlite3.Error, ValueError, OverflowError) as error:
                if "locked" in str(error):
                    # Whoever queued meanwhile has waited for the same lock as long.
                    self._given_up_at = loop.time()
                self._patience = SHORT_PATIENCE_SECONDS
                raise StoreWriteError(f"{clean_line(str(self.path))}: {error}") from error
            self._patience = PATIENCE_SECONDS


def _json_list(keys: Sequence[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()
