"""What a format tells of a companion goes into the session that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Severity

if TYPE_CHECKING:
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes
    from longjudge.sessions.retelling import Retelling


class ThreadTelling:
    """Takes what a format tells of a companion: all of it is one thread of the session.

    What the companion says of itself as a session counts for nothing here. Its records are
    numbered from `first` on, and its notes go to `notes`. `told` counts events.
    """

    def __init__(self, telling: Retelling, notes: Notes, thread: str, first: int) -> None:
        self.told = 0
        self.skipped = 0
        self._telling = telling
        self._notes = notes
        self._thread = thread
        self._first = first

    def event(
        self, event: Event, record: int, *, session: str = "", thread: str = MAIN_THREAD
    ) -> None:
        """Tell the next event of the thread, or of one that its agent started."""
        self.told += 1
        self._telling.event(event, self._first + record, thread=self._name(thread))

    def facts(
        self,
        *,
        session: str = "",
        id: str | None = None,
        title: str | None = None,
        started: str | None = None,
        ended: str | None = None,
    ) -> None:
        """Take nothing: it is said of the subagent."""

    def starts(
        self, thread: str, *, call_id: str, session: str = "", parent: str | None = None
    ) -> None:
        """Link a thread to a call of this one."""
        self._telling.starts(
            thread, call_id=call_id, parent=None if parent is None else self._name(parent)
        )

    def note(
        self,
        reason: str,
        record: int | None,
        severity: Severity = Severity.INFO,
        count: int = 1,
    ) -> None:
        """Count an oddity."""
        self._notes.add(reason, None if record is None else record + 1, severity, count)

    def skip(self, reason: str, record: int) -> None:
        """Count a record that is lost."""
        self.skipped += 1
        self._notes.add(reason, record + 1)

    def _name(self, thread: str) -> str:
        return self._thread if thread == MAIN_THREAD else thread
