"""Every action of the app, defined once: keys, footer, buttons, palette and help come from here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Iterable


class Scope(StrEnum):
    """Where a command's keys work."""

    SCREEN = "screen"
    LIST = "list"
    APP = "app"


@dataclass(frozen=True, slots=True)
class Command:
    """One action. `id` names the `action_...` method.

    `keys` are key names as Textual knows them, `shown` is how people read them. `label` is the
    word in the bar at the bottom (empty: not there), `button` the word on a button. What is
    `urgent` happens before the keys typed after it find their way: they are meant for where it
    leads.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    help: str
    label: str = ""
    button: str = ""
    scope: Scope = Scope.SCREEN
    urgent: bool = False

    @property
    def bar_key(self) -> str:
        """The first of the keys as people read them."""
        return self.shown.split()[0]


COMMANDS: tuple[Command, ...] = (
    Command("run", ("r",), "r", "Judge what is not kept yet", "Run", "Run"),
    Command("cancel_run", ("x",), "x", "Cancel the whole judgment", "Cancel", "Cancel"),
    Command("cancel_part", ("c",), "c", "Cancel the chunk under the cursor", "Cancel one"),
    Command(
        "run_short",
        ("t",),
        "t",
        "Run with a limit of 0.5 s, to see a timeout",
        "0.5 s",
        "Run 0.5 s",
    ),
    Command(
        "smaller",
        ("left_square_bracket", "minus", "left"),
        "[ - ←",
        "Smaller chunks",
        "Less",
    ),
    Command(
        "larger",
        ("right_square_bracket", "plus", "equals_sign", "right"),
        "] + →",
        "Larger chunks",
        "More",
    ),
    Command("edit_size", ("s",), "s", "Type a chunk size in characters", "Size", urgent=True),
    Command("edit_limit", ("l",), "l", "Type a time limit in seconds", "Limit", urgent=True),
    Command("next_session", ("n",), "n", "Next session", "Next"),
    Command("previous_session", ("p",), "p", "Previous session", "Previous"),
    Command("reload", ("ctrl+r",), "ctrl+r", "Read the session again, as the file is now"),
    Command("next_panel", ("tab",), "tab", "Next panel", "Panel"),
    Command("previous_panel", ("shift+tab",), "shift+tab", "Previous panel"),
    Command(
        "open",
        ("enter",),
        "enter",
        "Open what is under the cursor",
        "Open",
        scope=Scope.LIST,
    ),
    Command("up", ("up",), "↑", "One row up", scope=Scope.LIST),
    Command("down", ("down",), "↓", "One row down", scope=Scope.LIST),
    Command("page_up", ("pageup",), "page up", "One page up", scope=Scope.LIST),
    Command("page_down", ("pagedown",), "page down", "One page down", scope=Scope.LIST),
    Command("first", ("home",), "home", "First row", scope=Scope.LIST),
    Command("last", ("end",), "end", "Last row", scope=Scope.LIST),
    Command("help", ("question_mark",), "?", "Show the keys", "Help"),
    Command(
        "quit",
        ("ctrl+q",),
        "ctrl+q",
        "Quit; with work in flight it asks once, again means yes",
        "Quit",
        scope=Scope.APP,
        urgent=True,
    ),
)

BAR = (
    "run",
    "cancel_run",
    "cancel_part",
    "run_short",
    "open",
    "next_panel",
    "edit_size",
    "edit_limit",
    "smaller",
    "larger",
    "next_session",
    "previous_session",
)
"""What the bar at the bottom shows, as far as it fits, before help and quit."""

_BY_ID = {command.id: command for command in COMMANDS}


def command(name: str) -> Command:
    """The command with an id."""
    return _BY_ID[name]


def command_of(key: str) -> Command | None:
    """The command of the screen that a key stands for."""
    screen = (each for each in COMMANDS if each.scope is Scope.SCREEN)
    return next((each for each in screen if key in each.keys), None)


def bindings(scope: Scope) -> list[Binding]:
    """The key bindings of one scope; those of the app work everywhere."""
    return list(_bindings(each for each in COMMANDS if each.scope is scope))


def _bindings(commands: Iterable[Command]) -> Iterable[Binding]:
    for each in commands:
        yield Binding(
            ",".join(each.keys),
            each.id,
            each.label or each.help,
            show=False,
            priority=each.urgent,
            key_display=each.shown,
        )
