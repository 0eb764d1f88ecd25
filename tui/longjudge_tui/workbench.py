"""The one screen: chunks, events, settings, findings, and the text of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen

from longjudge.errors import SessionError, UsageError
from longjudge_tui.chunk_list import ChunkList
from longjudge_tui.commands import Scope, bindings
from longjudge_tui.detail import DetailView
from longjudge_tui.event_list import EventList
from longjudge_tui.findings_list import FindingsList
from longjudge_tui.line_list import LineList
from longjudge_tui.lines import CommandPressed, FittedLine, KeyBar
from longjudge_tui.live import findings_title, header_variants, live_line, status_line
from longjudge_tui.settings_panel import SettingsPanel
from longjudge_tui.wording import line, plan_variants, plural

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge_tui.bench import Bench

PAINTS_PER_SECOND = 10
SHORT_LIMIT = 0.5
TOTALS_EVERY = 5


class Workbench(Screen[None]):
    """Reads the bench about ten times a second and paints what changed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.SCREEN)]
    AUTO_FOCUS = "#chunks"

    class Close(Message):
        """There is nothing to show; the bench's `fatal` says why."""

    class HelpWanted(Message):
        """The keys are asked for."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self._generation = -1
        self._had_result = False
        self._ticks = 0

    def compose(self) -> ComposeResult:
        """The layout; the stylesheet says where each panel stands."""
        yield FittedLine(id="header")
        with Container(id="top"):
            yield SettingsPanel(self.bench, id="settings")
            with Vertical(id="chunks-panel", classes="panel"):
                yield FittedLine(id="chunks-title", classes="title")
                yield ChunkList(self.bench, id="chunks")
            with Vertical(id="events-panel", classes="panel"):
                yield FittedLine(id="events-title", classes="title")
                yield EventList(id="events")
        yield FittedLine(id="live")
        yield FittedLine(id="status")
        with Container(id="bottom"):
            with Vertical(id="findings-panel", classes="panel"):
                yield FittedLine(id="findings-title", classes="title")
                yield FindingsList(id="findings")
            with Vertical(id="detail-panel", classes="panel"):
                yield FittedLine(id="detail-title", classes="title")
                yield DetailView(id="detail")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin to paint."""
        self.chunks = self.query_one("#chunks", ChunkList)
        self.events = self.query_one("#events", EventList)
        self.detail = self.query_one("#detail", DetailView)
        self.findings = self.query_one("#findings", FindingsList)
        self.settings = self.query_one("#settings", SettingsPanel)
        self.tick()
        self.set_interval(1 / PAINTS_PER_SECOND, self.tick)

    def tick(self) -> None:
        """Paint what changed since the last time."""
        bench = self.bench
        bench.raise_failure()
        if bench.fatal is not None:
            self.post_message(self.Close())
            return
        for notice in bench.notices:
            self.notify(line(notice, 500), markup=False)
        bench.notices.clear()
        if bench.generation != self._generation:
            self._show_plan()
        elif bench.run is not None:
            self._show_progress()
        self._show_lines()

    def _show_plan(self) -> None:
        """The plan is another one, or the judgment is."""
        bench = self.bench
        self._generation = bench.generation
        self._had_result = False
        outlook = bench.outlook
        cursor = self.chunks.cursor if bench.run is not None else 0
        self.chunks.reset_rows(len(outlook.plan) if outlook else 0, cursor)
        self._show_chunk(self.chunks.cursor)
        self._show_findings()

    def _show_progress(self) -> None:
        run = self.bench.run
        if run is None:
            return
        dirty = run.take_dirty()
        self.chunks.refresh_rows(sorted(dirty))
        ended = run.result is not None
        if ended and not self._had_result:
            self.chunks.refresh()
        if dirty or ended != self._had_result:
            self._ticks += 1
            if self._ticks % TOTALS_EVERY == 0 and not ended:
                self.bench.refresh_totals()
            self._show_findings()
        self._had_result = ended

    def _show_findings(self) -> None:
        run = self.bench.run
        self.findings.show_findings(run.findings() if run else [])
        self.events.mark_flagged(run.flagged_events() if run else set())

    def _show_lines(self) -> None:
        bench = self.bench
        outlook = bench.outlook
        label = line(bench.judge.label, 40)
        self.query_one("#header", FittedLine).show(*header_variants(bench), right=label)
        titles = plan_variants(outlook.totals) if outlook else ["CHUNKS"]
        self.query_one("#chunks-title", FittedLine).show(*titles)
        self.query_one("#live", FittedLine).show(*live_line(bench))
        status = self.query_one("#status", FittedLine)
        status.show(status_line(bench))
        status.set_class(bool(bench.store_error or bench.problem), "-alarm")
        self.query_one("#findings-title", FittedLine).show(findings_title(self.findings.findings))

    def _show_chunk(self, position: int) -> None:
        session, outlook = self.bench.session, self.bench.outlook
        title = self.query_one("#events-title", FittedLine)
        if session is None or outlook is None or not len(outlook.plan):
            self.events.show_nothing()
            title.show("EVENTS")
            self._show_event(None)
            return
        chunk = outlook.plan[position]
        self.events.show_chunk(session, outlook.plan, position)
        numbers = f"{chunk.first}-{chunk.last}" if chunk.last > chunk.first else f"{chunk.first}"
        piece = f" · piece {chunk.piece.number} of {chunk.piece.of}" if chunk.piece else ""
        thread = f" · {line(chunk.thread, 40)}"
        name = f"EVENTS of part {chunk.part}"
        title.show(f"{name} ({numbers}){piece}{thread}", f"{name} ({numbers}){piece}", name)
        self._show_event(chunk.first)

    def _show_event(
        self, number: int | None, span: tuple[int, int] | None = None, said: str = ""
    ) -> None:
        title = self.query_one("#detail-title", FittedLine)
        session, outlook = self.bench.session, self.bench.outlook
        if number is None or session is None or outlook is None:
            self.detail.show_nothing()
            title.show("TEXT")
            return
        try:
            event = session.event(number)
            place = session.line(number)
        except SessionError as error:
            self.detail.show_text(str(error))
            title.show(f"EVENT {number}")
            return
        text = event.text
        piece = outlook.plan[self.chunks.cursor].piece
        if span is None and piece is not None and outlook.plan[self.chunks.cursor].first == number:
            self.detail.show_text(text, (piece.start, piece.start))
        else:
            self.detail.show_text(text, span)
        name = f"EVENT {number} · {line(event.header, 60)}"
        facts = [plural(len(text), "character"), *([f"line {place}"] if place else [])]
        extra = f" · {said}" if said else ""
        title.show(f"{name} · {' · '.join(facts)}{extra}", f"{name}{extra}")

    @on(LineList.Moved, "#chunks")
    def chunk_moved(self, event: LineList.Moved) -> None:
        """Show the events of the chunk under the cursor."""
        if event.row == self.chunks.cursor:
            self._show_chunk(event.row)

    @on(LineList.Moved, "#events")
    def event_moved(self, event: LineList.Moved) -> None:
        """Show the text of the event under the cursor."""
        if event.row == self.events.cursor:
            number = self.events.event_at(event.row)
            if number is not None:
                self._show_event(number)

    @on(LineList.Opened, "#chunks")
    def chunk_opened(self) -> None:
        """Go on to the chunk's events."""
        self.set_focus(self.events)

    @on(LineList.Opened, "#events")
    def event_opened(self, event: LineList.Opened) -> None:
        """Go on to the event's text; from the boundary, to the next chunk."""
        if self.events.event_at(event.row) is None:
            self.chunks.move_to(self.chunks.cursor + 1)
        else:
            self.set_focus(self.detail)

    @on(LineList.Opened, "#findings")
    def finding_opened(self, event: LineList.Opened) -> None:
        """Go to the finding's chunk, its event, and its quote."""
        run = self.bench.run
        if run is None or event.row >= len(self.findings.findings):
            return
        finding = self.findings.findings[event.row]
        try:
            spot = run.locate(finding)
        except SessionError as error:
            self.notify(line(str(error), 500), severity="error", markup=False)
            return
        with self.prevent(LineList.Moved):
            self.chunks.move_to(spot.position, middle=True)
            self._show_chunk(spot.position)
            self.events.move_to(self.events.row_of(spot.event), middle=True)
        if finding.event is None:
            said = "not verified: no such event, start of the chunk"
        elif spot.span is None:
            said = "not verified: the quote was not found in this event"
        else:
            said = "quote verified"
        self._show_event(spot.event, spot.span, said)

    @on(ChunkList.CancelPart)
    def cancel_clicked(self, event: ChunkList.CancelPart) -> None:
        """A row's cancel was clicked."""
        self.bench.cancel_part(event.position)

    @on(SettingsPanel.Done)
    def settings_done(self, event: SettingsPanel.Done) -> None:
        """A setting was typed."""
        self.set_focus(self.chunks)
        if event.changed:
            self.tick()

    @on(CommandPressed)
    async def command_pressed(self, event: CommandPressed) -> None:
        """A button or a word of the key bar was clicked."""
        name = "app.quit" if event.command == "quit" else event.command
        await self.run_action(name)

    def action_run(self) -> None:
        """Judge what is not kept."""
        self.bench.start()

    def action_run_short(self) -> None:
        """Judge with a limit of half a second."""
        self.bench.start(SHORT_LIMIT)

    def action_cancel_run(self) -> None:
        """Cancel the judgment."""
        self.bench.cancel()

    def action_cancel_part(self) -> None:
        """Cancel the chunk under the cursor."""
        self.bench.cancel_part(self.chunks.cursor)

    def action_smaller(self) -> None:
        """Smaller chunks."""
        self._step(-1)

    def action_larger(self) -> None:
        """Larger chunks."""
        self._step(1)

    def _step(self, direction: int) -> None:
        try:
            self.bench.step_chunk_chars(direction)
        except UsageError as error:
            self.notify(line(str(error), 200), markup=False)
            return
        self.settings.show_settings()
        self.tick()

    def action_edit_size(self) -> None:
        """Type a chunk size."""
        self.settings.edit_size()

    def action_edit_limit(self) -> None:
        """Type a time limit."""
        self.settings.edit_limit()

    def action_next_session(self) -> None:
        """Load the next session."""
        self.bench.step(1)

    def action_previous_session(self) -> None:
        """Load the previous session."""
        self.bench.step(-1)

    def action_next_panel(self) -> None:
        """Give the keys to the next panel."""
        self._focus_panel(1)

    def action_previous_panel(self) -> None:
        """Give the keys to the previous panel."""
        self._focus_panel(-1)

    def _focus_panel(self, direction: int) -> None:
        panels = [self.chunks, self.events, self.findings, self.detail]
        here = next((i for i, panel in enumerate(panels) if panel is self.focused), -direction)
        self.set_focus(panels[(here + direction) % len(panels)])

    def action_help(self) -> None:
        """Show the keys."""
        self.post_message(self.HelpWanted())
