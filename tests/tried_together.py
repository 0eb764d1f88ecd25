"""The commands that are tried together in one app: of the log, the dialogs, past judgments."""

from __future__ import annotations

from longjudge_tui.commands import Scope

TOGETHER = frozenset(
    {
        *(Scope.LOG, Scope.HELD, Scope.LAB, Scope.TEXT, Scope.PAST),
        *(Scope.CHOICE, Scope.CONFIRM, Scope.QUIT, Scope.HELP),
    }
)
