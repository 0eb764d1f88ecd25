"""Several processes judge one session at once, on one store, and pay for each question once."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from commands_for_tests import longjudge
from judgments_for_tests import Watched, check_sums
from longjudge import judgment as judgment_module
from longjudge.flights import Flights
from longjudge.holds import HoldState, list_holds, sweep_holds
from longjudge.store import leases as stored_leases
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, item_of, write_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DEAD = ("gone", "another boot", 1, "0", 0.0, 0.0, 0.0)
OFFLINE = ("--model", "offline", "--fault")


class Judging:
    """A `judge` command as a process, while it runs."""

    def __init__(self, path: Path, store: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "longjudge", "judge", str(path), "--json"),
                *("--store", str(store), "--chunk-chars", str(CHUNK_CHARS), *options),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until_holding(self, store: Path, count: int = 1) -> None:
        """Wait until it has leases; it may be over by then."""
        end = time.monotonic() + 60
        while self.process.poll() is None and len(holds_in(store)) < count:
            assert time.monotonic() < end
            time.sleep(0.05)

    def result(self, code: int = 0) -> dict[str, Any]:
        """What it printed, when it has ended."""
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == code, err
        assert "Traceback" not in err
        return json.loads(out)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@contextmanager
def at_once(count: int, path: Path, store: Path, *options: str) -> Iterator[list[Judging]]:
    """So many processes that judge the same; none outlives the test."""
    started = [Judging(path, store, *options) for _ in range(count)]
    try:
        yield started
    finally:
        for each in started:
            if each.process.poll() is None:
                each.kill()


def judge(path: Path, store: Path, *options: str, code: int = 0) -> dict[str, Any]:
    """What one more prints that judges the same, which is this process."""
    options = ("--json", "--store", str(store), "--chunk-chars", str(CHUNK_CHARS), *options)
    ended = longjudge("judge", path, *options)
    assert ended.code == code, ended.err
    [result] = ended.objects
    return result


def judged(result: dict[str, Any]) -> list[tuple[int, str]]:
    return [(part["part"], part["state"]) for part in result["parts"]]


def holds_in(store: Path) -> list[dict[str, Any]]:
    return longjudge("holds", "--json", "--store", store).objects


def leave_lease(store: Path, key: str, *, owner: str = "dead") -> None:
    """What a process leaves that was killed long ago, on another machine."""
    with sqlite3.connect(store) as connection:
        names = "id, host, boot, pid, started, since, beat, beat_monotonic, doing"
        connection.execute(
            f"INSERT OR REPLACE INTO owners ({names}) VALUES (?,?,?,?,?,?,?,?,'judging')",
            (owner, *DEAD),
        )
        connection.execute("INSERT INTO leases VALUES (?, ?, 1.0, 'part 1 of x')", (key, owner))
    connection.close()


@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.thorough)])
def test_processes_that_judge_one_session_at_once_ask_each_chunk_once(
    served: MessagesServer, tmp_path: Path, store_file: Path, count: int
) -> None:
    chunks = 24

    def script(request: api.Request, attempt: int) -> api.Reply:
        if len(served.requests) == 8:
            # Each process has four questions in flight: two of them are at it by now.
            served.release()
        refused = item_of(request.prompt) == 7
        return api.later(api.refusal() if refused else api.clean(request), api.FOREVER)

    served.script = script
    path = write_session(tmp_path / "s.jsonl", chunks)
    with at_once(count - 1, path, store_file) as started:
        served.wait_for(lambda: bool(served.requests))
        own = judge(path, store_file, code=3)
        results = [own, *(each.result(3) for each in started)]
    assert sum(result["calls"] > 0 for result in results) > 1
    assert len({request.prompt for request in served.requests}) == chunks
    # What was refused is no verdict, and whoever finds it a gap may ask for itself.
    asked_twice = [item_of(r.prompt) for r in served.requests if r.attempt > 1]
    assert set(asked_twice) <= {7}
    assert sum(result["calls"] for result in results) == len(served.requests)
    assert [judged(result) for result in results] == [judged(results[0])] * count
    assert {result["gaps"]["refused"] for result in results} == {1}
    assert [result["holds_left"] for result in results] == [0] * count
    assert holds_in(store_file) == []


def test_several_processes_without_a_model_share_the_work(tmp_path: Path, store_file: Path) -> None:
    chunks = 16
    path = write_session(tmp_path / "s.jsonl", chunks)
    slow = (*OFFLINE, "slow=0.2")
    with at_once(1, path, store_file, *slow) as [other]:
        other.until_holding(store_file)
        results = [judge(path, store_file, *slow), other.result()]
    assert sum(result["calls"] for result in results) == chunks
    assert judged(results[0]) == judged(results[1])
    assert {result["status"] for result in results} == {"complete"}
    assert holds_in(store_file) == []


def test_when_one_of_them_is_killed_the_others_finish_its_chunks(
    tmp_path: Path, store_file: Path
) -> None:
    chunks = 16
    path = write_session(tmp_path / "s.jsonl", chunks)
    # What it asks is answered long after it is killed.
    with at_once(1, path, store_file, *OFFLINE, "slow=600") as [first]:
        first.until_holding(store_file, 4)
        held = holds_in(store_file)
        assert [(hold["alive"], hold["kind"]) for hold in held] == [(True, "lease")] * 4
        first.kill()
        left = holds_in(store_file)
        assert [(hold["alive"], hold["state"]) for hold in left] == [(False, "abandoned")] * 4
        slow = (*OFFLINE, "slow=0.1")
        with at_once(1, path, store_file, *slow) as [other]:
            other.until_holding(store_file, 1)
            results = [judge(path, store_file, *slow), other.result()]
    assert {result["status"] for result in results} == {"complete"}
    assert sum(result["calls"] for result in results) == chunks
    assert holds_in(store_file) == []


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let the judgments that are made next know nothing of those before but by the store."""
    return lambda: monkeypatch.setattr(judgment_module, "FLIGHTS", Flights())


