"""The chunk under the workbench's cursor: its events, and the text that is shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from longjudge.sessions import EventPlace, same_event
from longjudge.states import ChunkState
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import fault, line
from longjudge_tui.workbench.detail_panel import Passage, View
from longjudge_tui.workbench.evidence_actions import EvidenceActions

if TYPE_CHECKING:
    from longjudge.chunks import ChunkPlan, Piece
    from longjudge.disputes import RuleFinding
    from longjudge.sessions import Session
    from longjudge_tui.bench.first_events import FirstEvents
    from longjudge_tui.bench.texts import Texts


class ChunkInSight(EvidenceActions):
    """The part of the workbench that shows one chunk; its lists are the workbench's own.

    The text is what the chunk begins with, or why it has no verdict, until someone looks closer.
    """

    def __init__(self) -> None:
        super().__init__()
        self._at_chunk = True
        self._texts: Texts | None = None
        self._plan_in_sight: tuple[ChunkPlan, int] | None = None
        self._anchor: tuple[Session | None, int] = (None, 0)
        self._carried: Passage | None = None
        self._left: tuple[EventPlace, bool] | None = None
        self._chunk_behind = False

    def _show_chunk_in_plan(self) -> None:
        """The same place of another plan: it stays the place, however often the plan changes."""
        self._chunk_behind = False
        outlook, kept_in_sight = self.bench.outlook, self._anchor
        if outlook is not None and self._plan_in_sight == (outlook.plan, self.chunks.position):
            # Another judgment of the same chunk: whatever of it is looked at stays.
            self._follow_chunk()
            self.show_findings()
            return
        self._show_chunk(self.chunks.position)
        session = self.bench.session
        if session is not None and session is kept_in_sight[0]:
            self._anchor = kept_in_sight
        self._carried = None
        self.show_findings()

    @property
    def _event_here(self) -> int:
        """The event that is in sight."""
        if self.detail.passage is not None:
            return self.detail.passage.event
        outlook = self.bench.outlook
        plan = outlook.plan if outlook is not None else ()
        here = self.chunks.position
        return plan[here].first if here < len(plan) else 0

    @property
    def _here(self) -> tuple[int, int]:
        passage, outlook = self.detail.passage, self.bench.outlook
        if passage is None or outlook is None:
            return self.chunks.position, self._event_here
        number = passage.piece.number if passage.piece is not None else 1
        return outlook.plan.part_of(passage.event) + number - 2, passage.event

    def _place_in_plan(self) -> int:
        """The chunk that holds the event where one was, however the session is cut now."""
        self._carry_over()
        session, event = self._anchor
        outlook = self.bench.outlook
        if outlook is None or session is not self.bench.session:
            return 0
        place = outlook.plan.part_of(event) - 1
        piece = outlook.plan[place].piece
        if piece is None or self._carried is None or self._carried.piece is None:
            return place
        return place + min(self._carried.piece.number, piece.of) - 1

    def _carry_over(self) -> None:
        """Find what was looked at in the session that stands in place of the one it was read in."""
        bench, before = self.bench, self.bench.before
        bench.before, self._carried = None, None
        session, event = self._anchor
        if before is None or before is not session or bench.session is None:
            return
        row = self.events.cursor
        at = self.events.event_at(row)
        event = event if at is None else at
        if event == 0 and self._left is not None:
            # Nobody has moved through the first events.
            place, self._at_chunk = self._left
            event = place.event_of(bench.session)
        elif before is not bench.session:
            event = same_event(before, event, bench.session)
        self._left = None
        self._anchor = bench.session, event
        self._carried = Passage(event, self.events.piece_at(row))

    def _follow_chunk(self) -> None:
        """Let the text say what has become of the chunk, unless it shows what someone looks at."""
        position, passage = self.chunks.position, self.detail.passage
        closer = self.focused in (self.events, self.detail.view)
        closer = closer or self.detail.look is not View.EVENT
        untouched = self._at_chunk and (passage is None or not closer)
        if self._is_gap(position):
            if untouched:
                self._show_gap(position)
        elif passage is None or (untouched and self._dispute(position)):
            self._show_start(position)

    def _show_chunk(self, position: int) -> None:
        texts, outlook = self.bench.texts, self.bench.outlook
        self._plan_in_sight = None
        title = self.query_one("#events-title", FittedLine)
        if self.bench.first is not None:
            self._show_first(self.bench.first)
            return
        if texts is None or outlook is None or not len(outlook.plan):
            self.events.show_nothing()
            title.show("EVENTS")
            self.detail.show_nothing()
            return
        chunk = outlook.plan[position]
        self._anchor = texts.session, chunk.first
        event = self._carried.event if self._carried is not None else -1
        here = event if chunk.first <= event <= chunk.last else None
        self.events.show_chunk(texts, outlook.plan, position, here)
        numbers = f"{chunk.first}-{chunk.last}" if chunk.last > chunk.first else f"{chunk.first}"
        piece = f" · piece {chunk.piece.number} of {chunk.piece.of}" if chunk.piece else ""
        thread = f" · {line(chunk.thread, 40)}"
        name = f"EVENTS of part {chunk.part}"
        title.show(f"{name} ({numbers}){piece}{thread}", f"{name} ({numbers}){piece}", name)
        self._plan_in_sight = outlook.plan, position
        if here is not None and not self._at_chunk:
            # What someone looks at more closely stays, of a session that is the same as well.
            if not self.detail.shows(texts):
                self._show_passage(Passage(here, self.events.piece_at(self.events.cursor)))
        elif self._is_gap(position):
            self._show_gap(position)
        else:
            self._show_start(position)

    def _show_first(self, first: FirstEvents) -> None:
        """Show the first events of a session that is still being read."""
        session, event = self._anchor
        self._left = None
        if session is not None and _is_same(session, first.session):
            # It was let go of, to be read again from its beginning.
            row = self.events.event_at(self.events.cursor)
            self._left = EventPlace.of(session, event if row is None else row), self._at_chunk
        self._anchor = first.session, 0
        self.events.show_chunk(first.texts, first.stretch, 0)
        words = f"FIRST EVENTS (0-{len(first.session.index) - 1})"
        not_all = f"{words} · the others are not read yet"
        self.query_one("#events-title", FittedLine).show(not_all, words)
        self._show_passage(Passage(0, None))
        self._texts, self._at_chunk = first.texts, True

    def _show_start(self, position: int) -> None:
        """Show what a chunk begins with, or what only the offline rules have found in it."""
        texts, outlook = self.bench.texts, self.bench.outlook
        if texts is None or outlook is None or not len(outlook.plan):
            return
        chunk, dispute = outlook.plan[position], self._dispute(position)
        first = Passage(chunk.first, chunk.piece)
        if dispute is not None:
            event = chunk.first if dispute.event is None else dispute.event
            first = Passage(event, chunk.piece, dispute)
        # A drag leaves the text as it is: wrapping it again would take as long as planning.
        if self.detail.passage != first or self._texts is not texts:
            self._show_passage(first)
            if dispute is not None:
                with self.prevent(LineList.Moved):
                    self.events.move_to(self.events.row_of(first.event))
        self._texts = texts
        self._at_chunk = True

    def _dispute(self, position: int) -> RuleFinding | None:
        """What the offline rules find first in a chunk that the model called clean."""
        records = self.bench.records
        found = records.dispute(position) if records is not None else ()
        return next(iter(found), None)

    def _is_gap(self, position: int) -> bool:
        records = self.bench.records
        return records is not None and records.record(position).state is ChunkState.GAP

    def _show_gap(self, position: int) -> None:
        """Say in full why a chunk has no verdict."""
        run, session = self.bench.run, self.bench.session
        if run is None or session is None:
            return
        error = run.result.error if run.result is not None else None
        self.detail.show_gap(position + 1, run.record(position), fault(error or "", session.name))
        self._at_chunk = True

    def _show_passage(self, passage: Passage) -> None:
        texts = self.bench.texts_at_hand
        if texts is not None:
            self.detail.show_passage(texts, passage)
            self.findings.point_at(passage.finding)
            self._at_chunk = False

    def _passage_at(self, event: int, piece: Piece | None) -> Passage:
        """An event as it is opened: with what was found in it."""
        return Passage(event, piece, self._found_at(event, piece))

    def _show_event_at(self, row: int) -> None:
        if self._behind or self._chunk_behind:
            # The rows are still those of another plan, perhaps of another session.
            return
        number = self.events.event_at(row)
        if number is not None:
            self._show_passage(self._passage_at(number, self.events.piece_at(row)))

    @on(LineList.Moved, "#chunks")
    def chunk_moved(self, event: LineList.Moved) -> None:
        """Show the events of the chunk under the cursor."""
        if event.row == self.chunks.cursor and not self._behind:
            self._show_chunk(self.chunks.position)

    @on(LineList.Moved, "#events")
    def event_moved(self, event: LineList.Moved) -> None:
        """Show the text of the event under the cursor."""
        if event.row == self.events.cursor:
            self._show_event_at(event.row)

    @on(LineList.Opened, "#chunks")
    def chunk_opened(self, event: LineList.Opened) -> None:
        """Go on to the chunk's events; from a gap, to what is known about it."""
        position = self.chunks.position
        if not self._behind and self._is_gap(position):
            self._show_gap(position)
            self.set_focus(self.detail.view)
        else:
            self.set_focus(self.events)

    @on(LineList.Opened, "#events")
    def event_opened(self, event: LineList.Opened) -> None:
        """Go on to the event's text; from a boundary, to the next chunk, or to what began it."""
        if self.events.is_head(event.row):
            self._go_to_call(self.events.call_at(event.row))
        elif self.events.event_at(event.row) is None:
            self.chunks.go_to(self.chunks.position + 1)
        else:
            if self._at_chunk:
                self._show_event_at(event.row)
            self.set_focus(self.detail.view)

    def _go_to_call(self, call: int | None) -> None:
        """Go to the call that started a thread; where nothing says which it was, stay."""
        outlook = self.bench.outlook
        if call is None or outlook is None or self._behind:
            return
        position = outlook.plan.part_of(call) - 1
        with self.prevent(LineList.Moved):
            self.chunks.go_to(position, middle=True)
            self._show_chunk(position)
            self.events.move_to(self.events.row_of(call), middle=True)
        self._show_event_at(self.events.cursor)


def _is_same(session: Session, other: Session) -> bool:
    return (session.path, session.id) == (other.path, other.id)
