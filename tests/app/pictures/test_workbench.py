"""How the workbench looks in its main states.

CONTRIBUTING.md says how to look at the pictures; each is taken where a state has come to rest.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from longjudge.config import Configuration, Profile
from longjudge.states import ChunkState
from stage_for_tests import (
    HOSTILE,
    PRICE,
    TALK,
    StagedJudge,
    ended,
    judge_all,
    judge_eight,
    planned,
    sizes,
    states,
)


@sizes
async def test_workbench_before_a_run(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await planned(desk)
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_kept_verdicts(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await desk.sees("r asks nothing")
        await desk.until(lambda: "reading" not in desk.title("live"))
        assert await looks_as_before(desk)


@sizes
async def test_workbench_running(open_desk, looks_as_before, long_session, clock, size):
    judge = StagedJudge(held=(9, 10, 11), refused=(12,), price=PRICE)
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await judge_eight(desk)
        assert states(desk, ChunkState.RETRYING) == [1]
        clock.forward(3.2)
        await desk.sees("3.2 s")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_a_finding_opened(
    open_desk, looks_as_before, long_session, clock, size
):
    judge = StagedJudge(clock, price=PRICE, seconds=0.8)
    options = {"judge": judge, "chunk_chars": 30_000, "concurrency": 1}
    async with open_desk(long_session, size=size, **options) as desk:
        await judge_all(desk)
        await desk.press("full_stop")
        await desk.sees("quote verified")
        await desk.until(lambda: desk.highlighted())
        assert await looks_as_before(desk)


@sizes
async def test_workbench_timed_out_with_a_gap_opened(
    open_desk, looks_as_before, long_session, size
):
    judge = StagedJudge(held=range(9, 99))
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await judge_eight(desk)
        await desk.press("x")
        await desk.until(ended(desk))
        await desk.press("t")
        await desk.until(lambda: ended(desk)() and "timed_out" in desk.title("status"))
        desk.app.screen.chunks.move_to(8)
        await desk.press("enter")
        await desk.sees("PART 9 · gap")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_marks_and_a_filter(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("full_stop", "g", "full_stop", "w", "full_stop", "g")
        findings = desk.app.screen.query_one("#findings")
        await desk.until(lambda: "right" in desk.text and "wrong" in desk.text)
        await desk.press("f", "f")
        await desk.until(lambda: findings.only.value == "marked right")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_marked_findings_by_criterion(
    open_desk, looks_as_before, long_session, size
):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("full_stop", "g", "full_stop", "w", "o")
        await desk.sees("order: criterion" if size[0] > 100 else "── ")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_the_neighbours_of_an_event(
    open_desk, looks_as_before, long_session, size
):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("full_stop", "z")
        await desk.sees("AROUND EVENT")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_a_raw_record(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("full_stop", "i")
        await desk.sees("RAW line")
        assert await looks_as_before(desk)


@sizes
@pytest.mark.parametrize(
    ("key", "title"),
    [("e", "PROMPT of part"), ("v", "REPLY about part")],
    ids=["prompt", "reply"],
)
async def test_workbench_with_a_text_over_it(
    open_desk, looks_as_before, long_session, key, title, size
):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.press("full_stop", key)
        await desk.until(lambda: desk.app.screen.query("#full-title"))
        await desk.until(lambda: "reading" not in desk.app.screen.query_one("#full-title").text)
        await desk.sees(title)
        assert await looks_as_before(desk)


PROFILES = {
    "house": Profile(model="house-judge-2", base_url="https://judge.example.org"),
    "local": Profile(model="qwen3-8b", base_url="http://127.0.0.1:8080"),
}


@sizes
async def test_workbench_where_the_model_is_chosen(
    open_desk, looks_as_before, long_session, monkeypatch, size
):
    # What models cost is up to others; the table's own are as many as they are.
    monkeypatch.setattr("longjudge_tui.workbench.choices.priced_models", lambda: ())
    monkeypatch.setattr("longjudge_tui.workbench.choices.price_of", lambda name: PRICE)
    config = Configuration(profiles=PROFILES)
    async with open_desk(long_session, size=size, chunk_chars=30_000, config=config) as desk:
        await planned(desk)
        await desk.press("m")
        await desk.sees("MODEL")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_where_the_rubric_is_chosen(open_desk, looks_as_before, long_session, size):
    own, broken = Path("rubrics", "tone.toml"), Path("rubrics", "draft.toml")
    own.parent.mkdir()
    own.write_text(
        'name = "tone"\n[[criteria]]\nid = "rude"\nquestion = "Is the agent rude to anyone?"\n'
    )
    broken.write_text('name = "draft"\n[[criteria]]\nid = 7\n')
    config = Configuration.model_validate({"rubrics": ["rubrics"]})
    async with open_desk(long_session, size=size, chunk_chars=30_000, config=config) as desk:
        await planned(desk)
        await desk.press("b")
        await desk.sees("RUBRIC")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_help(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await planned(desk)
        await desk.press("question_mark")
        await desk.sees("In the workbench")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_asks_before_it_quits(open_desk, looks_as_before, long_session, size):
    judge = StagedJudge(held=range(9, 99))
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await judge_eight(desk)
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_cut_by_tokens(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await planned(desk)
        await desk.press("u")
        await desk.until(lambda: desk.bench.settings.chunk_tokens is not None)
        assert await looks_as_before(desk)


@sizes
async def test_workbench_where_the_rubric_does_not_apply(open_desk, looks_as_before, folder, size):
    async with open_desk(folder / TALK, size=size, chunk_chars=30_000) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(ended(desk))
        assert await looks_as_before(desk)


@sizes
async def test_workbench_where_nothing_is_kept(
    open_desk, looks_as_before, long_session, monkeypatch, size
):
    monkeypatch.setattr("longjudge.store.file.make_file", lambda path: "read-only file system")
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await judge_all(desk)
        await desk.sees("NOTHING IS KEPT")
        assert await looks_as_before(desk)


async def test_workbench_with_a_hostile_session(open_desk, looks_as_before, folder):
    async with open_desk(folder / HOSTILE, chunk_chars=4_000) as desk:
        await judge_all(desk)
        await desk.press("tab", "down", "down", "down")
        assert await looks_as_before(desk)


COLOURS = ["textual-light", "longjudge-high-contrast", "longjudge-high-contrast-light", None]


@pytest.mark.parametrize("theme", COLOURS, ids=["light", "contrast", "contrast-light", "none"])
async def test_workbench_in_other_colours(
    open_desk, looks_as_before, long_session, monkeypatch, theme
):
    if theme is None:
        monkeypatch.setenv("NO_COLOR", "1")
    judge = StagedJudge(held=(9, 10, 11), refused=(12,))
    options = {"judge": judge, "theme": theme or "textual-dark", "chunk_chars": 30_000}
    async with open_desk(long_session, **options) as desk:
        await judge_eight(desk)
        await desk.press("full_stop")
        await desk.sees("quote verified")
        assert await looks_as_before(desk, light=False)
