"""Puts standard input on this computer's clipboard: a program of its own, run by `clipboard`.

In a process of its own, a clipboard tool that hangs can be ended with everything it started, and
what it writes does not land on the screen.

Exit codes: 0 taken, `NO_TOOL` there is no clipboard tool, 1 the tool failed.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyperclip

NO_TOOL = 3

_started: list[subprocess.Popen[Any]] = []


class _WatchedPopen(subprocess.Popen[Any]):
    """A child that is remembered: pyperclip does not look at how its tool ended."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        _started.append(self)


def main() -> int:
    """Copy, and say by the exit code what came of it."""
    text = sys.stdin.buffer.read().decode("utf-8")
    subprocess.Popen = _WatchedPopen
    put, _ = pyperclip.determine_clipboard()
    _started.clear()
    try:
        put(text)
    except pyperclip.PyperclipException:
        return NO_TOOL
    return 1 if any(child.returncode for child in _started) else 0


if __name__ == "__main__":
    sys.exit(main())
