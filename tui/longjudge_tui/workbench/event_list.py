"""The events of one chunk, and the first ones of the next, with the boundary between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.sessions.model import EventKind
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import fault, line, plural
from longjudge_tui.workbench.thread_words import FIRST_KEY, call_words

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from longjudge.chunks import ChunkPlan, Piece
    from longjudge_tui.bench.texts import Texts

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

_FIRST_CHARS = 600


class EventList(LineList):
    """One row per event; `show_chunk` says of which chunk."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._texts: Texts | None = None
        self._plan: ChunkPlan | None = None
        self._position = 0
        self._head = 0
        self._shown = 0
        self._flagged: set[int] = set()
        self._is_hit: Callable[[int], bool] = _is_none
        self._spans_in: Callable[[str], Sequence[tuple[int, int]]] = _no_spans
        self._search = 0

    def show_chunk(
        self, texts: Texts, plan: ChunkPlan, position: int, event: int | None = None
    ) -> None:
        """Show the events of a chunk.

        An `event` is put on the line of the screen that the cursor is on, with the cursor on it:
        the list looks as before, though it is another one.
        """
        above = self.cursor - self.scroll_offset.y
        if texts is not self._texts:
            self._shown += 1
        self._texts, self._plan, self._position = texts, plan, position
        self._head = int(plan.begins_thread(position))
        chunk = plan[position]
        ahead = 0
        if position + 1 < len(plan):
            after = plan[position + 1]
            ahead = min(AHEAD, after.last - after.first + 1)
        rows = self._head + chunk.last - chunk.first + 2 + ahead
        if event is None:
            self.reset_rows(rows, self._head)
            if self._head:
                self.scroll_to(y=0, animate=False, force=True)
            return
        row = self.row_of(event)
        self.reset_rows(rows, row, follow=False)
        self.scroll_to(y=max(0, row - above), animate=False, force=True)

    def show_nothing(self) -> None:
        """Show no rows."""
        self._texts = self._plan = None
        self._head = 0
        self.reset_rows(0)

    def mark_flagged(self, events: set[int]) -> None:
        """Mark the events that findings name."""
        if events != self._flagged:
            self._flagged = events
            self.refresh()

    def find_hits(
        self, is_hit: Callable[[int], bool], spans_in: Callable[[str], Sequence[tuple[int, int]]]
    ) -> None:
        """Ask from now on which events a search has found, and where in the line that is drawn."""
        self._is_hit, self._spans_in = is_hit, spans_in

    def mark_hits(self, *, anew: bool) -> None:
        """Mark what a search has found since, or another search has (`anew`)."""
        self._search += anew
        self._refresh_changed()

    def event_at(self, row: int) -> int | None:
        """The event of a row, None for the boundary and for the row where a thread begins."""
        row -= self._head
        if self._plan is None or row < 0:
            return None
        chunk = self._plan[self._position]
        count = chunk.last - chunk.first + 1
        if row < count:
            return chunk.first + row
        if row == count or self._position + 1 >= len(self._plan):
            return None
        return self._plan[self._position + 1].first + row - count - 1

    def call_at(self, row: int) -> int | None:
        """The call that started the thread that begins in a row; None where none does."""
        if self._plan is None or row >= self._head:
            return None
        return self._plan.thread_of(self._position).call

    def is_head(self, row: int) -> bool:
        """Whether a row says which thread begins."""
        return row < self._head

    def piece_at(self, row: int) -> Piece | None:
        """The piece of a row's event that is in the row's chunk."""
        if self._plan is None:
            return None
        if self._is_own(row):
            return self._plan[self._position].piece
        return (
            self._plan[self._position + 1].piece if self._position + 1 < len(self._plan) else None
        )

    def _is_own(self, row: int) -> bool:
        """Whether a row's event is one of the chunk, not of the next one."""
        if self._plan is None:
            return False
        own = self._plan[self._position]
        return row - self._head <= own.last - own.first

    def row_of(self, event: int) -> int:
        """The row of an event of the chunk."""
        return self._head + event - self._plan[self._position].first if self._plan else 0

    def row_facts(self, row: int) -> Hashable:
        """The session, the event and its piece, and whether it is the chunk's own, flagged, found.

        At the boundary, what begins there: other rows look the same however the session is cut.
        """
        event, plan = self.event_at(row), self._plan
        if self.is_head(row):
            return self._shown, plan[self._position] if plan else None, True
        if event is None:
            after = self._position + 1
            return self._shown, plan[after] if plan and after < len(plan) else None
        own = self._is_own(row)
        at_hand = self._texts is None or self._texts.at_hand(event)
        hit = (self._is_hit(event), self._search)
        return self._shown, event, self.piece_at(row), own, event in self._flagged, at_hand, hit

    def row_cells(self, row: int, width: int) -> Cells:
        """Number, kind or tool, first line; or the boundary."""
        texts, plan = self._texts, self._plan
        if texts is None or plan is None:
            return []
        if self.is_head(row):
            return [(f"── {self._thread_words(plan, self._position)} ".ljust(width, "─"), "strong")]
        event = self.event_at(row)
        if event is None:
            return [(self._boundary(plan, width), "strong")]
        own = self._is_own(row)
        chunk = plan[self._position] if own else plan[self._position + 1]
        digits = max(3, len(str(len(texts.session.index))))
        is_hit = self._is_hit(event)
        found = is_hit and event not in self._flagged
        mark = "⚑" if event in self._flagged else " "
        cells: Cells = [
            (f"{event:>{digits}}", "hit" if is_hit else "dim"),
            ("»", "active") if found else (mark, "flagged"),
        ]
        if chunk.piece:
            cells.append((f"[piece {chunk.piece.number} of {chunk.piece.of}] ", "strong"))
        *head, (first, look) = _event_cells(texts, event, "plain" if own else "dim")
        spans = self._spans_in(first) if is_hit else ()
        return [*cells, *head, *_split(first, look, spans)]

    def _boundary(self, plan: ChunkPlan, width: int) -> str:
        if self._texts is not None and self._texts.session.partial:
            words = "the rest is being read"
        elif self._position + 1 >= len(plan):
            words = "end of the session"
        else:
            after = plan[self._position + 1]
            words = f"part {after.part} starts"
            if plan.begins_thread(self._position + 1):
                words += f" · {self._thread_words(plan, self._position + 1)}"
        return f"── {words} ".ljust(width, "─")

    def _thread_words(self, plan: ChunkPlan, position: int) -> str:
        """The thread of a chunk, and the call that started it."""
        thread = plan.thread_of(position)
        name = f"thread {line(thread.name, 40)}"
        if thread.call is None or self._texts is None:
            return name
        return f"{name} {call_words(self._texts, thread.call)}"


