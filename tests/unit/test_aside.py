"""What is read beside the event loop: handed out once it is in, and never begun again in vain."""

from __future__ import annotations

import asyncio
import threading

import pytest

from longjudge.errors import SessionError
from longjudge_tui.bench.aside import Aside


async def all_read(aside):
    """Wait until nothing is being read any more."""
    await asyncio.wait({aside._task}, timeout=5)


async def test_what_was_wanted_last_is_read_next_and_nothing_between():
    loop, begun = asyncio.get_running_loop(), asyncio.Event()
    release, read = threading.Event(), []

    def slowly(event):
        loop.call_soon_threadsafe(begun.set)
        release.wait(5)
        read.append(event)
        return f"text {event}"

    aside = Aside(slowly)
    assert aside.get(1) is None
    await begun.wait()
    assert aside.get(2) is None
    assert aside.get(3) is None
    release.set()
    await all_read(aside)
    assert aside.get(3) == "text 3"
    assert read == [1, 3]


async def test_what_cannot_be_read_is_said_to_who_asks():
    def gone(event):
        raise SessionError(f"event {event} is gone")

    aside = Aside(gone)
    assert aside.get(1) is None
    await all_read(aside)
    with pytest.raises(SessionError, match="event 1 is gone"):
        aside.get(1)


async def test_who_asks_again_after_a_fault_of_the_program_is_told_of_it():
    begun = []

    def die(event):
        begun.append(event)
        raise ZeroDivisionError

    aside = Aside(die)
    assert aside.get(1) is None
    await all_read(aside)
    with pytest.raises(ZeroDivisionError):
        aside.get(1)
    with pytest.raises(ZeroDivisionError):
        aside.raise_failure()
    assert begun == [1]
