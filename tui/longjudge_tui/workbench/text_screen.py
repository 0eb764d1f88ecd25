"""A text over the whole screen, by pages; escape leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.screen import ModalScreen

from longjudge_tui.chores import Chores
from longjudge_tui.commands import Scope, binding_of, bindings
from longjudge_tui.widgets.detail import DetailView, Marked
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge_tui.bench.prompt_text import FullText

CHECKS_PER_SECOND = 10


class TextScreen(ModalScreen[None]):
    """Shows what `read` brings once it is there; `copy` takes the text as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.TEXT), binding_of("help")]
    AUTO_FOCUS = "#full-text"

    def __init__(
        self,
        banner: str,
        read: Callable[[], Awaitable[FullText]],
        copy: Callable[[str], Awaitable[str]],
    ) -> None:
        super().__init__()
        self._banner = banner
        self._read = read
        self._copy = copy
        self._shown: FullText | None = None
        self._chores = Chores()

    def compose(self) -> ComposeResult:
        """The title, the text, what can be done."""
        with Vertical(classes="dialog full"):
            yield FittedLine(id="full-title", classes="title")
            yield DetailView(id="full-text")
            yield FittedLine(id="full-keys", classes="banner")

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one("#full-title", FittedLine).show("reading…")
        # Where there is no room for the keys, what every screen has to say is not what is lost.
        keys = (" · y copies · esc closes", " · esc closes", "")
        self.query_one("#full-keys", FittedLine).show(*(f"{self._banner}{each}" for each in keys))
        self._chores.start(self._fill())
        self.set_interval(1 / CHECKS_PER_SECOND, self._chores.raise_failure)

    async def on_unmount(self) -> None:
        """End what is still being read or copied."""
        await self._chores.end()

    async def _fill(self) -> None:
        self._shown = await self._read()
        self.query_one("#full-title", FittedLine).show(*self._shown.titles)
        self.query_one("#full-text", DetailView).show_text(
            self._shown.text, Marked(heads=self._shown.heads)
        )

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._banner, Scope.TEXT)

    def action_copy_text(self) -> None:
        """Copy the whole text."""
        if self._shown is None or not self._shown.copied:
            self.notify("there is nothing to copy yet", markup=False)
        else:
            self._chores.start(self._copy_out(self._shown.copied))

    async def _copy_out(self, text: str) -> None:
        self.notify(line(await self._copy(text), 500), markup=False)

    def action_close_text(self) -> None:
        """Go back."""
        self.dismiss(None)
