"""Judgments of several processes on one store under random trouble: each question is paid once."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from judgments_for_tests import check_sums
from longjudge import asking, leases, owner, retries
from longjudge import judgment as judgment_module
from longjudge.flights import Flights
from longjudge.judges.base import Again, Answer, AskError, Stop
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.sessions import session_from_events
from longjudge.settings import Settings
from longjudge.states import ChunkState, GapReason
from longjudge.store import Store, StoreWriteError
from longjudge.updates import ChunkUpdate
from sessions_for_tests import CHUNK_CHARS, events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from longjudge.judges.base import Question
    from longjudge.result import Result
    from longjudge.updates import Update

TROUBLES = (
    (Again.SOON, GapReason.PROVIDER_ERROR),
    (Again.WHEN_TOLD, GapReason.RATE_LIMITED),
    (Again.NEVER, GapReason.REFUSED),
)


class Counted(OfflineJudge):
    """The offline rules with every kind of trouble; counts by chunk what is asked, and in vain."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng
        self.asked: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        tag = question.tag
        self.asked[tag] += 1
        self.lost[tag] += 1
        await asyncio.sleep(self._rng.choice((0, 0.001, 0.003, 0.02)))
        luck = self._rng.random()
        if luck < 0.15:
            again, reason = self._rng.choice(TROUBLES)
            raise AskError("no luck", again=again, reason=reason, wait=0.002)
        if luck < 0.2:
            return Answer("no", Stop.COMPLETE)
        answer = await super().ask(question, max_tokens=max_tokens)
        self.lost[tag] -= 1
        return answer


class Meddler:
    """A listener that acts on its judgment in the middle of an update, and on its caller's task."""

    def __init__(self, rng: random.Random, chunks: int, *, cancels: bool) -> None:
        self._rng, self._chunks, self._cancels = rng, chunks, cancels
        self.judgment: Judgment | None = None
        self.task: asyncio.Task[Result] | None = None

    def __call__(self, update: Update) -> None:
        if self.judgment is None or not isinstance(update, ChunkUpdate):
            return
        assert not (update.state is ChunkState.RUNNING and self.judgment.paused)
        luck, part = self._rng.random(), self._rng.randint(1, self._chunks)
        if update.state is ChunkState.GAP and luck < 0.4:
            self.judgment.ask_again(update.part)
        elif luck < 0.1:
            self.judgment.cancel_part(part)
        elif luck < 0.2:
            self.judgment.ask_again(part)
        elif luck < 0.25:
            self.judgment.cancel_part(part)
            self.judgment.ask_again(part)
        elif luck < 0.3:
            self.judgment.set_concurrency(self._rng.randint(1, 8))
        elif luck < 0.31 and self._cancels:
            self.judgment.cancel()
        elif luck < 0.32 and self._cancels and self.task is not None:
            self.task.cancel()
        elif 0.32 <= luck < 0.38 and self.judgment.pause():
            wait = self._rng.choice((0.003, 0.03))
            asyncio.get_running_loop().call_later(wait, self.judgment.go_on)
        elif luck < 0.39:
            self.judgment.go_on()


def fail_at_random(store: Store, rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the store refuse a write now and then, and all of them from some moment on."""
    commit: Any = store._commit  # pyright: ignore[reportPrivateUsage]

    async def flaky(step: Any) -> int:
        if rng.random() < 0.02:
            store.write_error = "read-only"
        if rng.random() < 0.2:
            raise StoreWriteError("locked")
        return await commit(step)

    monkeypatch.setattr(store, "_commit", flaky)


def left(store: Path, what: str) -> list[str]:
    with closing(sqlite3.connect(store)) as connection:
        return [row[0] for row in connection.execute(what)]


def some_more(count: int) -> Iterator[Any]:
    """Seeds, few of which always run."""
    for seed in range(count):
        yield pytest.param(seed, marks=[pytest.mark.thorough] if seed >= 5 else [])


@pytest.mark.parametrize("seed", some_more(150))
@pytest.mark.parametrize("failing", [False, True])
async def test_all_end_each_question_is_paid_once_and_nothing_stays_held(
    seed: int, failing: bool, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(leases, "LOOK_SECONDS", 0.005)
    monkeypatch.setattr(asking, "GRACE_SECONDS", 0.05)
    if failing:
        # Whoever cannot write says nothing any more, and is soon given up for dead.
        monkeypatch.setattr(leases, "BEAT_SECONDS", 0.05)
        monkeypatch.setattr(owner, "LOST_SECONDS", 0.5)
    rng = random.Random(seed)
    some = events(rng.randint(1, 12))
    chosen = [*some, *(rng.choice(some) for _ in range(rng.randint(0, 6)))]
    session, judge = session_from_events(chosen), Counted(rng)
    processes = [Flights() for _ in range(rng.randint(2, 3))]
    judgments: list[Judgment] = []
    stores: list[Store] = []
    fresh = 0
    running: list[asyncio.Task[Result]] = []
    meddlers: list[Meddler] = []
    for number in range(rng.randint(2, 4)):
        monkeypatch.setattr(judgment_module, "FLIGHTS", processes[number % len(processes)])
        meddler = Meddler(rng, len(chosen), cancels=rng.random() < 0.5)
        stores.append(await Store.open(store_file))
        if failing and number == 0:
            fail_at_random(stores[-1], rng, monkeypatch)
        anew = rng.random() < 0.2
        fresh += anew
        meddler.judgment = Judgment(
            session,
            rubric=load_rubric("chunks"),
            judge=judge,
            store=stores[-1],
            settings=Settings(CHUNK_CHARS, rng.randint(1, 8), rng.choice((600, 600, 0.05))),
            listener=meddler,
            fresh=anew,
        )
        meddlers.append(meddler)
        judgments.append(meddler.judgment)
    for meddler in meddlers:
        assert meddler.judgment is not None
        meddler.task = asyncio.create_task(meddler.judgment.run())
        running.append(meddler.task)
        await asyncio.sleep(rng.choice((0, 0, 0.002, 0.01)))
    try:
        async with asyncio.timeout(30):
            results = await asyncio.gather(*running, return_exceptions=True)
    finally:
        for store in stores:
            await store.aclose()
        session.close()
    ended = [result for result in results if not isinstance(result, BaseException)]
    assert all(isinstance(each, asyncio.CancelledError) for each in results if each not in ended)
    for result in ended:
        check_sums(result)
        assert result.chunks == len(chosen)
    healthy = judgments[1:] if failing else judgments
    assert not {each.id for each in healthy} & {*left(store_file, "SELECT owner FROM leases")}
    assert not {each.id for each in healthy} & {*left(store_file, "SELECT id FROM owners")}
    if not failing:
        for tag, times in judge.asked.items():
            assert times <= judge.lost[tag] + 1 + fresh
