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
)
