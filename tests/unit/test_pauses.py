"""A wait that a provider orders: for every judgment of its endpoint, on any thread."""

from __future__ import annotations

import asyncio
import os
import time
from threading import Thread

import pytest

from longjudge.judges.base import MAX_WAIT
from longjudge.pauses import PAUSES, Pause, Pauses
from longjudge.schedule import Schedule

HERE, THERE = "https://here.example", "https://there.example"


def test_a_wait_holds_for_its_endpoint_alone_and_never_shortens() -> None:
    pauses = Pauses()
    pauses.order(HERE, 20, "slow down")
    pauses.order(HERE, 5, "less slow")
    pause = pauses.current(HERE)
    assert pause is not None
    assert 19 < pause.left <= 20
    assert pause.note == "slow down"
    assert pauses.current(THERE) is None


def test_no_order_is_longer_than_the_longest() -> None:
    pauses = Pauses()
    pauses.order(HERE, 86_400, "tomorrow")
    pause = pauses.current(HERE)
    assert pause is not None
    assert pause.left <= MAX_WAIT


def test_what_is_over_is_forgotten() -> None:
    pauses = Pauses()
    pauses.order(HERE, 1e-9, "at once")
    assert pauses.current(HERE) is None
    assert not pauses._pauses
    assert not pauses._told


async def test_a_listener_hears_of_a_wait_that_begins_and_of_one_that_grows_and_of_no_other() -> (
    None
):
    pauses, heard = Pauses(), list[Pause]()
    with pauses.heard(HERE, heard.append):
        pauses.order(HERE, 0.0, "no wait at all")
        pauses.order(THERE, 10, "not here")
        pauses.order(HERE, 10, "begins")
        # Another call of the same moment, which orders hardly more.
        pauses.order(HERE, 10.1, "the same")
        pauses.order(HERE, 20, "grows")
        pauses.order(HERE, 3, "is over before")
        await asyncio.sleep(0)
    assert [pause.note for pause in heard] == ["begins", "grows"]
    pauses.order(HERE, 60, "later")
    await asyncio.sleep(0)
    assert len(heard) == 2


async def test_who_comes_in_the_middle_of_a_wait_hears_of_it_at_once() -> None:
    pauses, heard = Pauses(), list[Pause]()
    pauses.order(HERE, 10, "begun before")
    with pauses.heard(HERE, heard.append):
        assert [pause.note for pause in heard] == ["begun before"]
        assert heard[0].left > 9


async def test_an_order_of_another_thread_is_heard_on_the_own_loop_and_holds_its_workers() -> None:
    pauses, told = Pauses(), asyncio.Event()
    schedule = Schedule([0, 1], lambda: pauses.current(HERE))
    assert await schedule.take() == 0
    with pauses.heard(HERE, lambda pause: told.set()):
        other = Thread(target=lambda: pauses.order(HERE, 0.2, "slow down"))
        ordered = time.monotonic()
        other.start()
        other.join()
        async with asyncio.timeout(10):
            await told.wait()
            assert await schedule.take() == 1
    assert time.monotonic() - ordered >= 0.2


async def test_after_a_wait_workers_come_back_one_after_the_other() -> None:
    pauses = Pauses()
    schedules = [Schedule(range(4), lambda: pauses.current(HERE)) for _ in range(2)]
    pauses.order(HERE, 0.2, "slow down")
    pause = pauses.current(HERE)
    assert pause is not None
    moments: list[float] = []

    async def work(schedule: Schedule) -> None:
        assert await schedule.take() is not None
        moments.append(time.monotonic())

    async with asyncio.timeout(10):
        await asyncio.gather(*(work(schedule) for schedule in schedules for _ in range(4)))
    assert min(moments) >= pause.until
    assert max(moments) - min(moments) > pause.spread / 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_that_was_forked_while_somebody_held_the_lock_is_not_held_up() -> None:
    with PAUSES._lock:
        child = os.fork()
        if not child:
            try:
                PAUSES.order(HERE, 1, "in the child")
            finally:
                os._exit(0 if PAUSES.current(HERE) else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
