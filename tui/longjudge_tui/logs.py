"""The log's file for as long as the app is open, and where Python's own logging goes meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.paths import log_path
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.bench.log_file import LogFile, python_logs
from longjudge_tui.clipboard import shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from longjudge_tui.bench.event_log import EventLog, LogLine

_HOLDS = "longjudge.leases"


@contextlib.contextmanager
def log_to_file(log: EventLog) -> Generator[None]:
    """Inside, the lines of a log go to the user's log file too; nothing depends on that file."""
    loop, path = asyncio.get_running_loop(), log_path()

    def soon(what: Callable[[], None]) -> None:
        # The loop may be over by then.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(what)

    def trouble(why: str) -> None:
        soon(partial(_say_trouble, log, why))

    def heard(name: str, words: str) -> None:
        kind = LogKind.HOLD if name == _HOLDS else LogKind.ERROR
        said = words if name == _HOLDS else f"{name}: {words}"
        soon(partial(log.add, kind, said))

    file = LogFile(path, trouble)
    log.file, log.on_line = _at_home(path), file.take
    log.add(LogKind.SESSION, f"longjudge is open; these lines, and older ones, are in {log.file}")
    try:
        with python_logs(heard):
            yield
    finally:
        log.on_line = _nowhere
        file.close()


def _at_home(path: Path) -> str:
    """A path as people write it."""
    shown, home = shown_path(path), shown_path(Path(os.path.expanduser("~")))
    return f"~{shown[len(home) :]}" if shown.startswith(f"{home}{os.sep}") else shown


def _say_trouble(log: EventLog, why: str) -> None:
    log.file_fault = why
    if why:
        log.add(LogKind.ERROR, f"no log file is written, {log.file} takes nothing: {why}")
    else:
        log.add(LogKind.STORE, f"{log.file} takes lines again; some may be missing in it")


def _nowhere(_: LogLine) -> None:
    """No file is written."""
