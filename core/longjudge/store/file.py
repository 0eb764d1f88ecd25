"""The SQLite file itself: opened, read and written, whoever else holds it meanwhile.

One aiosqlite connection in WAL mode, each statement its own transaction. A write is one short
coroutine behind a shield: a cancelled caller leaves it to finish, and `aclose` awaits what is
still on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.store.aside import CannotPutAsideError, put_aside
from longjudge.store.backup import NoBackupError
from longjudge.store.connect import (
    PATIENCE_SECONDS,
    NoTablesYetError,
    connect,
    has_content,
    in_thread,
    is_locked,
    make_file,
    patiently,
    prepare_empty,
    prepare_to_read,
    prepare_to_write,
    reading_modes,
)
from longjudge.store.damage import DamagedStoreError, is_damage, note_damage
from longjudge.store.names import copy_apart, file_id, log_of, uri
from longjudge.store.writing import execute_now, execute_together
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from tempfile import TemporaryDirectory
    from typing import Self

    import aiosqlite

SHORT_PATIENCE_SECONDS = 0.3
"""How long a locked store is tried again once a write was given up, and at the end."""

CLOSE_SECONDS = 2.0

ASIDE_SECONDS = 60.0
"""How long another process may take to put a damaged store aside, or go on writing to it."""

OPEN_TRIES = 3
"""How often a store is opened anew after a damaged one was put aside."""


class StoreWriteError(StoreError):
    """A write failed (read-only, full disk, locked): judging goes on, nothing more is kept."""


class StoreFile:
    """An open store. `write_error` says why nothing can be written, and is None while it can.

    `notices` are what the user should be told about how it was opened, a line each. `stale` says
    that the file turned out to be damaged since, or is another one by now: whoever opens the store
    anew finds one in order.
    """

    def __init__(
        self,
        path: Path,
        connection: aiosqlite.Connection,
        write_error: str | None,
        notices: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.write_error = write_error
        self.notices = list(notices)
        self.stale = False
        self._connection = connection
        self._pending: set[asyncio.Task[int]] = set()
        self._patience = PATIENCE_SECONDS
        self._closing = False
        self._apart: TemporaryDirectory[str] | None = None
        self._turn = asyncio.Lock()
        self._version = -1
        self._given_up_at = float("-inf")
        self._file_id = file_id(path) if write_error is None else None

    @classmethod
    async def open(cls, path: Path, give_up: Callable[[], bool] = lambda: False) -> Self:
        """Open the store at `path`, creating it (mode 0600) and its folder where missing.

        One of an older schema is copied before it is brought up to date; a damaged one is put
        aside, and a new one holds what could be read of it. Both are said in `notices`.

        A store that can only be read is opened as such; where there is none and none can be
        made, an empty one in memory stands in. Both say so in `write_error`, as does a store
        that another process holds for longer than `PATIENCE_SECONDS`, or until `give_up()`.

        Raises:
            StoreError: the file is no database, or was written by a newer longjudge.
        """
        notices: list[str] = []
        for _ in range(OPEN_TRIES):
            seen = await asyncio.to_thread(file_id, path)
            try:
                return await cls._open(path, give_up, notices)
            except DamagedStoreError as error:
                fault = error.fault
            try:
                notice = await patiently(
                    lambda seen=seen, fault=fault: in_thread(
                        lambda stop: put_aside(path, seen, fault, stop), give_up
                    ),
                    ASIDE_SECONDS,
                    give_up,
                )
            except (CannotPutAsideError, sqlite3.OperationalError) as error:
                why = f"the store is damaged ({fault}) and cannot be put aside ({error})"
                break
            if notice is not None:
                notices.append(notice)
        else:
            why = "the store is damaged each time it is opened"
        problem = clean_line(f"{path}: {why}; move it away, or name another with --store")
        return await cls._open_what_there_is(path, problem, notices)

    @classmethod
    async def _open(cls, path: Path, give_up: Callable[[], bool], notices: list[str]) -> Self:
        problem = await asyncio.to_thread(make_file, path)
        if problem is None:
            try:
                connection = await connect(
                    path,
                    f"{uri(path)}?mode=rw",
                    lambda c: prepare_to_write(path, c, give_up, notices),
                )
            except NoBackupError as error:
                problem = str(error)
            except sqlite3.OperationalError as error:
                problem = f"{clean_line(str(path))}: {error}"
            else:
                return cls(path, connection, None, notices)
        return await cls._open_what_there_is(path, problem, notices)

    @classmethod
    async def _open_what_there_is(cls, path: Path, problem: str, notices: Sequence[str]) -> Self:
        """Open a store that cannot be written: to read, else as an empty one."""
        store: Self | None = None
        with contextlib.suppress(sqlite3.OperationalError, OSError, DamagedStoreError):
            if await asyncio.to_thread(has_content, path):
                store = await cls._open_existing(path, problem)
        store = store or await cls._open_empty(path, problem)
        store.notices += notices
        return store

    @classmethod
    async def open_to_read(cls, path: Path) -> Self:
        """Open the store without changing it; an empty one in memory where there is none.

        Raises:
            StoreError: as for `open`.
        """
        read_only = "opened to read"
        try:
            if await asyncio.to_thread(path.is_dir):
                raise StoreError(
                    f"{clean_line(str(path))}: a folder, no store; name the store's file"
                )
            if await asyncio.to_thread(has_content, path):
                return await cls._open_existing(path, read_only)
        except NoTablesYetError:
            pass
        except (sqlite3.OperationalError, OSError) as error:
            fault = error.strerror if isinstance(error, OSError) else error
            raise StoreError(
                f"{clean_line(str(path))}: cannot be read as a store ({fault}); check the file's"
                " permissions, or name another with --store"
            ) from error
        return await cls._open_empty(path, read_only)

    @classmethod
    async def _open_existing(cls, path: Path, problem: str) -> Self:
        failure = sqlite3.OperationalError("there is no way to open it")
        for mode in await asyncio.to_thread(reading_modes, path):
            try:
                return await cls._open_as(path, *mode, problem)
            except sqlite3.OperationalError as error:
                if is_locked(error) or isinstance(error, NoTablesYetError):
                    raise
                failure = error
        if not await asyncio.to_thread(has_content, log_of(path)):
            raise failure
        return await cls._open_copy(path, problem)

    @classmethod
    async def _open_copy(cls, path: Path, problem: str) -> Self:
        """Read a copy, where a log is left and the medium takes no file beside it."""
        folder = await asyncio.to_thread(copy_apart, path)
        try:
            copy = Path(folder.name) / path.name
            connection = await connect(
                path, f"{uri(copy)}?mode=rw", lambda c: prepare_to_read(path, c)
            )
        except BaseException:
            await asyncio.shield(asyncio.to_thread(folder.cleanup))
            raise
        store = cls(path, connection, problem)
        store._apart = folder
        return store

    @classmethod
    async def _open_as(cls, path: Path, mode: str, alone: bool, problem: str) -> Self:
        connection = await connect(
            path, f"{uri(path)}?{mode}", lambda c: prepare_to_read(path, c, alone=alone)
        )
        return cls(path, connection, problem)

    @classmethod
    async def _open_empty(cls, path: Path, problem: str) -> Self:
        return cls(path, await connect(path, ":memory:", lambda c: prepare_empty(path, c)), problem)

    async def aclose(self) -> None:
        """Await the writes on their way, for a bounded time, and close the connection."""
        self._closing = True
        if self._pending:
            await asyncio.wait(set(self._pending), timeout=CLOSE_SECONDS)
        with contextlib.suppress(sqlite3.Error, ValueError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._connection.close()
        if self._apart is not None:
            await asyncio.to_thread(self._apart.cleanup)

    async def read(self, sql: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """The rows of a query.

        Raises:
            DamagedStoreError: the file is damaged there.
            StoreError: it cannot be read, or another process does not let go of it.
        """
        try:
            return list(
                await patiently(
                    lambda: self._connection.execute_fetchall(sql, values), PATIENCE_SECONDS
                )
            )
        except sqlite3.Error as error:
            if is_damage(error):
                await asyncio.shield(self._met_damage(error))
                raise DamagedStoreError(self.path, str(error)) from error
            raise StoreError(
                f"{clean_line(str(self.path))}: the store cannot be read ({error}); try again, or"
                " name another with --store"
            ) from error

    async def written_elsewhere(self) -> bool:
        """Whether others have written to it since the last call; the first call says that they may.

        Raises:
            StoreError: it cannot be read.
        """
        before = self._version
        self._version = (await self.read("PRAGMA data_version"))[0][0]
        return before != self._version

    async def _met_damage(self, error: sqlite3.Error) -> None:
        """Write no more to a damaged file, and have the next start look at it."""
        self.stale = True
        if self.write_error is None:
            self.write_error = clean_line(
                f"{self.path}: the store is damaged ({error}); the next start puts it aside and"
                " keeps what can still be read"
            )
        if file_id(self.path) is not None:
            await asyncio.to_thread(note_damage, self.path)

    async def write(self, sql: str, values: Sequence[object]) -> int:
        """Commit one statement, and return how many rows it changed.

        Raises:
            StoreWriteError: nothing was written.
        """

        async def step() -> int:
            return (await self._connection.execute(sql, values)).rowcount

        return await self._commit(step)

    async def write_each(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Commit a statement for each of some rows, one by one, with one call.

        Where this fails, or is tried again, those before the one that failed are committed.

        Raises:
            StoreWriteError: not all of them were written.
        """

        async def step() -> int:
            await self._connection.executemany(sql, rows)
            return len(rows)

        await self._commit(step)

    async def write_returning(self, sql: str, values: Sequence[object]) -> list[sqlite3.Row]:
        """Commit one statement, and return the rows that it returns.

        Raises:
            StoreWriteError: nothing was written.
        """
        rows: list[sqlite3.Row] = []

        async def step() -> int:
            rows[:] = await self._connection.execute_fetchall(sql, values)
            return len(rows)

        await self._commit(step)
        return rows

    async def write_together(
        self, *statements: tuple[str, Sequence[Sequence[object]]], durably: bool = False
    ) -> None:
        """Commit several statements, each with the rows of its values: all, or none.

        What is written `durably` survives a loss of power from then on.

        Raises:
            StoreWriteError: nothing was written.
        """
        await self._commit(lambda: execute_together(self._connection, statements, durably=durably))

    def write_now(self, sql: str, values: Sequence[object]) -> bool:
        """Commit one statement before this returns, for what must not be lost to a cancel.

        It blocks for `NOW_SECONDS` at most. False where it changed no row.
        """
        if self.write_error is not None or file_id(self.path) != self._file_id:
            return False
        try:
            return execute_now(self.path, sql, values) > 0
        except sqlite3.Error:
            return False

    async def _commit(self, step: Callable[[], Awaitable[int]]) -> int:
        if self.write_error is not None:
            raise StoreWriteError(self.write_error)
        write = asyncio.ensure_future(self._execute(step))
        self.await_at_end(write)
        return await asyncio.shield(write)

    def await_at_end(self, write: asyncio.Task[int]) -> None:
        """Have a task that writes awaited when the store is closed."""
        self._pending.add(write)
        write.add_done_callback(self._written)

    def _written(self, write: asyncio.Task[int]) -> None:
        self._pending.discard(write)
        if not write.cancelled():
            # A caller that was cancelled is not there any more to be told.
            write.exception()

    async def _execute(self, step: Callable[[], Awaitable[int]]) -> int:
        self._check_place()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        # One write tries at a time, so that none waits behind the tries of others.
        async with self._turn:
            if begun < self._given_up_at:
                raise StoreWriteError(f"{clean_line(str(self.path))}: another process holds it")
            tried = loop.time()
            try:
                changed = await patiently(
                    step,
                    PATIENCE_SECONDS,
                    give_up=lambda: self._closing or loop.time() - tried > self._patience,
                )
            except (sqlite3.Error, ValueError, OverflowError) as error:
                if is_damage(error) and isinstance(error, sqlite3.Error):
                    await self._met_damage(error)
                    raise StoreWriteError(self.write_error or str(error)) from error
                if "locked" in str(error):
                    # Whoever queued meanwhile has waited for the same lock as long.
                    self._given_up_at = loop.time()
                self._patience = SHORT_PATIENCE_SECONDS
                raise StoreWriteError(f"{clean_line(str(self.path))}: {error}") from error
            self._patience = PATIENCE_SECONDS
            # While it waited for the lock, another process may have put the file aside.
            self._check_place()
            return changed

    def _check_place(self) -> None:
        if file_id(self.path) != self._file_id:
            self.stale = True
            raise StoreWriteError(
                f"{clean_line(str(self.path))}: the file was removed or replaced while it was open"
            )
