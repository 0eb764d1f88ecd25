"""What was paid for is in the sums, be it in no judgment: killed, left in a batch, tried alone."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from batches_for_tests import configure, finish, judge_batch, judge_live, start, start_batch
from commands_for_tests import longjudge
from longjudge.store import Store, unrecorded_cost
from server import FOREVER
from sessions_for_tests import CHUNK_CHARS, item_of, write_session
from stores_for_tests import BY, KEPT, judgment, spoil

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
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


def sums(*arguments: str) -> dict[str, Any]:
    done = longjudge("results", "--aggregate", "--json", *arguments)
    assert (done.code, done.err) == (0, "")
    return done.objects[0]


def paid(store: Path) -> float:
    """What the answers cost that have a verdict."""
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute("SELECT sum(cost_usd) FROM verdicts").fetchone()[0]


def test_what_a_whole_run_cost_is_in_its_judgment_alone(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    results = [
        *judge_batch(session_file).objects,
        *judge_live(write_session(tmp_path / "b.jsonl", COUNT + 3)).objects,
    ]
    told = sums()
    assert all(result["cost_usd"] > 0 for result in results)
    assert told["cost_usd"] == pytest.approx(sum(result["cost_usd"] for result in results))
    assert told["unrecorded"]["answers"] == 0
    assert "in no judgment" not in longjudge("results", "--aggregate").out


@pytest.mark.parametrize("by", ["judge", "sweep", "live"])
def test_what_a_detached_batch_cost_is_in_the_sums_whoever_brings_it_home(
    served: MessagesServer, session_file: Path, store_file: Path, by: str
) -> None:
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    assert sums()["cost_usd"] == 0
    served.batches.finish()
    if by == "judge":
        assert judge_batch(session_file).objects[0]["cost_usd"] == 0
    elif by == "live":
        assert judge_live(session_file).objects[0]["cost_usd"] == 0
    else:
        assert longjudge("holds", "--sweep").code == 0
    told = sums()
    assert told["cost_usd"] == pytest.approx(paid(store_file))
    assert told["unrecorded"] == {
        "answers": COUNT,
        "cost_usd": pytest.approx(paid(store_file)),
        "cost_known_usd": pytest.approx(paid(store_file)),
        "cost_unknown": 0,
    }
    assert f"of it for {COUNT} answers in no judgment" in longjudge("results", "--aggregate").out
    # Once more nothing is paid, and nothing is counted twice.
    judge_batch(session_file)
    assert sums()["cost_usd"] == pytest.approx(paid(store_file))


def test_a_batch_left_half_way_is_counted_by_its_run_and_by_nobody_in_two_parts(
    served: MessagesServer, session_file: Path, store_file: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_requests=2)))
    served.script = lambda request, _: (
        api.no_json() if item_of(request.prompt) == 3 else api.clean(request)
    )
    served.batches.latency = FOREVER
    process = start_batch(session_file)
    served.wait_for(lambda: len(served.batches.own) == 2)
    served.batches.finish(served.batches.own[0].id)
    wait_for_rows(store_file, "SELECT 1 FROM batch_items WHERE outcome != ''", 2)
    process.send_signal(signal.SIGHUP)
    [left], _ = finish(process)
    assert (left["status"], left["judged_chunks"]) == ("cancelled", 2)
    assert sums()["cost_usd"] == pytest.approx(left["cost_usd"])
    served.batches.finish()
    served.batches.latency = 0
    # One answer is no verdict and was paid for too; it is asked once more, in vain.
    [result] = judge_batch(session_file).objects
    told = sums()
    assert told["unrecorded"]["answers"] == 2
    [gap] = [part for part in result["parts"] if part["state"] == "gap"]
    assert gap["part"] == 4
    assert told["cost_usd"] == pytest.approx(
        left["cost_usd"] + told["unrecorded"]["cost_usd"] + result["cost_usd"]
    )
    assert told["cost_usd"] > paid(store_file)


def wait_for_rows(store: Path, query: str, count: int) -> None:
    """Until another process has written so many."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with closing(sqlite3.connect(store)) as connection:
            if len(connection.execute(query).fetchall()) >= count:
                return
        time.sleep(0.02)
    raise AssertionError(f"never {count} rows of {query}")


def test_what_a_killed_live_run_kept_is_in_the_sums_and_stays_there(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.held(request) if item_of(request.prompt) > 1 else api.clean(request)
    )
    process = start("judge", "--json", "--chunk-chars", CHUNK_CHARS, session_file)
    served.wait_for(lambda: len(served.requests) == COUNT)
    wait_for_rows(store_file, "SELECT 1 FROM verdicts", 2)
    process.kill()
    process.communicate()
    told = sums()
    assert (told["judgments"], told["unrecorded"]["answers"]) == (0, 2)
    assert told["cost_usd"] == pytest.approx(paid(store_file))
    served.release()
    served.script = lambda request, _: api.clean(request)
    [result] = judge_live(session_file).objects
    assert (result["status"], result["calls"]) == ("complete", 2)
    told = sums()
    assert told["unrecorded"]["answers"] == 2
    assert told["cost_usd"] == pytest.approx(paid(store_file))
    assert told["cost_usd"] > result["cost_usd"] > 0


