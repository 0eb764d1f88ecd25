"""The commands of every list and every screen."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope

EVERYWHERE: tuple[Command, ...] = (
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
