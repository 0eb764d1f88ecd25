"""The schedule: order, waiting, pauses, and an end for every worker."""

from __future__ import annotations

import asyncio

from longjudge.schedule import Schedule


async def test_fresh_positions_come_in_order_and_then_nothing() -> None:
    schedule = Schedule([0, 1, 2])
    taken = []
    while (position := await schedule.take()) is not None:
        taken.append(position)
        schedule.finish()
    assert taken == [0, 1, 2]


async def test_a_position_put_back_is_given_out_again_after_its_time_and_frees_its_worker() -> None:
    schedule = Schedule([0, 1])
    now = asyncio.get_running_loop().time()
    assert await schedule.take() == 0
    schedule.put_back(0, now + 0.05)
    assert await schedule.take() == 1
    schedule.finish()
    assert await schedule.take() == 0
    assert asyncio.get_running_loop().time() >= now + 0.05


async def test_a_pause_holds_for_fresh_positions_too() -> None:
    schedule = Schedule([0])
    until = asyncio.get_running_loop().time() + 0.05
    schedule.pause(until)
    assert await schedule.take() == 0
    assert asyncio.get_running_loop().time() >= until


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
    schedule = Schedule([0, 1])
    schedule.pause(asyncio.get_running_loop().time() + 3600)
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
    schedule.put_back(0, asyncio.get_running_loop().time() + 3600)
    assert schedule.drain() == [0, 2]
    assert len(schedule) == 1
    last = asyncio.ensure_future(schedule.take())
    schedule.finish()
    assert await last is None


async def test_nobody_waits_for_a_position_that_was_discarded() -> None:
    schedule = Schedule([0, 1])
    assert await schedule.take() == 0
    schedule.put_back(0, asyncio.get_running_loop().time() + 3600)
    waiting = asyncio.ensure_future(schedule.take())
    assert await waiting == 1
    last = asyncio.ensure_future(schedule.take())
    schedule.finish()
    await asyncio.sleep(0)
    assert not last.done()
    schedule.discard(0)
    assert await last is None
