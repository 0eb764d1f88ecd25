"""The commands of the log, while it has the keys."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope


def _in_log(name: str, key: str, shown: str, does: str, label: str = "") -> Command:
    return Command(name, (key,), shown, does, label, scope=Scope.LOG)


LOG: tuple[Command, ...] = (
    Command(
        "filter_log",
        ("slash",),
        "/",
        "In the log: type words to filter by",
        "Filter",
        scope=Scope.LOG,
        urgent=True,
    ),
    _in_log("log_kinds", "f", "f", "In the log: the next kinds of lines", "Kinds"),
    _in_log("copy_log_line", "y", "y", "In the log: copy the line", "Copy"),
    _in_log("copy_log", "Y", "Y", "In the log: copy every line that is shown", "Copy all"),
    _in_log("save_log", "S", "S", "In the log: save every line that is shown", "Save"),
    _in_log("clear_log_filter", "escape", "escape", "In the log: show every line again"),
)
