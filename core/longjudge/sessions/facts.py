"""What the records of a file say about their session, beside its events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.model import EventKind

if TYPE_CHECKING:
    from longjudge.sessions.model import Event


@dataclass(slots=True)
class SessionFacts:
    """What the records say about their session.

    `said_title` and `said_end` are what they say of it as a whole, beside its events.
    """

    id: str | None = None
    title: str | None = None
    started: str | None = None
    ended: str | None = None
    said_title: str | None = None
    said_end: str | None = None

    def learn(self, event: Event) -> None:
        """Take the time of an event, and the title from the first message of the user."""
        if event.timestamp:
            self.started = self.started or event.timestamp
            self.ended = event.timestamp
        if self.title is None and event.kind is EventKind.USER_MESSAGE:
            self.title = event.body[:400]
