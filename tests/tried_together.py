"""The commands that are tried together in one app: of the log, the dialogs, some screens."""

from __future__ import annotations

from longjudge_tui.commands import Scope

TOGETHER = frozenset(
    {
        *(Scope.LOG, Scope.HELD, Scope.LAB, Scope.TEXT, Scope.PAST),
        *(Scope.ESTIMATE, Scope.CHOICE, Scope.CONFIRM, Scope.HELP),
        *(Scope.QUIT, Scope.QUIT_BATCH),
    }
)
