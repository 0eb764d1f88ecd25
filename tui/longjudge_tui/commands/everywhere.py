"""The commands of every list and every screen."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope


def _on_strip(name: str, key: str, shown: str, does: str, label: str = "") -> Command:
    words = f"On the strip of all chunks: {does}"
    return Command(name, (key,), shown, words, label, scope=Scope.TIMELINE)


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
    _on_strip("part_before", "left", "←", "one chunk back", "Back"),
    _on_strip("part_after", "right", "→", "one chunk on", "On"),
    _on_strip("first_part", "home", "home", "the first chunk"),
    _on_strip("last_part", "end", "end", "the last chunk"),
    _on_strip("trouble_before", "up", "↑", "the flagged chunk or gap before"),
    _on_strip("trouble_after", "down", "↓", "the next flagged chunk or gap", "Next trouble"),
    Command(
        "pause",
        ("P",),
        "P",
        "Pause judging: nothing more is asked for now; again: go on",
        "Pause",
        "Pause",
        scope=Scope.EITHER,
    ),
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
    Command(
        "show_past",
        ("J",),
        "J",
        "Past judgments: of this session, of all, by rubric version, gaps over time",
        "Past",
        scope=Scope.EITHER,
    ),
    Command("help", ("question_mark", "f1"), "? f1", "Show the keys", "Help", scope=Scope.EITHER),
    Command(
        "suspend_process",
        ("ctrl+z",),
        "ctrl+z",
        "To the shell; `fg` there comes back. Judging stands still meanwhile, its time limits run"
        " on, and what it holds stays held: other windows here wait for it",
        scope=Scope.APP,
        urgent=True,
    ),
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
