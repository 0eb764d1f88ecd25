"""The three keys that greet who has never judged anything: cut off, resume, the first finding."""

from __future__ import annotations

import pytest

from longjudge.states import StopCause
from longjudge.store import Store
from longjudge_tui.main import is_new
from stage_for_tests import StagedJudge


@pytest.fixture(autouse=True)
def _cut_off_at_once(monkeypatch):
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.0)
    # The test says when the limit comes: half a second may be over before anything is asked.
    monkeypatch.setattr("longjudge_tui.workbench.tuning_actions.SHORT_LIMIT", 500.0)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_each_key_leads_to_the_next(open_desk, write_session, size):
    path, judge = write_session("a.jsonl", 16, (1, 9)), StagedJudge(held=range(3, 99))
    async with open_desk(path, judge=judge, tour=True, size=size) as desk:
        await desk.sees("1/3 · press t")
        await desk.press("t")
        await desk.until(lambda: judge.asked == 6 and desk.bench.run.figures().judged == 2)
        await desk.sees("what has no answer at 500 s is cut off")
        desk.bench.run._judgment._asking.stop(StopCause.LIMIT)
        await desk.sees("2/3 · press r to ask only these 6")
        said = " ".join(line.strip() for line in desk.lines)
        assert "2 chunks judged and kept, 4 cut off (✗ timed_out), 2 never asked" in said
        judge.held = ()
        await desk.press("r")
        await desk.sees("Complete: 6 calls made, 2 saved by what was kept")
        await desk.sees("3/3 · press .")
        await desk.press("full_stop")
        await desk.sees("that was the tour")
        await desk.until(lambda: not desk.app.screen.query_one("#tour").display)
        await desk.until(lambda: "topic-1" in desk.highlighted())


async def test_what_is_done_in_half_a_second_has_nothing_to_resume(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (9,)), tour=True) as desk:
        await desk.sees("press t")
        await desk.press("t")
        await desk.sees("Judged with 6 calls")
        await desk.sees("3/3 · press .")


async def test_the_library_greets_too_and_leads_on(open_desk, write_session):
    files = write_session("a.jsonl", 12), write_session("b.jsonl", 3)
    async with open_desk(*files, tour=True) as desk:
        await desk.sees("New here? enter opens")
        await desk.press("enter")
        await desk.sees("1/3 · press t")
        await desk.press("escape")
        await desk.sees("SESSIONS 2")
        await desk.until(lambda: "New here?" not in desk.text)


@pytest.mark.parametrize("keys", [("escape",), ("r",)], ids=["escape", "a run of its own"])
async def test_it_ends_where_something_else_is_done(open_desk, write_session, keys):
    async with open_desk(write_session("a.jsonl", 12), gated=True, tour=True) as desk:
        await desk.sees("press t")
        await desk.press(*keys)
        await desk.until(lambda: "/3 ·" not in desk.text)
        desk.judge.gate.set()
        if desk.bench.running:
            await desk.until(lambda: desk.bench.run.result is not None)
            await desk.until(lambda: "/3 ·" not in desk.text)


async def test_only_a_store_without_any_judgment_is_greeted(open_desk, write_session, tmp_path):
    store = tmp_path / "store.sqlite"
    opened = await Store.open(store)
    assert await is_new(opened, set())
    await opened.aclose()
    async with open_desk(write_session("a.jsonl", 3), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked)
        await desk.press("x")
        await desk.until(lambda: desk.bench.run.result is not None)
        desk.judge.gate.set()
    opened = await Store.open(store)
    assert not await is_new(opened, await opened.all_keys())
    await opened.aclose()
