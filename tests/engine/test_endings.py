"""However a run is told to end: its exit code, soon, what was judged kept, and nothing held."""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import signal
import sqlite3
import subprocess
import sys
import termios
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COUNT = 6
SOON = 20.0
INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
JUDGED, STUCK = 2, "slow=60@3-6"
PATIENCE = 30.0
PIPE_BYTES = 65_536

# The program, which also says when a question is on its way: a lease is taken a moment before.
SAYS_WHAT_IT_ASKS = """
import sys
from longjudge.board import Board
from longjudge.cli import main
started = Board.started
def start(board, position):
    started(board, position)
    print("asked about", position + 1, file=sys.stderr, flush=True)
Board.started = start
"""
PROGRAM = f"{SAYS_WHAT_IT_ASKS}sys.exit(main(sys.argv[1:]))"

# One signal more comes while Python takes itself apart, after everything else.
AND_ONE_AT_THE_END = f"""
{SAYS_WHAT_IT_ASKS}
import os, signal
class Last:
    def __del__(self, kill=os.kill, number=os.getpid(), hang_up=signal.SIGHUP):
        kill(number, hang_up)
last = Last()
sys.exit(main(sys.argv[1:]))
"""


class Command:
    """A `judge` command as a process; what it says is read line by line."""

    def __init__(self, path: Path, store: Path, *options: str, program: str = PROGRAM) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-c", program, "judge", str(path), "--json"),
                *("--model", "offline", "--chunk-chars", str(CHUNK_CHARS), "--store", str(store)),
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""
        self._told = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._told:
                self.said += line
                self._told.notify_all()

    def until_said(self, words: str) -> None:
        with self._told:
            assert self._told.wait_for(lambda: words in self.said, PATIENCE), self.said

    def send(self, *numbers: int) -> None:
        for number in numbers:
            self.process.send_signal(number)

    def ends_soon(self) -> list[dict[str, Any]]:
        """What it printed, when it has ended; that takes no time."""
        begun = time.monotonic()
        results = self.ends()
        assert time.monotonic() - begun < SOON
        return results

    def ends(self) -> list[dict[str, Any]]:
        """What it printed, when it has ended."""
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        self.process.wait(PATIENCE)
        self._reader.join()
        assert "Traceback" not in self.said
        return [json.loads(line) for line in out.splitlines()]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def judging(path: Path, store: Path, *options: str, **program: str) -> Iterator[Command]:
    command = Command(path, store, *options, **program)
    try:
        yield command
    finally:
        command.close()


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def count(store: Path, table: str) -> int:
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store, timeout=5)) as connection:
        try:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        except sqlite3.OperationalError:
            # It has no tables yet.
            return 0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def until_in_flight(command: Command, store: Path) -> None:
    """What can be judged is, and the rest is being asked."""
    for part in range(1, COUNT + 1):
        command.until_said(f"asked about {part}\n")
    until(lambda: count(store, "verdicts") == JUDGED and count(store, "leases") == COUNT - JUDGED)


def check_over(store: Path) -> None:
    assert count(store, "verdicts") == JUDGED
    assert (count(store, "leases"), count(store, "owners")) == (0, 0)


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        pytest.param((INT, INT), 130, marks=pytest.mark.thorough),
        ((TERM, HUP, INT), 143),
        pytest.param((HUP, TERM), 129, marks=pytest.mark.thorough),
    ],
    ids=["int-int", "term-hup-int", "hup-term"],
)
def test_of_several_signals_the_first_names_the_exit_code_and_none_breaks_the_cleanup(
    session_file: Path, store_file: Path, numbers: tuple[int, ...], code: int
) -> None:
    program = AND_ONE_AT_THE_END
    with judging(session_file, store_file, "--fault", STUCK, program=program) as command:
        until_in_flight(command, store_file)
        command.send(numbers[0])
        command.until_said("stopping (cancel)")
        # In the grace, and in the cleanup that follows it.
        command.send(*numbers[1:])
        [result] = command.ends_soon()
        assert command.process.returncode == code
    assert result["status"] == "cancelled"
    assert result["gaps"] == {"cancelled": COUNT - JUDGED}
    assert result["holds_left"] == 0
    check_over(store_file)


