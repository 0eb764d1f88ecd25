"""What the bars at the bottom of the screens show."""

from __future__ import annotations

BAR = (
    "run",
    "cancel_run",
    "open",
    "pause",
    "batch",
    "smaller",
    "larger",
    "choose_model",
    "choose_rubric",
    "search",
    "ask_again",
    "cancel_part",
    "follow",
    "run_short",
    "show_prompt",
    "show_reply",
    "next_finding",
    "mark_right",
    "mark_wrong",
    "copy",
    "filter_findings",
    "next_panel",
    "maximise",
    "fold_thread",
    "show_curve",
    "compare",
    "edit_size",
    "edit_limit",
    "edit_concurrency",
    "switch_unit",
    "next_session",
    "previous_session",
    "show_past",
    "save_report",
    "failure_lab",
    "show_holds",
    "back",
)
"""What the bar at the bottom shows, as far as it fits, before help and quit."""

_IN_A_RUN = ("run", "cancel_run", "cancel_part", "open", "pause", "batch", "follow", "search")
BAR_IN_A_RUN = tuple(dict.fromkeys((*_IN_A_RUN, *BAR)))
"""The same while a judgment is in flight, of which one chunk may be cancelled as well."""

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
    "pause",
    "hide_others",
    "show_past",
    "show_estimate",
    "failure_lab",
    "show_holds",
)
"""The same in the library."""
