"""What a sweep, and any start, makes of batches that nobody follows any more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from batch_server import ACCEPT_AND_DROP, HANG
from batches_for_tests import (
    configure,
    held_batches,
    judge_batch,
    judge_live,
    open_questions,
    rows,
    start_batch,
)
from commands_for_tests import longjudge
from longjudge.config import BatchesTable
from server import DROP, FOREVER, MessagesServer
from sessions_for_tests import write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from commands_for_tests import Finished
    from longjudge.batch_pace import Pace

COUNT = 4


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def write_other(folder: Path) -> Path:
    """A session with none of the questions of the first."""
    call = {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls # item 0099"}}
    return write_events(folder / "other.jsonl", [call])


def sweep() -> Finished:
    done = longjudge("holds", "--sweep", "--json")
    assert done.code == 0, done.err
    return done


def change(store: Path, sql: str) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(sql)
        connection.commit()


def abandon(store: Path, **values: str | float) -> None:
    """Let the batches have been sent an hour ago by a process that is dead."""
    change(store, "UPDATE batches SET owner = 'b_dead', created = created - 3600, submitted = 0")
    for name, value in values.items():
        change(store, f"UPDATE batches SET {name} = {value!r}")


def left_in(store: Path) -> list[Any]:
    """Rows of processes and questions."""
    with closing(sqlite3.connect(store)) as connection:
        every = "SELECT key FROM batch_items UNION ALL SELECT id FROM owners"
        return connection.execute(every).fetchall()


def verdicts(store: Path) -> int:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute("SELECT count(*) FROM verdicts").fetchone()[0]


def test_what_a_killed_process_left_is_cancelled_and_what_was_answered_is_kept(
    served: MessagesServer, session: Path, store_file: Path
) -> None:
    batches = served.batches
    batches.latency, batches.done_at_cancel = FOREVER, 0.5
    process = start_batch(session)
    served.wait_for(lambda: batches.called["retrieve"] > 0)
    process.kill()
    process.communicate()
    [held] = held_batches()
    assert (held["state"], held["alive"]) == ("abandoned", False)
    swept = sweep()
    [released] = swept.objects
    assert (released["id"], released["kind"], released["state"]) == (
        held["id"],
        "batch",
        "released",
    )
    assert batches.own[0].cancels == 1
    assert (verdicts(store_file), held_batches(), left_in(store_file)) == (COUNT // 2, [], [])
    batches.latency = 0.0
    again = judge_batch(session)
    assert again.objects[0]["calls"] == COUNT // 2
    assert sweep().objects == []


def test_what_was_left_running_is_never_cancelled_and_brought_home_once_it_has_ended(
    served: MessagesServer, session: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    [detached] = judge_batch(session, "--detach").objects
    swept = sweep()
    assert swept.objects == []
    assert swept.err.splitlines() == [
        f"longjudge: batch {detached['id']} is left: it has not ended, and was left running"
    ]
    assert served.batches.called["cancel"] == 0
    assert [hold["state"] for hold in held_batches()] == ["held"]
    served.batches.finish()
    [released] = sweep().objects
    assert released["id"] == detached["id"]
    assert (verdicts(store_file), left_in(store_file)) == (COUNT, [])
    calls = len(served.batches.calls)
    [result] = judge_live(session).objects
    assert (result["calls"], result["status"]) == (0, "complete")
    assert len(served.batches.calls) == calls


def test_a_cancel_that_was_wanted_is_sent(
    served: MessagesServer, session: Path, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file, cancel="cancelled", cancel_sent=1)
    # The provider has heard of no cancel, whatever was noted.
    assert [hold["state"] for hold in sweep().objects] == ["released"]
    assert served.batches.own[0].cancels == 1
    assert (verdicts(store_file), held_batches()) == (0, [])


def test_what_does_not_end_in_time_stays_held_and_is_swept_again(
    served: MessagesServer, session: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = BatchesTable.to_pace

    def impatient(table: BatchesTable) -> Pace:
        return replace(usual(table), end=0.3)

    monkeypatch.setattr(BatchesTable, "to_pace", impatient)
    served.batches.latency = served.batches.cancel_latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file)
    swept = sweep()
    assert swept.objects == []
    assert "has not ended yet; its cancel is sent" in swept.err
    [held] = held_batches()
    assert held["state"] == "abandoned"
    assert "cancel sent" in held["detail"]
    served.batches.finish()
    assert len(sweep().objects) == 1
    assert (held_batches(), left_in(store_file)) == ([], [])


def test_what_never_reached_the_provider_is_released_once_that_is_sure(
    served: MessagesServer,
    session: Path,
    tmp_path: Path,
    store_file: Path,
) -> None:
    served.batches.create_script = lambda _: DROP
    judge_batch(session, "--detach")
    assert open_questions(store_file) == COUNT
    assert "is left: it is looked for in the provider's list" in sweep().err
    # Each look leaves it as it was, so that it is sure at last.
    abandon(store_file)
    configure(tmp_path, listed_after=7200)
    assert sweep().objects == []
    configure(tmp_path, listed_after=60)
    [released] = sweep().objects
    assert (released["kind"], released["state"]) == ("batch", "released")
    assert (held_batches(), open_questions(store_file)) == ([], 0)


def test_what_may_be_it_is_never_cancelled_on_a_guess(
    served: MessagesServer, session: Path, store_file: Path
) -> None:
    batches = served.batches
    batches.create_script = lambda _: ACCEPT_AND_DROP
    batches.latency = FOREVER
    judge_batch(session, "--detach")
    foreign = batches.add_foreign(COUNT, status="in_progress")
    change(store_file, "UPDATE batches SET owner = 'b_dead', created = created - 300")
    swept = sweep()
    assert swept.objects == []
    assert foreign.id in swept.err
    assert batches.own[0].id in swept.err
    assert batches.called["cancel"] == 0
    batches.finish()
    [released] = sweep().objects
    assert released["id"] == batches.own[0].id
    assert (verdicts(store_file), foreign.cancels, held_batches()) == (COUNT, 0, [])


def test_without_a_credential_or_at_another_endpoint_it_is_left_and_said(
    served: MessagesServer, session: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file)
    calls = len(served.batches.calls)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    swept = sweep()
    [line] = swept.err.splitlines()
    assert "is left: ANTHROPIC_API_KEY is not set" in line
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    swept = sweep()
    [line] = swept.err.splitlines()
    assert f"it is at {served.base_url}" in line
    assert "mend ANTHROPIC_BASE_URL" in line
    assert (swept.objects, len(served.batches.calls), len(held_batches())) == ([], calls, 1)


def test_a_profile_is_how_its_batch_is_reached(
    served: MessagesServer,
    session: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = configure(tmp_path)
    path.write_text(
        path.read_text()
        + f'[profiles.own]\nmodel = "m-1"\nbase_url = "{served.base_url}"\nkey_variable = "K"\n'
    )
    monkeypatch.setenv("K", "a-key")
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    served.batches.latency = FOREVER
    judge_batch(session, "--detach", "--model", "own")
    served.batches.finish()
    assert len(sweep().objects) == 1
    assert all("a-key" in str(call.headers) for call in served.batches.calls)


def test_any_start_brings_home_what_has_ended_and_cancels_nothing_else(
    served: MessagesServer, session: Path, tmp_path: Path, store_file: Path
) -> None:
    other = write_other(tmp_path)
    served.batches.latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file)
    done = judge_live(other)
    assert (done.code, served.batches.called["cancel"]) == (0, 0)
    assert [hold["state"] for hold in held_batches()] == ["abandoned"]
    served.batches.finish()
    done = judge_live(other)
    assert f"batch {served.batches.own[0].id}, which was left, is finished" in done.err
    assert (verdicts(store_file), held_batches()) == (COUNT + 1, [])


def test_any_start_sends_a_cancel_that_was_wanted(
    served: MessagesServer, session: Path, tmp_path: Path, store_file: Path
) -> None:
    other = write_other(tmp_path)
    served.batches.latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file, cancel="cancelled")
    judge_live(other)
    assert (served.batches.own[0].cancels, held_batches()) == (1, [])


def test_a_start_is_not_held_up_by_a_provider_that_does_not_answer(
    served: MessagesServer,
    session: Path,
    tmp_path: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from longjudge.batches import sweeping

    monkeypatch.setattr(sweeping, "GENTLE_SECONDS", 0.3)
    other = write_other(tmp_path)
    served.batches.latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file)
    served.batches.retrieve_script = lambda _: HANG
    done = judge_live(other)
    assert (done.code, len(done.objects)) == (0, 1)
    assert [hold["state"] for hold in held_batches()] == ["abandoned"]


def test_nobody_is_called_where_nothing_was_left_or_it_is_only_looked_at(
    served: MessagesServer, session: Path, tmp_path: Path, store_file: Path
) -> None:
    judge_live(write_other(tmp_path))
    sweep()
    assert served.batches.calls == []
    served.batches.latency = FOREVER
    judge_batch(session, "--detach")
    abandon(store_file)
    calls = len(served.batches.calls)
    assert len(held_batches()) == 1
    assert len(served.batches.calls) == calls
    [state] = rows(store_file, "state")
    assert state == ("submitted",)
