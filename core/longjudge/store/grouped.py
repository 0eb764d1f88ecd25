"""Rows that come while another write is on its way are written with one call, in their order.

Each row is committed by itself all the same: what a call saves is the way to the connection's
thread and back, which takes longer than the write.
"""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

from longjudge.store.file import StoreWriteError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Row = Sequence[object]

MOST_ROWS = 100


class GroupedWrites:
    """Writes rows by `write`, which takes one or more; `began` is given each task that does so."""

    def __init__(
        self,
        write: Callable[[Sequence[Row]], Awaitable[object]],
        began: Callable[[asyncio.Task[int]], None],
    ) -> None:
        self._write = write
        self._began = began
        self._waiting: list[tuple[Row, asyncio.Future[None]]] = []
        self._at_work = False

    async def add(self, row: Row) -> None:
        """Write a row; returns once it is committed, which a cancelled caller cannot stop.

        Raises:
            StoreWriteError: it was not written.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Who was cancelled is not there any more to be told.
        done.add_done_callback(lambda each: each.cancelled() or each.exception())
        self._waiting.append((row, done))
        if not self._at_work:
            self._at_work = True
            self._began(asyncio.ensure_future(self._work()))
        await asyncio.shield(done)

    async def _work(self) -> int:
        written = 0
        try:
            while self._waiting:
                group = self._waiting[:MOST_ROWS]
                del self._waiting[:MOST_ROWS]
                await self._write_group(group)
                written += len(group)
        except BaseException:
            # Nobody comes to write what waits behind it.
            for _, done in self._waiting:
                done.cancel()
            self._waiting.clear()
            raise
        finally:
            self._at_work = False
        return written

    async def _write_group(self, group: list[tuple[Row, asyncio.Future[None]]]) -> None:
        try:
            await self._write([row for row, _ in group])
        except StoreWriteError as error:
            if len(group) > 1 and is_about_a_row(error):
                for each in group:
                    await self._write_group([each])
                return
            for _, done in group:
                done.set_exception(error)
        except BaseException:
            for _, done in group:
                done.cancel()
            raise
        else:
            for _, done in group:
                done.set_result(None)


def is_about_a_row(error: StoreWriteError) -> bool:
    """Whether one row is to blame, and not the store: the others are written without it."""
    cause = error.__cause__
    return isinstance(cause, ValueError | OverflowError) or (
        isinstance(cause, sqlite3.Error) and not isinstance(cause, sqlite3.OperationalError)
    )
