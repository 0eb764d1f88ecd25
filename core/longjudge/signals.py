"""What a signal means while nothing is held: the end, at once, with the exit code that names it."""

from __future__ import annotations

import contextlib
import os
import signal

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


def _exit(number: int, _frame: object) -> None:
    os._exit(128 + number)
