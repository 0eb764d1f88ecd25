"""What OpenCode's server sends to those who listen, saved as it came: `data: {…}` on a line."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

_START = re.compile(
    rb"\s*(?:(?:event|id|retry)?:[^\n]*\n\s*)*data:\s*\{[^\n]*?"
    rb"\"type\"\s*:\s*\"(?:server\.connected\"|session\.next\.|message\.(?:part\.)?(?:updated|delta))"
)
_DATA = b"data:"
_FIELDS = (b"event:", b"id:", b"retry:", b":")


class OpenCodeStream:
    """Unpacks the events of a stream, which begins with the word that one is connected."""

    name = "opencode-stream"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether the first event is that word, or surely one of this server."""
        return _START.match(start.removeprefix(b"\xef\xbb\xbf")) is not None

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write one record for each event."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(b"\xef\xbb\xbf").strip()
                if text.startswith(_DATA):
                    text = text.removeprefix(_DATA).lstrip()
                elif not text or text.startswith(_FIELDS):
                    continue
                # What is neither is kept, so that it is counted as every damaged record is.
                into.add(text, number, ended=line.endswith(b"\n"))
