"""What is held outside, over the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen

from longjudge_tui.commands import Scope, binding_of, bindings, command
from longjudge_tui.held.holds_list import HoldsList, holds_choices
from longjudge_tui.widgets.action_line import ActionLine
from longjudge_tui.widgets.asking import ask
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.widgets.lines import CommandPressed, FittedLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge_tui.bench.holding import Holding
    from longjudge_tui.widgets.line_list import LineList

LOOKS_PER_SECOND = 10


class HoldsDialog(ModalScreen[None]):
    """Shows the holds; `banner` is what every screen says, `cancel` ends what is in flight."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.HELD), binding_of("help")]
    AUTO_FOCUS = "#holds"

    def __init__(
        self,
        holding: Holding,
        banner: Callable[[], str],
        cancel: Callable[[], None],
    ) -> None:
        super().__init__()
        self._holding = holding
        self._banner = banner
        self._cancel = cancel

    def compose(self) -> ComposeResult:
        """How many there are, the list, what can be done."""
        with Vertical(classes="dialog full"):
            yield ActionLine(id="holds-title", classes="title")
            yield HoldsList(self._holding, id="holds")
            yield FittedLine(id="holds-keys", classes="banner")

    def on_mount(self) -> None:
        """Begin to paint."""
        self._look()
        self.set_interval(1 / LOOKS_PER_SECOND, self._look)

    def _look(self) -> None:
        self.query_one("#holds-title", ActionLine).show_choices(*holds_choices(self._holding))
        self.query_one("#holds", HoldsList).refresh_changed()
        keys = [
            f" · {command('sweep_held').shown} releases what dead processes hold",
            f" · {command('cancel_held').shown} cancels what is in flight",
            " · esc closes",
        ]
        banner = self._banner()
        self.query_one("#holds-keys", FittedLine).show(
            "".join([banner, *keys]), "".join([banner, keys[0], keys[2]]), banner + keys[2], banner
        )

    def on_command_pressed(self, event: CommandPressed) -> None:
        """A word of the title was clicked."""
        if event.command == "sweep_holds":
            self.action_sweep_held()
        elif event.command == "cancel_part":
            self.action_cancel_batch()
        else:
            self.action_close_holds()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Say what a hold is about, and where one can go to its chunk."""
        event.stop()
        row = self.query_one("#holds", HoldsList).here
        if row is not None:
            opens = f"open that session, then {command('show_holds').shown} and enter lead there"
            self.notify(f"{line(row.hold.detail, 300)} · {opens}", markup=False)

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._banner(), Scope.HELD)

    def action_sweep_held(self) -> None:
        """Release what dead owners left."""
        self._holding.sweep()

    def action_cancel_held(self) -> None:
        """End what is in flight."""
        self._cancel()

    def action_cancel_batch(self) -> None:
        """End the batch under the cursor, once that is agreed to."""
        offer = self._holding.offer_cancel(self.query_one("#holds", HoldsList).here)
        ask(self, offer, self._banner())

    def action_close_holds(self) -> None:
        """Go back."""
        self.dismiss(None)
