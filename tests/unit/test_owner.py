"""Who still lives, as far as this machine can tell: processes that are gone, stopped, forged."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from longjudge import owner as owners
from longjudge.owner import LOST_SECONDS, Owner, lives, this_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
LONG_AGO = LOST_SECONDS + 1


def lives_now(owner: Owner, *, silent: float = 0.0) -> bool:
    """Whether it lives, having said so that many seconds ago."""
    return lives(owner, time.time() - silent, time.monotonic() - silent)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits to be told to end."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def of(process: subprocess.Popen[bytes]) -> Owner:
    started = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    return replace(this_process(), pid=process.pid, started=started)


def test_this_process_lives_while_it_says_so() -> None:
    assert this_process().pid == os.getpid()
    assert lives_now(this_process())
    assert not lives_now(this_process(), silent=LONG_AGO)
    assert not lives_now(this_process(), silent=-LONG_AGO)


@needs_proc
def test_a_process_that_ended_is_dead_at_once_even_where_nobody_has_collected_it(
    child: subprocess.Popen[bytes],
) -> None:
    owner = of(child)
    assert lives_now(owner)
    child.kill()
    until(lambda: state(child.pid) == "Z")
    assert not lives_now(owner)
    child.wait()
    assert not lives_now(owner)


@needs_proc
def test_a_process_that_is_stopped_lives_however_long_it_says_nothing(
    child: subprocess.Popen[bytes],
) -> None:
    owner = of(child)
    child.send_signal(signal.SIGSTOP)
    until(lambda: state(child.pid) == "T")
    assert lives_now(owner, silent=1_000 * LONG_AGO)
    child.send_signal(signal.SIGCONT)
    until(lambda: state(child.pid) != "T")
    assert not lives_now(owner, silent=LONG_AGO)


@needs_proc
def test_a_number_that_was_given_out_again_is_another_process(
    child: subprocess.Popen[bytes],
) -> None:
    owner = of(child)
    assert not lives_now(replace(owner, started=str(int(owner.started) - 1)))
    assert not lives_now(replace(owner, started=""))


@pytest.mark.parametrize("other", [{"host": "elsewhere"}, {"boot": "another"}])
def test_of_another_machine_only_what_it_said_counts(other: dict[str, str]) -> None:
    owner = replace(this_process(), pid=2**22 + 1, started="1", **other)
    assert lives(owner, time.time(), -1.0)
    assert not lives(owner, time.time() - LONG_AGO, time.monotonic())
    # By a clock that is set back since, or by nobody's.
    for moment in (time.time() + LONG_AGO, math.inf, -math.inf, math.nan):
        assert not lives(owner, moment, time.monotonic())


@pytest.mark.parametrize("pid", [2**22 + 1, 2**31, 2**63 - 1])
@pytest.mark.parametrize("moment", [0.0, math.inf, math.nan])
def test_numbers_that_no_process_has_are_dead(pid: int, moment: float) -> None:
    owner = replace(this_process(), pid=pid)
    assert not lives_now(owner)
    assert not lives(owner, time.time(), moment)


def test_where_the_system_says_no_more_it_is_asked_whether_the_process_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on macOS, or where processes of other users are hidden."""
    monkeypatch.setattr(owners, "_PROC", tmp_path)
    owners._process.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        here = this_process()
        assert (here.boot, here.started) == ("", "")
        assert lives_now(here)
        assert not lives_now(here, silent=LONG_AGO)
        assert not lives_now(replace(here, pid=2**22 + 1))
        # What it said before the machine began anew lies ahead.
        assert not lives(here, time.time(), time.monotonic() + LONG_AGO)
    finally:
        owners._process.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_nothing_is_sent_to_a_process_where_asking_would_press_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def never(pid: int, number: int) -> None:
        raise AssertionError("sent")

    here = replace(this_process(), pid=os.getpid())
    monkeypatch.setattr(owners, "this_process", lambda: here)
    monkeypatch.setattr(owners, "_PROC", tmp_path)
    monkeypatch.setattr(os, "kill", never)
    monkeypatch.setattr(owners, "_ASKING_STOPS", True)
    assert lives_now(here)
    assert not lives_now(here, silent=LONG_AGO)
