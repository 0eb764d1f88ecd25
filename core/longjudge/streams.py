"""Standard streams that may be closed, full or broken, and must never end paid work."""

from __future__ import annotations

import contextlib
import os
import sys

from longjudge.text import clean_line, without_surrogates

MESSAGE_CHARS = 2_000


def tell(message: str) -> None:
    """Print one cleaned line on stderr, if anybody can be told."""
    write_progress(clean_line(message, MESSAGE_CHARS) + "\n")


def write_progress(text: str) -> None:
    """Write to stderr and flush; what cannot be written there is dropped."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        # Python has no stream for a descriptor that was closed when it started.
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(_encodable(text, sys.stderr.encoding))
        sys.stderr.flush()


def progress_is_live() -> bool:
    """Whether stderr is a terminal, on which a line can be drawn again."""
    return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def can_print() -> bool:
    """Whether there is a standard output at all."""
    return sys.stdout is not None  # pyright: ignore[reportUnnecessaryComparison]


def let_go_of_lost_streams() -> None:
    """Drop what a closed pipe or terminal cannot take.

    Python would try once more while it exits, complain, and replace the exit code by 120.
    """
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is None:  # pyright: ignore[reportUnnecessaryComparison]
            continue
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _encodable(text: str, encoding: str | None) -> str:
    plain = without_surrogates(text)
    encoding = encoding or "utf-8"
    return plain.encode(encoding, "replace").decode(encoding, "replace")
