"""How the store's file is named to SQLite, and which files stand beside it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

MAGIC = b"SQLite format 3\0"
"""How every database begins that holds anything: https://www.sqlite.org/fileformat.html."""


def uri(path: Path) -> str:
    """The file's URI; bytes that are no text, `?` and `#` in its name included."""
    return f"file://{quote(os.fsencode(path.absolute()))}"


def beside(path: Path, ending: str) -> Path:
    """A file beside the store, which is where a link leads to."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + ending)


def log_of(path: Path) -> Path:
    """What was committed and is not in the file yet."""
    return beside(path, "-wal")


def index_of(path: Path) -> Path:
    """The index of the log, which every process that opens the store shares."""
    return beside(path, "-shm")


def file_id(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