def _event_cells(texts: Texts, number: int, look: str) -> Cells:
    """Kind or tool, and the first line; of what is still to be read, its size."""
    index = texts.session.index
    kind = index.kind(number)
    try:
        tool, body = _beginning(texts, number)
    except SessionError as error:
        return [(f"! {line(fault(str(error), texts.session.name))}", "gap")]
    if kind is EventKind.TOOL_CALL:
        body = FIRST_KEY.sub("", body, count=1)
    head = f"{KIND_GLYPHS[kind]} {line(tool, 40)}".rstrip()
    first = line(body.partition("\n")[0])
    is_error = bool(index.errors[number])
    error = is_error or kind is EventKind.ERROR
    head_look = "gap" if error else "active" if kind is EventKind.TOOL_CALL else "dim"
    failed = [("(error) ", "gap")] if is_error else []
    return [(head + " ", head_look), *failed, (first, look)]


def _split(words: str, look: str, spans: Sequence[tuple[int, int]]) -> Cells:
    """A line with what was found in it standing out."""
    cells: Cells = []
    here = 0
    for low, high in spans:
        cells += [(words[here:low], look), (words[low:high], "hit")]
        here = high
    return [*cells, (words[here:], look)]


def _is_none(event: int) -> bool:
    """Nothing is searched for."""
    return False


def _no_spans(words: str) -> Sequence[tuple[int, int]]:
    """Nothing is searched for."""
    return ()


def _beginning(texts: Texts, number: int) -> tuple[str, str]:
    """Tool and first characters of an event.

    Raises:
        SessionError: the file no longer holds it.
    """
    index = texts.session.index
    if not texts.is_slow(number):
        event = texts.session.event(number)
        return event.tool or "", event.body[:_FIRST_CHARS].lstrip()
    text = texts.get(number) if texts.at_hand(number) else None
    if text is None:
        return index.tool(number), plural(index.chars[number], "character")
    return index.tool(number), text[: 2 * _FIRST_CHARS].partition("\n")[2].lstrip()
