"""How both screens look in their main states. CONTRIBUTING.md says how to look at the pictures.

Clock, paths, ages and prices are fixed, and every picture is taken where a state has come to rest.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from longjudge.config import Configuration, Profile
from longjudge.judges.base import Again, AskError
from longjudge.judges.offline import OfflineJudge
from longjudge.paths import sample_sessions
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


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """What is held is cut off at once, and prices during a run are exact with every frame."""
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.0)
    monkeypatch.setattr("longjudge_tui.workbench.screen.TOTALS_EVERY", 1)


@pytest.fixture
def folder(tmp_path, monkeypatch, clock):
    """A folder with the samples, each with its age; the screen names it `sessions`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(sample_sessions(), "sessions")
    for name, age in AGES.items():
        os.utime(Path("sessions", name), (clock.now - age,) * 2)
    return Path("sessions")


@pytest.fixture
def long_session(folder):
    return folder / LONG


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


# The library


@sizes
async def test_library_as_it_is_listed(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        assert await looks_as_before(desk)


@sizes
async def test_library_filtered(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("slash", *"release")
        await desk.sees("SESSIONS 2 of 5")
        assert await looks_as_before(desk)


@sizes
async def test_library_where_nothing_has_the_words(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("slash", *"zebra")
        await desk.sees("SESSIONS 0 of 5")
        assert await looks_as_before(desk)


@sizes
async def test_library_with_several_selected_and_estimated(
    open_desk, looks_as_before, folder, size
):
    judge = StagedJudge(price=PRICE)
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("space", "down", "space", "down", "down", "space", "e")
        await desk.until(lambda: len(desk.shelf.listing.selected) == 3)
        await desk.until(lambda: not desk.shelf.pricing.waiting)
        await desk.until(lambda: desk.shelf.sum_selected().priced == 3)
        assert await looks_as_before(desk)


@sizes
async def test_library_asks_before_it_spends(open_desk, looks_as_before, folder, size):
    judge = StagedJudge(price=PRICE)
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.sees("Judge at this price?")
        assert await looks_as_before(desk)


@sizes
async def test_library_judging_one_with_others_waiting(open_desk, looks_as_before, folder, size):
    judge = StagedJudge(held=range(13, 99))
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.sees("judging 12/")
        assert await looks_as_before(desk)


@sizes
async def test_library_with_results(open_desk, looks_as_before, folder, clock, size):
    """Complete with and without findings, timed out, cancelled, and not applicable."""
    judge = StagedJudge()
    async with open_desk(folder, size=size, judge=judge, chunk_chars=10_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 5 and not desk.shelf.busy)
        clock.forward(3 * HOUR)
        await desk.press("A")
        judge.held = range(1, 9_999)
        desk.bench.tuning.set_size(12_000)
        desk.bench.tuning.set_time_limit(0.1)
        await desk.press("down", "r")
        await desk.until(lambda: statuses(desk).count("timed_out") == 1)
        desk.bench.tuning.set_time_limit(600)
        await desk.press("down", "r")
        await desk.sees("judging 0/")
        await desk.press("c")
        await desk.until(lambda: statuses(desk).count("cancelled") == 1)
        await desk.until(lambda: not desk.shelf.busy)
        clock.forward(5 * 60)
        await desk.press("home")
        assert await looks_as_before(desk)


@sizes
async def test_library_with_files_that_are_no_sessions(open_desk, looks_as_before, folder, size):
    Path(folder, "notes.jsonl").write_text('{"shopping": ["milk", "bread"]}\n' * 900)
    Path(folder, "broken.json").write_text('[{"kind": "tool_call", "tool": ' + " " * 2_000)
    for name in ("notes.jsonl", "broken.json"):
        os.utime(folder / name, (1_789_000_000,) * 2)
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("down", "down", "down", "down")
        assert await looks_as_before(desk)


@sizes
async def test_library_help(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("question_mark")
        await desk.sees("In the library")
        assert await looks_as_before(desk)


# The workbench


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
        assert desk.highlighted()
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
        await desk.press("f", "f", "f")
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


# What is hostile, and other colours


async def test_library_with_hostile_names_and_titles(open_desk, looks_as_before, folder):
    events = [{"kind": "tool_call", "tool": "[red]Bash[/]", "input": {"command": "ls"}}]
    title = "\x1b]0;owned\x07 [/] [@click=app.quit]go[/] \u202egnp.exe list[int]"
    for name in ("[bold]a[.json", "new\nline \x1b[2Jb.json"):
        path = folder / name
        path.write_text(json.dumps({"title": title if "bold" in name else "", "events": events}))
        os.utime(path, (1_789_990_000,) * 2)
    async with open_desk(folder) as desk:
        await listed(desk)
        await desk.press("end")
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
        assert await looks_as_before(desk)


@pytest.mark.parametrize("theme", ["textual-light", "longjudge-high-contrast"])
async def test_library_in_other_colours(open_desk, looks_as_before, folder, theme):
    judge = StagedJudge(held=range(13, 99))
    async with open_desk(folder, judge=judge, theme=theme, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.sees("judging 12/")
        assert await looks_as_before(desk)
