"""What is said of batches whose results are on their way, or find no room, is true."""

from __future__ import annotations

import json
import resource
import select
import signal
import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from batch_server import Accepted
from batches_for_tests import (
    asked,
    configure,
    finish,
    held_batches,
    judge_batch,
    start_batch,
)
from commands_for_tests import longjudge
from server import FOREVER, rate_limited
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer

COUNT = 40

full_disk = pytest.mark.skipif(
    sys.platform != "linux", reason="the limit of another process can be changed on Linux alone"
)


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def leave_room(pid: int, room: int) -> None:
    """Let no file of a process grow beyond so many bytes, as on a disk that is full."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))


def size_of_log(store: Path) -> int:
    return store.with_name(f"{store.name}-wal").stat().st_size


def paid(store: Path) -> float:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute("SELECT total(cost_usd) FROM verdicts").fetchone()[0]


def told_cost() -> float:
    done = longjudge("results", "--aggregate", "--json")
    assert done.code == 0, done.err
    return done.objects[0]["cost_usd"]


@full_disk
def test_results_that_find_no_room_come_home_once_there_is_some(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: served.batches.called["retrieve"] > 1)
    leave_room(process.pid, size_of_log(store_file))
    served.batches.finish()
    served.wait_for(lambda: served.batches.called["results"] > 2)
    assert held_batches() != []
    leave_room(process.pid, resource.RLIM_INFINITY)
    [result], err = finish(process)
    assert (process.returncode, result["status"], result["store_error"]) == (0, "complete", None)
    assert "looking again" in err
    assert asked(served) == list(range(COUNT))
    assert told_cost() == pytest.approx(result["cost_usd"])
    assert held_batches() == []


@full_disk
@pytest.mark.thorough
def test_a_hang_up_on_a_full_disk_loses_nothing_that_the_provider_has(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: served.batches.called["retrieve"] > 1)
    leave_room(process.pid, size_of_log(store_file))
    served.batches.finish()
    served.wait_for(lambda: served.batches.called["results"] > 2)
    process.send_signal(signal.SIGHUP)
    [result], _ = finish(process)
    assert process.returncode == 129
    assert (result["status"], result["score"], result["holds_left"]) == ("cancelled", None, 1)
    assert result["store_error"] is not None
    [again] = judge_batch(session_file).objects
    assert (again["status"], again["calls"]) == ("complete", 0)
    assert asked(served) == list(range(COUNT))
    assert told_cost() == pytest.approx(paid(store_file))
    assert held_batches() == []


@full_disk
@pytest.mark.thorough
def test_a_stop_on_a_full_disk_cancels_the_batch_all_the_same(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: served.batches.called["retrieve"] > 1)
    leave_room(process.pid, 0)
    process.send_signal(signal.SIGTERM)
    finish(process)
    assert process.returncode == 143
    assert served.batches.own[0].cancels >= 1


@full_disk
def test_a_judgment_that_is_not_recorded_is_not_said_to_be_kept(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: served.batches.called["retrieve"] > 1)
    leave_room(process.pid, size_of_log(store_file))
    served.batches.finish()
    served.wait_for(lambda: served.batches.called["results"] > 2)
    process.send_signal(signal.SIGHUP)
    _, err = finish(process)
    assert longjudge("results", "--json").objects == []
    assert "is kept by now" not in err


@pytest.mark.parametrize("slow", ["results", "retrieve"])
def test_a_batch_that_has_ended_is_not_said_to_be_in_progress(
    served: MessagesServer, tmp_path: Path, slow: str
) -> None:
    kept = write_session(tmp_path / "kept.jsonl", 2)
    judge_batch(kept)
    served.batches.latency = FOREVER
    judge_batch(write_session(tmp_path / "s.jsonl", 4), "--detach")
    served.batches.finish()
    setattr(served.batches, f"{slow}_script", lambda _: Accepted(delay=0.5))
    done = judge_batch(kept)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert "has not ended yet" not in done.err


@pytest.mark.thorough
def test_what_the_store_answers_is_told_while_a_batch_is_put_off(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_requests=2)))
    kept = write_session(tmp_path / "kept.jsonl", 2)
    judge_batch(kept)
    served.batches.create_script = lambda _: rate_limited(60)
    process = start_batch(write_session(tmp_path / "s.jsonl", 6), kept)
    try:
        served.wait_for(lambda: served.batches.called["create"] == 2)
        assert process.stdout is not None
        # Long before the minute is over.
        assert select.select([process.stdout], [], [], 3.0)[0]
        first = json.loads(process.stdout.readline())
        assert first["session"]["path"].endswith("kept.jsonl")
    finally:
        process.kill()
        process.communicate()
