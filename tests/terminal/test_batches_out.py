"""The app is told to end while a batch is out: a hang-up leaves it running, others cancel it."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing

import pytest

from server import FOREVER, MessagesServer
from sessions_for_tests import CHUNK_CHARS, write_session

COUNT = 4
SOON = 30.0
TERM, HUP, INT = signal.SIGTERM, signal.SIGHUP, signal.SIGINT


@pytest.fixture
def served():
    with MessagesServer() as server:
        server.batches.latency = FOREVER
        yield server


@pytest.fixture
def open_with_batch(open_terminal, environment, served, tmp_path):
    """Open a session whose chunks are all in a batch."""
    environment |= {"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": served.base_url}
    path = write_session(tmp_path / "s.jsonl", COUNT)
    model = ("--model", "claude-haiku-5-5", "--chunk-chars", str(CHUNK_CHARS))

    def start():
        terminal = open_terminal(*model, path)
        terminal.ready()
        terminal.send("A")
        terminal.sees("Judge as a batch?")
        terminal.send("y")
        terminal.sees(f"{COUNT} in a batch (msgbatch_")
        return terminal

    return start


def rows(tmp_path, columns="owner = '', state, cancel"):
    with closing(sqlite3.connect(tmp_path / "store.sqlite", timeout=5)) as connection:
        return connection.execute(f"SELECT {columns} FROM batches").fetchall()


def end(terminal, *numbers):
    begun = time.monotonic()
    for number in numbers:
        terminal.kill(number)
        terminal.pump(0.5)
    assert terminal.ended() == 128 + numbers[0]
    terminal.assert_restored()
    assert b"Traceback" not in terminal.wire
    return time.monotonic() - begun


def test_a_hang_up_leaves_the_batch_running(open_with_batch, served, tmp_path):
    terminal = open_with_batch()
    assert end(terminal, HUP) < SOON
    assert rows(tmp_path) == [(1, "submitted", "")]
    assert not served.batches.called["cancel"]


@pytest.mark.parametrize("number", [TERM, pytest.param(INT, marks=pytest.mark.thorough)])
def test_a_kill_cancels_the_batch_and_keeps_what_was_answered(
    open_with_batch, served, tmp_path, number
):
    served.batches.done_at_cancel = 0.5
    terminal = open_with_batch()
    assert end(terminal, number) < SOON
    assert served.batches.called["cancel"] == 1
    assert rows(tmp_path, "state, cancel") in ([("harvested", "cancelled")], [])
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM verdicts").fetchone() == (COUNT // 2,)


def test_a_second_signal_does_not_wait_and_the_next_start_finishes_it(
    open_with_batch, served, tmp_path, open_terminal
):
    served.batches.cancel_latency = FOREVER
    terminal = open_with_batch()
    # In the ten seconds that it would wait for.
    assert end(terminal, TERM, TERM) < 10.0
    assert rows(tmp_path) == [(0, "submitted", "cancelled")]
    assert served.batches.called["cancel"] == 1
    served.batches.finish()
    again = open_terminal("--model", "claude-haiku-5-5", tmp_path / "s.jsonl")
    again.ready()
    again.until(lambda: rows(tmp_path, "state") in ([("harvested",)], []), "it brought home")
    again.kill(HUP)
    assert again.ended() == 129
