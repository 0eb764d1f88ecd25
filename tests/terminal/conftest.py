"""The program on a real pseudo-terminal, with a terminal emulator that shows what a user sees."""

from __future__ import annotations

import json
import os
import re
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pyte
import pytest

if TYPE_CHECKING:
    import signal

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions"
PATIENCE = 60.0

_MODES = (1000, 1003, 1004, 1006, 1015, 1016, 1049, 2004, 2048)
"""Mouse, focus, the other screen, bracketed paste, sizes in band."""

_TO_ASK = re.compile(r"\d (?:chunks? )?to ask")
_KITTY_ON, _KITTY_OFF = re.compile(r"\x1b\[>\d+u"), "\x1b[<u"


class Terminal:
    """A child on a pseudo-terminal; `wire` is every byte that it has sent."""

    def __init__(
        self, arguments, environment, columns=120, rows=40, program=("-m", "longjudge"), cwd=None
    ):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.wire = b""
        self.child = pexpect.spawn(
            sys.executable,
            [*program, *map(str, arguments)],
            env=environment,
            dimensions=(rows, columns),
            timeout=PATIENCE,
            cwd=cwd,
        )
        self.attributes_before = termios.tcgetattr(self.child.child_fd)
        self.attributes_after = None

    def pump(self, seconds: float = 0.05) -> bool:
        """Read what is there; False once the child has closed its end."""
        try:
            data = self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.wire += data
        # The emulator takes private CSI sequences with prefixes it does not know for text.
        self.stream.feed(_without_unknown(data))
        return True

    @property
    def text(self) -> str:
        # Not `display`: it fails on the second half of a wide character that was written over.
        rows = (self.screen.buffer[y] for y in range(self.screen.lines))
        return "\n".join("".join(row[x].data for x in range(self.screen.columns)) for row in rows)

    def until(self, condition, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if condition():
                return
            if not self.pump():
                break
        assert condition(), f"never: {what}\n{self.text}"

    def sees(self, words: str) -> None:
        self.until(lambda: words in self.text, f"{words!r} on the screen")

    def ready(self) -> None:
        """Wait until a session is read: the plan says how much there is to ask."""
        self.until(lambda: _TO_ASK.search(self.text), "a plan")

    def quiet(self) -> None:
        """Read until nothing has come for a moment: the keys sent so far are through."""
        size = -1
        while size != len(self.wire):
            size = len(self.wire)
            self.pump(0.06)

    def send(self, keys: str) -> None:
        self.child.send(keys)

    def kill(self, number: signal.Signals) -> None:
        os.kill(self.child.pid, number)

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        end = time.monotonic() + PATIENCE
        while self.pump() and time.monotonic() < end:
            pass
        self.attributes_after = termios.tcgetattr(self.child.child_fd)
        self.child.close()
        assert self.child.signalstatus is None, f"killed by {self.child.signalstatus}"
        return self.child.exitstatus

    def assert_restored(self) -> None:
        """Every mode that was switched is switched back, and the line discipline is as it was."""
        wire = self.wire.decode("utf-8", "replace")
        assert "\x1b[?1049h" in wire
        for mode in _MODES:
            on, off = f"\x1b[?{mode}h", f"\x1b[?{mode}l"
            assert wire.rfind(off) >= wire.rfind(on), f"{on[1:]} stays on"
        for mode, what in ((25, "the cursor stays hidden"), (7, "lines do not wrap")):
            assert wire.rfind(f"\x1b[?{mode}h") >= wire.rfind(f"\x1b[?{mode}l"), what
        kitty = [found.start() for found in _KITTY_ON.finditer(wire)]
        assert wire.rfind(_KITTY_OFF) >= max(kitty, default=-1), "keys stay as the app wants them"
        if self.attributes_after is not None:
            assert self.attributes_after == self.attributes_before


def _without_unknown(data: bytes) -> bytes:
    return re.sub(rb"\x1b\[[<>=?][0-9;$]*[a-zA-Z]", b"", data)


@pytest.fixture
def environment(tmp_path):
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "USERPROFILE") if name in os.environ
    }
    return kept | {
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "LONGJUDGE_STORE": str(tmp_path / "store.sqlite"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }


@pytest.fixture
def open_terminal(environment):
    opened = []

    def start(*arguments, **options):
        terminal = Terminal(arguments, environment, **options)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.child.close(force=True)


@pytest.fixture
def long_sample():
    return SAMPLES / "checkout-refactor.jsonl"


@pytest.fixture
def hostile_sample():
    return SAMPLES / "hostile.jsonl"


@pytest.fixture
def small_session(tmp_path):
    path = tmp_path / "small.json"
    calls = [{"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}}] * 3
    path.write_text(json.dumps(calls))
    return path
