"""Every action of the app, defined once: keys, footer, buttons, palette and help come from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding

from longjudge_tui.commands.bars import BAR, BAR_IN_A_RUN, LIBRARY_BAR
from longjudge_tui.commands.comparing import COMPARING
from longjudge_tui.commands.dialogs import DIALOGS
from longjudge_tui.commands.editor import EDITOR
from longjudge_tui.commands.estimate import ESTIMATE
from longjudge_tui.commands.everywhere import EVERYWHERE
from longjudge_tui.commands.kinds import Command, Scope
from longjudge_tui.commands.library import LIBRARY
from longjudge_tui.commands.log import LOG
from longjudge_tui.commands.past import PAST
from longjudge_tui.commands.whole_screens import WHOLE_SCREENS
from longjudge_tui.commands.workbench import WORKBENCH

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BAR",
    "BAR_IN_A_RUN",
    "COMMANDS",
    "LETTERS",
    "LIBRARY_BAR",
    "Command",
    "Scope",
    "binding_of",
    "bindings",
    "command",
    "command_of",
    "is_command",
    "works_in",
]

COMMANDS: tuple[Command, ...] = (
    *WORKBENCH,
    *LOG,
    *LIBRARY,
    *EVERYWHERE,
    *WHOLE_SCREENS,
    *ESTIMATE,
    *PAST,
    *COMPARING,
    *EDITOR,
    *DIALOGS,
)

LETTERS = frozenset(
    each.id
    for each in COMMANDS
    if each.urgent and any(len(key) == 1 or key == "slash" for key in each.keys)
)
"""Commands whose keys would never reach a field: in one, every letter is a letter."""

_BY_ID = {command.id: command for command in COMMANDS}


def is_command(name: str) -> bool:
    """Whether there is a command with an id."""
    return name in _BY_ID


def command(name: str) -> Command:
    """The command with an id."""
    return _BY_ID[name]


def command_of(key: str) -> Command | None:
    """The command of the workbench that a key stands for."""
    screen = (each for each in COMMANDS if works_in(each, Scope.SCREEN))
    return next((each for each in screen if key in each.keys), None)


def works_in(each: Command, scope: Scope) -> bool:
    """Whether a command belongs to a scope."""
    either = each.scope is Scope.EITHER and scope in (Scope.SCREEN, Scope.LIBRARY)
    return each.scope is scope or either


def bindings(scope: Scope) -> list[Binding]:
    """The key bindings of one scope; those of the app work everywhere."""
    return list(_bindings(each for each in COMMANDS if works_in(each, scope)))


def binding_of(name: str) -> Binding:
    """The key binding of one command, for a screen that has few of its scope."""
    return next(iter(_bindings((command(name),))))


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
