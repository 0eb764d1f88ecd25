"""How the screens of their own, the tabs and the panels look in their main states."""

from __future__ import annotations

import pytest

from stage_for_tests import PRICE, StagedJudge, judge_all, judge_eight, planned, sizes

TITLE = "#whole-title"


def titled(desk, words):
    """Whether a screen of its own is there, whose title has these words."""
    return lambda: desk.app.screen.query(TITLE) and words in desk.app.screen.query_one(TITLE).text


async def cut_off(desk):
    """Eight chunks have a verdict, the others were cut off."""
    await judge_eight(desk)
    await desk.press("x")
    await desk.until(lambda: desk.bench.run.result is not None)
    # Whoever opens the tab before it has its gaps is led to the first one.
    await desk.sees("2 GAPS 8")


@sizes
async def test_the_curve(open_desk, looks_as_before, long_session, size):
    judge = StagedJudge(price=PRICE)
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await planned(desk)
        await desk.press("C")
        await desk.until(titled(desk, "CURVE"))
        await desk.until(lambda: "others" not in desk.app.screen.query_one(TITLE).text)
        await desk.press("right", "right")
        assert await looks_as_before(desk)


@sizes
async def test_the_rubric_editor_with_a_fault(
    open_desk, looks_as_before, long_session, clock, size
):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await planned(desk)
        await desk.press("B")
        await desk.sees("name = ")
        await desk.press("x")
        clock.forward(2)
        await desk.sees("1 fault")
        await desk.until(lambda: "checking" not in desk.text)
        assert await looks_as_before(desk)


@sizes
async def test_before_and_after(open_desk, looks_as_before, long_session, clock, size):
    judge = StagedJudge(price=PRICE)
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=60_000) as desk:
        await judge_all(desk)
        clock.forward(3_600)
        desk.bench.tuning.set_size(30_000)
        await judge_all(desk)
        await desk.press("D")
        await desk.until(titled(desk, "BEFORE"))
        await desk.sees("flip")
        assert await looks_as_before(desk)


@sizes
@pytest.mark.parametrize("view", ["1", "3", "4"], ids=["session", "rubrics", "gaps"])
async def test_past_judgments(open_desk, looks_as_before, long_session, clock, size, view):
    judge = StagedJudge(held=range(9, 99))
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await cut_off(desk)
        clock.forward(90_000)
        await desk.press("J", view)
        await desk.until(lambda: desk.app.screen.query(TITLE))
        await desk.sees({"1": "cancelled", "3": "e563daed", "4": "unjudged"}[view])
        assert await looks_as_before(desk)


@sizes
@pytest.mark.parametrize(
    ("key", "words"), [("2", "never aske"), ("4", "run ended")], ids=["gaps", "log"]
)
async def test_a_tab(open_desk, looks_as_before, long_session, clock, size, key, words):
    judge = StagedJudge(held=range(9, 99))
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await cut_off(desk)
        await desk.press(key)
        await desk.sees(words)
        assert await looks_as_before(desk)


@sizes
async def test_a_pause(open_desk, looks_as_before, long_session, clock, size):
    judge = StagedJudge(held=(9, 10, 11, 12), price=PRICE)
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await judge_eight(desk)
        clock.forward(3.2)
        await desk.press("P")
        await desk.sees("PAUSED")
        assert await looks_as_before(desk)


@sizes
async def test_a_panel_that_fills_the_screen(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("M")
        await desk.sees("all panels")
        assert await looks_as_before(desk)


@sizes
async def test_the_help_of_a_panel(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("1", "question_mark")
        await desk.sees("KEYS")
        assert await looks_as_before(desk)
