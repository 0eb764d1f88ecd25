"""How a database of SQLite is opened that others may write to, without writing anything there."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.sessions.lines import CHANGED, read_head, read_range

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

MAGIC = b"SQLite format 3\x00"

_LOGS = ("-wal", "-journal")
_LOGGED_AT = 18
_LOGGED = b"\x02"
"""What stands there in a database that writes its changes to a log first."""

ALONE = "&immutable=1"
"""Behind the address of a database that nobody has open: reading it makes no file beside it."""

_COPY_BYTES = 1 << 20
_COPIES = 3


def address_of(path: Path) -> str | None:
    """Where to open the database so that its last rows are read and nothing is written to it.

    None where only a copy can be: it is packed, or its log would have to be shared anew.
    """
    head = read_head(path, _LOGGED_AT + 1)
    if not head.startswith(MAGIC):
        return None
    address = f"{path.absolute().as_uri()}?mode=ro"
    if head[_LOGGED_AT:] != _LOGGED:
        # Whoever writes to it waits for its readers.
        return address
    log = beside(path, "-wal")
    if log.exists() and beside(path, "-shm").exists():
        return address
    return None if has_bytes(log) else address + ALONE


def state_of(path: Path) -> list[tuple[int, int, int]]:
    """What changes when someone writes to the database or to a log beside it."""
    state: list[tuple[int, int, int]] = []
    for file in (path, *(beside(path, ending) for ending in _LOGS)):
        try:
            facts = file.stat()
        except OSError:
            state.append((0, 0, 0))
        else:
            # An empty log holds nothing, and comes and goes.
            mark = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
            state.append(mark if facts.st_size else (0, 0, 0))
    return state


def copied(path: Path, descriptor: int, scratch: Path, into: Unpacking) -> str:
    """The address of a copy of the database and of the logs beside it, all of one moment."""
    copy = scratch / "database"
    packed = read_head(path, len(MAGIC)) != MAGIC
    for _ in range(_COPIES):
        state = state_of(path)
        try:
            with copy.open("wb") as target:
                position, size = 0, os.fstat(descriptor).st_size
                while position < size:
                    end = min(size, position + _COPY_BYTES)
                    target.write(read_range(descriptor, position, end))
                    position = end
                    into.tell()
            for ending in () if packed else _LOGS:
                beside(copy, ending).unlink(missing_ok=True)
                if has_bytes(beside(path, ending)):
                    shutil.copyfile(beside(path, ending), beside(copy, ending))
        except FileNotFoundError:
            # A log went while the rest was copied.
            continue
        except OSError as error:
            raise SessionError(
                f"the database cannot be copied to {tempfile.gettempdir()}: {error.strerror};"
                " make room there, or name another folder in TMPDIR"
            ) from error
        if packed or state_of(path) == state:
            return copy.as_uri()
    raise SessionError(CHANGED)


def beside(path: Path, ending: str) -> Path:
    """A file that belongs to a database, by the ending of its name."""
    return path.with_name(path.name + ending)


def has_bytes(*paths: Path) -> bool:
    """Whether one of some files is there and holds something."""
    for path in paths:
        try:
            if path.stat().st_size > 0:
                return True
        except OSError:
            continue
    return False
