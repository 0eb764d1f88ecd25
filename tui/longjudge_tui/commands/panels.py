"""What each panel is, in a sentence, and its most useful keys: for the help and for the bar.

A panel is found by the id of the widget that has the keys, or of one around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from longjudge_tui.commands.kinds import Scope


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel's name and what it is; `keys` are ids of commands, the most useful ones first."""

    name: str
    what: str
    keys: tuple[str, ...] = ()


_FIELD_KEYS: Final = ("run", "edit_size", "edit_limit", "edit_concurrency", "switch_unit")

PANELS: Final[dict[str, Panel]] = {
    "chunks": Panel(
        "CHUNKS",
        "The plan: a row for each chunk, with its tokens, and what is known about it."
        " Whatever is done with a chunk is done with the one under the cursor.",
    ),
    "events": Panel(
        "EVENTS",
        "What happened in the chunk under the cursor, one row each; enter shows one as a whole.",
        (
            "open",
            "context",
            "raw_record",
            "edit_file",
            "copy",
            "search",
            "next_finding",
            "to_chunks",
            "run",
        ),
    ),
    "findings": Panel(
        "FINDINGS",
        "What the judge has found, with the quote that proves it. Your mark says whether it is"
        " right; it changes no score.",
        (
            "next_finding",
            "mark_right",
            "mark_wrong",
            "copy",
            "filter_findings",
            "to_chunks",
            "search",
            "order_findings",
            "context",
            "save",
            "edit_file",
            "run",
        ),
    ),
    "gaps": Panel(
        "GAPS",
        "Chunks that have no verdict, each with the reason. A gap counts neither as clean nor as"
        " flagged.",
        ("open", "ask_again", "show_reply", "to_chunks", "run", "edit_limit", "fit_size"),
    ),
    "holds": Panel(
        "HOLDS",
        "What is held outside this process, by whom, and since when: the right to ask a question,"
        " so that nobody else pays for it too, and batches at a provider.",
        ("open", "sweep_holds", "cancel_part", "cancel_run", "to_chunks", "show_holds"),
    ),
    "log": Panel(
        "LOG",
        "What happened, as it happens; at its end it stays at its end. The same lines are in a"
        " file, with those that are too old for here.",
        (
            "open",
            "filter_log",
            "log_kinds",
            "to_chunks",
            "copy_log_line",
            "copy_log",
            "save_log",
        ),
    ),
    "detail": Panel(
        "EVENT",
        "The text of one event, or why a chunk has no verdict. What a judge does not read of it"
        " stands out.",
        (
            "context",
            "raw_record",
            "edit_file",
            "copy",
            "to_chunks",
            "copy_json",
            "save",
            "mark_right",
            "search",
        ),
    ),
    "settings": Panel(
        "SETTINGS",
        "What the next run goes by. Type a number; enter takes it, escape leaves it as it was.",
        _FIELD_KEYS,
    ),
    "slider": Panel(
        "CHUNK SIZE",
        "How much one question holds: count, tokens and price follow while it moves.",
        (
            "smaller",
            "larger",
            "least",
            "most",
            "edit_size",
            "switch_unit",
            "fit_size",
            "to_chunks",
        ),
    ),
    "timeline": Panel(
        "TIMELINE",
        "All chunks from left to right, in the glyph of their state; with more chunks than cells a"
        " cell shows the most urgent one. A click or a drag goes there. What is in sight below has"
        " another ground, and the chunk under the cursor is reversed.",
        (
            "trouble_after",
            "part_after",
            "part_before",
            "follow",
            "run",
            "fold_thread",
            "to_chunks",
        ),
    ),
    "search-row": Panel(
        "SEARCH",
        "Type what to look for in every event: several words are one phrase. Enter goes to the"
        " first hit, escape ends it.",
        ("next_hit", "previous_hit", "end_search"),
    ),
    "sessions": Panel(
        "SESSIONS",
        "Every session that was found, with what is known about each. Enter opens one; what is"
        " selected is judged together.",
    ),
    "filter": Panel(
        "FILTER",
        "Words of title, path, folder and format. Enter goes back to the list, escape clears them.",
    ),
    "longest": Panel(
        "WHAT JUDGING COMES TO",
        "What is to ask about these sessions, what it costs, live and as a batch, and how long it"
        " takes; the ten longest. Nothing is asked before you agree to the price.",
        ("run_live", "run_batch", "sample_first", "estimate_rest"),
    ),
    "past": Panel(
        "PAST JUDGMENTS",
        "What was judged before, newest first; enter shows one as it ended, and r goes on with what"
        " it left. Scores of different chunk settings are never put together.",
        ("open", "pick_past", "compare_past", "save_past_report", "copy_report", "filter_past"),
    ),
    "kinds": Panel(
        "FAILURE LAB",
        "What failures look like: pick one, where it strikes and how often. None is paid for, and"
        " nothing that it makes is kept.",
    ),
    "rubric-text": Panel(
        "RUBRIC TEXT",
        "The rubric as TOML. Letters are text here. `end` goes to the end of a row, once more to"
        " that of its line, ctrl+end to that of the text; shift and a key that moves selects. What"
        " is wrong is underlined, and said below. What is not saved is kept as a draft; ctrl+y"
        " does again what ctrl+z took back.",
        (
            "use_rubric",
            "save_rubric",
            "next_pane",
            "close_screen",
            "chunk_before",
            "chunk_after",
            "next_fault",
            "try_rubric",
            "save_rubric_as",
            "undo_text",
        ),
    ),
    "rubric-save": Panel(
        "SAVE AS",
        "The new file that the text is saved as. Nothing is saved before enter.",
        ("save_named", "save_nothing"),
    ),
    "rubric-faults": Panel(
        "FAULTS", "What is wrong with the text; enter goes to the line.", ("open", "next_fault")
    ),
    "rubric-past": Panel(
        "VERSIONS",
        "Every text that was judged by, tried or saved. Below is what the editor's text has"
        " beside it; enter takes the one under the cursor back.",
        ("open", "next_pane"),
    ),
    "compared": Panel(
        "BEFORE / AFTER",
        "What two judgments say about the same events, flips first; enter shows the event in the"
        " workbench. No finding counts as lost where the other side has not judged.",
        (
            "next_flip",
            "ask_other",
            "copy_row",
            "save_comparison",
            "choose_one",
            "choose_other",
            "filter_rows",
            "open",
        ),
    ),
    "sides": Panel("A SIDE", "The judgments of this session; enter takes one, escape none."),
    "side-one": Panel("A", "What the side before says about the row under the cursor."),
    "side-other": Panel("B", "What the side after says about the row under the cursor."),
    "choices": Panel(
        "CHOICE", "Enter takes what is under the cursor; or type a name, and enter takes that."
    ),
    "full-text": Panel("TEXT", "All of it, word for word; nothing in it can act on the terminal."),
}

SCREENS: Final[dict[Scope, str]] = {
    Scope.LIBRARY: "In the library",
    Scope.SCREEN: "In the workbench",
    Scope.LIST: "In every list",
    Scope.OVER: "On every screen of its own",
    Scope.CURVE: "At the curve of chunk sizes",
    Scope.ESTIMATE: "Before judging several sessions",
    Scope.EDITOR: "In the rubric editor",
    Scope.PAST: "In past judgments",
    Scope.COMPARE: "Before and after",
    Scope.LOG: "In the log",
    Scope.HELD: "In the list of holds",
    Scope.LAB: "In the failure lab",
    Scope.TEXT: "In prompt and reply",
    Scope.CHOICE: "In a choice",
    Scope.CONFIRM: "Where a price is asked about",
    Scope.QUIT: "Where it is asked whether to quit",
    Scope.QUIT_BATCH: "Where it is asked what becomes of batches",
    Scope.HELP: "In the keys",
}
"""How the help calls the places of commands; others are called by their own word."""


def panel_of(ids: tuple[str | None, ...]) -> Panel | None:
    """The panel of the first of some ids, from the inside out, that is one."""
    return next((PANELS[each] for each in ids if each in PANELS), None)
