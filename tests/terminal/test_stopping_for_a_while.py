"""Stopped by the shell's job control: the terminal is free meanwhile, and painted anew after."""

from __future__ import annotations

import signal
import termios
from pathlib import Path

import pytest


@pytest.mark.thorough
def test_a_stop_frees_the_terminal_and_going_on_paints_what_stood_there(
    open_terminal, small_session
):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.quiet()
    facts = Path(f"/proc/{terminal.child.pid}/stat")
    terminal.kill(signal.SIGTSTP)
    terminal.until(lambda: facts.read_text().rpartition(")")[2].split()[0] == "T", "a stop")
    terminal.quiet()
    terminal.attributes_after = termios.tcgetattr(terminal.child.child_fd)
    terminal.assert_restored()
    terminal.screen.reset()
    terminal.kill(signal.SIGCONT)
    terminal.sees("SETTINGS")
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x1b\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()
