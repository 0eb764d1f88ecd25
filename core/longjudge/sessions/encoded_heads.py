"""The first lines of events' texts, encoded: few different ones make a session."""

from __future__ import annotations

from longjudge.sessions.model import Event, EventKind

_MOST = 1024

Head = tuple[EventKind, str | None, bool | None]


class EncodedHeads(dict[Head, tuple[bytes, int]]):
    """By kind, tool and error: the header with its newline, and its characters."""

    def __missing__(self, key: Head) -> tuple[bytes, int]:
        kind, tool, is_error = key
        header = Event(kind, "", tool, None, is_error).header + "\n"
        if len(self) >= _MOST:
            self.clear()
        self[key] = encoded = (header.encode(), len(header))
        return encoded
