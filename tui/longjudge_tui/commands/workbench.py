"""The commands of the workbench."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope


def _in_search(name: str, key: str, does: str, button: str) -> Command:
    return Command(name, (key,), key, does, button=button, scope=Scope.SEARCH)


WORKBENCH: tuple[Command, ...] = (
    Command("run", ("r",), "r", "Judge what is not kept yet", "Run", "Run"),
    Command("cancel_run", ("x",), "x", "Cancel the whole judgment", "Cancel", "Cancel"),
    Command("cancel_part", ("c",), "c", "Cancel the chunk under the cursor", "Cancel one"),
    Command(
        "follow",
        ("j",),
        "j",
        "Go to the chunk that was asked about last, and follow the run",
        "Follow",
    ),
    Command(
        "ask_again",
        ("a",),
        "a",
        "Ask again about the gap; about a judged chunk, once you agree to its price",
        "Ask again",
    ),
    Command(
        "run_short",
        ("t",),
        "t",
        "Run with a limit of 0.5 s, to see a timeout",
        "0.5 s",
        "Run 0.5 s",
    ),
    Command(
        "smaller",
        ("left_square_bracket", "minus", "left"),
        "[ - ←",
        "Smaller chunks",
        "Less",
    ),
    Command(
        "larger",
        ("right_square_bracket", "plus", "equals_sign", "right"),
        "] + →",
        "Larger chunks",
        "More",
    ),
    Command(
        "fit_size",
        ("right_curly_bracket",),
        "}",
        "Use a chunk size that fits, where parts were too large",
        "Fit",
    ),
    Command("edit_size", ("s",), "s", "Type a chunk size", "Size", urgent=True),
    Command("switch_unit", ("u",), "u", "Cut by tokens instead of characters, and back", "Unit"),
    Command("edit_limit", ("l",), "l", "Type a time limit in seconds", "Limit", urgent=True),
    Command(
        "edit_concurrency",
        ("k",),
        "k",
        "Type how many calls are in flight, also during a run",
        "In flight",
        urgent=True,
    ),
    Command("choose_model", ("m",), "m", "Choose the model", "Model", urgent=True),
    Command("choose_rubric", ("b",), "b", "Choose the rubric", "Rubric", urgent=True),
    Command(
        "show_prompt",
        ("e",),
        "e",
        "Exact prompt of the chunk under the cursor",
        "Prompt",
        urgent=True,
    ),
    Command(
        "show_reply",
        ("v",),
        "v",
        "Raw reply about the chunk under the cursor, earlier ones below",
        "Reply",
        urgent=True,
    ),
    Command(
        "show_oddities", ("d",), "d", "What was odd in the file, and left out of it", urgent=True
    ),
    Command("next_finding", ("full_stop",), ".", "Next finding", "Next finding"),
    Command("previous_finding", ("comma",), ",", "Previous finding"),
    Command(
        "filter_findings",
        ("f",),
        "f",
        "Findings: which ones (all, marked, rules disagree …)",
        "Filter",
    ),
    Command("order_findings", ("o",), "o", "Findings: by part, by criterion, unverified first"),
    Command("mark_right", ("g",), "g", "Mark the finding right; again: no mark", "Right", "right"),
    Command("mark_wrong", ("w",), "w", "Mark the finding wrong; again: no mark", "Wrong", "wrong"),
    Command("copy", ("y",), "y", "Copy the finding, or the event, as Markdown", "Copy", "copy"),
    Command("copy_json", ("Y",), "Y", "Copy it as JSON"),
    Command("save", ("S",), "S", "Save it as Markdown in the folder longjudge was started in"),
    Command("context", ("z",), "z", "The event with its neighbours; again: alone", "", "context"),
    Command("raw_record", ("i",), "i", "The record as it is in the file; again: back", "", "raw"),
    Command(
        "search",
        ("slash",),
        "/",
        "Search all events: text, re:pattern, tool:Bash, kind:error, is:error",
        "Search",
        urgent=True,
    ),
    _in_search("next_hit", "n", "While a search is on: the next hit", "next"),
    _in_search("previous_hit", "N", "While a search is on: the previous hit", "previous"),
    _in_search(
        "end_search", "escape", "While a search is on: end it, and go back to where you were", "end"
    ),
    Command("next_session", ("n",), "n", "Next session", "Next"),
    Command("previous_session", ("p",), "p", "Previous session", "Previous"),
    Command("reload", ("ctrl+r",), "ctrl+r", "Read the session again, as the file is now"),
    Command("read_on", ("R",), "R", "Read what the session's file has grown by"),
    Command("read_on_itself", ("L",), "L", "Read on by itself as the file grows; again: no more"),
    Command("back", ("escape",), "escape", "Back to the library", "Library"),
    Command("next_panel", ("tab",), "tab", "Next panel", "Panel"),
    Command("previous_panel", ("shift+tab",), "shift+tab", "Previous panel"),
)
