"""The library on a real terminal: several sessions, none named, a queue, and the way out."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path, long_sample, small_session):
    folder = tmp_path / "sessions"
    folder.mkdir()
    shutil.copy(long_sample, folder / "long.jsonl")
    shutil.copy(small_session, folder / "small.json")
    return folder


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), pytest.param(120, 40, marks=THOROUGH)])
def test_open_a_session_come_back_and_quit(open_terminal, folder, columns, rows):
    terminal = open_terminal("--model", "offline", folder, columns=columns, rows=rows)
    terminal.sees("SESSIONS 2")
    assert "offline rules" in terminal.text
    terminal.send("\r")
    terminal.ready()
    terminal.sees("CHUNKS")
    terminal.send("\x1b")
    terminal.sees("SESSIONS 2")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


def test_both_are_judged_and_a_filter_typed_in_one_write_is_used(open_terminal, folder):
    terminal = open_terminal("--model", "offline", folder)
    terminal.sees("SESSIONS 2")
    terminal.send("Ar")
    terminal.sees("◐ judging")
    terminal.sees("… waiting")
    terminal.send("/small\r")
    terminal.sees("SESSIONS 1 of 2")
    terminal.sees("✓ complete 1.00")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_without_a_credential_the_reason_and_the_way_out_are_readable(
    open_terminal, environment, folder
):
    environment["HOME"] = str(folder.parent)
    terminal = open_terminal("--model", "claude-haiku-5-5", folder, columns=80, rows=24)
    terminal.sees("SESSIONS 2")
    terminal.send("r")
    terminal.sees("Judge at this price?")
    terminal.send("\r")
    terminal.sees("✗ failed: no credential")
    terminal.sees("choose offline (enter, then m)")
    terminal.send("/")
    terminal.sees("enter goes to the list")
    terminal.send("\r")
    terminal.sees("choose offline (enter, then m)")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_quitting_with_a_queue_asks_once(open_terminal, folder):
    terminal = open_terminal("--model", "offline", folder)
    terminal.sees("SESSIONS 2")
    terminal.send("Ar")
    terminal.sees("◐ judging")
    terminal.send("\x11")
    terminal.sees("A judgment is in flight")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGHUP, 129, marks=THOROUGH)],
)
def test_a_signal_ends_a_queue_with_the_terminal_restored(open_terminal, folder, number, code):
    terminal = open_terminal("--model", "offline", folder)
    terminal.sees("SESSIONS 2")
    terminal.send("Ar")
    terminal.sees("◐ judging")
    terminal.kill(number)
    assert terminal.ended() == code
    terminal.assert_restored()


def test_with_no_path_the_sessions_of_this_computer_are_listed(
    open_terminal, environment, long_sample
):
    projects = Path(environment["HOME"]) / ".claude/projects/-srv-shop"
    projects.mkdir(parents=True)
    for name in ("one", "two"):
        shutil.copy(long_sample, projects / f"{name}.jsonl")
    terminal = open_terminal("--model", "offline")
    terminal.sees("SESSIONS 2")
    terminal.sees("what agents keep on this computer")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_with_no_path_and_no_session_the_samples_are_listed(open_terminal):
    terminal = open_terminal("--model", "offline")
    terminal.sees("the bundled samples")
    terminal.sees("Splitting the checkout")
    terminal.send("\x11")
    assert terminal.ended() == 0


def test_what_a_hostile_session_calls_itself_reaches_the_wire_as_text(
    open_terminal, hostile_sample, folder
):
    shutil.copy(hostile_sample, folder / "a\x1b]0;gone\x07[x].jsonl")
    terminal = open_terminal("--model", "offline", folder)
    terminal.sees("SESSIONS 3")
    terminal.send("\x1b[B")
    terminal.sees("]0;gone")
    terminal.quiet()
    terminal.send("\x11")
    assert terminal.ended() == 0
    assert b"\x1b]0;gone" not in terminal.wire
    assert b"Traceback" not in terminal.wire
