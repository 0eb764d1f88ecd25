"""A whole copy of a store beside it, made before its schema is changed.

Everything here blocks and runs in a thread. The copy has its name only once it is whole and on
the disk.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from longjudge.store.names import beside, uri
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PAGES = 1_000
"""Pages copied between two looks at whether somebody wants to leave."""


class NoBackupError(sqlite3.OperationalError):
    """No whole copy could be made, so nothing may be changed."""


def backup_path(path: Path, version: int) -> Path:
    """Where the copy of a store of that schema stands."""
    return beside(path, f".schema-{version}.backup")


def back_up(path: Path, version: int, give_up: Callable[[], bool]) -> Path:
    """Copy a store of schema `version`, whose writers are kept away meanwhile, and say where to.

    An older copy is replaced by a whole one only.

    Raises:
        NoBackupError: there is no copy, or none of that schema.
    """
    target = backup_path(path, version)
    temporary = beside(target, ".part")
    try:
        try:
            new_private_file(temporary)
            _copy(path, temporary, version, give_up)
            sync(temporary)
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        sync(target.parent)
    except (OSError, sqlite3.Error) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise NoBackupError(
            f"{clean_line(str(path))}: it is of an older schema ({version}), and no copy of it"
            f" can be made before it is brought up to date ({reason}); make room beside it, or"
            " allow files to be made there, and start again"
        ) from error
    return target


def new_private_file(path: Path) -> None:
    """An empty file for its owner only; what stands there is removed, and no link followed."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk.

    A file system that cannot do that for a folder is as good as it gets.
    """
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(file)


def _copy(path: Path, target: Path, version: int, give_up: Callable[[], bool]) -> None:
    def look(status: int, remaining: int, total: int) -> None:
        if give_up():
            raise sqlite3.OperationalError("it was stopped")

    with (
        contextlib.closing(sqlite3.connect(f"{uri(path)}?mode=rw", uri=True)) as source,
        contextlib.closing(sqlite3.connect(f"{uri(target)}?mode=rw", uri=True)) as copy,
    ):
        # Nothing beside the copy, which is thrown away unless it is whole.
        copy.execute("PRAGMA journal_mode = MEMORY")
        copy.execute("PRAGMA synchronous = OFF")
        source.backup(copy, pages=_PAGES, progress=look)
        # It is opened by whoever looks at it, and then leaves no log beside it.
        copy.execute("PRAGMA journal_mode = DELETE")
        [(copied,)] = copy.execute("PRAGMA user_version").fetchall()
    if copied != version:
        raise sqlite3.OperationalError("another process has changed it meanwhile")
