"""The commands of the screens that stand over the workbench or the library."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope

WHOLE_SCREENS: tuple[Command, ...] = (
    Command(
        "close_screen",
        ("escape",),
        "escape",
        "Back to where you were",
        "Back",
        scope=Scope.OVER,
    ),
    Command(
        "read_smaller",
        ("left",),
        "←",
        "The figures of smaller chunks",
        "Smaller",
        scope=Scope.CURVE,
    ),
    Command(
        "read_larger", ("right",), "→", "The figures of larger chunks", "Larger", scope=Scope.CURVE
    ),
    Command("read_smallest", ("home",), "home", "Those of the smallest chunks", scope=Scope.CURVE),
    Command("read_largest", ("end",), "end", "Those of the largest chunks", scope=Scope.CURVE),
    Command(
        "read_today", ("C",), "C", "Those of the size that is set", "As set", scope=Scope.CURVE
    ),
    Command("take_size", ("enter",), "enter", "Use this chunk size", "Use it", scope=Scope.CURVE),
)