def test_a_signal_ends_the_wait_that_a_provider_ordered(
    session_file: Path, store_file: Path
) -> None:
    with judging(session_file, store_file, "--fault", "429=30@3-6") as command:
        command.until_said("waiting ")
        until(lambda: count(store_file, "verdicts") == JUDGED)
        command.send(TERM)
        [result] = command.ends_soon()
        assert command.process.returncode == 143
    assert result["unjudged_chunks"] == COUNT - JUDGED
    check_over(store_file)


def test_a_signal_ends_the_wait_for_another_process(session_file: Path, store_file: Path) -> None:
    with judging(session_file, store_file, "--fault", STUCK) as other:
        until_in_flight(other, store_file)
        with judging(session_file, store_file) as command:
            until(lambda: count(store_file, "owners") == 2)
            command.send(TERM)
            [result] = command.ends_soon()
            assert command.process.returncode == 143
        assert result["gaps"] == {"skipped": COUNT - JUDGED}
        # The other one is none the wiser.
        assert (count(store_file, "leases"), count(store_file, "owners")) == (COUNT - JUDGED, 1)
        other.send(INT)
        other.ends_soon()
    check_over(store_file)


def test_a_store_that_another_process_holds_keeps_no_signal_waiting(
    session_file: Path, store_file: Path
) -> None:
    with judging(session_file, store_file, "--fault", STUCK) as command:
        until_in_flight(command, store_file)
        with closing(sqlite3.connect(store_file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            command.send(TERM)
            command.until_said("stopping (cancel)")
            command.send(INT)
            [result] = command.ends_soon()
            assert command.process.returncode == 143
    # What could not be given back is said, and the next start sweeps it.
    assert result["holds_left"] == COUNT - JUDGED
    assert result["gaps"] == {"cancelled": COUNT - JUDGED}
    assert count(store_file, "leases") == COUNT - JUDGED
    with judging(session_file, store_file) as command:
        [result] = command.ends()
    assert f"released {COUNT - JUDGED} leases that dead processes left" in command.said
    assert (result["status"], result["calls"]) == ("complete", COUNT - JUDGED)
    assert (count(store_file, "leases"), count(store_file, "owners")) == (0, 0)


@pytest.mark.thorough
def test_output_that_is_never_read_does_not_make_a_process_that_nobody_can_end(
    tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a buffer Python writes once, and takes the write for whole where a signal ends it.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    path = write_session(tmp_path / "long.jsonl", 400)
    with judging(path, store_file) as command:
        assert command.process.stdout is not None
        pipe = command.process.stdout.fileno()
        until(lambda: _waiting_in(pipe) >= PIPE_BYTES)
        begun = time.monotonic()
        while command.process.poll() is None:
            assert time.monotonic() - begun < SOON
            command.send(TERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                command.process.wait(0.2)
        assert command.process.returncode == 143
    assert count(store_file, "verdicts") == 400
    assert count(store_file, "leases") == 0


def _waiting_in(pipe: int) -> int:
    size = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


def test_when_nobody_reads_the_results_any_more_what_was_judged_is_kept(
    session_file: Path, store_file: Path, tmp_path: Path
) -> None:
    other = write_session(tmp_path / "t.jsonl", COUNT + 1)
    command = (
        f'"{sys.executable}" -m longjudge judge {session_file} {other} {session_file} --json'
        f" --model offline --chunk-chars {CHUNK_CHARS} --store {store_file} | head -1;"
        " echo ${PIPESTATUS[0]}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    first, code = done.stdout.splitlines()
    assert json.loads(first)["status"] == "complete"
    # It may have written all three before the reader left.
    assert code in ("0", "141")
    assert "Traceback" not in done.stderr
    assert count(store_file, "verdicts") >= COUNT
    assert (count(store_file, "leases"), count(store_file, "owners")) == (0, 0)
