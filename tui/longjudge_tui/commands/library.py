"""The commands of the library."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope

LIBRARY: tuple[Command, ...] = (
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
)