def test_a_killed_run_is_counted_with_its_replies_that_are_no_verdicts(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, attempt: (
        api.no_json() if attempt == 1 else api.held(request, attempt)
    )
    process = start("judge", "--json", "--chunk-chars", CHUNK_CHARS, session_file)
    served.wait_for(lambda: len(served.requests) == 2 * COUNT)
    process.kill()
    process.communicate()
    told = sums()
    assert (told["judgments"], told["unrecorded"]["answers"]) == (0, COUNT)
    assert told["cost_usd"] > 0
    served.release()


def test_what_failed_is_in_the_judgment_once_that_is_recorded(
    served: MessagesServer, session_file: Path
) -> None:
    served.script = lambda request, attempt: api.no_json() if attempt == 1 else api.clean(request)
    [result] = judge_live(session_file).objects
    assert (result["status"], result["calls"]) == ("complete", 2 * COUNT)
    told = sums()
    assert (told["cost_usd"], told["unrecorded"]["answers"]) == (
        pytest.approx(result["cost_usd"]),
        0,
    )


def in_store(work: Callable[[Store], Awaitable[object]], path: Path) -> None:
    async def run() -> None:
        store = await Store.open(path)
        try:
            await work(store)
        finally:
            await store.aclose()

    asyncio.run(run())


def test_a_live_answer_is_noted_with_its_verdict_until_its_judgment_is_recorded(
    store_file: Path,
) -> None:
    by = replace(BY, asked_by="j_one")

    async def work(store: Store) -> None:
        await store.keep("a", KEPT, by, created=10.0)
        await store.keep("b", KEPT, replace(by, cost_usd=0.0), created=10.0)
        await store.keep("c", KEPT, replace(by, cost_usd=None), created=20.0)
        # Offered twice it is one answer; asked anew it is another.
        await store.keep("a", KEPT, by, created=10.0)
        await store.keep("a", KEPT, by, created=30.0)
        await store.keep("d", KEPT, replace(by, asked_by="j_two"), created=15.0)
        await store.keep("e", KEPT, BY, created=15.0)
        cost = await unrecorded_cost(store)
        assert (cost.answers, cost.unpriced, cost.cost_usd) == (4, 1, 1.5)
        assert (await unrecorded_cost(store, 16.0)).answers == 3
        await store.record_judgment(judgment("j_one", 40.0))
        # One that was on its way while its judgment was recorded is in that.
        await store.keep("f", KEPT, by, created=50.0)
        cost = await unrecorded_cost(store)
        assert (cost.answers, cost.unpriced, cost.cost_usd) == (1, 0, 0.5)

    in_store(work, store_file)
    told = sums()
    assert told["unrecorded"]["answers"] == 1
    assert sums("--since", "1h")["unrecorded"]["answers"] == 0


def test_an_unknown_price_makes_the_sum_unknown_and_never_less(store_file: Path) -> None:
    by = replace(BY, asked_by="j_one", cost_usd=None)

    async def work(store: Store) -> None:
        await store.keep("a", KEPT, by)
        await store.keep("b", KEPT, replace(by, cost_usd=0.5))

    in_store(work, store_file)
    told = sums()
    assert (told["cost_usd"], told["cost_known_usd"]) == (None, 0.5)
    assert told["unrecorded"]["cost_usd"] is None
    words = longjudge("results", "--aggregate").out
    assert "no price is known for 1 answer, all others together cost $0.50" in words


@pytest.mark.parametrize("head_gone", [False, True])
def test_a_damaged_store_still_knows_what_was_paid(store_file: Path, head_gone: bool) -> None:
    async def work(store: Store) -> None:
        for number in range(3):
            await store.keep(f"k{number}", KEPT, replace(BY, asked_by=f"j_{number}"))
        await store.record_judgment(judgment("j_0", 40.0))

    in_store(work, store_file)
    before = sums()["unrecorded"]
    assert before["answers"] == 2
    if head_gone:
        data = store_file.read_bytes()
        store_file.write_bytes(b"\0" * 100 + data[100:])
    else:
        with closing(sqlite3.connect(store_file)) as connection:
            query = "SELECT rootpage FROM sqlite_master WHERE name = 'marks'"
            [(page,)] = connection.execute(query).fetchall()
        spoil(store_file, page)

    async def rescued(store: Store) -> None:
        assert store.notices
        assert len(await store.all_keys()) == 3

    in_store(rescued, store_file)
    assert sums()["unrecorded"] == before
