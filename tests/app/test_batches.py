"""Batches in the workbench: a run goes as one, a run's rest goes there and back, and it ends."""

from __future__ import annotations

import asyncio

import pytest

from longjudge.holds import HoldKind, list_holds
from longjudge.judges.offline import OfflineJudge
from longjudge_tui.bench import batch_words
from longjudge_tui.bench.stock import Stock

WIDE = (200, 40)
EVENTS = 8
"""Of them two make a chunk."""


@pytest.fixture(autouse=True)
def _offline_batches_end_soon(monkeypatch):
    monkeypatch.setattr(batch_words, "OFFLINE_SECONDS", 0.3)


@pytest.fixture
def long_batches(monkeypatch):
    """No batch of the offline rules ends by itself."""
    monkeypatch.setattr(batch_words, "OFFLINE_SECONDS", 600.0)


def logged(desk):
    return "\n".join(each.words for each in desk.bench.log.since(0))


async def planned(desk):
    await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")


async def send(desk):
    """Send all there is to ask as a batch."""
    await planned(desk)
    await desk.press("A")
    await desk.sees("Judge as a batch?")
    await desk.press("enter")


async def out(desk, count=EVENTS // 2):
    """Wait until so many chunks are in a batch."""
    await desk.until(
        lambda: sum("▤ in batch" in row for row in desk.rows("chunks")) == count,
        f"{count} rows in a batch",
    )


async def test_a_session_is_judged_as_a_batch_after_its_price_was_agreed_to(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", EVENTS * 2, (1, 9))) as desk:
        await planned(desk)
        await desk.press("A")
        await desk.sees("Judge as a batch?")
        await desk.sees("as a batch: $0.00")
        await desk.press("escape")
        await desk.until(lambda: "Judge as a batch?" not in desk.text)
        assert not desk.bench.running
        await send(desk)
        await desk.until(lambda: "in a batch (offline_" in desk.title("status"))
        await desk.until(lambda: any("▤ in batch" in row for row in desk.rows("chunks")))
        await desk.until(lambda: "▤" in desk.lines[1])
        await desk.sees("complete: ")
        await desk.until(lambda: all("▤" not in row for row in desk.rows("chunks")))
        result = desk.bench.run.result
        assert result.settings["batch"] is True
        assert all(part.in_batch for part in result.parts if not part.from_cache)
        assert desk.bench.run.figures().rate is None
        assert not await list_holds(desk.bench.store)
        assert "sent: 8 questions to offline" in logged(desk)
        assert "is home: 8 verdicts kept" in logged(desk)


async def test_the_rest_of_a_run_goes_into_a_batch(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 24), gated=True) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked == 4)
        await desk.press("A")
        await desk.sees("Move the rest into a batch?")
        await desk.press("y")
        await desk.until(lambda: any("▤ in batch" in row for row in desk.rows("chunks")))
        assert sum("◐ running" in row for row in desk.rows("chunks")) == 4
        desk.judge.gate.set()
        await desk.sees("complete: ")
        parts = desk.bench.run.result.parts
        assert sum(not part.in_batch for part in parts if part.attempts) == 4


class SlowToBegin(OfflineJudge):
    """Not ready to be asked until the test says so."""

    def __init__(self):
        super().__init__()
        self.preparing = False
        self._ready = asyncio.Event()

    async def prepare(self):
        self.preparing = True
        await self._ready.wait()

    def begin(self):
        self._ready.set()


async def test_all_of_a_run_that_has_asked_nothing_yet_goes_into_a_batch(open_desk, write_session):
    judge = SlowToBegin()
    async with open_desk(write_session("a.jsonl", EVENTS), judge=judge) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: judge.preparing)
        await desk.press("A")
        await desk.sees("4 questions of this run not asked yet")
        await desk.press("y")
        judge.begin()
        await desk.sees("complete: ")
        assert [part.in_batch for part in desk.bench.run.result.parts] == [True] * 4


async def test_a_run_that_is_about_to_begin_goes_as_a_batch_instead(
    open_desk, write_session, monkeypatch
):
    looked = asyncio.Event()
    refresh = Stock.refresh

    async def late(stock):
        await looked.wait()
        return await refresh(stock)

    async with open_desk(write_session("a.jsonl", EVENTS), gated=True) as desk:
        await planned(desk)
        monkeypatch.setattr(Stock, "refresh", late)
        await desk.press("r", "A")
        await desk.sees("Judge as a batch?")
        await desk.press("y")
        looked.set()
        await out(desk)
        desk.judge.gate.set()
        await desk.sees("complete: ")
        assert desk.bench.run.result.settings["batch"] is True


async def test_where_all_is_asked_live_already_it_is_said_what_to_do(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", EVENTS), gated=True, size=WIDE) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked == 4)
        await desk.press("A")
        await desk.until(lambda: "all of it is on its way: 4 questions asked live" in logged(desk))
        assert "x ends that, then A sends what is left" in logged(desk)
        await desk.press("x")
        await desk.sees("cancelled; 0 of 4 parts judged")
        desk.judge.gate.set()
        await send(desk)
        await desk.sees("complete: ")


@pytest.mark.usefixtures("long_batches")
async def test_the_rest_of_a_batch_is_asked_live_after_all(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", EVENTS)) as desk:
        await send(desk)
        await desk.until(lambda: "in a batch (offline_" in desk.title("status"))
        await desk.press("A")
        await desk.sees("Ask the batch's rest live?")
        await desk.press("enter")
        await desk.sees("complete: ")
        assert not any(hold.kind is HoldKind.BATCH for hold in await list_holds(desk.bench.store))


@pytest.mark.usefixtures("long_batches")
async def test_the_limit_in_force_is_said_where_it_is_another_one_than_is_set(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", EVENTS * 2), gated=True, size=WIDE) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked == 4)
        await desk.sees("limit s 600")
        await desk.press("A")
        await desk.sees("Move the rest into a batch?")
        await desk.press("y")
        await out(desk)
        await desk.press("A")
        await desk.sees("Ask the batch's rest live?")
        await desk.press("y")
        await desk.until(lambda: "judging, limit a day…" in desk.title("status"))
        await desk.sees("next s  600")
        await desk.sees("this run: a day")
        desk.judge.gate.set()
        await desk.sees("complete: ")
        await desk.sees("limit s 600")


@pytest.mark.usefixtures("long_batches")
async def test_a_cancel_ends_the_batch_at_the_provider(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", EVENTS)) as desk:
        await send(desk)
        await desk.until(lambda: "in a batch (offline_" in desk.title("status"))
        await desk.press("x")
        await desk.sees("cancelled; 0 of 4 parts judged")
        assert not await list_holds(desk.bench.store)
        assert "is home: 0 verdicts kept, 4 without an answer" in logged(desk)
