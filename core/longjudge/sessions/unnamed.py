"""Files without a name in the folder for temporary ones: gone with the process."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import TYPE_CHECKING

from longjudge.errors import SessionError

if TYPE_CHECKING:
    from io import FileIO

KEPT_FREE = 64 << 20
"""So much is left for others on the disk, or in the memory where that is what it is."""


def open_unnamed() -> FileIO:
    """A new one, open for reading and writing.

    Raises:
        SessionError: it cannot be made.
    """
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError as error:
        raise SessionError(
            f"no temporary file can be made: {error.strerror}; name another folder in TMPDIR"
        ) from error


def append(descriptor: int, data: bytearray, written: int, what: str) -> None:
    """Write all of `data` behind what was written, with room left behind it.

    Raises:
        SessionError: there is no room; it begins with `what` (`the events do`).
    """
    view = memoryview(data)
    try:
        room = os.fstatvfs(descriptor)
        # A short session fits even where little is left.
        kept_free = min(KEPT_FREE, written)
        if room.f_bavail * room.f_frsize < len(view) + kept_free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise SessionError(
            f"{what} not fit into {tempfile.gettempdir()}: {error.strerror};"
            " make room there, or name another folder in TMPDIR"
        ) from error
    finally:
        view.release()
