"""What is held outside, in the place of the findings for as long as somebody looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from longjudge_tui.held.holds_list import HoldsList, holds_choices
from longjudge_tui.widgets.action_line import ActionLine

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.widgets.line_list import LineList
    from longjudge_tui.workbench.findings_list import FindingsList


class HoldsActions(Screen[None]):
    """The part of the workbench that shows holds; its lists are the workbench's own.

    With `holds_shown` they stand where the findings would.
    """

    bench: Bench
    findings: FindingsList
    holds_shown = False

    @property
    def panel_of_findings(self) -> LineList:
        """What stands where the findings do."""
        return self.query_one("#holds", HoldsList) if self.holds_shown else self.findings

    def show_holds(self, *, shown: bool) -> None:
        """Show them, or the findings again."""
        if shown == self.holds_shown:
            return
        had_keys = self.focused is self.panel_of_findings
        self.holds_shown = shown
        self.query_one("#holds-panel").display = shown
        self.query_one("#findings-panel").display = not shown
        if shown or had_keys:
            self.set_focus(self.panel_of_findings)
        self.follow_holds()

    def follow_holds(self) -> None:
        """Paint what changed about them."""
        if self.holds_shown:
            self.query_one("#holds-title", ActionLine).show_choices(
                *holds_choices(self.bench.holding)
            )
            self.query_one("#holds", HoldsList).refresh_changed()

    def action_show_holds(self) -> None:
        """Show what is held outside, or the findings again."""
        self.show_holds(shown=not self.holds_shown)

    def action_sweep_holds(self) -> None:
        """Release what dead owners left."""
        self.bench.holding.sweep()
