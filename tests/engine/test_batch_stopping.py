"""`longjudge judge --batch` stopped: by a signal at any moment, or by its time."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

import server as api
from batch_server import ACCEPT_AND_HANG, HANG, Accepted
from batches_for_tests import (
    asked,
    check_sums,
    configure,
    finish,
    forget_owners,
    held_batches,
    judge_batch,
    rows,
    start_batch,
)
from server import FOREVER
from sessions_for_tests import item_of, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer

COUNT = 4


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, listed_after=0.5)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def submitted(server: MessagesServer, count: int = 1) -> bool:
    """Whether so many batches are known to the command, which has looked at each."""
    own = server.batches.own
    return len(own) == count and all(batch.retrieves for batch in own)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_stop_cancels_every_batch_and_keeps_what_was_done(
    served: MessagesServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    store_file: Path,
    number: signal.Signals,
    code: int,
) -> None:
    config = configure(tmp_path, max_requests=3)
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(config))
    served.batches.latency, served.batches.done_at_cancel = FOREVER, 0.4
    process = start_batch(write_session(tmp_path / "s.jsonl", 6))
    served.wait_for(lambda: submitted(served, 2))
    process.send_signal(number)
    [result], err = finish(process)
    assert process.returncode == code
    check_sums(result)
    assert (result["status"], result["score"]) == ("cancelled", None)
    assert (result["judged_chunks"], result["gaps"]) == (2, {"cancelled": 4})
    assert (result["calls"], result["holds_left"]) == (6, 0)
    assert [batch.cancels for batch in served.batches.own] == [1, 1]
    assert rows(store_file, "state, cancel") == [("harvested", "cancelled")] * 2
    assert held_batches() == []
    assert "session(s) were not begun" not in err
    # What was done is not asked again.
    served.batches.latency = 0
    assert judge_batch(tmp_path / "s.jsonl").objects[0]["status"] == "complete"
    again = [params for batch in served.batches.own[2:] for params in batch.requests.values()]
    assert len(again) == 4


def test_the_wish_to_cancel_is_noted_before_anything_else(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    served.batches.cancel_script = lambda _: HANG
    process = start_batch(session_file)
    served.wait_for(lambda: submitted(served))
    process.send_signal(signal.SIGINT)
    served.wait_for(lambda: served.batches.called["cancel"] == 1)
    assert rows(store_file, "state, cancel, cancel_sent") == [("submitted", "cancelled", 0)]
    process.kill()
    process.communicate()
    served.release()
    # The next run sends what this one could not.
    served.batches.cancel_script = lambda _: None
    served.batches.latency, served.batches.done_at_cancel = 0, 0.5
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert served.batches.own[0].cancels >= 1
    assert len(served.batches.own) == 2
    assert len(served.batches.own[1].custom_ids) == COUNT - 2


def test_a_second_signal_skips_the_wait_and_the_next_run_finishes_it(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = served.batches.cancel_latency = FOREVER
    served.batches.done_at_cancel = 0.5
    process = start_batch(session_file)
    served.wait_for(lambda: submitted(served))
    process.send_signal(signal.SIGTERM)
    served.wait_for(lambda: served.batches.own[0].cancels == 1)
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    [result], err = finish(process)
    assert time.monotonic() - begun < 8
    assert process.returncode == 143
    assert (result["status"], result["gaps"]) == ("cancelled", {"cancelled": COUNT})
    assert (result["calls"], result["calls_without_reply"], result["holds_left"]) == (4, 4, 1)
    [line] = [line for line in err.splitlines() if "stays held" in line]
    assert "holds --sweep" in line
    [hold] = held_batches()
    assert (hold["id"], hold["state"]) == (served.batches.own[0].id, "abandoned")
    served.batches.finish()
    served.batches.latency = 0
    done = judge_batch(session_file)
    [result] = done.objects
    assert (result["status"], result["cached_chunks"], result["calls"]) == ("complete", 2, 2)
    assert held_batches() == []


@pytest.mark.thorough
def test_a_wait_for_the_end_is_bounded(served: MessagesServer, session_file: Path) -> None:
    served.batches.latency = FOREVER
    served.batches.cancel_script = lambda _: HANG
    process = start_batch(session_file)
    served.wait_for(lambda: submitted(served))
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    [result], _ = finish(process)
    assert 8 < time.monotonic() - begun < 16
    assert (process.returncode, result["holds_left"]) == (130, 1)
    served.release()


def test_a_hang_up_leaves_the_batch_running_for_the_next_run(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file, "--time-limit", "30")
    served.wait_for(lambda: submitted(served))
    process.send_signal(signal.SIGHUP)
    [result], _ = finish(process)
    assert process.returncode == 129
    assert (result["status"], result["holds_left"]) == ("cancelled", 1)
    assert served.batches.called["cancel"] == 0
    [hold] = held_batches()
    assert (hold["state"], hold["alive"]) == ("held", False)
    served.batches.finish()
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert (done.objects[0]["calls"], asked(served)) == (0, list(range(COUNT)))
    assert held_batches() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["int", "hup"])
def test_a_stop_while_a_batch_is_being_sent_learns_what_became_of_it(
    served: MessagesServer, session_file: Path, number: signal.Signals
) -> None:
    served.batches.latency = FOREVER
    served.batches.create_script = lambda _: Accepted(delay=1.5)
    process = start_batch(session_file)
    served.wait_for(lambda: len(served.batches.own) == 1)
    process.send_signal(number)
    [result], _ = finish(process)
    assert process.returncode == 128 + number
    check_sums(result)
    assert (result["status"], result["gaps"]) == ("cancelled", {"cancelled": COUNT})
    assert result["calls"] == COUNT
    cancelled = number == signal.SIGINT
    assert (served.batches.own[0].cancels, result["holds_left"]) == (cancelled, not cancelled)
    assert [hold["id"] for hold in held_batches()] == [served.batches.own[0].id] * (not cancelled)
    served.batches.finish()
    served.batches.create_script, served.batches.latency = (lambda _: None), 0
    assert judge_batch(session_file).objects[0]["status"] == "complete"
    assert asked(served) == sorted([*range(COUNT)] * (2 if cancelled else 1))


@pytest.mark.thorough
def test_a_create_that_is_never_answered_does_not_hold_the_exit(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    served.batches.create_script = lambda _: ACCEPT_AND_HANG
    process = start_batch(session_file)
    served.wait_for(lambda: len(served.batches.own) == 1)
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    [result], _ = finish(process)
    assert time.monotonic() - begun < 16
    assert (process.returncode, result["holds_left"], result["status"]) == (143, 1, "cancelled")
    served.release()
    served.batches.create_script = lambda _: None
    served.batches.finish()
    # It is found through the list, and nothing of it is asked again.
    assert judge_batch(session_file).objects[0]["status"] == "complete"
    assert asked(served) == list(range(COUNT))


def test_a_cancel_that_comes_too_late_is_no_error(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency, served.batches.ends_before_cancel = FOREVER, True
    process = start_batch(session_file)
    served.wait_for(lambda: submitted(served))
    process.send_signal(signal.SIGINT)
    [result], err = finish(process)
    assert (process.returncode, result["status"], result["holds_left"]) == (130, "complete", 0)
    assert "400" not in err


def test_sessions_that_were_not_begun_are_counted(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure(tmp_path, queued=2)
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(config))
    served.batches.latency = FOREVER
    folder = tmp_path / "f"
    folder.mkdir()
    for number in range(3):
        write_session(folder / f"s{number}.jsonl", 5 - number)
    process = start_batch(folder)
    served.wait_for(lambda: submitted(served))
    process.send_signal(signal.SIGTERM)
    results, err = finish(process)
    assert len(results) == 1
    assert "2 session(s) were not begun" in err


def test_a_time_limit_cancels_the_batch(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency, served.batches.done_at_cancel = FOREVER, 0.5
    begun = time.monotonic()
    done = judge_batch(session_file, "--time-limit", "1")
    [result] = done.objects
    assert time.monotonic() - begun >= 1
    check_sums(result)
    assert (done.code, result["status"], result["score"]) == (3, "timed_out", None)
    assert (result["judged_chunks"], result["gaps"]) == (2, {"timed_out": 2})
    assert (result["settings"]["time_limit"], result["holds_left"]) == (1, 0)
    assert served.batches.own[0].cancels == 1
    assert rows(store_file, "state, cancel") == [("harvested", "timed_out")]
    assert served.batches.called["create"] == 1


def test_a_batch_that_does_not_end_at_its_limit_is_left(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end_soon(monkeypatch)
    served.batches.latency = served.batches.cancel_latency = FOREVER
    done = judge_batch(session_file, "--time-limit", "1")
    [result] = done.objects
    assert (done.code, result["status"], result["holds_left"]) == (3, "timed_out", 1)
    assert (result["gaps"], result["calls"]) == ({"timed_out": COUNT}, COUNT)
    assert served.batches.own[0].cancels >= 1
    assert "stays held" in done.err
    # The next run waits for it, for as long as it may, and asks nothing of it.
    forget_owners(store_file)
    again = judge_batch(session_file, "--time-limit", "1")
    assert (again.objects[0]["status"], again.objects[0]["holds_left"]) == ("timed_out", 1)
    assert again.objects[0]["calls"] == 0
    assert served.batches.called["create"] == 1
    forget_owners(store_file)
    served.batches.finish()
    served.batches.latency = 0
    last = judge_batch(session_file)
    assert (last.code, last.objects[0]["status"]) == (0, "complete")


def test_a_limit_also_ends_sending_what_nobody_accepts(
    served: MessagesServer, session_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_soon(monkeypatch)
    served.batches.create_script = lambda _: api.error(500)
    done = judge_batch(session_file, "--time-limit", "2")
    [result] = done.objects
    check_sums(result)
    assert done.code == 3
    assert result["status"] in ("timed_out", "failed")
    assert served.batches.own == []


def test_a_run_that_was_told_to_stop_while_it_waits_to_send_sends_nothing(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda _: api.rate_limited(60)
    process = start_batch(session_file)
    served.wait_for(lambda: served.batches.called["create"] == 1)
    served.wait_for(lambda: not served.open_requests)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    [result], _ = finish(process)
    assert time.monotonic() - begun < 8
    assert (process.returncode, result["gaps"], result["calls"]) == (130, {"skipped": COUNT}, 0)
    assert held_batches() == []


def end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stop wait a second for batches to end."""
    from dataclasses import replace

    from longjudge.config import BatchesTable

    to_pace = BatchesTable.to_pace
    monkeypatch.setattr(BatchesTable, "to_pace", lambda self: replace(to_pace(self), end=1.0))


def test_what_is_done_first_is_kept_whatever_comes_after(
    served: MessagesServer, session_file: Path
) -> None:
    """Items that were done at the cancel are told by their ids, not by their place."""
    served.batches.latency = FOREVER
    served.batches.done_at_cancel = lambda request: item_of(request.prompt) == 3
    process = start_batch(session_file)
    served.wait_for(lambda: submitted(served))
    os.kill(process.pid, signal.SIGTERM)
    [result], _ = finish(process)
    states = [part["state"] for part in result["parts"]]
    assert states == ["gap", "gap", "gap", "clean"]
