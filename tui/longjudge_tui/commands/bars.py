"""What the bars at the bottom of the screens show."""

from __future__ import annotations

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
