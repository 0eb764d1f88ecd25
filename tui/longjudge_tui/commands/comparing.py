"""The commands of the screen that lays two judgments side by side."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope


def _here(name: str, key: str, shown: str, does: str, label: str = "") -> Command:
    return Command(name, (key,), shown, does, label, scope=Scope.COMPARE)


COMPARING: tuple[Command, ...] = (
    _here(
        "next_flip",
        "full_stop",
        ".",
        "The next flip: one side flags what the other calls clean",
        "Next flip",
    ),
    _here("previous_flip", "comma", ",", "The previous flip"),
    _here("filter_rows", "f", "f", "Rows: flips, what only one side judged, all", "Filter"),
    _here("ask_other", "r", "r", "Ask what B lacks, once you agree to the price", "Ask B"),
    _here("ask_one", "R", "R", "Ask what A lacks, once you agree to the price", "Ask A"),
    _here("cancel_asking", "x", "x", "Cancel the judgment in flight", "Cancel"),
    _here("choose_one", "a", "a", "Choose A, the side before", "A"),
    _here("choose_other", "b", "b", "Choose B, the side after", "B"),
    _here("swap_sides", "s", "s", "Swap A and B", "Swap"),
    _here("row_right", "g", "g", "Mark the finding right; again: no mark (B's, else A's)", "Right"),
    _here("row_wrong", "w", "w", "Mark the finding wrong; again: no mark (B's, else A's)", "Wrong"),
    _here("copy_row", "y", "y", "Copy the row, with both sides, as Markdown", "Copy"),
    # The workbench saves a finding by the one key, and a whole report by the other.
    Command(
        "save_comparison",
        ("S", "O"),
        "S O",
        "Save all of it as Markdown",
        "Save",
        scope=Scope.COMPARE,
    ),
)
