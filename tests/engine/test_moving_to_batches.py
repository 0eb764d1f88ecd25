"""Chunks of a running judgment go into a batch and back, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import server as api
from longjudge.api import open_session
from longjudge.batch_pace import Pace
from longjudge.batches.harvesting import harvest
from longjudge.batches.queue import BatchQueue
from longjudge.holds import HoldKind, list_holds
from longjudge.judges.batch_api import RemoteBatch, RemoteStatus
from longjudge.judges.make import batch_api, make_judge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.states import ChunkState, GapReason, JudgmentStatus
from longjudge.store import Store
from longjudge.store.batch_rows import BatchState
from longjudge.store.batches import note
from longjudge.updates import AskedBy, BatchSaid, ChunkUpdate
from server import FOREVER, MessagesServer
from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from longjudge.result import Result
    from longjudge.updates import Update

CHUNKS = 8


class Stage:
    """A judgment with a queue at hand, whose server answers live questions when it is released."""

    def __init__(self, judgment: Judgment, queue: BatchQueue, store: Store) -> None:
        self.judgment = judgment
        self.queue = queue
        self.store = store
        self.told: list[Update] = []
        self._changed = asyncio.Event()

    def listen(self, update: Update) -> None:
        self.told.append(update)
        self._changed.set()

    async def until_told(self, state: ChunkState, count: int = 1) -> None:
        def parts() -> set[int]:
            return {
                each.part
                for each in self.told
                if isinstance(each, ChunkUpdate) and each.state is state
            }

        async with asyncio.timeout(30):
            while len(parts()) < count:
                self._changed.clear()
                await self._changed.wait()

    @property
    def problems(self) -> list[str]:
        return [each.problem for each in self.told if isinstance(each, BatchSaid) and each.problem]


@contextlib.asynccontextmanager
async def stage(
    tmp_path: Path, *, as_batch: bool = False, concurrency: int = 2, **settings: float
) -> AsyncIterator[Stage]:
    path = write_session(tmp_path / "s.jsonl", CHUNKS)
    session = await open_session(path)
    store = await Store.open(tmp_path / "store.sqlite")
    judge = make_judge("claude-haiku-5-5")
    queue = BatchQueue(store, judge, Pace(first_look=0.02, longest_look=0.05, end=5.0))
    made: list[Stage] = []
    judgment = Judgment(
        session,
        rubric=load_rubric("chunks"),
        judge=judge,
        store=store,
        settings=Settings(CHUNK_CHARS, concurrency, **settings),
        listener=lambda update: made[0].listen(update),
        queue=queue,
        as_batch=as_batch,
    )
    made.append(Stage(judgment, queue, store))
    try:
        async with queue.batching.at_work():
            yield made[0]
            await queue.batching.leave()
    finally:
        await judge.aclose()
        await store.aclose()
        session.close()


@contextlib.asynccontextmanager
async def running(judgment: Judgment) -> AsyncIterator[asyncio.Task[Result]]:
    task = asyncio.ensure_future(judgment.run())
    try:
        yield task
    finally:
        judgment.cancel()
        judgment.cancel()
        await asyncio.gather(task, return_exceptions=True)


def live_and_batched(served: MessagesServer) -> tuple[int, int]:
    return len(served.requests), sum(len(each.custom_ids) for each in served.batches.all)


async def test_a_judgment_can_go_into_a_batch_as_a_whole(
    served: MessagesServer, tmp_path: Path
) -> None:
    async with stage(tmp_path, as_batch=True) as at:
        result = await at.judgment.run()
    assert result.status is JudgmentStatus.COMPLETE
    assert live_and_batched(served) == (0, CHUNKS)
    assert (result.calls, result.cached_chunks, result.holds_left) == (CHUNKS, 0, 0)
    assert result.settings["batch"] is True
    assert all(part.in_batch for part in result.parts)
    live = 100 * 0.1 / 1e6 + 10 * 0.5 / 1e6
    assert result.cost_usd == pytest.approx(CHUNKS * live / 2)


async def test_the_unasked_rest_of_a_judgment_moves_into_a_batch(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.script = lambda request, _: (
        api.clean(request) if request.custom_id else api.held(request)
    )
    async with stage(tmp_path) as at, running(at.judgment) as run:
        await served.until(lambda: len(served.requests) == 2)
        assert at.judgment.move_to_batch() == CHUNKS - 2
        await at.until_told(ChunkState.CLEAN, CHUNKS - 2)
        assert live_and_batched(served) == (2, CHUNKS - 2)
        assert not run.done()
        served.release()
        result = await run
    assert result.status is JudgmentStatus.COMPLETE
    assert result.calls == CHUNKS
    assert sum(part.in_batch for part in result.parts) == CHUNKS - 2


@pytest.mark.parametrize("back", [False, True])
async def test_what_is_moved_before_anything_is_asked_is_never_asked_live(
    served: MessagesServer, tmp_path: Path, back: bool
) -> None:
    async with stage(tmp_path) as at:
        assert at.judgment.move_to_batch() == CHUNKS
        if back:
            assert at.judgment.move_to_live()
            assert not at.judgment.move_to_live()
        result = await at.judgment.run()
    assert result.status is JudgmentStatus.COMPLETE
    assert live_and_batched(served) == ((CHUNKS, 0) if back else (0, CHUNKS))


async def test_the_rest_of_a_batch_moves_to_live_questions(
    served: MessagesServer, tmp_path: Path
) -> None:
    batches = served.batches
    batches.latency, batches.done_at_cancel = FOREVER, 0.25
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        assert at.judgment.move_to_live()
        result = await run
    assert result.status is JudgmentStatus.COMPLETE
    live, batched = live_and_batched(served)
    assert batched == CHUNKS
    answered = sum(part.in_batch for part in result.parts if part.attempts == 1)
    assert answered == CHUNKS // 4
    assert live == CHUNKS - answered
    assert result.calls == live + batched


async def test_a_cancelled_judgment_cancels_its_batch_and_keeps_what_had_finished(
    served: MessagesServer, tmp_path: Path
) -> None:
    batches = served.batches
    batches.latency, batches.done_at_cancel = FOREVER, 0.5
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        at.judgment.cancel()
        result = await run
    [batch] = batches.all
    assert batch.cancels
    assert result.status is JudgmentStatus.CANCELLED
    assert result.gaps == {GapReason.CANCELLED: CHUNKS // 2}
    assert (result.judged_chunks, result.holds_left) == (CHUNKS // 2, 0)


async def test_a_second_cancel_does_not_wait_and_the_hold_is_shown(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.latency = served.batches.cancel_latency = FOREVER
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        at.judgment.cancel()
        await served.until(lambda: served.batches.called["cancel"] == 1)
        at.judgment.cancel()
        result = await run
        [hold] = await list_holds(at.store)
    assert (result.status, result.holds_left) == (JudgmentStatus.CANCELLED, 1)
    assert result.gaps == {GapReason.CANCELLED: CHUNKS}
    assert (hold.kind, hold.id) == (HoldKind.BATCH, served.batches.all[0].id)


async def test_a_batch_can_be_left_running_when_its_judgment_ends(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.latency = FOREVER
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        at.judgment.cancel(keep_batches=True)
        result = await run
    assert not served.batches.called["cancel"]
    assert (result.status, result.holds_left) == (JudgmentStatus.CANCELLED, 1)
    store = await Store.open(tmp_path / "store.sqlite")
    [hold] = await list_holds(store)
    assert (hold.owner, hold.state) == ("left running", "held")
    await store.aclose()


async def test_the_time_limit_cancels_the_batch(served: MessagesServer, tmp_path: Path) -> None:
    served.batches.latency = FOREVER
    async with stage(tmp_path, as_batch=True, time_limit=0.5) as at:
        result = await at.judgment.run()
    assert served.batches.called["cancel"] == 1
    assert result.status is JudgmentStatus.TIMED_OUT
    assert result.gaps == {GapReason.TIMED_OUT: CHUNKS}


async def test_one_chunk_can_be_taken_out_of_a_batch(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.latency = FOREVER
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        assert at.judgment.cancel_part(3)
        assert not at.judgment.cancel_part(3)
        served.batches.finish()
        result = await run
        kept = await at.store.all_keys()
    assert result.gaps == {GapReason.CANCELLED: 1}
    assert result.parts[2].reason is GapReason.CANCELLED
    assert len(kept) == CHUNKS, "its answer was paid for"


async def test_where_the_provider_takes_no_batches_the_rest_is_asked_live_after_all(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.available = False
    served.script = api.held
    async with stage(tmp_path) as at, running(at.judgment) as run:
        await served.until(lambda: len(served.requests) == 2)
        at.judgment.move_to_batch()
        served.release()
        result = await run
        assert at.problems
    assert result.status is JudgmentStatus.COMPLETE
    assert live_and_batched(served) == (CHUNKS, 0)


async def test_where_the_provider_takes_no_batches_a_batch_judgment_asks_nobody(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.available = False
    async with stage(tmp_path, as_batch=True) as at:
        result = await at.judgment.run()
    assert result.status is JudgmentStatus.FAILED
    assert result.gaps == {GapReason.PROVIDER_ERROR: CHUNKS}
    assert result.error
    assert live_and_batched(served) == (0, 0)


async def test_a_live_judgment_waits_for_what_is_in_a_batch_and_names_it(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.latency = FOREVER
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        [batch] = at.judgment.batches
        told: list[Update] = []
        other = Judgment(
            at.judgment.session,
            rubric=at.judgment.rubric,
            judge=at.judgment.judge,
            store=at.store,
            settings=Settings(CHUNK_CHARS, CHUNKS),
            listener=told.append,
        )
        async with running(other) as waiting:
            async with asyncio.timeout(30):
                while sum(isinstance(each, AskedBy) for each in told) < CHUNKS:
                    await asyncio.wait({waiting}, timeout=0.01)
            assert other.asked_by(CHUNKS) == f"batch {batch.provider_id}"
            states = [each.state for each in told if isinstance(each, ChunkUpdate)]
            assert states == [ChunkState.WAITING] * CHUNKS
            served.batches.finish()
            result, borrowed = await run, await waiting
    assert live_and_batched(served) == (0, CHUNKS)
    assert (result.calls, result.cached_chunks) == (CHUNKS, 0)
    assert (borrowed.calls, borrowed.cached_chunks) == (0, CHUNKS)


async def test_what_another_process_has_brought_home_is_shown_all_the_same(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.latency = FOREVER
    async with stage(tmp_path, as_batch=True) as at, running(at.judgment) as run:
        await at.until_told(ChunkState.RUNNING, CHUNKS)
        [batch] = at.judgment.batches
        other = await Store.open(tmp_path / "store.sqlite")
        api_ = batch_api(at.judgment.judge)
        # Both look at it in the moment in which it ends; the other one is faster.
        served.batches.retrieve_script = lambda number: api.error(529)
        await served.until(lambda: served.batches.called["retrieve"] > 0)
        served.batches.finish()
        ended = RemoteBatch(batch.provider_id, RemoteStatus.ENDED, CHUNKS, ended=1.0)
        await harvest(other, api_, batch, ended, lambda outcomes: None, believe=True)
        await note(other, replace(batch, state=BatchState.HARVESTED))
        await other.aclose()
        result = await run
    assert result.status is JudgmentStatus.COMPLETE
    assert (result.calls, result.cached_chunks) == (CHUNKS, 0)
    assert served.batches.called["results"] == 1
