"""What the workbench does with a search: type it, go from hit to hit, and back again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.widgets import Input

from longjudge_tui.bench.layout import Panel
from longjudge_tui.commands import COMMANDS, LETTERS, Scope
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.workbench.chunk_in_sight import ChunkInSight
from longjudge_tui.workbench.detail_panel import View
from longjudge_tui.workbench.search_row import SearchField, SearchRow, below_words

if TYPE_CHECKING:
    from textual import events
    from textual.widget import Widget

    from longjudge.result import ResultFinding
    from longjudge.sessions import Session
    from longjudge_tui.bench.finding_search import FoundIn
    from longjudge_tui.workbench.detail_panel import Passage

_COMMANDS = {key: each.id for each in COMMANDS if each.scope is Scope.SEARCH for key in each.keys}


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where someone was when the search began: the event in sight, how it was shown, the keys.

    `listed` is the finding under the cursor of the list.
    """

    session: Session
    event: int
    passage: Passage | None
    focused: Widget | None
    tops: tuple[int, int]
    listed: ResultFinding | None


class SearchActions(ChunkInSight):
    """The part of the workbench that searches; its lists are the workbench's own."""

    def __init__(self) -> None:
        super().__init__()
        self._spot: _Spot | None = None
        self._wrapped = ""
        self._searched: tuple[object, int] = (None, 0)

    def on_mount(self) -> None:
        """Let what is found stand out wherever it is shown."""
        searching = self.bench.searching
        self.detail.find_hits = searching.spans
        self.events.find_hits(searching.holds, searching.spans_in_line)

    def leave_field(self) -> bool:
        """Take what is typed in a field; False where it was refused."""
        raise NotImplementedError

    def tick(self) -> None:
        """Paint what changed."""
        raise NotImplementedError

    @property
    def _row(self) -> SearchRow:
        return self.query_one(SearchRow)

    def action_search(self) -> None:
        """Type what to search for; what was typed before may be changed."""
        self.leave_field()
        searching = self.bench.searching
        if not searching.is_on:
            self._spot = self._spot_here()
            self._row.field.value = ""
        searching.open(self.bench.session)
        self._row.add_class("-on")
        self.set_focus(self._row.field)
        self._row.field.select_all()
        self._show_search()

    def action_next_hit(self) -> None:
        """Go to the next hit; where no event holds it, to the first finding that does."""
        if not self._went_to_finding():
            self._want(1)

    def action_previous_hit(self) -> None:
        """Go to the previous hit."""
        self._want(-1)

    def action_end_search(self) -> None:
        """End the search and go back to where it began."""
        spot = self._spot
        self._end_search()
        if spot is not None:
            self._go_back(spot)
        elif self.focused is self._row.field:
            self.set_focus(self.chunks)

    @on(Input.Changed, "#search")
    def search_typed(self, event: Input.Changed) -> None:
        """Search for it; what was searched for before is searched for no more."""
        if self.bench.searching.is_on:
            # As it is now: what says so may come late.
            self._search_for(event.input.value)

    @on(SearchField.Left)
    def search_left(self, event: SearchField.Left) -> None:
        """Go to the first hit from here on, or back; nothing typed is no search."""
        if not event.to_hit:
            self.action_end_search()
            return
        if not event.typed.strip():
            focused = self._spot.focused if self._spot is not None else None
            self._end_search()
            self.set_focus(focused or self.chunks)
            return
        self._search_for(event.typed)
        if self._went_to_finding():
            return
        # A hit is marked in the text as well, which may be all that is in sight.
        self.set_focus(self.detail.view if self.maximised is Panel.TEXT else self.events)
        self._want(0)

    def on_key(self, event: events.Key) -> None:
        """While a search is on, its keys are its own; a closer look is left before it is."""
        name = _COMMANDS.get(event.key)
        searching = self.bench.searching
        if name is None or not searching.is_on:
            return
        if name == "end_search":
            if self.detail.look is not View.EVENT:
                return
            self.action_end_search()
        elif name == "next_hit":
            self.action_next_hit()
        else:
            self._want(-1)
        event.stop()
        event.prevent_default()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the field every letter is one, also where it is a command's key elsewhere."""
        return not isinstance(self.focused, SearchField) or action not in LETTERS

    def follow_search(self) -> None:
        """Go to what was found meanwhile, and say how far the search is."""
        searching = self.bench.searching
        if not searching.is_on:
            if self._row.has_class("-on"):
                self._end_search()
            return
        if searching.follow(self.bench.session):
            self._spot = None
        while (step := searching.step(self._event_here)) is not None:
            self._wrapped = step.wrapped
            self._go_to_hit(step.event)
        if self.detail.follow_hits() and searching.at is not None:
            self._go_to_hit(searching.at)
        self._show_search()

    def _found_in(self) -> FoundIn:
        """The findings that hold what no event does."""
        labels = {each.id: each.label for each in self.bench.rubric.criteria}
        return self.bench.searching.in_findings(self.bench.records, labels)

    def _went_to_finding(self) -> bool:
        """End a search that no event answers at the first finding that does, if that is known."""
        finding = self._found_in().first
        if finding is not None:
            self._end_search()
            self.lead_to(finding)
        return finding is not None

    def _want(self, direction: int) -> None:
        self._wrapped = ""
        self.bench.searching.want(direction)
        self.follow_search()

    def _search_for(self, typed: str) -> None:
        searching = self.bench.searching
        if typed != searching.typed:
            self._wrapped = ""
            searching.begin(self.bench.session, typed)
            self._show_search()

    def _end_search(self) -> None:
        self.bench.searching.end()
        self._spot, self._wrapped = None, ""
        self._row.remove_class("-on")
        self._say_below("")
        self._mark_hits()

    def _show_search(self) -> None:
        searching = self.bench.searching
        self._row.show_hits(searching, self._wrapped)
        typing = self.focused is self._row.field
        instead = below_words(searching, self._found_in(), typing=typing)
        self._say_below(*(instead or [searching.fault]), fault=not instead)
        self._mark_hits()

    def _say_below(self, *said: str, fault: bool = False) -> None:
        words = self.query_one("#search-words", FittedLine)
        words.show(*said)
        words.set_class(any(said), "-on")
        words.set_class(fault, "-fault")

    def _mark_hits(self) -> None:
        """Draw what became a hit, or is none any more."""
        searching = self.bench.searching
        state = (searching.typed, len(searching.hits))
        if state != self._searched:
            anew = state[0] != self._searched[0]
            self._searched = state
            self.events.mark_hits(anew=anew)
            self.detail.mark_hits()

    def _spot_here(self) -> _Spot | None:
        session = self.bench.session
        if session is None or not len(session.index):
            return None
        event = self.events.event_at(self.events.cursor)
        passage = None if self._at_chunk else self.detail.passage
        tops = self.chunks.scroll_offset.y, self.events.scroll_offset.y
        here = self._event_here if event is None else event
        return _Spot(session, here, passage, self.focused, tops, self.findings.here)

    def _go_to_hit(self, event: int) -> None:
        texts, outlook = self.bench.texts, self.bench.outlook
        if texts is None or outlook is None:
            return
        position = self._part_of_hit(event)
        self._show_row(position, event)
        passage = self._passage_at(event, outlook.plan[position].piece)
        self.detail.show_passage(texts, passage, to_hit=True)
        self.findings.point_at(passage.finding)
        self._at_chunk = False

    def _part_of_hit(self, event: int) -> int:
        """The chunk of an event; of one in pieces, of the piece with the first hit in it."""
        texts, outlook = self.bench.texts, self.bench.outlook
        assert texts is not None
        assert outlook is not None
        plan = outlook.plan
        position = plan.part_of(event) - 1
        if plan[position].piece is None:
            return position
        text = texts.get(event) if texts.at_hand(event) else None
        spans = self.bench.searching.spans(event, text) if text is not None else None
        while spans and (piece := plan[position].piece) is not None and piece.end <= spans[0][0]:
            position += 1
        return position

    def _show_row(self, position: int, event: int, *, unfold: bool = True) -> None:
        if self._behind or self._chunk_behind:
            self.tick()
        with self.prevent(LineList.Moved):
            self.chunks.go_to(position, middle=True, unfold=unfold)
            self._show_chunk(position)
            self.events.move_to(self.events.row_of(event), middle=True)

    def _go_back(self, spot: _Spot) -> None:
        outlook, texts = self.bench.outlook, self.bench.texts
        if spot.session is self.bench.session and outlook is not None and texts is not None:
            position = outlook.plan.part_of(spot.event) - 1
            self._show_row(position, spot.event, unfold=False)
            self.findings.point_at(spot.listed)
            if spot.passage is not None:
                self._show_passage(spot.passage)
            for lines, top in zip((self.chunks, self.events), spot.tops, strict=True):
                lines.scroll_to(y=top, animate=False, force=True)
        self.set_focus(spot.focused if spot.focused is not None else self.chunks)
