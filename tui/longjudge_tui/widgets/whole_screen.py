"""A screen of its own over the workbench or the library, with a title and a line of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Vertical
from textual.screen import ModalScreen

from longjudge_tui.chores import Chores
from longjudge_tui.commands import Scope, binding_of, bindings, command
from longjudge_tui.pace import look_often
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import CommandPressed, FittedLine, KeyBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType


class WholeScreen(ModalScreen[None]):
    """What such a screen has in common; a subclass gives `SCOPE`, `BAR` and `compose_body`.

    `banner` says what every screen has to say: who judges, what is forced. Its commands come from
    the one definition, by `bindings(Scope.…)` in the subclass's own `BINDINGS`. What takes longer
    than a frame is a chore: `self.chores.start(...)`; it is ended with the screen, and what it died
    of is raised by the next tick.
    """

    SCOPE: ClassVar[Scope] = Scope.OVER
    BAR: ClassVar[tuple[str, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.OVER), binding_of("help")]

    def __init__(self, banner: Callable[[], str]) -> None:
        super().__init__()
        self.banner = banner
        self.chores = Chores()

    def compose(self) -> ComposeResult:
        """The title, the body, who judges, what can be done."""
        with Vertical(classes="whole"):
            yield FittedLine(id="whole-title", classes="title")
            yield from self.compose_body()
            yield KeyBar((*self.BAR, "close_screen"), id="keys")

    def compose_body(self) -> ComposeResult:
        """What the screen is about."""
        raise NotImplementedError

    def show_title(self, *variants: str) -> None:
        """The words at the top, longest first; who judges stands beside them."""
        self.query_one("#whole-title", FittedLine).show(*variants, right=self.banner())

    def on_mount(self) -> None:
        """Begin to paint."""
        self.tick()
        look_often(self, self.tick)

    def tick(self) -> None:
        """Paint what changed; a subclass calls this first."""
        self.chores.raise_failure()

    async def on_unmount(self) -> None:
        """End what is still being done."""
        await self.chores.end()

    @on(CommandPressed)
    async def command_pressed(self, event: CommandPressed) -> None:
        """A button or a word of the key bar was clicked."""
        event.stop()
        await self.choose(event.command)

    async def choose(self, name: str) -> None:
        """Do what a command says that was chosen without its key."""
        if command(name).scope is Scope.LIST:
            if isinstance(self.focused, LineList):
                await self.focused.run_action(name)
            return
        await self.run_action(f"app.{name}" if command(name).scope is Scope.APP else name)

    def action_help(self) -> None:
        """Show the keys, those of this screen first."""
        show_help(self, self.banner(), self.SCOPE)

    def action_close_screen(self) -> None:
        """Go back."""
        self.dismiss(None)
