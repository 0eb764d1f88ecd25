"""The dialogs: quitting with work in flight, and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge_tui.commands import COMMANDS

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class QuitDialog(ModalScreen[bool]):
    """Asks once; ctrl+q again means yes. `banner` says what every screen has to say."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,k,n", "keep", "Keep running"),
        ("y,enter", "leave", "Cancel and quit"),
    ]

    def __init__(self, banner: str) -> None:
        super().__init__()
        self._banner = banner

    def compose(self) -> ComposeResult:
        """The question and the two answers."""
        with Vertical(classes="dialog"):
            yield Static(Content("A judgment is in flight"), classes="title")
            yield Static(
                Content("What has a verdict is kept. Chunks without one are asked by the next run.")
            )
            yield Static(Content("[ keep running   esc ]"), id="keep", classes="button")
            yield Static(
                Content("[ cancel and quit   y, enter or ctrl+q ]"), id="leave", classes="button"
            )
            yield Static(Content(self._banner), classes="banner")

    def on_click(self) -> None:
        """Answer with the mouse."""
        for name, answer in (("keep", False), ("leave", True)):
            if self.query_one(f"#{name}").mouse_hover:
                self.dismiss(answer)

    def action_keep(self) -> None:
        """Keep running."""
        self.dismiss(False)

    def action_leave(self) -> None:
        """Cancel and quit."""
        self.dismiss(True)


class HelpDialog(ModalScreen[None]):
    """The keys, from the one definition."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,question_mark,q", "close", "Close")]

    def __init__(self, banner: str) -> None:
        super().__init__()
        self._banner = banner

    def compose(self) -> ComposeResult:
        """One line per command."""
        lines = [f"{each.shown:>10}  {each.help}" for each in COMMANDS]
        lines += [f"{'ctrl+p':>10}  Find a command by name, or change the theme"]
        lines += [f"{'esc':>10}  Close a dialog, leave a field"]
        with Vertical(classes="dialog wide"):
            yield Static(Content("KEYS"), classes="title")
            with VerticalScroll():
                yield Static(Content("\n".join(lines)))
            yield Static(Content(f"{self._banner} · esc closes"), classes="banner")

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)
