"""Starting the app: what it is given, and how the library finds it without knowing it.

The app registers itself in the entry-point group `longjudge.app`, so that no module of the
library names it and the library installs without a screen.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from longjudge.errors import UsageError
from longjudge.streams import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.config import Configuration
    from longjudge.faults import Fault
    from longjudge.rubric import Rubric
    from longjudge.settings import Settings

APP_GROUP = "longjudge.app"

_WITHOUT_CURSOR = frozenset({"", "dumb", "unknown"})
"""Terminals that only take one line after the other."""


@dataclass(frozen=True, slots=True)
class AppRequest:
    """What the app opens with.

    `model` is a model, a profile, `offline`, or None where nobody named one; `model_given` is
    true where this command line named it, and the offline rules must not take its place.
    `rubric_name` is what the rubric was chosen by: its name, or the path of its file.
    `session` is the id of one session of a file with many. `fault` is forced in every judgment;
    its `kill` ends the process as it is, with the terminal as the app left it.
    """

    paths: tuple[Path, ...]
    model: str | None
    rubric: Rubric
    settings: Settings
    store: Path
    config: Configuration
    model_given: bool = False
    rubric_name: str = ""
    session: str | None = None
    fault: Fault | None = None


def check_terminal() -> None:
    """Refuse to open where a screen could not be shown.

    Raises:
        UsageError: a stream is closed or no terminal, or the terminal has no cursor to move.
    """
    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise UsageError(
            "the app needs a terminal, and there is none here; in scripts use `longjudge judge"
            " PATH`"
        )
    name = os.environ.get("TERM", "")
    # Where there is no such variable at all, the system has terminals of one kind only.
    if os.name == "posix" and name in _WITHOUT_CURSOR:
        told = f"TERM={name} says that this one cannot" if name else "TERM is not set here"
        raise UsageError(
            f"the app needs a terminal that can move the cursor, and {told}; use `longjudge judge"
            " PATH`, or set TERM to what this terminal is, such as TERM=xterm-256color"
        )


def start_app(request: AppRequest) -> int:
    """Open the app and return its exit code.

    Raises:
        UsageError: there is no terminal that would do, or no app is installed.
    """
    check_terminal()
    apps = list(entry_points(group=APP_GROUP))
    if not apps:
        raise UsageError("no app is installed; install longjudge with its app, or use `judge`")
    open_app = cast("Callable[[AppRequest], int]", apps[0].load())
    return open_app(request)
