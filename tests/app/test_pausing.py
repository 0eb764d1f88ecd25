"""Pause and go on, and what a cancel is releasing, as whoever looks at the screen sees it."""

from __future__ import annotations

import asyncio

from longjudge import asking
from longjudge.judges.offline import OfflineJudge
from longjudge.store import StoreWriteError, leases
from longjudge_tui.bench import owing


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


async def running(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("r")
    await desk.sees("◐ running")


async def test_a_pause_is_seen_everywhere_and_run_or_the_button_let_it_go_on(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("P")
        await desk.sees("nothing is being judged")
        await running(desk)
        await desk.until(lambda: "[ 0.5 s" not in desk.text)
        await desk.click("#button-pause")
        await desk.sees("PAUSED by hand: 4 answers still to come · P goes on, x cancels")
        await desk.until(lambda: "elapsed, PAUSED by hand" in desk.title("live"))
        await desk.until(lambda: "left" not in desk.title("live"))
        await desk.sees("offline rules · PAUSED")
        await desk.until(lambda: "… queued   paused by hand" in desk.rows("chunks")[4])
        await desk.sees("[ Go on")
        desk.judge.gate.set()
        await desk.sees("PAUSED by hand: nothing is asked")
        assert desk.judge.asked == 4
        assert await desk.bench.store.read("SELECT * FROM leases") == []
        assert not desk.app.at_work
        await desk.press("escape")
        await desk.until(lambda: "‖ paused 4/15" in desk.row("a.jsonl"))
        await desk.sees("PAUSED by hand · P goes on")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.press("n")
        await desk.press("enter")
        await desk.sees("CHUNKS")
        # Not a second judgment: the one that pauses.
        first = desk.bench.run
        await desk.press("r")
        await desk.sees("complete: ")
        assert desk.bench.run is first
        assert first.result.calls == 15


async def test_a_judgment_that_pauses_is_cancelled_at_80_by_24(
    open_desk, write_session, monkeypatch
):
    monkeypatch.setattr(asking, "GRACE_SECONDS", 30.0)
    async with open_desk(write_session("a.jsonl", 30), gated=True, size=(80, 24)) as desk:
        await running(desk)
        await desk.press("P")
        await desk.sees("[ Go on P ]")
        await desk.sees("/min · PAUSED by hand")
        await desk.press("P")
        await desk.sees("[ Pause P ]")
        await desk.press("P", "x")
        await desk.sees("cancelling: ")
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.sees("cancelled; 4 of 15")


async def test_the_librarys_runs_pause_too_one_after_the_other(open_desk, write_session):
    paths = [write_session("a.jsonl", 12), write_session("b.jsonl", 8, padding=310)]
    async with open_desk(*paths, gated=True) as desk:
        await desk.sees("12 events")
        await desk.press("A", "r")
        await desk.until(lambda: "judging 0/6" in desk.row("a.jsonl"))
        await desk.press("P")
        await desk.until(lambda: "‖ paused 0/6" in desk.row("a.jsonl"))
        await desk.sees("PAUSED by hand: nothing is asked · P goes on")
        desk.judge.gate.set()
        await desk.until(lambda: "‖ paused 4/6" in desk.row("a.jsonl"))
        # It is no secret at the workbench either, where the keys are for its own judgment.
        await desk.press("enter")
        await desk.sees(
            "the library's judgment is PAUSED by hand: it goes on there (escape, then P)"
        )
        await desk.press("P")
        await desk.until(lambda: "nothing is being judged" not in desk.text)
        await desk.press("escape")
        # The next one is read, and pauses in its turn.
        await desk.press("home", "c")
        await desk.until(lambda: "‖ paused 0/4" in desk.row("b.jsonl"))
        assert desk.judge.asked == 4
        await desk.press("P")
        await desk.until(lambda: "complete" in desk.row("b.jsonl"))
        assert desk.judge.asked == 8


class Lingering(OfflineJudge):
    """Its calls take their time to close."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = [asyncio.Event() for _ in range(4)]
        self.asked = 0

    async def ask(self, question, *, max_tokens):
        mine = self.closing[self.asked]
        self.asked += 1
        try:
            await asyncio.Event().wait()
        finally:
            await mine.wait()


async def test_a_cancel_says_what_it_is_releasing_until_it_is_released(
    open_desk, write_session, monkeypatch
):
    monkeypatch.setattr(asking, "GRACE_SECONDS", 0.0)
    release_all, refusals = leases.release_all, [1, 1]

    async def refuse_twice(*arguments):
        if refusals:
            refusals.pop()
            raise StoreWriteError("locked")
        await release_all(*arguments)

    async def refuse(*_):
        raise StoreWriteError("locked")

    monkeypatch.setattr(leases, "release_all", refuse_twice)
    # Nor are single ones given back before the end.
    monkeypatch.setattr(leases, "release", refuse)
    # By itself it would be tried again at some time, too.
    monkeypatch.setattr(owing, "FIRST_SECONDS", 600.0)
    judge = Lingering()
    async with open_desk(write_session("a.jsonl", 30), judge=judge) as desk:
        await running(desk)
        await desk.until(lambda: judge.asked == 4)
        await desk.press("x")
        await desk.sees("cancelling: 4 calls closing, 4 leases…")
        await desk.sees("[ 4 open, 4 held ")
        await desk.press("x", "x", "P")
        await desk.sees("it cannot pause any more")
        judge.closing[0].set()
        await desk.sees("[ 3 open, ")
        for each in judge.closing:
            each.set()
        await desk.until(ended(desk))
        # What was open when the store would take nothing is said until it is given back.
        await desk.sees("could not be given back: W tries again, or `longjudge holds --sweep`")
        await desk.sees("[ Cancel ")
        left = desk.bench.run.held
        assert left == desk.bench.run.result.holds_left > 0
        await desk.press("W")
        await desk.sees("still could not be given back")
        await desk.press("W")
        await desk.sees("of a judgment that is over")
        await desk.until(lambda: "could not be given back" not in desk.title("status"))
        assert await desk.bench.store.read("SELECT * FROM leases") == []
