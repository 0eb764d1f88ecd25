"""Told to stop, and told again at every moment after: the first cause counts, all is released."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from judgments_for_tests import Watched, check_sums
from longjudge import asking, judge_session
from longjudge.judges.offline import OfflineJudge
from longjudge.store import leases
from longjudge.updates import ChunkUpdate, JudgmentEnded, Stopping
from sessions_for_tests import events, write_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longjudge.judges.base import Answer, Question
    from longjudge.updates import Update

COUNT = 6
JUDGED = 2


class Stuck(OfflineJudge):
    """The offline rules, which never answer about most parts."""

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        if question.part > JUDGED:
            try:
                await asyncio.Event().wait()
            finally:
                # Some take longer than others until they are gone.
                for _ in range(question.part):
                    await asyncio.sleep(0)
        return await super().ask(question, max_tokens=max_tokens)


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr("judgments_for_tests.make_judge", lambda model: Stuck())


def rows(store: Path, table: str) -> int:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def check_released(store: Path) -> None:
    assert (rows(store, "leases"), rows(store, "owners"), rows(store, "verdicts")) == (0, 0, JUDGED)


def is_last_running(update: Update) -> bool:
    """Whatever can be judged is, and the rest is in flight."""
    return isinstance(update, ChunkUpdate) and update.part == COUNT and update.attempt == 1


def press_everything(watched: Watched) -> Callable[[Update], None]:
    """Cancel all of it and each part, at each thing that it tells from the first cancel on."""

    def press(update: Update) -> None:
        if pressed or is_last_running(update):
            pressed.append(update)
            watched.judgment.cancel()
            for part in range(COUNT + 2):
                watched.judgment.cancel_part(part)
                watched.judgment.ask_again(part)
            watched.judgment.cancel()

    pressed: list[Update] = []
    return press


async def test_a_cancel_that_is_pressed_at_every_step_breaks_nothing(
    session_file: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Watched(session_file, store_file, concurrency=COUNT) as watched:
        release_all, released = leases.release_all, list[str]()

        async def cancel_and_release(*arguments: Any) -> None:
            watched.judgment.cancel()
            await release_all(*arguments)
            watched.judgment.cancel()
            released.append("all")

        monkeypatch.setattr(leases, "release_all", cancel_and_release)
        watched.on_update = press_everything(watched)
        result = await watched.judgment.run()
        watched.judgment.cancel()
    check_sums(result)
    assert released == ["all"]
    assert result.status == "cancelled"
    assert (result.gaps, result.holds_left) == ({"cancelled": COUNT - JUDGED}, 0)
    assert [type(each) for each in watched.updates].count(Stopping) == 1
    assert isinstance(watched.updates[-1], JudgmentEnded)
    check_released(store_file)


@pytest.mark.parametrize("limit_first", [True, False], ids=["limit, cancel", "cancel, limit"])
async def test_of_a_limit_and_a_cancel_the_first_counts(
    session_file: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch, limit_first: bool
) -> None:
    begun = asyncio.get_running_loop().time()
    limit = 0.2 if limit_first else 0.5
    async with Watched(session_file, store_file, concurrency=COUNT, time_limit=limit) as watched:

        def cancel(update: Update) -> None:
            if isinstance(update, Stopping) or (not limit_first and is_last_running(update)):
                watched.judgment.cancel()

        if not limit_first:
            # Over only after the limit: both have come by then.
            monkeypatch.setattr(asking, "GRACE_SECONDS", limit)
        watched.on_update = cancel
        result = await watched.judgment.run()
    assert asyncio.get_running_loop().time() - begun >= limit
    check_sums(result)
    assert result.status == ("timed_out" if limit_first else "cancelled")
    assert result.gaps == {result.status.value: COUNT - JUDGED}
    assert causes(watched.updates) == ["limit" if limit_first else "cancel"]
    check_released(store_file)


def causes(updates: Sequence[Update]) -> list[str]:
    return [update.cause for update in updates if isinstance(update, Stopping)]


@pytest.mark.parametrize("stopped_before", [False, True])
async def test_a_caller_that_is_cancelled_again_and_again_leaves_nothing_held(
    session_file: Path, store_file: Path, stopped_before: bool
) -> None:
    async with Watched(session_file, store_file, concurrency=COUNT) as watched:
        running = watched.begin()
        await watched.until(COUNT, "running")
        await watched.until(1, "clean")
        await watched.until(2, "clean")
        if stopped_before:
            watched.judgment.cancel()
        while not running.done():
            running.cancel()
            await asyncio.sleep(0)
            # Nobody is taken on any more, and nothing breaks for it.
            watched.judgment.set_concurrency(2 * COUNT)
            watched.judgment.ask_again(COUNT)
        assert running.cancelled()
    check_released(store_file)


async def test_a_caller_that_is_cancelled_while_the_judge_closes_leaves_no_store_open(
    store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing_begun = asyncio.Event()

    async def close_forever(judge: OfflineJudge) -> None:
        closing_begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(OfflineJudge, "aclose", close_forever)
    judging = asyncio.create_task(judge_session(events(2), model="offline", store=store_file))
    await closing_begun.wait()
    assert store_file.with_name(f"{store_file.name}-wal").exists()
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging
    assert not store_file.with_name(f"{store_file.name}-wal").exists()
