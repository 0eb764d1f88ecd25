"""The events of one chunk, and the first ones of the next, with the boundary between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.sessions.model import EventKind
from longjudge_tui.line_list import Cells, LineList
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge.chunks import ChunkPlan
    from longjudge.sessions import Session

AHEAD = 6
"""Events of the next chunk that are shown after the boundary."""

KIND_GLYPHS: dict[EventKind, str] = {
    EventKind.USER_MESSAGE: "◆ user",
    EventKind.ASSISTANT_MESSAGE: "◇ assistant",
    EventKind.THINKING: "∙ thinking",
    EventKind.TOOL_CALL: "▸",
    EventKind.TOOL_RESULT: "◂",
    EventKind.SYSTEM: "∙ system",
    EventKind.ERROR: "! error",
}

_FIRST_KEY = re.compile(r"\A\w{1,30}: ")
_FIRST_CHARS = 600


class EventList(LineList):
    """One row per event; `show_chunk` says of which chunk."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._session: Session | None = None
        self._plan: ChunkPlan | None = None
        self._position = 0
        self._shown = 0
        self._flagged: set[int] = set()

    def show_chunk(self, session: Session, plan: ChunkPlan, position: int) -> None:
        """Show the events of a chunk."""
        self._session, self._plan, self._position = session, plan, position
        self._shown += 1
        chunk = plan[position]
        ahead = 0
        if position + 1 < len(plan):
            after = plan[position + 1]
            ahead = min(AHEAD, after.last - after.first + 1)
        self.reset_rows(chunk.last - chunk.first + 2 + ahead)

    def show_nothing(self) -> None:
        """Show no rows."""
        self._session = self._plan = None
        self.reset_rows(0)

    def mark_flagged(self, events: set[int]) -> None:
        """Mark the events that findings name."""
        if events != self._flagged:
            self._flagged = events
            self.refresh()

    def event_at(self, row: int) -> int | None:
        """The event of a row, None for the boundary."""
        if self._plan is None:
            return None
        chunk = self._plan[self._position]
        count = chunk.last - chunk.first + 1
        if row < count:
            return chunk.first + row
        if row == count or self._position + 1 >= len(self._plan):
            return None
        return self._plan[self._position + 1].first + row - count - 1

    def row_of(self, event: int) -> int:
        """The row of an event of the chunk."""
        return event - self._plan[self._position].first if self._plan else 0

    def row_facts(self, row: int) -> tuple[int, bool]:
        """Which list it is in, and whether a finding names the event."""
        return self._shown, self.event_at(row) in self._flagged

    def row_cells(self, row: int, width: int) -> Cells:
        """Number, kind or tool, first line; or the boundary."""
        session, plan = self._session, self._plan
        if session is None or plan is None:
            return []
        event = self.event_at(row)
        if event is None:
            return [(self._boundary(plan, width), "strong")]
        own = row < plan[self._position].last - plan[self._position].first + 1
        chunk = plan[self._position] if own else plan[self._position + 1]
        digits = max(3, len(str(len(session.index))))
        mark = "⚑" if event in self._flagged else " "
        cells: Cells = [(f"{event:>{digits}}", "dim"), (mark, "flagged")]
        if chunk.piece:
            cells.append((f"[piece {chunk.piece.number} of {chunk.piece.of}] ", "strong"))
        return [*cells, *_event_cells(session, event, "plain" if own else "dim")]

    def _boundary(self, plan: ChunkPlan, width: int) -> str:
        if self._position + 1 >= len(plan):
            words = "end of the session"
        else:
            after = plan[self._position + 1]
            words = f"part {after.part} starts"
            if after.thread != plan[self._position].thread:
                words += f" · thread {line(after.thread, 40)}"
        return f"── {words} ".ljust(width, "─")


def _event_cells(session: Session, number: int, look: str) -> Cells:
    try:
        event = session.event(number)
    except SessionError as error:
        return [(line(str(error)), "gap")]
    tool = line(event.tool or "", 40)
    head = f"{KIND_GLYPHS[event.kind]} {tool}".rstrip()
    body = event.body[:_FIRST_CHARS].lstrip()
    if event.kind is EventKind.TOOL_CALL:
        body = _FIRST_KEY.sub("", body, count=1)
    first = line(body.partition("\n")[0])
    error = event.is_error or event.kind is EventKind.ERROR
    head_look = "gap" if error else "active" if event.kind is EventKind.TOOL_CALL else "dim"
    failed = [("(error) ", "gap")] if event.is_error else []
    return [(head + " ", head_look), *failed, (first, look)]
