"""What a command is, and where its keys work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Where a command's keys work; `EITHER` is the library and the workbench (`SCREEN`).

    Those of a `SEARCH` are its own in the workbench, for as long as it is on. `OVER` is every
    screen that stands over one of these two; each such screen has a scope of its own besides, and
    so has each dialog. Those of the `LOG` work while it has the keys, those of `NAMING` while a
    file is named in the rubric editor.
    """

    LIBRARY = "library"
    SCREEN = "screen"
    EITHER = "either"
    SEARCH = "search"
    LIST = "list"
    SLIDER = "slider"
    TIMELINE = "timeline"
    CURVE = "curve"
    ESTIMATE = "estimate"
    EDITOR = "editor"
    NAMING = "naming"
    PAST = "past"
    COMPARE = "compare"
    OVER = "over"
    APP = "app"
    LOG = "log"
    HELD = "held"
    LAB = "lab"
    TEXT = "text"
    CHOICE = "choice"
    CONFIRM = "confirm"
    QUIT = "quit"
    QUIT_BATCH = "quit_batch"
    HELP = "help"


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
