"""The commands of the dialogs: each of them has few, and a scope of its own."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope

DIALOGS: tuple[Command, ...] = (
    Command(
        "close_text",
        ("escape", "q"),
        "escape q",
        "Prompt, reply: back to where you were",
        "Back",
        scope=Scope.TEXT,
    ),
    Command("copy_text", ("y",), "y", "Prompt, reply: copy all of it", "Copy", scope=Scope.TEXT),
    Command(
        "close_choice",
        ("escape",),
        "escape",
        "Models, rubrics: leave it as it is",
        "Back",
        scope=Scope.CHOICE,
    ),
    Command("agree", ("enter", "y"), "enter y", "A price: yes", "Yes", scope=Scope.CONFIRM),
    Command("decline", ("escape", "n"), "escape n", "A price: no", "No", scope=Scope.CONFIRM),
    Command(
        "keep_running",
        ("escape", "enter", "k", "n"),
        "escape enter k n",
        "Asked whether to quit: keep running",
        "Keep running",
        scope=Scope.QUIT,
    ),
    Command(
        "cancel_and_quit",
        ("y",),
        "y",
        "Asked whether to quit: cancel, and quit",
        "Cancel and quit",
        scope=Scope.QUIT,
    ),
    Command(
        "leave_batches",
        ("enter", "y"),
        "enter y",
        "Quitting with a batch out: leave it running, and quit",
        "Leave it running",
        scope=Scope.QUIT_BATCH,
    ),
    Command(
        "cancel_batches",
        ("x",),
        "x",
        "Quitting with a batch out: cancel it at the provider, and quit; again: do not wait",
        "Cancel it",
        scope=Scope.QUIT_BATCH,
    ),
    Command(
        "stay_here",
        ("escape", "n"),
        "escape n",
        "Quitting with a batch out: stay",
        "Stay",
        scope=Scope.QUIT_BATCH,
    ),
    Command("close_holds", ("escape", "H"), "escape H", "Holds: back", "Back", scope=Scope.HELD),
    Command(
        "sweep_held",
        ("W",),
        "W",
        "Holds: release what dead processes hold",
        "Sweep",
        scope=Scope.HELD,
    ),
    Command(
        "cancel_held", ("x",), "x", "Holds: cancel what is in flight", "Cancel", scope=Scope.HELD
    ),
    Command(
        "cancel_batch",
        ("c",),
        "c",
        "Holds: cancel the batch under the cursor",
        "Cancel batch",
        scope=Scope.HELD,
    ),
    Command("lab_where", ("w",), "w", "Failures: which chunks", "Where", scope=Scope.LAB),
    Command("lab_often", ("n",), "n", "Failures: which questions", "How often", scope=Scope.LAB),
    Command("lab_value", ("v",), "v", "Failures: how long, or how many", "Value", scope=Scope.LAB),
    Command(
        "lab_add",
        ("a", "plus"),
        "a +",
        "Failures: keep this one, and pick another beside it",
        "And another",
        scope=Scope.LAB,
    ),
    Command(
        "lab_drop",
        ("backspace", "delete"),
        "backspace",
        "Failures: take the last one out again",
        "Take out",
        scope=Scope.LAB,
    ),
    Command("lab_spec", ("s",), "s", "Failures: type a spec", "Type", scope=Scope.LAB),
    Command(
        "lab_copy", ("y",), "y", "Failures: copy it for the command line", "Copy", scope=Scope.LAB
    ),
    Command("lab_off", ("o",), "o", "Failures: turn them off", "Turn off", scope=Scope.LAB),
    Command(
        "close_lab", ("escape",), "escape", "Failures: change nothing", "Back", scope=Scope.LAB
    ),
    Command(
        "close_help",
        ("escape", "question_mark"),
        "escape ?",
        "Keys: back",
        "Back",
        scope=Scope.HELP,
    ),
)
