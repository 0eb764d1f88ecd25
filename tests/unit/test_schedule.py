"""The schedule: order, waiting, pauses, and an end for every worker."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.pauses import Pause
from longjudge.schedule import Schedule


def for_seconds(wait: float) -> Pause:
    return Pause(time.monotonic() + wait, "slow down", spread=0.0)


async def test_fresh_positions_come_in_order_and_then_nothing() -> None:
    schedule = Schedule([0, 1, 2])
    taken = []
    while (position := await schedule.take()) is not None:
        taken.append(position)
        schedule.finish()
    assert taken == [0, 1, 2]


async def test_a_position_put_back_is_given_out_again_after_its_time_and_frees_its_worker() -> None:
    schedule = Schedule([0, 1])
    now = time.monotonic()
    assert await schedule.take() == 0
    schedule.put_back(0, now + 0.05)
    assert await schedule.take() == 1
    schedule.finish()
    assert await schedule.take() == 0
    assert time.monotonic() >= now + 0.05


async def test_a_pause_holds_for_fresh_positions_too() -> None:
    pause = for_seconds(0.05)
    schedule = Schedule([0], lambda: pause)
    assert await schedule.take() == 0
    assert time.monotonic() >= pause.until


async def test_a_worker_waits_while_another_may_still_put_something_back() -> None:
    schedule = Schedule([0])
    assert await schedule.take() == 0
    waiting = asyncio.ensure_future(schedule.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    schedule.put_back(0)
    assert await waiting == 0
    second = asyncio.ensure_future(schedule.take())
    schedule.finish()
    assert await second is None


async def test_closing_ends_every_waiting_worker_at_once() -> None:
    pause = for_seconds(3600)
    schedule = Schedule([0, 1], lambda: pause)
    workers = [asyncio.ensure_future(schedule.take()) for _ in range(3)]
    await asyncio.sleep(0)
    schedule.close()
    assert await asyncio.gather(*workers) == [None, None, None]


async def test_a_position_that_is_held_comes_first_once_the_hold_ends() -> None:
    schedule = Schedule([0, 1])
    assert await schedule.take() == 0
    schedule.hold(0)
    waiting = [asyncio.ensure_future(schedule.take()) for _ in range(2)]
    await asyncio.sleep(0)
    assert not any(each.done() for each in waiting)
    schedule.wake()
    assert await asyncio.gather(*waiting) == [0, 1]


async def test_nobody_waits_for_a_hold_when_nothing_is_left() -> None:
    schedule = Schedule([0])
    assert await schedule.take() == 0
    schedule.hold(0)
    waiting = asyncio.ensure_future(schedule.take())
    await asyncio.sleep(0)
    schedule.discard(0)
    schedule.wake()
    assert await waiting is None


async def test_whoever_is_not_wanted_leaves_at_once_also_while_waiting() -> None:
    schedule, wanted = Schedule([0]), True
    assert await schedule.take(lambda: wanted) == 0
    waiting = asyncio.ensure_future(schedule.take(lambda: wanted))
    await asyncio.sleep(0)
    wanted = False
    schedule.wake()
    assert await waiting is None
    schedule.put_back(0)
    assert await schedule.take(lambda: wanted) is None
    assert await schedule.take() == 0


async def test_draining_takes_out_everything_that_is_not_taken() -> None:
    schedule = Schedule([0, 1, 2])
    assert await schedule.take() == 0
    assert await schedule.take() == 1
    schedule.put_back(0, time.monotonic() + 3600)
    assert schedule.drain() == [0, 2]
    assert len(schedule) == 1
    last = asyncio.ensure_future(schedule.take())
    schedule.finish()
    assert await last is None


async def test_nobody_waits_for_a_position_that_was_discarded() -> None:
    schedule = Schedule([0, 1])
    assert await schedule.take() == 0
    schedule.put_back(0, time.monotonic() + 3600)
    waiting = asyncio.ensure_future(schedule.take())
    assert await waiting == 1
    last = asyncio.ensure_future(schedule.take())
    schedule.finish()
    await asyncio.sleep(0)
    assert not last.done()
    schedule.discard(0)
    assert await last is None


async def test_a_pause_that_grows_while_a_worker_waits_holds_it_longer() -> None:
    pause = for_seconds(0.03)
    schedule = Schedule([0], lambda: pause)
    waiting = asyncio.ensure_future(schedule.take())
    await asyncio.sleep(0)
    pause = for_seconds(0.1)
    assert await waiting == 0
    assert time.monotonic() >= pause.until


async def test_what_was_discarded_and_added_again_comes_once() -> None:
    schedule = Schedule([0, 1, 2])
    schedule.discard(1)
    schedule.add(1)
    assert len(schedule) == 3
    assert [await schedule.take() for _ in range(3)] == [1, 0, 2]
    for _ in range(3):
        schedule.finish()
    assert await schedule.take() is None


async def test_what_was_discarded_while_it_waited_and_added_again_does_not_wait() -> None:
    schedule = Schedule([0])
    assert await schedule.take() == 0
    schedule.put_back(0, time.monotonic() + 3600)
    schedule.discard(0)
    schedule.add(0)
    assert await schedule.take() == 0
    schedule.finish()
    assert await schedule.take() is None


OPERATIONS = ["take", "back", "later", "finish", "hold", "wake", "discard", "add", "drain", "fill"]


class Model:
    """A schedule and, beside it, where every position ought to be."""

    def __init__(self, count: int) -> None:
        self.schedule = Schedule(range(count))
        self.inside, self.taken, self.out = set(range(count)), set[int](), set[int]()
        self.next = count

    async def do(self, operation: str, number: int) -> None:
        schedule, taken = self.schedule, sorted(self.taken)
        chosen = taken[number % len(taken)] if taken else None
        match operation:
            case "take":
                schedule.wake()
                # Nobody else is at work, so where nothing can be taken at once nothing comes.
                position = await self.taken_at_once()
                if position is not None:
                    self.inside.remove(position)
                    self.taken.add(position)
            case "back" | "later" | "hold" if chosen is not None:
                self.taken.remove(chosen)
                self.inside.add(chosen)
                if operation == "hold":
                    schedule.hold(chosen)
                else:
                    schedule.put_back(chosen, 0.0 if operation == "back" else float("inf"))
            case "finish" if chosen is not None:
                self.taken.remove(chosen)
                self.out.add(chosen)
                schedule.finish()
            case "discard" if self.inside:
                position = sorted(self.inside)[number % len(self.inside)]
                self.inside.remove(position)
                self.out.add(position)
                schedule.discard(position)
            case "add" if self.out:
                position = sorted(self.out)[number % len(self.out)]
                self.out.remove(position)
                self.inside.add(position)
                schedule.add(position)
            case "drain":
                drained = schedule.drain()
                assert Counter(drained) == Counter(self.inside)
                self.out |= self.inside
                self.inside.clear()
            case "fill":
                schedule.fill([self.next])
                self.inside.add(self.next)
                self.next += 1
            case "wake":
                schedule.wake()
            case _:
                pass
        assert len(schedule) == len(self.inside) + len(self.taken)

    async def taken_at_once(self) -> int | None:
        waiting = asyncio.ensure_future(self.schedule.take())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if not waiting.done():
            waiting.cancel()
            await asyncio.wait([waiting])
            return None
        return waiting.result()


@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 9)), max_size=40),
)
def test_whatever_is_done_nothing_is_lost_and_nothing_comes_twice(
    count: int, operations: list[Any]
) -> None:
    async def try_it() -> None:
        model = Model(count)
        for operation, number in operations:
            await model.do(operation, number)
        assert Counter(model.schedule.drain()) == Counter(model.inside)

    asyncio.run(try_it())


@pytest.mark.parametrize("act", ["discard", "put back and discard", "take"])
async def test_many_positions_take_no_longer_each(act: str) -> None:
    """Twenty times the positions take about twenty times the time, not four hundred times."""

    async def seconds(count: int) -> float:
        schedule = Schedule(range(count))
        if act == "put back and discard":
            for position in range(count):
                assert await schedule.take() == position
            for position in range(count):
                schedule.put_back(position, time.monotonic() + 3600)
        began = time.process_time()
        if act == "take":
            for _ in range(count):
                await schedule.take()
        else:
            for position in reversed(range(count)):
                schedule.discard(position)
        return time.process_time() - began

    few = min([await seconds(1_000) for _ in range(5)])
    assert await seconds(20_000) < 100 * few + 0.05
