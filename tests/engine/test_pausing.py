"""Paused by hand: nothing is asked or held, what is on its way is kept, and it goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from judgments_for_tests import Watched, check_sums
from longjudge import asking, leases, pausing
from longjudge import judgment as judgment_module
from longjudge.flights import Flights
from longjudge.judges.base import Again, AskError
from longjudge.judges.offline import OfflineJudge
from longjudge.retries import SOON_SECONDS, RetryCount
from longjudge.rubric import Skip
from longjudge.schedule import Schedule
from longjudge.states import GapReason
from longjudge.updates import PausedByHand, WentOn, ignore_updates
from sessions_for_tests import events, write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.judges.base import Answer, Question

COUNT = 4


class Gated(OfflineJudge):
    """The offline rules, which answer once they may; the first questions about a part may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []
        self.gate = asyncio.Event()
        self.failing = dict[int, int]()
        self.wait = 0.0

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        part = question.part
        self.asked.append(part)
        if self.failing.get(part, 0) > 0:
            self.failing[part] -= 1
            raise AskError(
                "no luck", again=Again.SOON, reason=GapReason.PROVIDER_ERROR, wait=self.wait
            )
        await self.gate.wait()
        return await super().ask(question, max_tokens=max_tokens)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Gated:
    monkeypatch.setattr(asking, "GRACE_SECONDS", 0.05)
    made = Gated()
    monkeypatch.setattr("judgments_for_tests.make_judge", lambda model: made)
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


async def held(watched: Watched) -> int:
    return len(await watched.store.read("SELECT key FROM leases"))


async def at_rest(watched: Watched) -> None:
    """Return once it has nothing in hand any more."""
    while watched.judgment.in_hand:
        await held(watched)


async def test_what_is_on_its_way_is_kept_and_the_rest_waits_until_it_goes_on(
    judge: Gated, path: Path, store_file: Path
) -> None:
    async with Watched(path, store_file) as watched:
        running, judgment = watched.begin(), watched.judgment
        await watched.until(2, "running")
        assert not judgment.go_on()
        assert judgment.pause()
        assert not judgment.pause()
        assert judgment.paused
        assert judgment.in_hand.calls == 2
        judge.gate.set()
        await watched.until(1, "clean")
        await watched.until(2, "clean")
        await at_rest(watched)
        assert await held(watched) == 0
        assert judge.asked == [1, 2]
        judgment.set_concurrency(COUNT)
        assert judgment.go_on()
        result = await running
        assert not judgment.pause()
    check_sums(result)
    assert (result.status, judge.asked) == ("complete", [1, 2, 3, 4])
    told = [type(each) for each in watched.updates if isinstance(each, PausedByHand | WentOn)]
    assert told == [PausedByHand, WentOn]


