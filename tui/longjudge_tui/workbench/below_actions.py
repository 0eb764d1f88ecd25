"""What stands in the list below: findings, gaps, holds or the log, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on

from longjudge_tui.bench.layout import Panel, Tab
from longjudge_tui.held.holds_list import HoldsList, holds_choices
from longjudge_tui.held.log_panel import LogPanel
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import KeyBar
from longjudge_tui.workbench.gaps_list import GapsList
from longjudge_tui.workbench.layout_actions import LayoutActions, way_back
from longjudge_tui.workbench.tabs import TabBar

if TYPE_CHECKING:
    from collections.abc import Collection

    from textual import events
    from textual.widget import Widget

    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.records import Records
    from longjudge_tui.workbench.chunk_list import ChunkList
    from longjudge_tui.workbench.findings_list import FindingsList


class BelowActions(LayoutActions):
    """The part of the workbench that opens tabs; its lists are the workbench's own.

    Each list keeps its cursor while another one stands in its place.
    """

    bench: Bench
    chunks: ChunkList
    findings: FindingsList
    tab = Tab.FINDINGS
    _tab_before = Tab.FINDINGS

    @property
    def gaps(self) -> GapsList:
        """The chunks without a verdict."""
        return self.query_one("#gaps", GapsList)

    @property
    def panel_below(self) -> LineList:
        """The list that is open."""
        return self._list_of(self.tab)

    @property
    def holds_shown(self) -> bool:
        """Whether somebody looks at what is held outside."""
        return self.tab is Tab.HOLDS

    def on_mount(self) -> None:
        """Open the tab that was open at the end of the last time."""
        self.show_tab(self.kept.layouts.tab)

    def show_tab(self, tab: Tab, *, focus: bool = False) -> None:
        """Open a tab; it gets the keys where they are asked for, or the one before had them."""
        before = self.panel_below
        focus = focus or self.focused is before
        if tab is not self.tab:
            self._tab_before, self.tab = self.tab, tab
            shown, hidden = self._shown_for(tab), self._shown_for(self._tab_before)
            shown.display = True
            if focus:
                self.set_focus(self.panel_below)
            hidden.display = False
            self.kept.change(replace(self.kept.layouts, tab=tab))
        elif focus:
            self.set_focus(before)
        self.follow_below()

    def follow_below(self) -> None:
        """Paint what changed about the tabs."""
        if self.tab is Tab.HOLDS:
            self.query_one("#holds", HoldsList).refresh_changed()
            self.query_one("#keys", KeyBar).follow()
        bench, gaps = self.bench, len(self.gaps.gaps.positions)
        counts = {
            Tab.FINDINGS: f"{len(self.findings.all_findings):,}",
            Tab.GAPS: f"{gaps:,}" if gaps else "",
            Tab.HOLDS: f"{bench.held_now:,}" if bench.held_now else "",
        }
        choices = self._choices()
        if self.maximised is Panel.BELOW:
            back = Word("maximise", way_back())
            choices = [Choice(each.text, (*each.words, back)) for each in choices]
        self.query_one(TabBar).show(
            counts, self.tab, choices, has_keys=self.panel_with_keys is Panel.BELOW
        )

    def layout_changed(self) -> None:
        """Say in the bar too how to come back."""
        super().layout_changed()
        self.follow_below()

    def follow_gaps(self, records: Records | None, changed: Collection[int]) -> None:
        """Take in which chunks have no verdict now."""
        moved = self.gaps.follow(records, changed)
        if moved and self.focused is self.gaps:
            # What was asked again is no gap any more: what is shown is the one below it.
            self._go_to_gap()

    def go_to_part(self, position: int) -> None:
        """Show a chunk of the plan."""
        raise NotImplementedError

    def _go_to_gap(self) -> None:
        position = self.gaps.here
        if position is not None:
            self.go_to_part(position)

    @on(LineList.Moved, "#gaps")
    def gap_moved(self, event: LineList.Moved) -> None:
        """Show why the chunk under the cursor has no verdict."""
        if event.row == self.gaps.cursor:
            self._go_to_gap()

    @on(LineList.Opened, "#gaps")
    def gap_opened(self, event: LineList.Opened) -> None:
        """Go to the chunk."""
        if self.gaps.here is not None:
            self._go_to_gap()
            self.set_focus(self.chunks)

    def on_key(self, event: events.Key) -> None:
        """Escape leads from the holds back to the chunks, and then on to the library."""
        among_holds = isinstance(self.focused, HoldsList) and self.maximised is None
        if event.key == "escape" and among_holds:
            event.stop()
            event.prevent_default()
            self.set_focus(self.chunks)

    def action_to_chunks(self) -> None:
        """Give the keys to the chunks."""
        self.set_focus(self.chunks)

    def action_tab_findings(self) -> None:
        """Open the findings."""
        self.show_tab(Tab.FINDINGS, focus=True)

    def action_tab_gaps(self) -> None:
        """Open the gaps."""
        self.show_tab(Tab.GAPS, focus=True)

    def action_tab_holds(self) -> None:
        """Open the holds."""
        self.show_tab(Tab.HOLDS, focus=True)

    def action_tab_log(self) -> None:
        """Open the log."""
        self.show_tab(Tab.LOG, focus=True)

    def action_show_holds(self) -> None:
        """Show what is held outside, or what stood there before."""
        if self.holds_shown:
            before = self._tab_before
            self.show_tab(Tab.FINDINGS if before is Tab.HOLDS else before)
        else:
            self.show_tab(Tab.HOLDS, focus=True)

    def action_sweep_holds(self) -> None:
        """Release what dead owners left."""
        self.bench.holding.sweep()

    def _list_of(self, tab: Tab) -> LineList:
        match tab:
            case Tab.FINDINGS:
                return self.findings
            case Tab.GAPS:
                return self.gaps
            case Tab.HOLDS:
                return self.query_one("#holds", HoldsList)
            case Tab.LOG:
                return self.query_one("#log", LineList)

    def _shown_for(self, tab: Tab) -> Widget:
        return self.query_one(LogPanel) if tab is Tab.LOG else self._list_of(tab)

    def _choices(self) -> list[Choice]:
        match self.tab:
            case Tab.FINDINGS:
                return self.findings.choices()
            case Tab.GAPS:
                return self.gaps.choices()
            case Tab.HOLDS:
                return holds_choices(self.bench.holding)
            case Tab.LOG:
                return self.query_one(LogPanel).choices()
