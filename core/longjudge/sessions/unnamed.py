"""Files without a name in the folder for temporary ones: gone with the process."""

from __future__ import annotations

import errno
import os
import tempfile

from longjudge.errors import SessionError

KEPT_FREE = 64 << 20
"""So much is left for others on the disk, or in the memory where that is what it is."""


def append(descriptor: int, data: bytearray, kept_free: int, what: str) -> None:
    """Write all of `data`, with so much room left behind it.

    Raises:
        SessionError: there is no room; it begins with `what` (`the events do`).
    """
    view = memoryview(data)
    try:
        room = os.fstatvfs(descriptor)
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
