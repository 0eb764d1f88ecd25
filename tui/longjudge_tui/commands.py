"""Every action of the app, defined once: keys, footer, buttons, palette and help come from here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Iterable


class Scope(StrEnum):
    """Where a command's keys work; `EITHER` is the library and the workbench (`SCREEN`).

    Those of a `SEARCH` are its own in the workbench, for as long as it is on.
    """

    LIBRARY = "library"
    SCREEN = "screen"
    EITHER = "either"
    SEARCH = "search"
    LIST = "list"
    SLIDER = "slider"
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


def _in_search(name: str, key: str, does: str, button: str) -> Command:
    return Command(name, (key,), key, does, button=button, scope=Scope.SEARCH)


COMMANDS: tuple[Command, ...] = (
    Command("run", ("r",), "r", "Judge what is not kept yet", "Run", "Run"),
    Command("cancel_run", ("x",), "x", "Cancel the whole judgment", "Cancel", "Cancel"),
    Command("cancel_part", ("c",), "c", "Cancel the chunk under the cursor", "Cancel one"),
    Command(
        "follow",
        ("j",),
        "j",
        "Go to the chunk that was asked about last, and follow the run",
        "Follow",
    ),
    Command(
        "ask_again",
        ("a",),
        "a",
        "Ask again about the gap; about a judged chunk, once you agree to its price",
        "Ask again",
    ),
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
    Command(
        "fit_size",
        ("right_curly_bracket",),
        "}",
        "Use a chunk size that fits, where parts were too large",
        "Fit",
    ),
    Command("edit_size", ("s",), "s", "Type a chunk size", "Size", urgent=True),
    Command("switch_unit", ("u",), "u", "Cut by tokens instead of characters, and back", "Unit"),
    Command("edit_limit", ("l",), "l", "Type a time limit in seconds", "Limit", urgent=True),
    Command(
        "edit_concurrency",
        ("k",),
        "k",
        "Type how many calls are in flight, also during a run",
        "In flight",
        urgent=True,
    ),
    Command("choose_model", ("m",), "m", "Choose the model", "Model", urgent=True),
    Command("choose_rubric", ("b",), "b", "Choose the rubric", "Rubric", urgent=True),
    Command(
        "show_prompt",
        ("e",),
        "e",
        "Exact prompt of the chunk under the cursor",
        "Prompt",
        urgent=True,
    ),
    Command(
        "show_reply",
        ("v",),
        "v",
        "Raw reply about the chunk under the cursor, earlier ones below",
        "Reply",
        urgent=True,
    ),
    Command(
        "show_oddities", ("d",), "d", "What was odd in the file, and left out of it", urgent=True
    ),
    Command("next_finding", ("full_stop",), ".", "Next finding", "Next finding"),
    Command("previous_finding", ("comma",), ",", "Previous finding"),
    Command(
        "filter_findings",
        ("f",),
        "f",
        "Findings: which ones (all, marked, rules disagree …)",
        "Filter",
    ),
    Command("order_findings", ("o",), "o", "Findings: by part, by criterion, unverified first"),
    Command("mark_right", ("g",), "g", "Mark the finding right; again: no mark", "Right", "right"),
    Command("mark_wrong", ("w",), "w", "Mark the finding wrong; again: no mark", "Wrong", "wrong"),
    Command("copy", ("y",), "y", "Copy the finding, or the event, as Markdown", "Copy", "copy"),
    Command("copy_json", ("Y",), "Y", "Copy it as JSON"),
    Command("save", ("S",), "S", "Save it as Markdown in the folder longjudge was started in"),
    Command("context", ("z",), "z", "The event with its neighbours; again: alone", "", "context"),
    Command("raw_record", ("i",), "i", "The record as it is in the file; again: back", "", "raw"),
    Command(
        "search",
        ("slash",),
        "/",
        "Search all events: text, re:pattern, tool:Bash, kind:error, is:error",
        "Search",
        urgent=True,
    ),
    _in_search("next_hit", "n", "While a search is on: the next hit", "next"),
    _in_search("previous_hit", "N", "While a search is on: the previous hit", "previous"),
    _in_search(
        "end_search", "escape", "While a search is on: end it, and go back to where you were", "end"
    ),
    Command("next_session", ("n",), "n", "Next session", "Next"),
    Command("previous_session", ("p",), "p", "Previous session", "Previous"),
    Command("reload", ("ctrl+r",), "ctrl+r", "Read the session again, as the file is now"),
    Command("read_on", ("R",), "R", "Read what the session's file has grown by"),
    Command("read_on_itself", ("L",), "L", "Read on by itself as the file grows; again: no more"),
    Command("back", ("escape",), "escape", "Back to the library", "Library"),
    Command("next_panel", ("tab",), "tab", "Next panel", "Panel"),
    Command("previous_panel", ("shift+tab",), "shift+tab", "Previous panel"),
    Command(
        "judge",
        ("r",),
        "r",
        "Judge the selected sessions, else the one under the cursor",
        "Judge",
        "Judge",
        scope=Scope.LIBRARY,
    ),
    Command(
        "estimate",
        ("e",),
        "e",
        "Estimate what that would ask and cost",
        "Estimate",
        "Estimate",
        scope=Scope.LIBRARY,
    ),
    Command(
        "cancel_all",
        ("x",),
        "x",
        "Cancel everything in flight",
        "Cancel",
        "Cancel",
        scope=Scope.LIBRARY,
    ),
    Command(
        "cancel_session",
        ("c",),
        "c",
        "Cancel the session under the cursor",
        "Cancel one",
        scope=Scope.LIBRARY,
    ),
    Command(
        "select",
        ("space",),
        "space",
        "Select the session under the cursor, or no more",
        "Select",
        scope=Scope.LIBRARY,
    ),
    Command(
        "select_all",
        ("A",),
        "A",
        "Select all that are shown, or none",
        "All",
        scope=Scope.LIBRARY,
    ),
    Command(
        "next_order",
        ("o",),
        "o",
        "Sort by the next thing",
        "Sort",
        "Sort",
        scope=Scope.LIBRARY,
    ),
    Command(
        "filter",
        ("slash",),
        "/",
        "Filter by words of title, path, folder and format",
        "Filter",
        scope=Scope.LIBRARY,
        urgent=True,
    ),
    Command("clear_filter", ("escape",), "escape", "Clear the filter", scope=Scope.LIBRARY),
    Command(
        "hide_others",
        ("h",),
        "h",
        "Hide files that are no sessions, or show them",
        "Hide",
        scope=Scope.LIBRARY,
    ),
    Command(
        "look_again",
        ("ctrl+r",),
        "ctrl+r",
        "Look for sessions again",
        scope=Scope.LIBRARY,
    ),
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
    Command("least", ("home",), "home", "On the slider: its smallest chunks", scope=Scope.SLIDER),
    Command("most", ("end",), "end", "On the slider: its largest chunks", scope=Scope.SLIDER),
    Command(
        "failure_lab",
        ("F",),
        "F",
        "Force failures, to see what they look like",
        "Failures",
        scope=Scope.EITHER,
        urgent=True,
    ),
    Command(
        "show_holds",
        ("H",),
        "H",
        "What is held outside, and by whom; again: back",
        "Holds",
        scope=Scope.EITHER,
    ),
    Command(
        "sweep_holds",
        ("W",),
        "W",
        "Release what dead processes hold",
        "Sweep",
        scope=Scope.EITHER,
    ),
    Command("help", ("question_mark",), "?", "Show the keys", "Help", scope=Scope.EITHER),
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
    "open",
    "smaller",
    "larger",
    "choose_model",
    "choose_rubric",
    "ask_again",
    "cancel_part",
    "follow",
    "search",
    "run_short",
    "show_prompt",
    "show_reply",
    "next_finding",
    "mark_right",
    "mark_wrong",
    "copy",
    "filter_findings",
    "next_panel",
    "edit_size",
    "edit_limit",
    "edit_concurrency",
    "switch_unit",
    "next_session",
    "previous_session",
    "failure_lab",
    "show_holds",
    "back",
)
"""What the bar at the bottom shows, as far as it fits, before help and quit."""

LIBRARY_BAR = (
    "open",
    "judge",
    "cancel_all",
    "select",
    "filter",
    "next_order",
    "estimate",
    "cancel_session",
    "select_all",
    "hide_others",
    "failure_lab",
    "show_holds",
)
"""The same in the library."""

_BY_ID = {command.id: command for command in COMMANDS}


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
