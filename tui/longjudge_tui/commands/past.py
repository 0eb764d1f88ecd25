"""The commands of the screen of past judgments."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope


def _in_past(name: str, key: str, shown: str, does: str, label: str = "") -> Command:
    return Command(name, (key,), shown, does, label, scope=Scope.PAST)


PAST: tuple[Command, ...] = (
    _in_past("past_of_session", "1", "1", "The judgments of this session", "This session"),
    _in_past("past_of_all", "2", "2", "The judgments of all sessions", "All"),
    _in_past("past_rubrics", "3", "3", "What each version of a rubric came to", "Rubrics"),
    _in_past("past_gaps", "4", "4", "Gaps over time: what came to no score", "Gaps"),
    _in_past("next_past_view", "tab", "tab", "The next of these four"),
    _in_past("filter_past", "slash", "/", "Filter the judgments by words", "Filter"),
    _in_past("order_past", "o", "o", "Sort the judgments by the next thing", "Sort"),
    _in_past("pick_past", "space", "space", "Pick the judgment to compare, or no more", "Pick"),
    _in_past("compare_past", "D", "D", "Compare the two that are picked", "Compare"),
    _in_past("copy_report", "y", "y", "Copy the judgment's report as Markdown", "Copy"),
    _in_past(
        "save_past_report",
        "O",
        "O",
        "Save the judgment's report in the folder longjudge was started in",
        "Report",
    ),
)
