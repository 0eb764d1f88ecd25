"""The dialogs: quitting with work in flight, and judging at a price."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge_tui.commands import Scope, binding_of, bindings
from longjudge_tui.widgets.help_dialog import show_help

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType


CHECKS_PER_SECOND = 10


class QuitDialog(ModalScreen[bool]):
    """Asks once; ctrl+q again means yes. `banner` says what every screen has to say.

    It goes by itself once nothing is `in_flight` any more and nothing would be `lost`: there is
    nothing left to ask. Once a batch is `out` it gives way to the question about that.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.QUIT), binding_of("help")]

    def __init__(
        self,
        banner: str,
        in_flight: Callable[[], bool],
        lost: Callable[[], str],
        out: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._out = out
        self._banner = banner
        self._in_flight = in_flight
        self._lost = lost
        self._said: tuple[bool, str] | None = None

    def compose(self) -> ComposeResult:
        """The question and the two answers."""
        with Vertical(classes="dialog"):
            yield Static(id="quit-title", classes="title")
            yield Static(id="quit-words")
            yield Static(id="keep", classes="button")
            yield Static(id="leave", classes="button")
            yield Static(Content(self._banner), classes="banner")

    def on_mount(self) -> None:
        """Watch for the end of the judgment, and for what is kept after all."""
        self._look()
        self.set_interval(1 / CHECKS_PER_SECOND, self._look)

    def _look(self) -> None:
        running, lost = self._in_flight(), self._lost()
        if self.is_current and self._out():
            self.dismiss(None)
            return
        if self.is_current and not (running or lost):
            self.dismiss(False)
            return
        if self._said == (said := (running, lost)):
            return
        self._said = said
        if running:
            title, stay, leave = "A judgment is in flight", "keep running", "cancel and quit"
        else:
            title, stay, leave = "Not everything is kept", "stay", "quit all the same"
        self.query_one("#quit-title", Static).update(Content(title))
        self.query_one("#quit-words", Static).update(Content(_quit_words(lost, running=running)))
        self.query_one("#keep", Static).update(Content(f"[ {stay}   esc or enter ]"))
        self.query_one("#leave", Static).update(Content(f"[ {leave}   y or ctrl+q ]"))

    def on_click(self, event: events.Click) -> None:
        """Answer with the mouse."""
        clicked = event.widget.id if event.widget is not None else None
        if clicked in ("keep", "leave"):
            self.dismiss(clicked == "leave")

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._banner, Scope.QUIT)

    def action_keep_running(self) -> None:
        """Keep running."""
        self.dismiss(False)

    def action_cancel_and_quit(self) -> None:
        """Cancel and quit."""
        self.dismiss(True)


def _quit_words(lost: str, *, running: bool) -> str:
    """What becomes of everything."""
    if not running:
        return f"{lost}."
    kept = "What has a verdict is kept. Chunks without one"
    words = f"{lost}. Chunks without a verdict" if lost else kept
    return f"{words} are asked by the next run. What is held outside for them is released."


class ConfirmDialog(ModalScreen[bool]):
    """Asks before something is paid for; what is asked is safe text.

    `beside` is what more there is to know, and may come in later; `title` is safe as well.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.CONFIRM), binding_of("help")]

    def __init__(
        self,
        question: str,
        beside: Callable[[], str],
        banner: str,
        *,
        title: str = "Judge at this price?",
    ) -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._beside = beside
        self._said = beside()
        self._banner = banner

    def compose(self) -> ComposeResult:
        """The question and the two answers."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._title), classes="title")
            yield Static(Content(self._question))
            yield Static(Content(self._said), id="beside")
            yield Static(Content("[ yes   enter or y ]"), id="yes", classes="button")
            yield Static(Content("[ no   esc or n ]"), id="no", classes="button")
            yield Static(Content(self._banner), classes="banner")

    def on_mount(self) -> None:
        """Show what comes in."""
        self.set_interval(1 / CHECKS_PER_SECOND, self._look)

    def _look(self) -> None:
        if (said := self._beside()) != self._said:
            self._said = said
            self.query_one("#beside", Static).update(Content(said))

    def on_click(self, event: events.Click) -> None:
        """Answer with the mouse."""
        clicked = event.widget.id if event.widget is not None else None
        if clicked in ("yes", "no"):
            self.dismiss(clicked == "yes")

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._banner, Scope.CONFIRM)

    def action_agree(self) -> None:
        """Judge."""
        self.dismiss(True)

    def action_decline(self) -> None:
        """Leave it."""
        self.dismiss(False)
