"""The keys, from the one definition: of what has the keys first; what is typed filters them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge_tui.commands import COMMANDS, Command, Scope, bindings, command, is_command
from longjudge_tui.commands.panels import SCREENS
from longjudge_tui.widgets.lines import FittedLine, panel_around
from longjudge_tui.widgets.wrapping import wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.screen import Screen

    from longjudge_tui.commands.panels import Panel

SECTIONS: tuple[tuple[str, tuple[Scope, ...]], ...] = (
    (SCREENS[Scope.LIBRARY], (Scope.LIBRARY,)),
    (SCREENS[Scope.SCREEN], (Scope.SCREEN, Scope.SEARCH, Scope.SLIDER, Scope.TIMELINE)),
    (SCREENS[Scope.LIST], (Scope.LIST,)),
    (SCREENS[Scope.EDITOR], (Scope.EDITOR, Scope.NAMING)),
    (SCREENS[Scope.OVER], (Scope.OVER,)),
    ("Everywhere", (Scope.EITHER, Scope.APP)),
)
"""What stands in the help under one heading; any other scope has a heading of its own."""

_ALWAYS = (
    ("ctrl+p", "Find a command by name, or change the theme"),
    ("esc", "Close a dialog, leave a field"),
)
_OVER = frozenset({Scope.CURVE, Scope.EDITOR, Scope.PAST, Scope.COMPARE})
KEY_CELLS, WORDS_CELLS = 16, 70
MOST_TYPED = 40

Section = tuple[str, list[str], list[tuple[str, str]]]
"""A heading, what there is to say below it, and its keys with what they do."""


class HelpDialog(ModalScreen[None]):
    """Shows the keys, those of the `first` scope at the top; `panel` is what has the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.HELP)]

    def __init__(
        self, banner: str, first: Scope = Scope.SCREEN, panel: Panel | None = None
    ) -> None:
        super().__init__()
        self._banner = banner
        self._first = first
        self._panel = panel
        self._typed = ""

    def compose(self) -> ComposeResult:
        """One line per command."""
        with Vertical(classes="dialog tall"):
            yield Static(Content("KEYS"), id="help-title", classes="title")
            with VerticalScroll(id="help-keys"):
                yield Static(id="help-lines")
            yield FittedLine(id="help-more")
            closes = "type to filter · esc closes"
            yield Static(Content(f"{self._banner} · {closes}"), classes="banner")

    def on_mount(self) -> None:
        """Show all, and say where one is in it from now on."""
        self._show()
        keys = self.query_one("#help-keys", VerticalScroll)
        for what in ("scroll_y", "virtual_size", "size"):
            self.watch(keys, what, self._say_place)

    async def on_key(self, event: events.Key) -> None:
        """What is typed filters; escape leads back from a filter first."""
        if event.key == "backspace":
            typed = self._typed[:-1]
        elif event.key == "escape" and self._typed:
            typed = ""
        elif event.is_printable and event.character and event.key != "question_mark":
            typed = (self._typed + event.character)[:MOST_TYPED]
        else:
            return
        event.stop()
        event.prevent_default()
        self._typed = typed
        self._show()

    def _show(self) -> None:
        title = f"KEYS · “{self._typed}”, backspace deletes" if self._typed else "KEYS"
        self.query_one("#help-title", Static).update(Content(title))
        sections = sections_of(self._first, self._panel)
        text = help_text(sections, self._typed.lower().split())
        self.query_one("#help-lines", Static).update(Content(text))
        self.query_one("#help-keys", VerticalScroll).scroll_home(animate=False)

    def _say_place(self) -> None:
        keys = self.query_one("#help-keys", VerticalScroll)
        rows, there = keys.size.height, keys.virtual_size.height
        top = round(keys.scroll_y)
        last = min(there, top + rows)
        ways = [word for word, is_more in (("↑ more", top), ("↓ more", last < there)) if is_more]
        place = [f"lines {top + 1}-{last} of {there}"] if ways else []
        self.query_one("#help-more", FittedLine).show(" · ".join([*ways, *place]))

    def action_close_help(self) -> None:
        """Close."""
        self.dismiss(None)


def show_help(screen: Screen[Any], banner: str, first: Scope) -> None:
    """Show the help over a screen, with what is known about the panel that has the keys there."""
    panel = panel_around(screen.focused)
    screen.app.push_screen(HelpDialog(banner, first, panel))  # pyright: ignore[reportUnknownMemberType]


def sections_of(first: Scope, panel: Panel | None) -> list[Section]:
    """Everything there is to say: the panel, the `first` scope, what works there too, the rest.

    Each key once, in the first place that it has.
    """
    grouped = {scope for _, scopes in SECTIONS for scope in scopes}
    single = dict.fromkeys(each.scope for each in COMMANDS if each.scope not in grouped)
    scoped = [*SECTIONS, *((SCREENS.get(each, _called(each)), (each,)) for each in single)]
    sections: list[Section] = []
    here: list[Command] = []
    if panel is not None:
        here = [command(each) for each in panel.keys if is_command(each)]
        sections.append((f"Here: {panel.name}", wrapped(panel.what), _rows(here)))
    for title, scopes in sorted(scoped, key=lambda each: _distance(first, each[1])):
        keys = _rows(each for each in COMMANDS if each.scope in scopes and each not in here)
        keys += _ALWAYS if Scope.APP in scopes else ()
        if keys:
            sections.append((title, [], keys))
    return sections


def _distance(first: Scope, scopes: tuple[Scope, ...]) -> int:
    """How near keys are to a scope: its own, those that work there too, all others."""
    if first in scopes:
        return 0
    if Scope.OVER in scopes:
        return 1 if first in _OVER else 3
    return 2 if Scope.LIST in scopes or Scope.APP in scopes else 3


def help_text(sections: Sequence[Section], words: Sequence[str]) -> str:
    """The lines of the help: all, or those that hold every word of what was typed."""
    lines: list[str] = []
    for title, said, keys in sections:
        if words:
            fits = all(word in title.lower() for word in words)
            keys = [each for each in keys if fits or _holds(each, words)]
            said = said if fits else []
            if not keys:
                continue
        lines += [title, *said, *(line for each in keys for line in _lines_of(*each)), ""]
    return "\n".join(lines) if lines else "no key for that; ctrl+p finds commands by name, too"


def wrapped(text: str, width: int = WORDS_CELLS) -> list[str]:
    """A sentence in lines."""
    return [text[low:high].rstrip() for low, high in wrap(text, 0, len(text), width)]


def _holds(row: tuple[str, str], words: Sequence[str]) -> bool:
    told = " ".join(row).lower()
    return all(word in told for word in words)


def _lines_of(key: str, does: str) -> list[str]:
    first, *rest = wrapped(does, WORDS_CELLS - KEY_CELLS - 2)
    return [f"{key:>{KEY_CELLS}}  {first}", *(f"{'':{KEY_CELLS}}  {each}" for each in rest)]


def _rows(commands: Iterable[Command]) -> list[tuple[str, str]]:
    return [(each.shown, each.help) for each in commands]


def _called(scope: Scope) -> str:
    return f"In the {scope.value.replace('_', ' ')}"
