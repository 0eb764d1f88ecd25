"""Judgments under random trouble, cancels, pauses, second attempts and budgets: all adds up."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from judgments_for_tests import check_sums
from longjudge import retries
from longjudge.budget import Budget
from longjudge.judges.base import Again, Answer, AskError, Stop
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.prices import Usage
from longjudge.rubric import load_rubric
from longjudge.sessions import session_from_events
from longjudge.settings import Settings
from longjudge.states import ChunkState, GapReason
from longjudge.store import Store
from longjudge.updates import ChunkUpdate
from sessions_for_tests import CHUNK_CHARS, events

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.judges.base import Question
    from longjudge.updates import Update

TROUBLES = (
    (Again.SOON, GapReason.PROVIDER_ERROR, None),
    (Again.WHEN_TOLD, GapReason.RATE_LIMITED, 0.002),
    (Again.NEVER, GapReason.REFUSED, None),
)


class FickleJudge(OfflineJudge):
    """The offline rules under a priced model's name, with every kind of trouble."""

    def __init__(self, rng: random.Random, endpoint: str) -> None:
        super().__init__()
        self._rng = rng
        self._name = endpoint
        self.asked = 0

    @property
    def model(self) -> str:
        return "claude-haiku-5-5"

    @property
    def endpoint(self) -> str:
        return self._name

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        self.asked += 1
        await asyncio.sleep(self._rng.choice((0, 0, 0.001, 0.003)))
        luck = self._rng.random()
        if luck < 0.2:
            again, reason, wait = self._rng.choice(TROUBLES)
            raise AskError("no luck", again=again, reason=reason, wait=wait)
        if luck < 0.25:
            return Answer("no", self._rng.choice((Stop.COMPLETE, Stop.TRUNCATED)), Usage(5000, 1))
        answer = await super().ask(question, max_tokens=max_tokens)
        return Answer(answer.text, answer.stop, Usage(self._rng.choice((10, 500, 1500)), 10))


class Meddler:
    """A listener that acts on its judgment in the middle of an update."""

    def __init__(self, rng: random.Random, chunks: int) -> None:
        self._rng, self._chunks = rng, chunks
        self.judgment: Judgment | None = None

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
        elif luck < 0.3:
            self.judgment.set_concurrency(self._rng.randint(1, 20))
        elif luck < 0.302:
            self.judgment.cancel()
        elif luck < 0.35 and self.judgment.pause():
            asyncio.get_running_loop().call_later(0.003, self.judgment.go_on)
        elif luck < 0.36:
            self.judgment.go_on()


@pytest.mark.parametrize(
    "seed",
    [*range(15), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(15, 60))],
)
async def test_every_judgment_ends_its_sums_add_up_and_no_budget_is_passed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.001)
    rng = random.Random(seed)
    some = events(12)
    chosen = [rng.choice(some) for _ in range(rng.randint(1, 50))] + some[:1]
    session, judge = session_from_events(chosen), FickleJudge(rng, f"test {seed}")
    max_calls, max_cost = rng.choice((None, 0, 5, 60)), rng.choice((None, 0.005, 0.02, 0.1))
    budget = rng.choice((None, Budget(max_cost, max_calls)))
    store = await Store.open(tmp_path / "store.sqlite")
    judgments: list[Judgment] = []
    for _ in range(rng.randint(1, 3)):
        meddler = Meddler(rng, len(chosen))
        meddler.judgment = Judgment(
            session,
            rubric=load_rubric("chunks"),
            judge=judge,
            store=store,
            settings=Settings(CHUNK_CHARS, rng.randint(1, 20), rng.choice((600, 0.05))),
            listener=meddler,
            budget=budget,
            fresh=rng.random() < 0.3,
            only=rng.choice((None, None, frozenset({0, 3}))),
        )
        judgments.append(meddler.judgment)
    try:
        async with asyncio.timeout(30):
            results = await asyncio.gather(*(judgment.run() for judgment in judgments))
    finally:
        await store.aclose()
        session.close()
    for judgment, result in zip(judgments, results, strict=True):
        check_sums(result)
        assert result.chunks == len(chosen)
        assert not judgment.ask_again(1)
    calls = sum(result.calls for result in results)
    # A question that was cancelled before it went out is counted, and never sent.
    assert judge.asked <= calls
    if budget is not None:
        assert max_calls is None or calls <= max_calls
        paid = sum(result.cost_usd or 0.0 for result in results)
        assert max_cost is None or paid <= max_cost + 1e-9
