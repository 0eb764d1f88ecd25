"""What a session asks of whatever holds its bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions.model import Event
    from longjudge.sessions.search_places import Place


class Source(Protocol):
    """Where the bodies are: the events of one record, and the record as it stands."""

    def record_events(self, record: int) -> Sequence[Event]:
        """All events that the record holds, in order, before duplicates are dropped."""
        ...

    def record_bytes(self, record: int) -> bytes:
        """The record as it stands in the file."""
        ...

    def record_line(self, record: int) -> int | None:
        """The record's line in its file, from 1; None where the file has no lines of records."""
        ...

    def record_file(self, record: int) -> str | None:
        """The file that the record stands in, None for events in memory."""
        ...

    def places(self) -> Sequence[Place]:
        """Where the records stand, to be searched; whoever asks closes them.

        Raises:
            SessionError: the file was let go of.
        """
        ...

    def forget(self) -> None:
        """Read everything anew from now on."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
