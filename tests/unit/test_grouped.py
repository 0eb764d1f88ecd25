"""Rows that come together are written together, and one that is to blame stops no other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from longjudge.store.file import StoreWriteError
from longjudge.store.grouped import GroupedWrites

if TYPE_CHECKING:
    from collections.abc import Sequence


class Table:
    """Takes rows, each call when it is let; refuses what is negative, or everything."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.rows: list[int] = []
        self.open = asyncio.Event()
        self.full = False
        self.tasks: list[asyncio.Task[int]] = []
        self.grouped = GroupedWrites(self.write, self.tasks.append)

    async def write(self, rows: Sequence[Sequence[object]]) -> None:
        numbers = [int(str(row[0])) for row in rows]
        self.calls.append(numbers)
        await self.open.wait()
        if self.full:
            raise StoreWriteError("full")
        if min(numbers) < 0:
            raise StoreWriteError("negative") from ValueError("negative")
        self.rows += numbers

    def add(self, *numbers: int) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.grouped.add((number,))) for number in numbers]


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_comes_while_a_row_is_written_goes_together_and_in_order() -> None:
    table = Table()
    adding = table.add(1)
    await turns()
    adding += table.add(2, 3, 4)
    await turns()
    table.open.set()
    await asyncio.gather(*adding)
    assert table.calls == [[1], [2, 3, 4]]
    assert table.rows == [1, 2, 3, 4]
    assert [task.done() for task in table.tasks] == [True]


async def test_a_row_that_cannot_be_written_stops_no_other() -> None:
    table = Table()
    adding = table.add(1)
    await turns()
    adding += table.add(2, -3, 4)
    table.open.set()
    done = await asyncio.gather(*adding, return_exceptions=True)
    assert [type(each) for each in done] == [type(None), type(None), StoreWriteError, type(None)]
    assert table.rows == [1, 2, 4]


async def test_what_a_full_store_refuses_is_tried_once() -> None:
    table = Table()
    table.full = True
    adding = table.add(1, 2, 3)
    table.open.set()
    done = await asyncio.gather(*adding, return_exceptions=True)
    assert all(isinstance(each, StoreWriteError) for each in done)
    assert sum(map(len, table.calls)) == 3


async def test_a_caller_that_is_cancelled_leaves_its_row_to_be_written() -> None:
    table = Table()
    [first, second] = table.add(1, 2)
    await turns()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    table.open.set()
    await first
    await asyncio.gather(*table.tasks)
    assert table.rows == [1, 2]


async def test_a_fault_of_the_program_leaves_nobody_waiting() -> None:
    table = Table()
    table.open.set()
    adding = table.add(1)

    async def broken(rows: Sequence[Sequence[object]]) -> None:
        await turns()
        raise RuntimeError("broken")

    table.grouped = GroupedWrites(broken, table.tasks.append)
    adding += table.add(2)
    await turns()
    # Those that wait behind it too.
    adding += table.add(3, 4)
    async with asyncio.timeout(20):
        done = await asyncio.gather(*adding, return_exceptions=True)
    assert [type(each) for each in done[1:]] == [asyncio.CancelledError] * 3
    [failed] = [task for task in table.tasks if task.done() and task.exception() is not None]
    assert str(failed.exception()) == "broken"