async def test_a_chunk_that_another_process_asks_waits_and_takes_its_verdict(
    served: MessagesServer, tmp_path: Path, store_file: Path, apart: Callable[[], None]
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 3)
    async with Watched(path, store_file, concurrency=1) as other:
        running = other.begin()
        await served.until(lambda: len(served.requests) == 1)
        apart()
        async with Watched(path, store_file, concurrency=2) as watched:
            mine = watched.begin()
            await watched.until(1, "waiting")
            # It has freed its worker: the two others are asked meanwhile.
            await served.until(lambda: len(served.requests) == 3)
            served.release()
            result, others = await mine, await running
    check_sums(result)
    assert watched.states(1) == ["waiting", "clean"]
    assert [part.from_cache for part in result.parts] == [True, False, False]
    assert (result.calls, others.calls) == (2, 1)


async def test_a_chunk_that_waits_for_another_process_is_skipped_at_the_limit(
    served: MessagesServer, tmp_path: Path, store_file: Path, apart: Callable[[], None]
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as other:
        running = other.begin()
        await served.until(lambda: len(served.requests) == 1)
        apart()
        async with Watched(path, store_file, time_limit=0.3) as watched:
            result = await watched.judgment.run()
        check_sums(result)
        assert (result.status, result.gaps, result.calls) == ("timed_out", {"skipped": 1}, 0)
        assert len(holds_in_file(store_file)) == 1
        other.judgment.cancel()
        assert (await running).gaps == {"cancelled": 1}
    assert holds_in_file(store_file) == []


async def test_a_waiting_chunk_is_asked_when_the_other_process_gives_up(
    served: MessagesServer, tmp_path: Path, store_file: Path, apart: Callable[[], None]
) -> None:
    served.script = lambda request, attempt: (
        api.held(request) if attempt == 1 else api.clean(request)
    )
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as other:
        running = other.begin()
        await served.until(lambda: len(served.requests) == 1)
        apart()
        async with Watched(path, store_file) as watched:
            mine = watched.begin()
            await watched.until(1, "waiting")
            other.judgment.cancel()
            result = await mine
        await running
    assert watched.states(1) == ["waiting", "queued", "running", "clean"]
    assert (result.status, result.calls) == ("complete", 1)


@pytest.mark.parametrize("fresh", [False, True])
async def test_a_chunk_that_waits_for_another_process_can_be_cancelled(
    served: MessagesServer,
    tmp_path: Path,
    store_file: Path,
    apart: Callable[[], None],
    fresh: bool,
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as other:
        running = other.begin()
        await served.until(lambda: len(served.requests) == 1)
        apart()
        async with Watched(path, store_file, fresh=fresh) as watched:
            mine = watched.begin()
            await watched.until(1, "waiting")
            assert watched.judgment.cancel_part(1)
            assert (await mine).gaps == {"cancelled": 1}
        served.release()
        assert (await running).status == "complete"


@pytest.mark.parametrize("held_elsewhere", [True, False])
@pytest.mark.parametrize("again", [True, False])
async def test_a_chunk_can_be_cancelled_and_asked_again_while_its_lease_is_being_taken(
    served: MessagesServer,
    tmp_path: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    held_elsewhere: bool,
    again: bool,
) -> None:
    path = write_session(tmp_path / "s.jsonl", 2)
    take = stored_leases.take
    takes: list[str] = []

    async def cancel_and_take(
        store: Any, holder: str, wanted: list[tuple[str, str]], since: float
    ) -> set[str]:
        for key in [key for key, detail in wanted if detail.startswith("part 1 of")]:
            takes.append(key)
            if len(takes) == 1:
                watched.judgment.cancel_part(1)
                if again:
                    assert watched.judgment.ask_again(1)
                if held_elsewhere:
                    leave_lease(store_file, key)
        return await take(store, holder, wanted, since)

    async with Watched(path, store_file, concurrency=3) as watched:
        monkeypatch.setattr(stored_leases, "take", cancel_and_take)
        async with asyncio.timeout(20):
            result = await watched.judgment.run()
    check_sums(result)
    expected = ("complete", {}, 2) if again else ("partial", {"cancelled": 1}, 1)
    assert (result.status.value, result.gaps, result.calls) == expected
    assert len(served.requests) == result.calls


async def test_a_fresh_question_waits_for_an_answer_that_another_process_is_getting(
    served: MessagesServer, tmp_path: Path, store_file: Path, apart: Callable[[], None]
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as watched:
        await watched.judgment.run()
    served.script = lambda request, _: api.held(request)
    async with Watched(path, store_file, fresh=True) as other:
        running = other.begin()
        await served.until(lambda: len(served.requests) == 2)
        apart()
        async with Watched(path, store_file, fresh=True) as watched:
            mine = watched.begin()
            await watched.until(1, "waiting")
            served.release()
            result = await mine
            await running
            earlier = await watched.store.read("SELECT key FROM earlier_verdicts")
    assert (result.status, result.calls, len(served.requests)) == ("complete", 0, 2)
    assert len(earlier) == 1


async def test_the_lease_of_a_dead_owner_is_taken_over_within_a_second(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 2)
    async with Watched(path, store_file) as watched:
        await watched.judgment.run()
        [(key,)] = await watched.store.read("SELECT key FROM verdicts LIMIT 1")
        await watched.store.write("DELETE FROM verdicts WHERE key = ?", (key,))
    leave_lease(store_file, key)
    async with Watched(path, store_file) as watched:
        async with asyncio.timeout(1):
            result = await watched.judgment.run()
    assert (result.status, result.calls) == ("complete", 1)


async def test_a_verdict_that_does_not_read_is_asked_again_and_nobody_waits_for_it(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as watched:
        await watched.judgment.run()
        await watched.store.write("UPDATE verdicts SET verdict = 'no verdict'", ())
    async with Watched(path, store_file) as watched:
        async with asyncio.timeout(5):
            result = await watched.judgment.run()
    assert (result.status, result.calls) == ("complete", 1)


async def test_only_what_dead_owners_left_is_swept(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 1)
        leave_lease(store_file, "k" * 64)
        before = await list_holds(watched.store)
        released = await sweep_holds(watched.store)
        after = await list_holds(watched.store)
        served.release()
        await running
        assert await list_holds(watched.store) == []
        owners = await watched.store.read("SELECT id FROM owners")
    assert [(hold.id, hold.alive) for hold in before] == [
        ("k" * 12, False),
        (after[0].id, True),
    ]
    assert [(hold.id, hold.state) for hold in released] == [("k" * 12, HoldState.RELEASED)]
    assert after[0].owner.startswith(f"pid {os.getpid()} on ")
    assert after[0].detail == f"part 1 of {path}"
    assert owners == []


def test_holds_says_what_is_left_and_sweep_releases_it(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    assert longjudge("holds", "--store", store_file).err == "nothing is held\n"
    assert not store_file.exists()
    assert longjudge("holds", "--sweep", "--store", store_file).code == 0
    assert not store_file.exists()
    longjudge("judge", path, "--store", store_file)
    leave_lease(store_file, "\x1b[31m\u202e" + "k" * 64)
    listed = longjudge("holds", "--store", store_file)
    assert listed.code == 0
    assert "abandoned  pid 1 on gone (dead)" in listed.out
    assert not {"\x1b", "\u202e"} & set(listed.out)
    assert "1 left by dead owners: `longjudge holds --sweep` releases them" in listed.err
    [swept] = longjudge("holds", "--sweep", "--json", "--store", store_file).objects
    assert (swept["state"], swept["alive"], swept["kind"]) == ("released", False, "lease")
    assert list(swept) == ["id", "kind", "state", "owner", "alive", "age", "detail"]
    assert longjudge("holds", "--json", "--store", store_file).out == ""


def test_judge_releases_at_its_start_what_dead_processes_left(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    longjudge("judge", path, "--store", store_file)
    leave_lease(store_file, "k" * 64)
    again = longjudge("judge", path, "--store", store_file)
    assert "released 1 lease that dead processes left" in again.err
    assert holds_in(store_file) == []


async def test_a_cancel_gives_back_each_lease_with_its_chunk(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 4)
    async with Watched(path, store_file, concurrency=4) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 4)
        assert len(await list_holds(watched.store)) == 4
        watched.judgment.cancel_part(1)
        await watched.until(1, "gap")
        # What is given back next waits behind it.
        await watched.store.write("DELETE FROM marks", ())
        await watched.store.write("DELETE FROM marks", ())
        assert len(await list_holds(watched.store)) == 3
        watched.judgment.cancel()
        result = await running
        assert await stored_leases.leases(watched.store) == []
    assert result.holds_left == 0


async def test_a_store_that_cannot_be_written_takes_no_lease_and_holds_nothing_up(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 3)
    async with Watched(path, store_file) as watched:
        watched.store.write_error = "read-only"
        result = await watched.judgment.run()
    assert (result.status, result.holds_left, result.calls) == ("complete", 0, 3)


async def test_a_fresh_answer_that_two_judgments_share_becomes_one_verdict(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as watched:
        await watched.judgment.run()
    served.script = lambda request, _: api.held(request)
    async with (
        Watched(path, store_file, fresh=True) as first,
        Watched(path, store_file, fresh=True) as second,
    ):
        one = first.begin()
        await served.until(lambda: len(served.requests) == 2)
        other = second.begin()
        await second.until(1, "waiting")
        served.release()
        results = [await one, await other]
        earlier = await first.store.read("SELECT key FROM earlier_verdicts")
    assert [result.calls for result in results] == [1, 0]
    assert len(earlier) == 1


async def test_two_judgments_in_one_process_hold_one_lease_for_one_question(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as first, Watched(path, store_file) as second:
        one = first.begin()
        await served.until(lambda: len(served.requests) == 1)
        other = second.begin()
        await second.until(1, "waiting")
        assert len(await list_holds(first.store)) == 1
        served.release()
        results = [await one, await other]
    assert sum(result.calls for result in results) == 1
    assert holds_in_file(store_file) == []


def holds_in_file(store: Path) -> list[tuple[str]]:
    connection = sqlite3.connect(store)
    try:
        return connection.execute("SELECT key FROM leases").fetchall()
    finally:
        connection.close()
