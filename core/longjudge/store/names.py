"""How the store's file is named to SQLite, which files stand beside it, and a copy of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

MAGIC = b"SQLite format 3\0"
"""How every database begins that holds anything: https://www.sqlite.org/fileformat.html."""


LEAST_BYTES = 512
"""The smallest page of a database."""


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


def copy_apart(path: Path) -> TemporaryDirectory[str]:
    """A folder of one's own with a copy of the file and of its log.

    Raises:
        OSError: there is no room for it, or no place.
    """
    folder = TemporaryDirectory(prefix="longjudge-", ignore_cleanup_errors=True)
    try:
        copy = Path(folder.name) / path.name
        for file, its_copy in ((path, copy), (log_of(path), log_of(copy))):
            its_copy.touch(0o600)
            shutil.copyfile(file, its_copy)
    except BaseException:
        folder.cleanup()
        raise
    return folder


def file_id(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
