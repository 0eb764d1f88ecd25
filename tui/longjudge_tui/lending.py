"""Lends the terminal to an editor, and takes it back however that ends.

The editor is a child that is awaited: whatever is judged goes on meanwhile. Nothing is painted
until it is over. Whatever it did to the terminal is undone, since a killed editor undoes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import App

WINDOW_SECONDS = 1.0
"""How long a program with a window of its own is watched for a start that fails."""

END_SECONDS = 1.0
"""How long an editor may take to end when it is asked to, because the app ends."""

_AS_BEFORE = (
    b"\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l"
    b"\x1b[?1049l\x1b[?1l\x1b>\x1b[?7h\x1b[0m\x1b[?25h"
)
"""Mouse, pasting, focus, other screen, keys, wrapping, colours and cursor as a shell has them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: why it was not to be used, in words; empty where nothing is to be said."""

    fault: str = ""


class Lending:
    """One editor at a time. `busy` is true while it has the terminal."""

    def __init__(self) -> None:
        self.busy = False

    async def in_terminal(self, app: App[Any], argv: Sequence[str]) -> Outcome:
        """Run an editor in this terminal, to its end."""
        if self.busy:
            return Outcome("an editor is open already")
        child: asyncio.Task[Outcome] | None = None
        stopped = False
        self.busy = True
        try:
            # A frame that is painted while nobody writes frames would block the loop for good.
            with app.batch_update(), contextlib.suppress(SuspendNotSupported), app.suspend():
                # Nothing may be raised in here: the app would never get its terminal back.
                before = _modes()
                child = asyncio.ensure_future(_run(argv))
                stopped = await _to_the_end(child)
                _take_back(before)
        finally:
            self.busy = False
        if stopped:
            raise asyncio.CancelledError
        app.screen.refresh(layout=True)
        if child is None:
            return Outcome("this terminal cannot be lent to an editor")
        return child.result()


async def open_window(argv: Sequence[str]) -> Outcome:
    """Start a program with a window of its own, which lives on without this one."""
    return await asyncio.to_thread(_start, argv)


def _start(argv: Sequence[str]) -> Outcome:
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            argv, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
    except (OSError, ValueError) as error:
        return Outcome(_not_started(argv, error))
    try:
        return Outcome(_fault_of(argv, process.wait(WINDOW_SECONDS)))
    except subprocess.TimeoutExpired:
        # It is left to itself, and so is its end.
        process.returncode = 0
        return Outcome()


async def _run(argv: Sequence[str]) -> Outcome:
    """Run a child on the terminal; it is ended where this is cancelled."""
    keys, screen = sys.__stdin__, sys.__stderr__
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=keys, stdout=screen, stderr=screen
        )
    except (OSError, ValueError) as error:
        return Outcome(_not_started(argv, error))
    try:
        return Outcome(_fault_of(argv, await process.wait()))
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Have a child end that is still there: asked to first, and then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            # One that is stopped hears of nothing else.
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await process.wait()


async def _to_the_end(child: asyncio.Task[Outcome]) -> bool:
    """Wait for a task, which is cancelled where this is; whether that was so. Raises nothing."""
    stopped = False
    while not child.done():
        try:
            await asyncio.wait({child})
        except asyncio.CancelledError:
            stopped = True
            child.cancel()
    return stopped


def _modes() -> list[Any] | None:
    stream = sys.__stdin__
    try:
        return termios.tcgetattr(stream) if stream is not None else None
    except termios.error:
        return None


def _take_back(modes: list[Any] | None) -> None:
    """Make this process the terminal's own again, and the terminal what it was."""
    keys, screen = sys.__stdin__, sys.__stderr__
    if keys is None or screen is None or modes is None:
        return
    # Who is not the terminal's own is stopped by the next two lines, unless it ignores that.
    ignored = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(keys.fileno(), os.getpgrp())
        with contextlib.suppress(termios.error):
            termios.tcsetattr(keys, termios.TCSANOW, modes)
        with contextlib.suppress(OSError):
            os.write(screen.fileno(), _AS_BEFORE)
    finally:
        signal.signal(signal.SIGTTOU, ignored)


def _fault_of(argv: Sequence[str], code: int) -> str:
    name = clean_line(os.path.basename(argv[0]), 40)
    if code < 0:
        return f"{name} was ended by signal {-code}"
    return f"{name} ended with code {code}" if code else ""


def _not_started(argv: Sequence[str], error: Exception) -> str:
    name = clean_line(os.path.basename(argv[0]), 40)
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{name} cannot be started: {clean_line(why, 100)}"
