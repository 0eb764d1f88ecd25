"""What the pictures of both screens are staged with: a judge, the samples' ages, states of rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from longjudge.judges.base import Again, AskError
from longjudge.judges.offline import OfflineJudge
from longjudge.prices import Price, Usage
from longjudge.states import ChunkState, GapReason

LONG, HOSTILE, TALK = "checkout-refactor.jsonl", "hostile.jsonl", "release-questions.jsonl"
HOUR, DAY = 3_600, 86_400
AGES = {
    LONG: 2 * HOUR,
    "codex-release.jsonl": 5 * HOUR,
    HOSTILE: 3 * DAY,
    "support-agent.openai.json": 9 * DAY,
    TALK: 40 * DAY,
}
sizes = pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])


class StagedJudge(OfflineJudge):
    """The offline rules; what the questions of some numbers get is staged, counted from 1.

    With a `price` it answers as a model. `seconds` pass on the clock with every answer.
    """

    def __init__(self, clock=None, *, held=(), refused=(), price=None, seconds=0.0):
        super().__init__()
        self.clock, self.held, self.refused = clock, held, refused
        self.fixed_price, self.seconds = price, seconds
        self.asked = 0

    @property
    def model(self):
        return "claude-haiku-5-5" if self.fixed_price else "offline"

    @property
    def label(self):
        return "claude-haiku-5-5" if self.fixed_price else "offline rules"

    @property
    def price(self):
        return self.fixed_price

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        number = self.asked
        if number in self.held:
            await asyncio.Event().wait()
        if number in self.refused:
            wait, reason = 20.0, GapReason.RATE_LIMITED
            raise AskError(
                "429: too many requests", again=Again.WHEN_TOLD, reason=reason, wait=wait
            )
        if self.clock is not None:
            self.clock.forward(self.seconds + number % 5 / 10)
        answer = await super().ask(question, max_tokens=max_tokens)
        if not self.fixed_price:
            return answer
        return replace(answer, usage=Usage(len(question.user) // 3, len(answer.text) // 3))


PRICE = Price(1.0, 5.0)


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


def states(desk, *wanted):
    """Whether chunks of the run are in exactly these states, whatever the others are in."""
    chunks = desk.bench.run._board.chunks if desk.bench.run else []
    return [sum(chunk.state is each for chunk in chunks) for each in wanted]


async def planned(desk):
    await desk.until(lambda: desk.rows("chunks"), "a plan")


async def judge_all(desk):
    await planned(desk)
    await desk.press("r")
    await desk.until(ended(desk), "the end of the judgment")
    desk.app.screen.tick()


async def judge_eight(desk):
    """Eight chunks have a verdict, four are asked, and the clock stands."""
    await planned(desk)
    await desk.press("r")
    running = ChunkState.RUNNING, ChunkState.RETRYING
    await desk.until(lambda: sum(states(desk, *running)) == 4, "four in flight")
    await desk.until(lambda: sum(states(desk, ChunkState.CLEAN, ChunkState.FLAGGED)) == 8)
    # Where the list has followed to depends on what each frame has seen; from the top it does not.
    desk.app.screen.query_one("#chunks").scroll_to(y=0, animate=False, force=True)
    desk.app.screen.tick()


async def listed(desk):
    """Every row in sight has its counts, and every result of the past is read."""
    await desk.until(lambda: not desk.shelf.looking)
    await desk.until(lambda: desk.rows("sessions"))
    files = desk.shelf.listing.view
    await desk.until(lambda: all(file in desk.shelf.counting.facts for file in files))


def statuses(desk):
    """How the newest judgments of the listed sessions ended."""
    return [last.status for last in desk.shelf.lasts.values()]
