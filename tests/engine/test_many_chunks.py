"""A session of very many chunks costs no task and no reply in memory for each of them."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgments_for_tests import MODEL, check_sums
from longjudge.api import open_session
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.base import Answer, Stop
from longjudge.judgment import Judgment
from longjudge.prices import Usage
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.states import ChunkState
from longjudge.store import Store
from longjudge.updates import ChunkUpdate
from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.judges.base import Question
    from longjudge.result import Result
    from longjudge.updates import Update

CONCURRENCY = 16
REPLY_CHARS = 3_000


class InstantJudge(AnthropicJudge):
    """A model that calls every chunk clean at once, in many words."""

    async def prepare(self) -> None:
        return

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        # Others have their turn, as with any real call.
        await asyncio.sleep(0)
        clean = {name: {"findings": [], "problem": False} for name in question.rubric.criterion_ids}
        text = json.dumps({"criteria": clean}) + " " * REPLY_CHARS + question.tag
        return Answer(text, Stop.COMPLETE, Usage(1_000, 60))


async def judge_all(
    path: Path, store_file: Path, listen: Callable[[Update], None]
) -> tuple[Result, Judgment]:
    session = await open_session(path)
    store = await Store.open(store_file)
    settings = Settings(CHUNK_CHARS, CONCURRENCY, 3_600.0)
    rubric, judge = load_rubric("chunks"), InstantJudge(MODEL)
    try:
        judgment = Judgment(
            session, rubric=rubric, judge=judge, store=store, settings=settings, listener=listen
        )
        return await judgment.run(), judgment
    finally:
        await store.aclose()
        session.close()


async def test_many_chunks_make_no_task_and_keep_no_reply_each(tmp_path: Path) -> None:
    count, tasks, in_flight = 600, list[int](), list[int]()
    running: set[int] = set()

    def listen(update: Update) -> None:
        if isinstance(update, ChunkUpdate):
            (running.add if update.state is ChunkState.RUNNING else running.discard)(update.part)
            if update.part % 10 == 0:
                tasks.append(len(asyncio.all_tasks()))
                in_flight.append(len(running))

    path = write_session(tmp_path / "s.jsonl", count)
    result, judgment = await judge_all(path, tmp_path / "store.sqlite", listen)

    check_sums(result)
    assert (result.chunks, result.judged_chunks, result.calls) == (count, count, count)
    assert 0 < max(in_flight) <= CONCURRENCY
    # A worker, its call and its write; the rest does not depend on how many chunks there are.
    assert max(tasks) <= 4 * CONCURRENCY
    kept = [record.kept for record in judgment.board.chunks]
    assert all(each is kept[0] for each in kept), "equal verdicts are one object"
    assert not any(
        record.raw_reply or (record.kept and record.kept.raw_reply)
        for record in judgment.board.chunks
    )

    again, _ = await judge_all(path, tmp_path / "store.sqlite", listen)
    check_sums(again)
    assert (again.calls, again.cached_chunks, again.status) == (0, count, "complete")


def resident() -> float:
    """Megabytes of this process in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize() / 1e6


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc here")
async def test_memory_stays_the_same_from_the_ten_thousandth_chunk_to_the_last(
    tmp_path: Path,
) -> None:
    count, memory = 50_000, dict[int, float]()
    ended = 0

    def listen(update: Update) -> None:
        nonlocal ended
        if isinstance(update, ChunkUpdate) and update.state.ended:
            ended += 1
            if ended in (10_000, count):
                gc.collect()
                memory[ended] = resident()

    path = write_session(tmp_path / "s.jsonl", count)
    result, _ = await judge_all(path, tmp_path / "store.sqlite", listen)

    check_sums(result)
    assert (result.judged_chunks, result.calls, result.gaps) == (count, count, {})
    # The replies alone are 120 MB.
    assert memory[count] - memory[10_000] < 15
