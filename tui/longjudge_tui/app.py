"""The app: the workbench, the theme, and the way out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand

from longjudge_tui.commands import COMMANDS, Scope, bindings, command
from longjudge_tui.dialogs import HelpDialog, QuitDialog
from longjudge_tui.live import banner
from longjudge_tui.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.screen import Screen

    from longjudge_tui.bench import Bench


BREAKPOINTS = [(0, "-narrow"), (115, "-wide"), (150, "-very-wide")]
"""From which width on which layout of the stylesheet holds."""


class LongjudgeApp(App[None]):
    """Shows a bench that somebody else owns and closes."""

    CSS_PATH = "longjudge.tcss"
    TITLE = "longjudge"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.APP)]
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench

    def get_default_screen(self) -> Screen[None]:
        """The workbench."""
        return Workbench(self.bench)

    def get_system_commands(self, screen: Screen[None]) -> Iterable[SystemCommand]:
        """The palette: every command of the screen, and the themes."""
        workbench = self.screen_stack[0]
        assert isinstance(workbench, Workbench)
        for each in COMMANDS:
            if each.scope is Scope.SCREEN and each.id not in ("next_panel", "previous_panel"):
                choose = partial(workbench.choose, each.id)
                yield SystemCommand(each.help, f"key {each.shown}", choose)
        yield SystemCommand("Change the theme", "Light, dark, and others", self.action_change_theme)
        yield SystemCommand("Quit", f"key {command('quit').shown}", self.action_quit)

    async def action_quit(self) -> None:
        """Quit; with work in flight ask once, and take a second time for yes."""
        if not self.bench.running or isinstance(self.screen, QuitDialog):
            self.exit()
        else:
            self.push_screen(
                QuitDialog(banner(self.bench), lambda: self.bench.running), self._answered
            )

    def on_workbench_close(self) -> None:
        """There is no session to show."""
        self.exit(return_code=2)

    def on_workbench_help_wanted(self) -> None:
        """Show the keys."""
        self.push_screen(HelpDialog(banner(self.bench)))

    def _answered(self, leave: bool | None) -> None:
        if leave:
            self.exit()
