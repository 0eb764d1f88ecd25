"""Standard streams that may be closed, full or broken, and must never end paid work."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from typing import TYPE_CHECKING, cast

from longjudge.text import clean_line, without_surrogates

if TYPE_CHECKING:
    from io import TextIOWrapper
    from typing import TextIO

MESSAGE_CHARS = 2_000
_ESCAPED = "longjudge-escaped"


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


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is there, and is a terminal.

    Python has none for a descriptor that was closed when it started.
    """
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        # Closed since.
        return False


def progress_is_live() -> bool:
    """Whether stderr is a terminal, on which a line can be drawn again."""
    return is_terminal(sys.stderr)


def can_print() -> bool:
    """Whether there is a standard output at all."""
    return sys.stdout is not None  # pyright: ignore[reportUnnecessaryComparison]


def print_in_any_encoding() -> None:
    """Let standard output take every character: one outside its encoding is escaped as in JSON.

    What was paid for is printed whatever the terminal or the locale can show, and JSON stays JSON.
    """
    codecs.register_error(_ESCAPED, _escape)
    # A stream that somebody put in its place may encode nothing.
    with contextlib.suppress(AttributeError):
        cast("TextIOWrapper", sys.stdout).reconfigure(errors=_ESCAPED)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    escapes = (f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    return "".join(escapes), error.end


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