async def test_another_window_goes_on_with_what_waits_and_its_verdicts_are_taken_over(
    judge: Gated, path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.failing, judge.wait = {1: 1, 2: 1}, 9.0
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await watched.until(1, "retrying")
        # In one hand it waits for its next try, in the other the answer to it comes in the pause.
        assert await held(watched) >= 1
        watched.judgment.pause()
        judge.gate.set()
        await watched.until(2, "retrying")
        await at_rest(watched)
        assert await held(watched) == 0
        monkeypatch.setattr(judgment_module, "FLIGHTS", Flights())
        async with Watched(path, store_file) as other:
            there = await other.judgment.run()
        assert there.status == "complete"
        asked = len(judge.asked)
        watched.judgment.go_on()
        # The wait that the provider wanted is not over; what nobody waits for is taken at once.
        await watched.until(4, "clean")
        watched.judgment.cancel()
        result = await running
    check_sums(result)
    assert len(judge.asked) == asked
    assert result.holds_left == 0


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "gives up"])
async def test_what_another_process_is_done_with_in_the_pause_holds_nobody_up(
    answers: bool, judge: Gated, path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that pauses has waited for it, and a third one, of its process, waits for that."""
    async with Watched(path, store_file, concurrency=COUNT) as other:
        monkeypatch.setattr(judgment_module, "FLIGHTS", Flights())
        async with Watched(path, store_file) as watched, Watched(path, store_file) as third:
            there = other.begin()
            await other.until(COUNT, "running")
            running = watched.begin()
            await watched.until(COUNT, "waiting")
            beside = third.begin()
            await third.until(COUNT, "waiting")
            watched.judgment.pause()
            if answers:
                judge.gate.set()
            else:
                other.judgment.cancel()
            await there
            judge.gate.set()
            async with asyncio.timeout(20):
                assert (await beside).status == "complete"
            # Nobody asks any more what it would be said to wait for.
            await watched.until(COUNT, "queued")
            assert not watched.judgment.in_hand
            watched.judgment.go_on()
            assert (await running).status == "complete"
    assert len(judge.asked) == (COUNT if answers else 2 * COUNT)


async def test_what_pauses_for_long_says_on_and_on_that_it_lives(
    judge: Gated, path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.01)

    async def owners() -> list[float]:
        return [row[0] for row in await watched.store.read("SELECT beat_monotonic FROM owners")]

    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await watched.until(2, "running")
        watched.judgment.pause()
        (first,) = await owners()
        while await owners() == [first]:
            pass
        # As if the machine had slept, and another process had given it up for dead.
        await watched.store.write("DELETE FROM owners", ())
        while not await owners():
            pass
        judge.gate.set()
        watched.judgment.go_on()
        result = await running
        assert (result.status, result.holds_left, await owners()) == ("complete", 0, [])


async def test_the_time_limit_stands_still_and_the_pause_is_no_part_of_the_seconds(
    judge: Gated, path: Path, store_file: Path
) -> None:
    loop = asyncio.get_running_loop()
    async with Watched(path, store_file, time_limit=0.1) as watched:
        running = watched.begin()
        await watched.until(2, "running")
        watched.judgment.pause()
        began = loop.time()
        assert await asyncio.wait([running], timeout=0.25) == (set(), {running})
        watched.judgment.go_on()
        result = await running
    check_sums(result)
    assert loop.time() - began > 0.3
    assert result.status == "timed_out"
    assert result.seconds < 0.25


async def test_a_cancel_ends_what_pauses_and_releases_it(
    judge: Gated, path: Path, store_file: Path
) -> None:
    async with Watched(path, store_file) as watched:
        running, judgment = watched.begin(), watched.judgment
        await watched.until(2, "running")
        judgment.pause()
        assert judgment.cancel_part(4)
        judgment.cancel()
        assert not judgment.paused
        assert not judgment.pause()
        assert not judgment.go_on()
        result = await running
        assert await held(watched) == 0
        assert not judgment.in_hand
    check_sums(result)
    assert result.status == "cancelled"
    assert result.gaps == {"cancelled": 3, "skipped": 1}


async def test_a_pause_before_the_first_question_holds_that_back_too(
    judge: Gated, path: Path, store_file: Path
) -> None:
    judge.gate.set()
    async with Watched(path, store_file, time_limit=20.0) as watched:
        assert watched.judgment.pause()
        ready = asyncio.Event()
        watched.while_preparing(ready.set)
        running = watched.begin()
        await ready.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not judge.asked
        watched.judgment.go_on()
        result = await running
    assert (result.status, result.calls) == ("complete", COUNT)


async def test_a_judgment_that_does_not_apply_pauses_no_more_once_it_is_over(
    judge: Gated, tmp_path: Path, store_file: Path
) -> None:
    path = write_events(tmp_path / "s.jsonl", events(2)[1:])
    async with Watched(path, store_file) as watched:
        rubric = watched.judgment.rubric
        watched.judgment.rubric = rubric.model_copy(update={"skip": Skip.NO_TOOL_CALL})
        watched.judgment.pause()
        assert (await watched.judgment.run()).status == "not_applicable"
        assert not watched.judgment.paused


async def test_with_nothing_left_to_ask_the_last_answers_end_it_while_it_pauses(
    judge: Gated, path: Path, store_file: Path
) -> None:
    async with Watched(path, store_file, concurrency=COUNT) as watched:
        running = watched.begin()
        await watched.until(COUNT, "running")
        watched.judgment.pause()
        judge.gate.set()
        result = await running
        assert not watched.judgment.paused
    assert (result.status, result.calls) == ("complete", COUNT)


async def test_a_pause_at_every_moment_lets_no_question_out(
    judge: Gated, path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause comes while a worker waits for its lease, which is given back at once."""
    take = leases.Leases.take

    async def pause_and_take(self: leases.Leases, position: int) -> object:
        taken = await take(self, position)
        if position == 2 and not told:
            told.append(watched.judgment.pause())
            asyncio.get_running_loop().call_soon(judge.gate.set)
        return taken

    told: list[bool] = []
    monkeypatch.setattr(leases.Leases, "take", pause_and_take)
    async with Watched(path, store_file, concurrency=3) as watched:
        running = watched.begin()
        while not told:
            await held(watched)
        await at_rest(watched)
        assert 3 not in judge.asked
        assert await held(watched) == 0
        watched.judgment.go_on()
        result = await running
    assert (result.status, sorted(judge.asked)) == ("complete", [1, 2, 3, 4])


async def test_a_pause_in_the_moment_of_the_limit_comes_too_late() -> None:
    nothing, loop = cast("Any", Nothing()), asyncio.get_running_loop()
    pauses = pausing.Pausing(nothing, Schedule(), nothing, {}, ignore_updates)
    told: list[bool] = []

    async def wait() -> None:
        async with pauses.limited(0.01):
            # The timer has run out by then, and whoever waits does not know it yet.
            loop.call_at(loop.time() + 0.01, lambda: told.append(pauses.pause()))
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await wait()
    assert told == [True]
    pauses.end()
    assert not pauses.on
    assert not pauses.go_on()


class Nothing:
    """Stands in for what has nothing to do."""

    def departed(self) -> list[int]:
        return []

    def stand_still(self) -> None:
        pass

    move_on = stand_still


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("failed_at", "counts_on"), [(98.0, 2.0), (150.0, 0.0)], ids=["before", "in the pause"]
)
async def test_a_pause_is_no_time_in_which_the_server_failed(
    monkeypatch: pytest.MonkeyPatch, failed_at: float, counts_on: float
) -> None:
    clock = Clock()
    monkeypatch.setattr(pausing, "time", clock)
    count, nothing = RetryCount(first_failure=failed_at), cast("Any", Nothing())
    pauses = pausing.Pausing(nothing, Schedule(), nothing, {0: count}, ignore_updates)
    pauses.pause()
    clock.now += 3_600
    pauses.go_on()
    assert count.first_failure == clock.now - counts_on
    assert clock.now - count.first_failure < SOON_SECONDS
    assert pauses.seconds == 3_600
