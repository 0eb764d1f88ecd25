"""Leases one by one: none is left behind, lost to another chunk, or given back too early."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from commands_for_tests import longjudge
from judgments_for_tests import Watched, check_sums
from longjudge import judgment as judgment_module
from longjudge import leases as leases_module
from longjudge.errors import StoreError
from longjudge.flights import Flights
from longjudge.judges.offline import OfflineJudge
from longjudge.keys import KeyMaker
from longjudge.leases import LOOK_KEYS, Lease, Leases
from longjudge.owner import this_process
from longjudge.store import Store, StoreWriteError
from longjudge.store import leases as stored_leases
from longjudge.updates import AskedBy
from sessions_for_tests import events, write_events, write_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longjudge.judges.base import Answer, Question
    from server import MessagesServer


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let the judgments that are made next know nothing of those before but by the store."""
    return lambda: monkeypatch.setattr(judgment_module, "FLIGHTS", Flights())


def rows(store: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql).fetchall()


async def test_a_chunk_waits_on_where_one_equal_to_it_is_cancelled(
    served: MessagesServer, tmp_path: Path, store_file: Path, apart: Callable[[], None]
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_events(tmp_path / "s.jsonl", events(1) * 2)
    async with Watched(path, store_file) as other:
        running = other.begin()
        await served.until(lambda: len(served.requests) == 1)
        apart()
        async with Watched(path, store_file) as watched:
            mine = watched.begin()
            await watched.until(1, "waiting")
            while not watched.judgment.asked_by(1):
                await watched.store.read("SELECT 1")
            assert watched.judgment.asked_by(1) == this_process().words
            # Told once, for whoever has shown the part without.
            assert watched.updates.count(AskedBy(1, this_process().words)) == 1
            assert watched.judgment.cancel_part(2)
            served.release()
            async with asyncio.timeout(20):
                result = await mine
        await running
    check_sums(result)
    assert (result.gaps, result.calls) == ({"cancelled": 1}, 0)
    assert watched.judgment.asked_by(1) == ""


async def test_a_lease_that_comes_when_its_chunk_is_cancelled_is_given_back_at_once(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = lambda request, _: api.held(request)
    path = write_session(tmp_path / "s.jsonl", 2)
    take, release = stored_leases.take, stored_leases.release
    given_back, came = asyncio.Event(), asyncio.Event()

    async def cancel_and_take(
        store: Store, holder: str, wanted: Sequence[tuple[str, str]], since: float
    ) -> set[str]:
        if not came.is_set() and any(detail.startswith("part 1 of") for _, detail in wanted):
            watched.judgment.cancel_part(1)
            # The lease is given back before it is there.
            await given_back.wait()
            came.set()
        return await take(store, holder, wanted, since)

    async def note_release(store: Store, holder: str, keys: Sequence[str]) -> int:
        try:
            return await release(store, holder, keys)
        finally:
            given_back.set()

    monkeypatch.setattr(stored_leases, "take", cancel_and_take)
    monkeypatch.setattr(stored_leases, "release", note_release)
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 1)
        await served.until(lambda: len(rows(store_file, "SELECT key FROM leases")) == 1)
        served.release()
        result = await running
    assert (result.gaps, result.holds_left) == ({"cancelled": 1}, 0)


class Gated(OfflineJudge):
    """The offline rules, which answer about a part once they may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []
        self.gates = {1: asyncio.Event(), 2: asyncio.Event()}

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        self.asked.append(question.part)
        await self.gates[question.part].wait()
        return await super().ask(question, max_tokens=max_tokens)


async def test_what_the_store_refused_is_offered_again_before_its_lease_is_given_back(
    tmp_path: Path,
    store_file: Path,
    apart: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = Gated()
    monkeypatch.setattr("judgments_for_tests.make_judge", lambda model: judge)
    path = write_session(tmp_path / "s.jsonl", 2)
    async with Watched(path, store_file) as other:
        keep, tries = other.store.keep, list[str]()

        async def locked_once(key: str, *arguments: Any, **options: Any) -> None:
            tries.append(key)
            if len(tries) == 1:
                raise StoreWriteError("locked")
            await keep(key, *arguments, **options)

        monkeypatch.setattr(other.store, "keep", locked_once)
        running = other.begin()
        await other.until(2, "running")
        apart()
        async with Watched(path, store_file) as watched:
            mine = watched.begin()
            await watched.until(1, "waiting")
            judge.gates[1].set()
            async with asyncio.timeout(20):
                await watched.until(1, "clean")
            # Its other question is still on its way: nothing but the lease has come to its end.
            judge.gates[2].set()
            result, others = await mine, await running
    assert judge.asked == [1, 2]
    assert (others.status, others.store_error) == ("complete", None)
    assert (result.status, result.calls) == ("complete", 0)


async def test_where_nobody_can_tell_what_others_do_the_question_is_asked(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_session(tmp_path / "s.jsonl", 2)

    async def unreadable(*_: object) -> set[str]:
        raise StoreError("the store cannot be read")

    async def nothing(*_: object) -> set[str]:
        return set()

    monkeypatch.setattr(stored_leases, "take", nothing)
    monkeypatch.setattr(stored_leases, "answered", unreadable)
    async with Watched(path, store_file) as watched:
        result = await watched.judgment.run()
    assert (result.status, result.calls) == ("complete", 2)


async def test_a_caller_that_is_cancelled_while_it_registers_leaves_no_owner(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    register = stored_leases.register

    async def cancel_and_register(*arguments: Any) -> None:
        running.cancel()
        await register(*arguments)

    monkeypatch.setattr(stored_leases, "register", cancel_and_register)
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert rows(store_file, "SELECT id FROM owners") == []
    assert served.requests == []


HOSTILE = {
    "blob": "INSERT INTO leases VALUES (?, x'ff00', 1.0, x'ff')",
    "no text": "INSERT INTO leases VALUES (?, CAST(x'ff1b5b' AS TEXT), 'now', 'x')",
    "nul": "INSERT INTO leases VALUES (?, 'x' || char(0) || 'y', 9e999, '')",
    "number": "INSERT INTO leases VALUES (?, 7, -1, 7)",
}


@pytest.mark.parametrize("forged", HOSTILE)
def test_a_forged_lease_holds_nothing_up_and_can_be_swept(
    served: MessagesServer, tmp_path: Path, store_file: Path, forged: str
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    longjudge("judge", path, "--store", store_file)
    with closing(sqlite3.connect(store_file)) as connection, connection:
        [(key,)] = connection.execute("SELECT key FROM verdicts").fetchall()
        connection.execute("DELETE FROM verdicts")
        connection.execute(HOSTILE[forged], (key,))
    asyncio.run(asyncio.wait_for(judge_again(path, store_file), 10))
    with closing(sqlite3.connect(store_file)) as connection, connection:
        connection.execute(HOSTILE[forged], (b"\xff\x00",))
        connection.execute(
            "INSERT INTO owners VALUES (CAST(x'ff' AS TEXT), x'ff', 1, 'x', '', 1, 1, 1, '')"
        )
    swept = longjudge("holds", "--sweep", "--store", store_file)
    assert "1 hold released" in swept.err
    assert not set(swept.out) & {"\x1b", "\x00"}
    assert rows(store_file, "SELECT owner FROM leases UNION ALL SELECT id FROM owners") == []


async def judge_again(path: Path, store_file: Path) -> None:
    async with Watched(path, store_file) as watched:
        result = await watched.judgment.run()
    assert (result.status, result.calls) == ("complete", 1)


async def test_where_thousands_wait_none_is_forgotten_and_no_look_takes_long(
    store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 * LOOK_KEYS + 1
    keys = [f"{number:064}" for number in range(count)]
    looked: list[int] = []
    look, over = stored_leases.leases, list[int]()
    all_looked_at, all_over = asyncio.Event(), asyncio.Event()

    async def noted(store: Store, keys: Sequence[str]) -> list[stored_leases.Lease]:
        looked.append(len(keys))
        if sum(looked) > 2 * count:
            all_looked_at.set()
        return await look(store, keys)

    def is_over(position: int, _kept: object) -> None:
        over.append(position)
        if len(over) == count:
            all_over.set()

    async def nothing() -> bool:
        return True

    store = await Store.open(store_file)
    await stored_leases.register(store, "other", "judging")
    await stored_leases.take(store, "other", [(key, "part") for key in keys], float("-inf"))
    monkeypatch.setattr(leases_module.leases, "leases", noted)
    mine = Leases(
        store,
        keys,
        holder="mine",
        doing="judging",
        detail=str,
        over=is_over,
        named=lambda position, who: None,
        offer=nothing,
    )
    async with mine.at_work():
        assert await mine.take(0) is Lease.ELSEWHERE
        for position in range(count):
            mine.wait(position)
        async with asyncio.timeout(20):
            await all_looked_at.wait()
            assert over == []
            await stored_leases.release_all(store, "other")
            await all_over.wait()
    await mine.aclose()
    await store.aclose()
    assert sorted(over) == list(range(count))
    assert max(looked) <= LOOK_KEYS


async def test_a_lease_that_an_earlier_judgment_of_this_process_left_is_called_that(
    tmp_path: Path, store_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "longjudge.leases")
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file, model="offline") as watched:
        maker = KeyMaker(
            watched.judgment.judge,
            watched.judgment.rubric,
            redactor=watched.judgment.settings.redactor,
        )
        key = next(iter(maker.keys(watched.judgment.plan)))
        await stored_leases.register(watched.store, "earlier", "judging")
        await stored_leases.take(watched.store, "earlier", [(key, "part 1")], 0.0)
        await watched.store.write("UPDATE owners SET beat = 1.0, beat_monotonic = 0.0", ())
        async with asyncio.timeout(20):
            assert (await watched.begin()).judged_chunks == 1
    assert "took over the lease of an earlier judgment of this process: part 1" in caplog.text
