"""The workbench: chunks, events, settings, findings, and the text of an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container, Vertical
from textual.message import Message

from longjudge_tui.bench.chunk_codes import ChunkCodes
from longjudge_tui.bench.layout import Panel
from longjudge_tui.bench.live import (
    alarming,
    header_variants,
    judge_label,
    live_line,
    status_line,
)
from longjudge_tui.commands import BAR, BAR_IN_A_RUN, Scope, bindings, command_of
from longjudge_tui.held.holds_list import HoldsList
from longjudge_tui.held.log_panel import LogPanel
from longjudge_tui.pace import look_often
from longjudge_tui.widgets.choosing import run_chosen
from longjudge_tui.widgets.lines import (
    CommandPressed,
    FittedLine,
    KeyBar,
    PanelTitle,
    TourLine,
)
from longjudge_tui.widgets.splitter import Splitter
from longjudge_tui.wording import line, plan_variants
from longjudge_tui.workbench.chunk_list import ChunkList
from longjudge_tui.workbench.compare_actions import CompareActions
from longjudge_tui.workbench.detail_panel import DetailPanel
from longjudge_tui.workbench.edit_actions import EditActions
from longjudge_tui.workbench.event_list import EventList
from longjudge_tui.workbench.findings_list import FindingsList
from longjudge_tui.workbench.gaps_list import GapsList
from longjudge_tui.workbench.jump_actions import JumpActions
from longjudge_tui.workbench.overview_actions import OverviewActions
from longjudge_tui.workbench.past_actions import PastActions
from longjudge_tui.workbench.search_actions import SearchActions
from longjudge_tui.workbench.search_row import SearchField, SearchRow
from longjudge_tui.workbench.settings_panel import NumberField, SettingsPanel
from longjudge_tui.workbench.size_slider import SizeSlider
from longjudge_tui.workbench.tabs import TabBar
from longjudge_tui.workbench.timeline import Timeline
from longjudge_tui.workbench.tuning_actions import TuningActions

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widget import Widget

    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.kept_layout import KeptLayout
    from longjudge_tui.bench.run import Run
    from longjudge_tui.bench.tour import Tour

TOTALS_EVERY = 5
_NEED_SETTINGS = frozenset({"run", "run_short"})


class Workbench(
    EditActions,
    JumpActions,
    TuningActions,
    OverviewActions,
    CompareActions,
    PastActions,
    SearchActions,
):
    """Reads the bench about ten times a second and paints what changed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.SCREEN)]
    AUTO_FOCUS = "#chunks"

    class Close(Message):
        """There is nothing to show; the bench's `fatal` says why."""

    class HelpWanted(Message):
        """The keys are asked for."""

    class Left(Message):
        """The library is asked for."""

    def __init__(self, bench: Bench, tour: Tour, kept: KeptLayout) -> None:
        super().__init__()
        self.bench = bench
        self.kept = kept
        self.codes = ChunkCodes(bench)
        self._tour = tour
        self._generation = -1
        self._had_result = False
        self._followed: Run | None = None
        self._ticks = 0
        self._told = 0

    def compose(self) -> ComposeResult:
        """The layout; the stylesheet says where each panel stands."""
        yield FittedLine(id="header")
        yield Timeline(self.codes, id="timeline")
        with Container(id="top"):
            with Vertical(id="chunks-panel", classes="panel"):
                yield PanelTitle(id="chunks-title")
                yield ChunkList(self.bench, self.codes, id="chunks")
            yield Splitter(id="split-chunks")
            with Vertical(id="events-panel", classes="panel"):
                yield PanelTitle(id="events-title")
                yield EventList(id="events")
            yield SettingsPanel(self.bench, id="settings")
        yield FittedLine(id="live")
        yield FittedLine(id="status")
        yield TabBar(id="tabs")
        with Container(id="bottom"):
            with Vertical(id="below-panel", classes="panel"):
                yield FindingsList(self.bench.rubric, id="findings")
                yield GapsList(id="gaps")
                yield HoldsList(self.bench.holding, id="holds")
                yield LogPanel(self.bench.log)
            yield Splitter(id="split-below")
            yield DetailPanel(id="detail-panel", classes="panel")
        yield SearchRow()
        yield FittedLine(id="search-words")
        yield TourLine(id="tour")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin to paint."""
        self.chunks = self.query_one("#chunks", ChunkList)
        self.events = self.query_one("#events", EventList)
        self.detail = self.query_one("#detail-panel", DetailPanel)
        self.findings = self.query_one("#findings", FindingsList)
        self.settings = self.query_one("#settings", SettingsPanel)
        self.tick()
        look_often(self, self.tick)

    def tick(self) -> None:
        """Paint what changed since the last time."""
        bench = self.bench
        bench.raise_failure()
        self.follow_editor()
        bench.follow_disputes()
        bench.follow_file()
        if bench.fatal is not None:
            self.post_message(self.Close())
            return
        self.kept.follow()
        for notices in (bench.notices, self.kept.notices):
            for notice in notices:
                self.notify(line(notice, 500), markup=False)
            notices.clear()
        if self._behind:
            self._show_plan()
            self.follow_overview(set())
        else:
            self._show_progress()
        if self._chunk_behind:
            self._show_chunk_in_plan()
        if self._told != bench.told:
            self._told = bench.told
            self.chunks.refresh()
        if self.detail.follow():
            self.events.refresh()
        self.follow_search()
        self.follow_past()
        self.follow_sought()
        self._show_lines()

    def tick_of_drag(self) -> None:
        """Paint the chunks and what they cost; the events of one come with the next tick.

        Every widget more in a frame holds the mouse up.
        """
        if self._behind:
            self._show_plan()
            self._show_cost()
            self.settings.follow_drag()

    @property
    def part_meant(self) -> int:
        """The chunk that a key is about: the one under the cursor of the gaps or of the chunks."""
        gap = self.gaps.here if self.focused is self.gaps else None
        return self.chunks.position if gap is None else gap

    @property
    def _behind(self) -> bool:
        """Whether the plan is another one than what is painted; the next tick paints it."""
        return self.bench.generation != self._generation

    def _show_plan(self) -> None:
        """The plan is another one, or the judgment is."""
        bench = self.bench
        self._generation = bench.generation
        self._had_result = False
        same = bench.run is not None
        here = self.chunks.position if same else self._place_in_plan()
        self.chunks.show_plan(here, follow=not same)
        self.query_one("#keys", KeyBar).follow()
        self._chunk_behind = True

    def _show_progress(self) -> None:
        run, records = self.bench.run, self.bench.records
        if run is None:
            self._followed = None
        dirty = records.take_dirty() if records is not None else set[int]()
        self.follow_overview(dirty)
        self.follow_gaps(records, dirty)
        if records is None:
            return
        ended = run is not None and run.result is not None
        if run is not None:
            self._follow(run)
        if ended and not self._had_result:
            self.chunks.refresh()
        if dirty or ended != self._had_result:
            self._ticks += 1
            self.bench.follow_run(anew=self._ticks % TOTALS_EVERY == 0)
        if ended != self._had_result or self.findings_changed:
            # What only runs on has rows that change, and findings that stay as they are.
            self.show_findings()
        if self.chunks.position in dirty:
            self._follow_chunk()
        self._had_result = ended

    def _follow(self, run: Run) -> None:
        """Keep what is asked about in sight, until the user moves through the chunks himself."""
        chunks = self.chunks
        if run is not self._followed:
            self._followed, chunks.following, chunks.leading = run, run.asks_all, False
        if not chunks.following:
            return
        if run.result is not None:
            chunks.following = False
            chunks.show_cursor()
        elif stretch := run.in_flight:
            newest = run.newest
            if chunks.leading and newest is not None and run.record(chunks.position).state.ended:
                # Who has asked for a chunk in flight finds one whenever the next key comes.
                chunks.lead_to(newest)
            chunks.keep_in_sight(*stretch)

    def _show_lines(self) -> None:
        bench = self.bench
        label = judge_label(bench)
        self.query_one("#header", FittedLine).show(*header_variants(bench), right=label)
        self._show_cost()
        self.settings.show_settings()
        self.query_one("#live", FittedLine).show(*live_line(bench, self.findings.marked_wrong))
        self.query_one(KeyBar).show_names(BAR_IN_A_RUN if bench.running else BAR)
        status = self.query_one("#status", FittedLine)
        focused = self.focused
        typing = focused.number.typed if isinstance(focused, NumberField) else ""
        status.show(*status_line(bench, typing))
        status.set_class(alarming(bench), "-alarm")
        self.show_evidence()
        if goodbye := self._tour.follow(bench, looking=self.detail.finding is not None):
            self.notify(goodbye, markup=False)
        self.query_one("#tour", TourLine).say(self._tour.words(bench))

    def _show_cost(self) -> None:
        bench, outlook = self.bench, self.bench.outlook
        titles = ["CHUNKS"]
        if bench.first is not None:
            titles = ["CHUNKS · cut once all is read", "CHUNKS"]
        if outlook is not None:
            observed = bench.observed
            why = bench.reasons.summary if bench.run is None else ""
            titles = plan_variants(
                outlook.totals,
                applies=bench.applies,
                observed=observed,
                why=why,
                in_batch=bench.asked_in_batches,
            )
        self.query_one("#chunks-title", FittedLine).show(*titles)

    @on(SettingsPanel.Done)
    def settings_done(self, event: SettingsPanel.Done) -> None:
        """A field was left by a key."""
        if self.focused is event.field:
            self.set_focus(self.chunks)

    @on(SettingsPanel.Changed)
    def settings_changed(self) -> None:
        """A setting is another one now."""
        self.tick()

    def leave_field(self) -> bool:
        """Take what is typed and give the keys to the chunks; False where it was refused."""
        taken = self.settings.take()
        if isinstance(self.focused, NumberField):
            self.set_focus(self.chunks)
        elif isinstance(self.focused, SearchField):
            self.set_focus(self.events)
        return taken

    def on_key(self, event: events.Key) -> None:
        """In a field, the key of a command takes what is typed, and then does its work."""
        chosen = command_of(event.key)
        written = event.is_printable or event.key.startswith("ctrl+")
        if chosen is None or not written or not isinstance(self.focused, NumberField):
            return
        if not self.leave_field() and chosen.id in _NEED_SETTINGS:
            event.stop()

    @on(CommandPressed)
    async def command_pressed(self, event: CommandPressed) -> None:
        """A button or a word of the key bar was clicked."""
        await self.choose(event.command)

    async def choose(self, name: str) -> None:
        """Do what a command says that was chosen without its key."""
        if not self.leave_field() and name in _NEED_SETTINGS:
            return
        await run_chosen(self, name, self.query_one(LogPanel))

    def action_next_session(self) -> None:
        """Load the next session."""
        self.bench.step(1)

    def action_previous_session(self) -> None:
        """Load the previous session."""
        self.bench.step(-1)

    def action_reload(self) -> None:
        """Read the session again."""
        self.bench.reload()

    def action_read_on(self) -> None:
        """Read what the file has grown by."""
        self.bench.read_on()

    def action_read_on_itself(self) -> None:
        """Read on whenever the file has grown, or no more."""
        following = self.bench.following
        following.by_itself = not following.by_itself
        now = "reads on by itself" if following.by_itself else "reads on when asked to"
        self.notify(now, markup=False)

    def action_next_panel(self) -> None:
        """Give the keys to the next panel."""
        self._focus_panel(1)

    def action_previous_panel(self) -> None:
        """Give the keys to the previous panel."""
        self._focus_panel(-1)

    def _focus_panel(self, direction: int) -> None:
        below = self.panel_below
        panels: list[Widget] = [self.chunks, self.events, below, self.detail.view]
        panels += [each for each in (self.timeline, self.query_one(SizeSlider)) if each.display]
        # A field in a panel is a part of it.
        focused = below if self.panel_with_keys is Panel.BELOW else self.focused
        here = next((i for i, panel in enumerate(panels) if panel is focused), -direction)
        self.set_focus(panels[(here + direction) % len(panels)])

    def action_back(self) -> None:
        """Go back to the library; what runs keeps running."""
        self._tour.dismiss()
        self.post_message(self.Left())

    def action_help(self) -> None:
        """Show the keys."""
        self.post_message(self.HelpWanted())
