"""Stopped by the shell's job control: the terminal is free meanwhile, and painted anew after."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import termios
from pathlib import Path

import pytest

BASH = "import os; os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])"
AT_THE_SHELL = "free: icanon"


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def child_of(pid):
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def at_the_shell(terminal):
    """The terminal is as a shell leaves it to a program, and empty."""
    terminal.send("clear; echo free: $(stty -a | grep -ow -- -*icanon)\r")
    terminal.until(lambda: AT_THE_SHELL in terminal.text and "SETTINGS" not in terminal.text, "$")


def comes_back(terminal):
    """The screen is painted again, and the keys arrive."""
    terminal.send("fg\r")
    terminal.sees("SETTINGS")
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x1b")
    terminal.until(lambda: "KEYS" not in terminal.text, "the help is closed")
    # A frame that a stop by force cuts in two would be taken for one painted after it.
    terminal.quiet()


@pytest.mark.thorough
def test_a_stop_frees_the_terminal_and_going_on_paints_what_stood_there(
    open_terminal, small_session
):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.quiet()
    terminal.kill(signal.SIGTSTP)
    terminal.until(lambda: state(terminal.child.pid) == "T", "a stop")
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


def test_who_is_told_to_go_on_without_having_been_away_leaves_the_terminal_as_it_was(
    open_terminal, small_session
):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.quiet()
    terminal.screen.reset()
    terminal.kill(signal.SIGCONT)
    terminal.sees("SETTINGS")
    # Nobody could bring it back here, since no shell has it as a job.
    terminal.send("\x1a")
    terminal.sees("no shell is behind")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell with jobs")
def test_a_shell_gets_its_terminal_by_a_key_or_by_force_and_can_bring_the_app_back(
    open_terminal, small_session
):
    terminal = open_terminal(program=("-c", BASH))
    command = [sys.executable, "-m", "longjudge", "--model", "offline", str(small_session)]
    terminal.send(f"{shlex.join(command)}\r")
    terminal.ready()
    terminal.quiet()
    app = child_of(terminal.child.pid)

    terminal.send("\x1a")
    terminal.sees("Stopped")
    assert state(app) == "T"
    at_the_shell(terminal)
    comes_back(terminal)

    # By force it cannot say anything, and its screen stays under what the shell writes.
    os.kill(app, signal.SIGSTOP)
    terminal.sees("Stopped")
    at_the_shell(terminal)
    comes_back(terminal)

    terminal.send("\x11")
    terminal.until(lambda: not Path(f"/proc/{app}").exists(), "the end of the app")
    at_the_shell(terminal)
    terminal.send("exit\r")
    assert terminal.ended() == 0
    terminal.assert_restored()
