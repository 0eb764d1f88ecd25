"""Why chunks disagree with the offline rules, found out in the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge_tui.bench.records import Records

CUT_SECONDS = 1.0


class DisputeReader:
    """Reads for the records that are looked at, in a task of its own; `aclose` ends it."""

    def __init__(self) -> None:
        self._records: Records | None = None
        self._task: asyncio.Task[None] | None = None

    def follow(self, records: Records | None) -> None:
        """Read for these from now on, where there is something to read, and for no others."""
        self._records = records
        idle = self._task is None or self._task.done()
        if idle and records is not None and records.unread:
            self._task = asyncio.create_task(self._read())

    def raise_failure(self) -> None:
        """Raise what the task died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """End what is read, for a bounded time."""
        self._records = None
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CUT_SECONDS)

    async def _read(self) -> None:
        while (records := self._records) is not None and records.unread:
            await records.read_dispute()
