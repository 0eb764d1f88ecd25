"""What batches cost is counted once: recorded late, by who was taken for dead, or all at once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from batches_for_tests import (
    asked,
    configure,
    finish,
    held_batches,
    judge_batch,
    open_questions,
    start,
    start_batch,
    words_of,
)
from commands_for_tests import longjudge
from server import FOREVER
from sessions_for_tests import CHUNK_CHARS, item_of, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer

COUNT = 4

STOPS_ITSELF = """
import os, signal, sys
from longjudge import recording
from longjudge.batches import following, harvesting
from longjudge.cli.main import run

where = {
    "harvest": (following, "harvest"),
    "outcomes": (harvesting, "note_outcomes"),
    "record": (recording.Recording, "record"),
}
owner, name = where[sys.argv[1]]
call, stopped = getattr(owner, name), []

async def stops(*given, **named):
    if not stopped:
        stopped.append(True)
        os.kill(os.getpid(), signal.SIGSTOP)
    return await call(*given, **named)

setattr(owner, name, stops)
sys.exit(run(sys.argv[2:]))
"""
"""A command that stops where it is told to, and goes on when it is."""


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def sums() -> dict[str, Any]:
    done = longjudge("results", "--aggregate", "--json")
    assert done.code == 0, done.err
    return done.objects[0]


def rows(store: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql).fetchall()


def write(store: Path, sql: str) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(sql)
        connection.commit()


def answers(server: MessagesServer) -> int:
    """How many answers the provider gave in batches, be they verdicts or not."""
    lines = [json.loads(line) for batch in server.batches.own for line in batch.lines]
    return sum(line["result"]["type"] == "succeeded" for line in lines)


def price_of_one(store: Path) -> float:
    """What an answer in a batch costs; all of them cost the same here."""
    [(price,)] = rows(store, "SELECT DISTINCT cost_usd FROM verdicts WHERE cost_usd > 0")
    return price


def test_a_judgment_that_the_store_takes_late_is_counted_once(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    longjudge("judge", "--model", "offline", session_file)
    # There is room for it again only once the run has let go of its batches.
    write(
        store_file,
        "CREATE TRIGGER full BEFORE INSERT ON judgments"
        " WHEN EXISTS (SELECT 1 FROM owners WHERE id LIKE 'b!_%' ESCAPE '!')"
        " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    )
    [result] = judge_batch(session_file).objects
    assert "full" in result["store_error"]
    assert result["cost_usd"] == pytest.approx(COUNT * price_of_one(store_file))
    assert sums()["cost_usd"] == pytest.approx(result["cost_usd"])


@pytest.mark.parametrize(
    "where", ["harvest", pytest.param("outcomes", marks=pytest.mark.thorough), "record"]
)
def test_who_was_taken_for_dead_and_goes_on_counts_nothing_twice(
    served: MessagesServer, session_file: Path, store_file: Path, where: str
) -> None:
    served.script = lambda request, _: (
        api.no_json() if item_of(request.prompt) == 3 else api.clean(request)
    )
    command = [sys.executable, "-c", STOPS_ITSELF, where, *words_of(session_file)]
    one = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    os.waitid(os.P_PID, one.pid, os.WSTOPPED | os.WNOWAIT)
    # As another machine sees it that has heard nothing for long.
    write(store_file, "UPDATE owners SET host = 'elsewhere', beat = beat - 100")
    [other] = judge_batch(session_file).objects
    assert (other["judged_chunks"], other["gaps"]) == (COUNT - 1, {"unparsable": 1})
    longjudge("holds", "--sweep")
    before = sums()["cost_usd"]
    one.send_signal(signal.SIGCONT)
    [result], _ = finish(one)
    assert (one.returncode, result["judged_chunks"]) == (3, COUNT - 1)
    price = price_of_one(store_file)
    assert before <= sums()["cost_usd"] == pytest.approx(answers(served) * price)
    # What has a verdict is asked once, whoever has it.
    assert [item for item in asked(served) if item != 3] == [0, 1, 2]
    longjudge("holds", "--sweep")
    assert sums()["cost_usd"] == pytest.approx(answers(served) * price)
    assert held_batches() == []
    assert rows(store_file, "SELECT * FROM owners") == []


@pytest.mark.parametrize("changed", ["rubric", "model", "chunks"])
def test_a_batch_that_was_left_comes_home_to_a_run_that_asks_something_else(
    served: MessagesServer, session_file: Path, store_file: Path, tmp_path: Path, changed: str
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    served.batches.finish()
    # Long enough for the batch before it to be looked at.
    served.batches.latency = 0.3
    rubric = tmp_path / "other.toml"
    rubric.write_text(longjudge("rubrics", "show", "chunks").out.replace("?", " then?", 1))
    options = {
        "rubric": ("--rubric", rubric),
        "model": ("--model", "claude-sonnet-5-5"),
        "chunks": ("--chunk-chars", CHUNK_CHARS * 2 + 100),
    }
    [result] = judge_batch(session_file, *options[changed]).objects
    new = result["chunks"]
    assert (result["status"], result["calls"], result["holds_left"]) == ("complete", new, 0)
    assert held_batches() == []
    # Its verdicts stand under their own keys.
    [again] = judge_batch(session_file).objects
    assert (again["status"], again["calls"], again["cached_chunks"]) == ("complete", 0, COUNT)
    assert len(served.batches.own) == 2
    told = sums()
    assert told["unrecorded"]["answers"] == COUNT
    [(paid,)] = rows(store_file, "SELECT sum(cost_usd) FROM verdicts")
    assert told["cost_usd"] == pytest.approx(paid)


@pytest.mark.thorough
def test_runs_and_sweeps_at_the_same_time_ask_and_count_everything_once(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    files = [write_session(tmp_path / f"{name}.jsonl", COUNT + at) for at, name in enumerate("ab")]
    served.batches.latency = 0.3
    live = ("judge", "--json", "--chunk-chars", CHUNK_CHARS)
    running = [start_batch(*files), start_batch(*reversed(files)), start(*live, *files)]
    over = threading.Event()
    swept: list[int] = []

    def sweep() -> None:
        while not over.is_set():
            done = subprocess.run(
                [sys.executable, "-m", "longjudge", "holds", "--sweep"],
                capture_output=True,
                check=False,
            )
            swept.append(done.returncode)

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        results = [result for process in running for result in finish(process)[0]]
    finally:
        over.set()
        sweeper.join()
    assert set(swept) == {0}
    assert [result["status"] for result in results] == ["complete"] * 6
    # The shorter session's chunks are the longer one's as well.
    assert sum(result["calls"] for result in results) == COUNT + 1
    [(paid,)] = rows(store_file, "SELECT sum(cost_usd) FROM verdicts")
    assert sums()["cost_usd"] == pytest.approx(paid)
    assert open_questions(store_file) == 0
    assert rows(store_file, "SELECT key FROM leases UNION ALL SELECT id FROM owners") == []
