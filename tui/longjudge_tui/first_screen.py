"""What is seen first: that something is being opened, while most of the program is still loaded.

Nothing of the toolkit is there yet, so that these few bytes are written by hand: the terminal's
other screen, and on it one line of safe text. The app paints over it. Where it never comes to that,
because of a signal or a fault, the terminal is given back as it was.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from typing import TYPE_CHECKING

from longjudge.signals import signals_to_handle
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
TOP, BOLD, PLAIN = "\x1b[H", "\x1b[1m", "\x1b[0m"
STDERR = 2

_shown = False


@contextlib.contextmanager
def first_screen(words: str) -> Generator[None]:
    """Show some words until the app takes the terminal over."""
    global _shown
    columns, _ = shutil.get_terminal_size()
    # As many characters as fit if each takes two cells: a line that wraps would scroll.
    line = clean_line(words, max(1, columns // (1 if words.isascii() else 2) - 2))
    before = {number: signal.signal(number, _end) for number in signals_to_handle()}
    _shown = True
    _write(f"{ENTER}{TOP} {BOLD}{line}{PLAIN}")
    try:
        yield
    finally:
        if _shown:
            _give_back()
            for number, handler in before.items():
                signal.signal(number, handler)


def take_over() -> None:
    """The app has the terminal from now on, and gives it back itself."""
    global _shown
    _shown = False


def _give_back() -> None:
    if _shown:
        take_over()
        _write(LEAVE)


def _end(number: int, _frame: FrameType | None) -> None:
    _give_back()
    os._exit(128 + number)


def _write(text: str) -> None:
    # A terminal that is gone takes nothing, and its signal ends the program.
    with contextlib.suppress(OSError):
        os.write(STDERR, text.encode("utf-8", "replace"))
