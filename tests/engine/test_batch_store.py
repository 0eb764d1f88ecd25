"""`longjudge judge --batch` where the store or the provider fails on the way: nothing is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from batches_for_tests import (
    asked,
    check_sums,
    configure,
    finish,
    held_batches,
    judge_batch,
    open_questions,
    rows,
    start_batch,
)
from longjudge.store import Store, StoreWriteError
from server import FOREVER
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer

COUNT = 4


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


@pytest.mark.parametrize("name", ["keep", "write_together"])
def test_results_that_the_store_does_not_take_are_fetched_again(
    served: MessagesServer, session_file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plain, refused = getattr(Store, name), list[str]()

    async def refuse(*arguments: Any, **options: Any) -> Any:
        # What is noted before anything is sent is taken.
        if served.batches.called["results"] and len(refused) < 3:
            refused.append(name)
            raise StoreWriteError("the disk is full")
        return await plain(*arguments, **options)

    monkeypatch.setattr(Store, name, refuse)
    done = judge_batch(session_file)
    [result] = done.objects
    assert len(refused) == 3
    assert (done.code, result["status"], result["store_error"]) == (0, "complete", None)
    assert (result["calls"], asked(served)) == (COUNT, list(range(COUNT)))
    assert "the disk is full" in done.err


def test_a_store_that_is_locked_when_the_results_come_is_waited_for(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: any(batch.retrieves for batch in served.batches.own))
    with closing(sqlite3.connect(store_file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        served.batches.finish()
        assert process.stderr is not None
        while "locked; looking again" not in (line := process.stderr.readline()):
            assert line
        connection.execute("ROLLBACK")
    [result], _ = finish(process)
    assert (process.returncode, result["status"], result["calls"]) == (0, "complete", COUNT)
    assert asked(served) == list(range(COUNT))
    assert open_questions(store_file) == 0


def test_a_batch_that_cannot_be_noted_is_not_sent(
    served: MessagesServer, session_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any, **__: Any) -> None:
        raise StoreWriteError("the disk is full")

    monkeypatch.setattr("longjudge.store.batches.begin", refuse)
    done = judge_batch(session_file)
    [result] = done.objects
    check_sums(result)
    assert (done.code, result["status"], result["gaps"]) == (3, "failed", {"skipped": COUNT})
    assert served.batches.calls == []
    assert "the disk is full" in done.err


def test_a_credential_that_is_refused_on_the_way_leaves_the_batch(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.latency = FOREVER
    refused = api.error(401, kind="authentication_error")
    served.batches.retrieve_script = lambda number: refused if number > 1 else None
    done = judge_batch(session_file)
    [result] = done.objects
    check_sums(result)
    assert (done.code, result["status"], result["holds_left"]) == (3, "failed", 1)
    assert result["gaps"] == {"provider_error": COUNT}
    assert len([line for line in done.err.splitlines() if "stays held" in line]) == 1
    assert [hold["state"] for hold in held_batches()] == ["held"]
    served.batches.retrieve_script = lambda _: None
    served.batches.finish()
    assert judge_batch(session_file).objects[0]["status"] == "complete"
    assert asked(served) == list(range(COUNT))


def test_looks_that_fail_are_made_again(served: MessagesServer, session_file: Path) -> None:
    served.batches.latency = 0.5
    faults = [api.error(500), api.rate_limited(0.1), api.DROP, api.html(), api.invalid_json()]
    served.batches.retrieve_script = lambda n: faults[n - 1] if n <= len(faults) else None
    served.batches.results_script = lambda n: api.error(529) if n == 1 else None
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


def test_the_deadline_of_a_run_that_is_over_does_not_cancel_its_batch(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    with closing(sqlite3.connect(store_file)) as connection:
        connection.execute("UPDATE batches SET deadline = 1")
        connection.commit()
    process = start_batch(session_file)
    served.wait_for(lambda: served.batches.called["retrieve"] >= 5)
    served.batches.finish()
    [result], _ = finish(process)
    assert (result["status"], served.batches.called["cancel"]) == ("complete", 0)


def test_a_session_that_waits_for_room_in_the_budget_does_not_wait_for_ever(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda number: api.error(400, "bad") if number == 1 else None
    # Room for one question at a time.
    done = judge_batch(session_file, "--max-cost", "0.0015")
    [result] = done.objects
    check_sums(result)
    assert (done.code, result["gaps"]["provider_error"]) == (3, 1)
    assert result["judged_chunks"] + sum(result["gaps"].values()) == COUNT


def test_a_file_that_is_gone_when_its_results_come_is_an_error(
    served: MessagesServer, session_file: Path, store_file: Path, tmp_path: Path
) -> None:
    served.batches.latency = FOREVER
    other = write_session(tmp_path / "other.jsonl", 6)
    process = start_batch(session_file, other)
    served.wait_for(lambda: any(batch.retrieves for batch in served.batches.own))
    session_file.unlink()
    served.batches.finish()
    results, err = finish(process)
    assert (process.returncode, [result["chunks"] for result in results]) == (2, [6])
    assert "s.jsonl" in err
    # What it cost is not lost.
    assert rows(store_file, "state") == [("harvested",)]
    done = judge_batch(write_session(tmp_path / "s.jsonl", COUNT))
    assert (done.objects[0]["status"], done.objects[0]["calls"]) == ("complete", 0)
