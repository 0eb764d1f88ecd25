"""What a stop signal means: the end, in order while something is held, else at once.

Either way the exit code names the first one that came.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Generator
    from types import FrameType

STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Ctrl+C, a polite kill, a closed terminal; not every system knows the last."""


def signals_to_handle() -> list[int]:
    """The stop signals that a command takes over: a hang-up that `nohup` ignores stays ignored."""
    hang_up = getattr(signal, "SIGHUP", None)
    return [
        int(number)
        for number in STOP_SIGNALS
        if number != hang_up or signal.getsignal(number) is not signal.SIG_IGN
    ]


def exit_on_signals() -> None:
    """Let every stop signal end the process until a command takes it over.

    A signal that the parent chose to ignore (as `nohup` does) stays ignored. Outside the main
    thread nothing is changed.
    """
    with contextlib.suppress(ValueError):
        for number in STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _exit)


STUCK_SECONDS = 2.0
"""A loop that has not heard of a signal for so long writes what nobody reads."""


@contextlib.contextmanager
def heed_signals(loop: AbstractEventLoop, stop: Callable[[int], None]) -> Generator[None]:
    """Call `stop` on the running loop for every stop signal that comes inside.

    Where the loop is stuck and does not hear of the first, a later one ends the process.
    Afterwards nothing is held any more, and one more of them ends the process at once, with the
    code of the first. The loop's own handlers are the system's again once it is closed, which
    kills a process that has only its exit code left to give.
    """
    came: list[int] = []
    heard: list[int] = []
    first = 0.0

    def hear(number: int) -> None:
        heard.append(number)
        stop(number)

    def heed(number: int, _frame: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        first = first if came else now
        came.append(number)
        if not heard and now - first >= STUCK_SECONDS:
            _exit(came[0], None)
        loop.call_soon_threadsafe(hear, number)

    def leave(number: int, _frame: FrameType | None) -> None:
        _exit(came[0] if came else number, None)

    numbers = signals_to_handle()
    # Whatever thread the system gives a signal to, the loop wakes up for it.
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    loop.add_reader(reader, os.read, reader, 4096)
    for number in numbers:
        signal.signal(number, heed)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, leave)
        signal.set_wakeup_fd(before)
        loop.remove_reader(reader)
        os.close(reader)
        os.close(writer)


def _exit(number: int, _frame: object) -> None:
    os._exit(128 + number)
