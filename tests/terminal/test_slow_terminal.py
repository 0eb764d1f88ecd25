"""A terminal that stops reading: judging goes on, a signal still ends the app, frames come back."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import threading
from contextlib import closing

import pytest

import server as api
from longjudge_tui.driver import BACKLOG_BYTES, BEHIND_SECONDS, LossyTerminal
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, write_session

COUNT = 200
PATIENCE = 30.0
CHANGES = 100
MOST_BYTES = 120_000
"""Of some 2,000 that each change of the screen takes, and what the system itself holds back."""


@pytest.fixture
def served(environment):
    with MessagesServer(lambda request, _: api.later(api.clean(request), 0.05)) as server:
        environment["ANTHROPIC_API_KEY"] = "sk-ant-test"
        environment["ANTHROPIC_BASE_URL"] = server.base_url
        yield server


def test_judging_goes_on_and_a_signal_ends_the_app_while_nobody_reads(
    open_terminal, served, tmp_path
):
    path = write_session(tmp_path / "s.jsonl", COUNT)
    terminal = open_terminal(
        "--model", "claude-haiku-5-5", "--chunk-chars", str(CHUNK_CHARS), str(path)
    )
    terminal.sees(f"{COUNT} to ask")
    terminal.send("r")
    # From here on nothing is read from the terminal.
    served.wait_for(lambda: len(served.requests) == COUNT, timeout=60)
    terminal.kill(signal.SIGTERM)
    process = os.pidfd_open(terminal.child.pid)
    ended, _, _ = select.select([process], [], [], 15)
    os.close(process)
    assert ended
    terminal.child.close()
    assert terminal.child.exitstatus == 143


def test_a_terminal_that_is_behind_gets_few_frames_and_the_last_state(
    open_terminal, small_session, tmp_path
):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.quiet()
    read_before = len(terminal.wire)
    for _ in range(CHANGES):
        terminal.send("][\tz")
    terminal.send("r")
    # Nothing is read from the terminal, and every key is answered.
    until_judged(tmp_path / "store.sqlite")
    while "complete: " not in terminal.text:
        assert terminal.pump(PATIENCE), terminal.text
    assert len(terminal.wire) - read_before < MOST_BYTES
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x1b\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


def until_judged(store):
    end = threading.Event()
    for _ in range(int(PATIENCE / 0.05)):
        with closing(sqlite3.connect(store, timeout=5)) as connection:
            if connection.execute("SELECT count(*) FROM verdicts").fetchone()[0]:
                return
        end.wait(0.05)
    raise AssertionError("never judged")


def test_a_terminal_is_behind_until_it_has_taken_what_was_written():
    reader, writer = os.pipe()
    terminal = LossyTerminal(writer, lambda: None)
    taken = threading.Event()
    terminal.when_taken(taken.set)
    assert taken.is_set()
    assert not terminal.is_behind
    terminal.write("z" * 100_000)
    taken.clear()
    terminal.when_taken(taken.set)
    assert not terminal.drain(2 * BEHIND_SECONDS)
    assert terminal.is_behind
    assert not taken.is_set()
    left = 100_000
    while left:
        left -= len(os.read(reader, left))
    assert taken.wait(5)
    assert terminal.drain(5)
    assert not terminal.is_behind
    os.close(reader)
    os.close(writer)


def test_frames_that_find_no_room_are_dropped_and_painted_anew_when_it_reads_again():
    reader, writer = os.pipe()
    caught_up = threading.Event()
    terminal = LossyTerminal(writer, caught_up.set)
    frame = "x" * 10_000
    for _ in range(2 * BACKLOG_BYTES // len(frame)):
        terminal.write(frame)
    terminal.write("\x1b[?1049l")
    assert not terminal.drain(0.01)
    received = b""
    while not received.endswith(b"\x1b[?1049l"):
        received += os.read(reader, 65_536)
    assert terminal.drain(5)
    assert caught_up.wait(5)
    assert len(received) < 2 * BACKLOG_BYTES
    os.close(reader)
    os.close(writer)


def test_a_terminal_that_does_not_let_its_writers_wait_loses_nothing():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    terminal = LossyTerminal(writer, lambda: None)
    for _ in range(20):
        terminal.write("y" * 9_999 + "\n")
    received = b""
    while received.count(b"\n") < 20:
        received += os.read(reader, 65_536)
    assert terminal.drain(5)
    assert len(received) == 200_000
    os.close(reader)
    os.close(writer)
