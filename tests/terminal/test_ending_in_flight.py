"""The app is told to end while questions are in flight, wait or cannot be given back: it ends soon.

Whatever was judged is kept, nothing stays held that the store lets go of, and the terminal is as
it was.
"""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing

import pytest

from sessions_for_tests import CHUNK_CHARS, write_session

COUNT, JUDGED = 6, 2
SOON = 20.0
THOROUGH = pytest.mark.thorough
TERM, HUP, INT = signal.SIGTERM, signal.SIGHUP, signal.SIGINT


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def open_stuck(open_terminal, tmp_path):
    """Open a session of which two chunks are judged, and the others meet `fault`."""
    path = write_session(tmp_path / "s.jsonl", COUNT)

    def start(fault=None):
        forced = ("--fault", f"{fault}@3-6") if fault else ()
        options = ("--model", "offline", "--chunk-chars", str(CHUNK_CHARS), *forced)
        terminal = open_terminal(*options, path)
        terminal.ready()
        terminal.send("r")
        return terminal

    return start


def counts(store):
    with closing(sqlite3.connect(store, timeout=5)) as connection:
        return [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("verdicts", "leases", "owners")
        ]


def end(terminal, *numbers):
    begun = time.monotonic()
    for number in numbers:
        terminal.kill(number)
        terminal.pump(0.2)
    assert terminal.ended() == 128 + numbers[0]
    assert time.monotonic() - begun < SOON
    terminal.assert_restored()
    assert b"Traceback" not in terminal.wire


def until_in_flight(terminal, store, held=COUNT - JUDGED):
    terminal.until(lambda: counts(store)[:2] == [JUDGED, held], "all others in flight")


@pytest.mark.parametrize(
    ("fault", "held", "numbers"),
    [
        ("slow=60", COUNT - JUDGED, (TERM, HUP, TERM)),
        pytest.param("slow=60", COUNT - JUDGED, (HUP, INT, HUP), marks=THOROUGH),
        pytest.param("429=30", 0, (TERM,), marks=THOROUGH),
    ],
)
def test_signals_end_it_soon_and_nothing_stays_held(open_stuck, store, fault, held, numbers):
    terminal = open_stuck(fault)
    if held:
        until_in_flight(terminal, store)
    else:
        terminal.sees("429")
        terminal.until(lambda: counts(store)[0] == JUDGED, "the others judged")
    end(terminal, *numbers)
    assert counts(store) == [JUDGED, 0, 0]


@THOROUGH
def test_a_store_that_another_process_holds_keeps_no_signal_waiting(open_stuck, store):
    terminal = open_stuck("slow=60")
    until_in_flight(terminal, store)
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        end(terminal, TERM, TERM)
    assert counts(store)[:2] == [JUDGED, COUNT - JUDGED]
    again = open_stuck()
    again.sees("complete: ")
    assert counts(store)[:2] == [COUNT, 0]
    end(again, TERM)


@THOROUGH
def test_a_signal_ends_the_wait_for_another_window(open_stuck, store):
    first = open_stuck("slow=60")
    until_in_flight(first, store)
    second = open_stuck()
    second.sees("waiting")
    end(second, TERM)
    assert counts(store)[:2] == [JUDGED, COUNT - JUDGED]
    end(first, HUP)
    assert counts(store) == [JUDGED, 0, 0]


@THOROUGH
def test_a_terminal_that_goes_away_leaves_nothing_held(open_stuck, store):
    terminal = open_stuck("slow=60")
    until_in_flight(terminal, store)
    terminal.child.ptyproc.fileobj.close()
    assert terminal.child.ptyproc.wait() == 129
    assert counts(store) == [JUDGED, 0, 0]
