"""The dialogs: quitting with work in flight, judging at a price, and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge_tui.commands import COMMANDS, Scope
from longjudge_tui.widgets.lines import FittedLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType


CHECKS_PER_SECOND = 10


class QuitDialog(ModalScreen[bool]):
    """Asks once; ctrl+q again means yes. `banner` says what every screen has to say.

    It goes by itself once nothing is `in_flight` any more: there is nothing left to ask.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,enter,k,n", "keep", "Keep running"),
        ("y", "leave", "Cancel and quit"),
    ]

    def __init__(self, banner: str, in_flight: Callable[[], bool]) -> None:
        super().__init__()
        self._banner = banner
        self._in_flight = in_flight

    def compose(self) -> ComposeResult:
        """The question and the two answers."""
        with Vertical(classes="dialog"):
            yield Static(Content("A judgment is in flight"), classes="title")
            yield Static(
                Content(
                    "What has a verdict is kept. Chunks without one are asked by the next run."
                    " What is held outside for them is released."
                )
            )
            yield Static(Content("[ keep running   esc or enter ]"), id="keep", classes="button")
            yield Static(Content("[ cancel and quit   y or ctrl+q ]"), id="leave", classes="button")
            yield Static(Content(self._banner), classes="banner")

    def on_mount(self) -> None:
        """Watch for the end of the judgment."""
        self.set_interval(1 / CHECKS_PER_SECOND, self._look)

    def _look(self) -> None:
        if self.is_current and not self._in_flight():
            self.dismiss(False)

    def on_click(self, event: events.Click) -> None:
        """Answer with the mouse."""
        clicked = event.widget.id if event.widget is not None else None
        if clicked in ("keep", "leave"):
            self.dismiss(clicked == "leave")

    def action_keep(self) -> None:
        """Keep running."""
        self.dismiss(False)

    def action_leave(self) -> None:
        """Cancel and quit."""
        self.dismiss(True)


class ConfirmDialog(ModalScreen[bool]):
    """Asks before something is paid for; what is asked is safe text.

    `beside` is what more there is to know, and may come in later; `title` is safe as well.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("enter,y", "agree", "Yes"),
        ("escape,n", "decline", "No"),
    ]

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

    def action_agree(self) -> None:
        """Judge."""
        self.dismiss(True)

    def action_decline(self) -> None:
        """Leave it."""
        self.dismiss(False)


_SECTIONS = (
    ("In the library", (Scope.LIBRARY,)),
    ("In the workbench", (Scope.SCREEN, Scope.SEARCH, Scope.SLIDER)),
    ("In every list", (Scope.LIST,)),
    ("In what stands over another screen", (Scope.OVER,)),
    ("Everywhere", (Scope.EITHER, Scope.APP)),
)


class HelpDialog(ModalScreen[None]):
    """The keys, from the one definition."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,question_mark,q", "close", "Close")]

    def __init__(self, banner: str, first: Scope = Scope.SCREEN) -> None:
        super().__init__()
        self._banner = banner
        self._first = first

    def compose(self) -> ComposeResult:
        """One line per command, those of the `first` scope at the top."""
        lines: list[str] = []
        for title, scopes in sorted(_SECTIONS, key=lambda each: self._first not in each[1]):
            here = [each for each in COMMANDS if each.scope in scopes]
            lines += [title, *(f"{each.shown:>10}  {each.help}" for each in here), ""]
        lines += [f"{'ctrl+p':>10}  Find a command by name, or change the theme"]
        lines += [f"{'esc':>10}  Close a dialog, leave a field"]
        with Vertical(classes="dialog tall"):
            yield Static(Content("KEYS"), classes="title")
            with VerticalScroll(id="help-keys"):
                yield Static(Content("\n".join(lines)))
            yield FittedLine(id="help-more")
            yield Static(Content(f"{self._banner} · esc closes"), classes="banner")

    def on_mount(self) -> None:
        """Say where one is in it, from now on."""
        keys = self.query_one("#help-keys", VerticalScroll)
        for what in ("scroll_y", "virtual_size", "size"):
            self.watch(keys, what, self._say_place)

    def _say_place(self) -> None:
        keys = self.query_one("#help-keys", VerticalScroll)
        rows, there = keys.size.height, keys.virtual_size.height
        top = round(keys.scroll_y)
        last = min(there, top + rows)
        ways = [word for word, is_more in (("↑ more", top), ("↓ more", last < there)) if is_more]
        place = [f"lines {top + 1}-{last} of {there}"] if ways else []
        self.query_one("#help-more", FittedLine).show(" · ".join([*ways, *place]))

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)
