"""The commands of the rubric editor: letters are its text, so none of its keys is one."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope

EDITOR: tuple[Command, ...] = (
    Command(
        "try_rubric",
        ("ctrl+t", "f5"),
        "ctrl+t f5",
        "Try the text on this chunk: asks the judge, at the price that is said",
        "Try",
        scope=Scope.EDITOR,
    ),
    Command("cancel_try", ("f9",), "f9", "Cancel the try", "Cancel", scope=Scope.EDITOR),
    Command(
        "use_rubric",
        ("ctrl+r",),
        "ctrl+r",
        "Judge by the text from the next run on, saved or not",
        "Use",
        scope=Scope.EDITOR,
    ),
    Command(
        "save_rubric",
        ("ctrl+s",),
        "ctrl+s",
        "Save the text to its file; a built-in one gets a new file",
        "Save",
        scope=Scope.EDITOR,
    ),
    Command(
        "save_rubric_as",
        ("ctrl+o",),
        "ctrl+o",
        "Save the text as a new file",
        "Save as",
        scope=Scope.EDITOR,
    ),
    Command(
        "next_pane",
        ("ctrl+n", "f8"),
        "ctrl+n f8",
        "Beside the text: the prompt, the reply, the versions",
        "Pane",
        scope=Scope.EDITOR,
    ),
    Command(
        "next_fault",
        ("ctrl+g", "f4"),
        "ctrl+g f4",
        "Go to the next fault of the text",
        "Fault",
        scope=Scope.EDITOR,
    ),
    Command(
        "undo_text",
        ("ctrl+z",),
        "ctrl+z",
        "Take back the last change of the text",
        scope=Scope.EDITOR,
    ),
    Command("chunk_before", ("f2",), "f2", "The chunk before", "Part before", scope=Scope.EDITOR),
    Command("chunk_after", ("f3",), "f3", "The chunk after", "Next part", scope=Scope.EDITOR),
    Command(
        "save_named",
        ("enter",),
        "enter",
        "While a file is named to save to: save the text as that",
        "Save",
        scope=Scope.NAMING,
    ),
    Command(
        "save_nothing",
        ("escape",),
        "escape",
        "While a file is named to save to: do not save, and go back to the text",
        "Not",
        scope=Scope.NAMING,
    ),
)
