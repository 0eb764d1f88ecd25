"""Batches that another run has sent: found, waited for, brought home, and never asked again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import server as api
from batch_server import ACCEPT_AND_529, ACCEPT_AND_DROP
from batches_for_tests import (
    asked,
    check_sums,
    configure,
    finish,
    held_batches,
    judge_batch,
    judge_live,
    rows,
    start,
    start_batch,
    words_of,
)
from commands_for_tests import longjudge
from server import FOREVER
from sessions_for_tests import CHUNK_CHARS, item_of, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from batch_server import Accepted
    from server import MessagesServer

COUNT = 4


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, listed_after=1)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def test_a_detached_batch_is_told_as_a_hold_and_taken_over(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    done = judge_batch(session_file, "--detach", "--time-limit", "0.5")
    [hold] = done.objects
    assert (done.code, hold["kind"], hold["state"], hold["alive"]) == (0, "batch", "held", False)
    assert hold["id"] == served.batches.own[0].id
    assert set(hold) == {"id", "kind", "state", "owner", "alive", "age", "detail"}
    # Detached again it is not sent again either; the limit was not that of the queue.
    again = judge_batch(session_file, "--detach", "--time-limit", "0.5")
    assert (again.code, [each["id"] for each in again.objects]) == (0, [hold["id"]])
    assert served.batches.called["cancel"] == 0
    served.batches.finish()
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"], result["cached_chunks"]) == (0, "complete", COUNT)
    assert "taken over" in done.err
    assert asked(served) == list(range(COUNT))
    assert held_batches() == []


def test_what_is_in_a_batch_is_said_before_it_is_waited_for(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    name = served.batches.own[0].id
    said = f"{COUNT} questions of these are in batch {name} ({{}}): they are not asked again"
    done = judge_live(session_file, "--time-limit", "1")
    assert (done.objects[0]["calls"], served.requests) == (0, [])
    assert said.format("followed from here") in done.err
    assert said.format("followed from here") in judge_batch(session_file, "--detach").err


def test_detached_nothing_is_told_of_what_is_kept(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    judge_batch(session_file)
    served.batches.latency = FOREVER
    done = judge_batch(session_file, write_session(tmp_path / "b.jsonl", 6), "--detach")
    assert (done.code, [hold["kind"] for hold in done.objects]) == (0, ["batch"])
    assert asked(served) == list(range(6))


def test_detached_what_is_refused_is_said_and_no_success(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda _: api.error(401, kind="authentication_error")
    done = judge_batch(session_file, "--detach")
    assert (done.code, done.out) == (3, "")
    assert "401" in done.err
    served.batches.create_script = lambda _: api.error(400, "bad words")
    done = judge_batch(session_file, "--detach")
    assert (done.code, done.out) == (3, "")
    assert "bad words" in done.err


def test_detached_what_the_budget_leaves_out_is_said(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    done = judge_batch(session_file, "--detach", "--max-calls", "3")
    assert (done.code, len(done.objects), len(asked(served))) == (0, 1, 3)
    assert "3 calls of the budget" in done.err


@pytest.mark.parametrize("reply", [ACCEPT_AND_DROP, ACCEPT_AND_529], ids=["drop", "529"])
def test_a_batch_whose_acceptance_got_lost_is_found_in_the_list(
    served: MessagesServer, session_file: Path, reply: Accepted
) -> None:
    served.batches.latency = 0.3
    served.batches.create_script = lambda number: reply if number == 1 else None
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"], result["calls"]) == (0, "complete", COUNT)
    assert asked(served) == list(range(COUNT))
    assert served.batches.called["create"] == 1
    assert held_batches() == []


def test_one_that_never_arrived_is_sent_again_when_the_list_has_been_empty_long_enough(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda number: api.DROP if number == 1 else None
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"], result["calls"]) == (0, "complete", COUNT)
    first, second = [
        call.arrived
        for call in served.batches.calls
        if call.method == "POST" and call.path.endswith("/batches")
    ]
    assert second - first >= 1


def test_a_foreign_batch_of_the_same_size_is_waited_for_and_left_alone(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda number: api.DROP if number == 1 else None
    foreign = served.batches.add_foreign(COUNT, status="in_progress")
    process = start_batch(session_file)
    # It is looked at again and again, long after the list would have had ours.
    served.wait_for(lambda: served.batches.called["list"] >= 25)
    assert served.batches.called["create"] == 1
    served.batches.finish(foreign.id)
    [result], _ = finish(process)
    assert (process.returncode, result["status"]) == (0, "complete")
    assert foreign.cancels == 0
    assert asked(served) == list(range(COUNT))


def test_what_a_killed_run_has_sent_is_not_asked_again(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: any(batch.retrieves for batch in served.batches.own))
    process.kill()
    process.communicate()
    assert [hold["state"] for hold in held_batches()] == ["abandoned"]
    served.batches.finish()
    done = judge_batch(session_file)
    assert (done.objects[0]["status"], done.objects[0]["calls"]) == ("complete", 0)
    assert asked(served) == list(range(COUNT))
    assert rows(store_file, "state") == [("harvested",)]


def test_what_a_run_leaves_while_another_waits_for_it_is_taken_over(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    first = start_batch(session_file)
    served.wait_for(lambda: any(batch.retrieves for batch in served.batches.own))
    second = start_batch(session_file)
    assert second.stderr is not None
    # It has planned, and so waits for the first.
    assert "to ask" in second.stderr.readline()
    first.kill()
    first.communicate()
    assert "taken over" in second.stderr.readline()
    served.batches.finish()
    [result], _ = finish(second)
    assert (result["status"], result["calls"]) == ("complete", 0)
    assert asked(served) == list(range(COUNT))


def test_two_runs_at_once_ask_every_question_once(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_requests=3)))
    served.batches.latency = 1.0
    folder = tmp_path / "f"
    folder.mkdir()
    write_session(folder / "a.jsonl", 9)
    write_session(folder / "b.jsonl", 7)
    processes = [start_batch(folder) for _ in range(2)]
    for process in processes:
        results, _ = finish(process)
        assert process.returncode == 0
        assert [result["status"] for result in results] == ["complete"] * 2
    # The first event of every session differs from the others in nothing that is asked.
    assert asked(served) == sorted(set(asked(served)))
    assert all(batch.cancels == 0 for batch in served.batches.own)
    assert held_batches() == []


def test_a_run_that_waits_for_another_ends_with_its_own_limit(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    first = start_batch(session_file)
    served.wait_for(lambda: any(batch.retrieves for batch in served.batches.own))
    done = judge_batch(session_file, "--time-limit", "1")
    [result] = done.objects
    check_sums(result)
    assert (done.code, result["status"], result["holds_left"]) == (3, "timed_out", 1)
    assert result["calls"] == 0
    assert served.batches.called["cancel"] == 0
    served.batches.finish()
    assert finish(first)[0][0]["status"] == "complete"


def test_a_live_run_waits_for_what_a_batch_asks(served: MessagesServer, session_file: Path) -> None:
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    done = judge_live(session_file, "--time-limit", "1")
    [result] = done.objects
    check_sums(result)
    assert (done.code, result["status"]) == (3, "timed_out")
    assert (result["gaps"], result["calls"]) == ({"skipped": COUNT}, 0)
    assert served.requests == []


def test_a_live_run_asks_what_no_batch_asks(served: MessagesServer, tmp_path: Path) -> None:
    served.batches.latency = FOREVER
    judge_batch(write_session(tmp_path / "s.jsonl", 2), "--detach")
    longer = write_session(tmp_path / "s.jsonl", 4)
    [result] = judge_live(longer, "--time-limit", "2").objects
    assert sorted(item_of(request.prompt) for request in served.requests) == [2, 3]
    assert (result["judged_chunks"], result["gaps"]) == (2, {"skipped": 2})


def test_what_a_batch_leaves_unanswered_is_sent_by_the_run_that_took_it_over(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    served.batches.expire(done=0.5)
    served.batches.latency = 0
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"], result["calls"]) == (0, "complete", 2)
    assert asked(served) == [0, 1, 2, 2, 3, 3]


def test_a_lease_that_a_dead_process_left_meanwhile_holds_nobody_up(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = api.held
    live = start_batch_free(session_file)
    served.wait_for(lambda: len(served.requests) == 2)
    waiting = start_batch(session_file)
    served.wait_for(lambda: len(served.batches.own) == 1)
    live.kill()
    live.communicate()
    served.script = api.clean
    [result], _ = finish(waiting)
    assert (result["status"], result["calls"]) == ("complete", COUNT)
    with closing(sqlite3.connect(store_file)) as connection:
        assert connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)
    served.release()


def start_batch_free(session_file: Path):
    """A live run of two questions at a time."""
    from batches_for_tests import start

    words = ("judge", "--json", "--chunk-chars", CHUNK_CHARS, "--concurrency", 2, session_file)
    return start(*words)


def test_offline_batches_can_be_seen_and_stopped(tmp_path: Path, session_file: Path) -> None:
    import signal

    from batches_for_tests import start

    process = start(*words_of(session_file, "--model", "offline"))
    assert process.stderr is not None
    while "sent" not in (line := process.stderr.readline()):
        assert line
    [hold] = held_batches()
    assert (hold["state"], hold["alive"]) == ("held", True)
    process.send_signal(signal.SIGINT)
    [result], _ = finish(process)
    assert process.returncode == 130
    assert result["status"] in ("cancelled", "complete")
    assert result["holds_left"] == 0
    assert longjudge("holds", "--json").objects == []


def test_a_live_run_brings_home_a_batch_that_nobody_follows(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    detached = judge_batch(session_file, "--detach")
    assert detached.code == 0
    live = start("judge", "--json", "--chunk-chars", CHUNK_CHARS, session_file)
    served.wait_for(lambda: served.batches.called["retrieve"] >= 3)
    served.batches.finish()
    [result] = finish(live)[0]
    assert (live.returncode, result["status"], result["calls"]) == (0, "complete", 0)
    assert served.requests == []
    assert held_batches() == []


def test_a_batch_that_this_key_does_not_know_is_neither_sent_again_nor_given_up(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    [hold] = judge_batch(session_file, "--detach").objects
    served.batches.retrieve_script = lambda number: api.error(404, "no such batch")
    with closing(sqlite3.connect(store_file)) as connection, connection:
        connection.execute(
            "UPDATE batches SET submitted = submitted - 3600, created = created - 3600"
        )
    ended = judge_batch(session_file, "--time-limit", 1)
    [result] = ended.objects
    assert (result["status"], result["holds_left"]) == ("timed_out", 1)
    assert "another key may know it" in ended.err
    assert served.batches.called["create"] == 1
    [left] = held_batches()
    assert left["id"] == hold["id"]
