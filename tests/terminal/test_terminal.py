"""The app on a real terminal: open, run, cancel, quit, signals, and a terminal left as it was."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

THOROUGH = pytest.mark.thorough
TERM, HUP = (signal.SIGTERM, 143), (signal.SIGHUP, 129)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), pytest.param(120, 40, marks=THOROUGH)])
def test_open_run_cancel_quit(open_terminal, long_sample, columns, rows):
    terminal = open_terminal("--model", "offline", long_sample, columns=columns, rows=rows)
    terminal.ready()
    terminal.sees("checkout-refactor.jsonl")
    assert "offline rules" in terminal.text
    terminal.send("r")
    terminal.sees("◐ running")
    terminal.sees("[cancel]")
    terminal.send("x")
    terminal.sees("cancelled; ")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


def test_a_whole_run_and_the_way_to_a_quote(open_terminal, long_sample):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("r")
    terminal.sees("complete: part ")
    terminal.send("\t\t\r")
    terminal.sees("quote verified")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


def test_quitting_with_work_in_flight_asks_once(open_terminal, long_sample):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("r")
    terminal.sees("◐ running")
    terminal.send("\x11")
    terminal.sees("A judgment is in flight")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


@pytest.mark.parametrize(
    ("number", "code", "running"),
    [
        (*TERM, True),
        (*HUP, False),
        pytest.param(*TERM, False, marks=THOROUGH),
        pytest.param(*HUP, True, marks=THOROUGH),
    ],
)
def test_a_signal_ends_the_app_with_the_terminal_restored(
    open_terminal, long_sample, number, code, running
):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    if running:
        terminal.send("r")
        terminal.sees("◐ running")
    terminal.kill(number)
    assert terminal.ended() == code
    terminal.assert_restored()


def test_control_c_does_not_end_the_app(open_terminal, long_sample):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("\x03")
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_without_a_terminal_one_line_says_what_to_use(environment):
    done = subprocess.run(
        [sys.executable, "-m", "longjudge"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1
    assert "longjudge judge" in lines[0]


def test_what_is_no_session_is_one_line_and_the_terminal_is_restored(open_terminal, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no session at all\n")
    terminal = open_terminal("--model", "offline", path)
    assert terminal.ended() == 2
    wire = terminal.wire.decode()
    assert "notes.txt" in wire
    assert "Traceback" not in wire
    if "\x1b[?1049h" in wire:
        terminal.assert_restored()


def test_a_terminal_that_goes_away_ends_the_app(open_terminal, long_sample):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("r")
    terminal.sees("◐ running")
    # The kernel sends SIGHUP when the last one who reads the terminal lets go of it.
    terminal.child.ptyproc.fileobj.close()
    assert terminal.child.ptyproc.wait() == 129


@pytest.mark.parametrize(
    "keys", ["rxrxr", *(pytest.param(keys, marks=THOROUGH) for keys in ("rxr", "rxxr"))]
)
def test_keys_of_one_write_all_count(open_terminal, small_session, keys):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.send(keys)
    terminal.sees("complete: ")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_a_field_takes_what_was_typed_in_one_write(open_terminal, small_session):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.send("s5000\rl42.5\rr")
    terminal.sees("complete: ")
    terminal.sees("chunk   5000")
    terminal.sees("limit s 42.5")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_a_paste_presses_no_key(open_terminal, small_session):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.send("\x1b[200~one \x1b]0;r\x07 \x1b[5~ \x1b[99zr\x1b\x1br\x1b[201~")
    terminal.quiet()
    assert "not judged yet" in terminal.text
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x11")
    assert terminal.ended() == 0
