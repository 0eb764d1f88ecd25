"""Where the program enters the app: something is seen at once, and a fault leaves no mess."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from longjudge.streams import tell
from longjudge_tui.crashes import AppDiedError, keep_traceback
from longjudge_tui.first_screen import first_screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from longjudge.launch import AppRequest

FAULT = 1


def open_app(request: AppRequest) -> int:
    """Open the app and return its exit code.

    Raises:
        LongjudgeError: there is nothing to open, or something it needs cannot be used.
    """
    sys.excepthook = _say_fault
    try:
        with first_screen(_opening(request)):
            return _load()(request)
    except AppDiedError as died:
        tell(keep_traceback(died.__cause__ or died))
        return FAULT


def _load() -> Callable[[AppRequest], int]:
    """Load most of what there is to load, when something is seen already."""
    # What is loaded stays: looking through it for garbage again and again finds none.
    gc.disable()
    try:
        from longjudge_tui.main import open_app as open_loaded
    finally:
        gc.freeze()
        gc.enable()
    return open_loaded


def _opening(request: AppRequest) -> str:
    names = ", ".join(path.name or str(path) for path in request.paths[:3])
    return f"longjudge ─ opening {names}…" if names else "longjudge ─ looking for sessions…"


def _say_fault(_: type[BaseException], fault: BaseException, __: TracebackType | None) -> None:
    """Say what ended the program in one line; where it happened is in the log file."""
    tell(keep_traceback(fault))
