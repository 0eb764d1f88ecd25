"""A fault of the program: one line for the user, where it happened for the log file.

Tracebacks hold source lines and values, and belong on nobody's screen.
"""

from __future__ import annotations

import traceback
from datetime import datetime

from longjudge.paths import log_path
from longjudge.redaction import redacted_text
from longjudge.text import clean
from longjudge_tui.bench.log_file import append

MOST_CHARS = 100_000


class AppDiedError(Exception):
    """The app met a fault of the program, its cause; what it owned is closed in order."""


def keep_traceback(fault: BaseException) -> str:
    """Write where a fault happened to the log file, and return the line to say."""
    name = type(fault).__name__
    return keep_words(name, "".join(traceback.format_exception(fault)))


def keep_words(name: str, told: str) -> str:
    """Write what is told of a fault to the log file, and return the line to say."""
    path = log_path()
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    text = f"{now} fault of the program\n{redacted_text(clean(told[-MOST_CHARS:]))}\n"
    where = f"where it happened is in {path}: please report it"
    try:
        append(path, text.encode("utf-8", "replace"))
    except OSError as error:
        where = f"where it happened could not be written to {path}: {error.strerror}"
    return (
        f"longjudge: ended by a fault of the program ({name}); what was judged is kept: open"
        f" longjudge again; {where}"
    )
