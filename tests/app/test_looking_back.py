"""What a session was judged by before is said where another size or model stands now."""

from __future__ import annotations

import asyncio
import json

import pytest

import server as api
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.offline import OfflineJudge
from server import MessagesServer

SIZES = [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)]
JUDGED = 3


class TiredJudge(OfflineJudge):
    """Answers a few questions, and then no more."""

    def __init__(self, answers: int = JUDGED) -> None:
        super().__init__()
        self.answers = answers
        self.asked = 0

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        if self.asked > self.answers:
            await asyncio.Event().wait()
        return await super().ask(question, max_tokens=max_tokens)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.0)


@pytest.fixture
def two(write_session):
    """One with two findings, and a smaller one."""
    return [write_session("long.jsonl", 30, (24, 27)), write_session("short.jsonl", 5)]


async def listed(desk):
    await desk.until(lambda: not desk.shelf.looking and len(desk.rows("sessions")) == 2)


async def judge(desk):
    """Judge the session under the cursor to the end."""
    await listed(desk)
    await desk.press("r")
    await desk.until(lambda: desk.shelf.lasts and not desk.shelf.busy)
    await desk.until(lambda: "complete" in desk.row("long.jsonl"))


async def begin_and_quit(open_desk, paths, **options):
    """A judgment is cancelled by quitting once a few parts are judged."""
    async with open_desk(*paths, judge=TiredJudge(), **options) as desk:
        await listed(desk)
        await desk.press("enter")
        await desk.sees("not judged yet")
        await desk.press("r")
        await desk.until(lambda: desk.bench.run and desk.bench.run.figures().judged == JUDGED)


def said(desk) -> str:
    """What is said about the last judgment, and nowhere but in the status line."""
    assert not [each for each in desk.app._notifications if "last judged" in each.message]
    return desk.bench.remark if desk.bench.remark.startswith("last judged") else ""


@pytest.mark.parametrize("size", SIZES)
async def test_an_interrupted_run_of_another_size_is_found_again(open_desk, two, size):
    await begin_and_quit(open_desk, two)
    async with open_desk(*two, chunk_chars=30_000, size=size) as desk:
        await desk.until(lambda: f"✗ cancelled · {JUDGED}/15 at 1k" in desk.row("long.jsonl"))
        await desk.sees(f"{JUDGED}/15 at 1k chars")
        await desk.sees("J 1 enter r: goes on at 1k · ")
        await desk.press("enter")
        words = f"last judged at 1,000 characters: {JUDGED} of 15 parts, cancelled"
        leads = "J, then enter, then r, goes on · s 1000 shows it"
        await desk.until(lambda: said(desk) == f"{words} · {leads}")
        fits = leads if size[0] > 100 else "J enter r: goes on at 1k"
        await desk.until(lambda: fits in desk.text)
        await desk.press("ctrl+r")
        await desk.until(lambda: desk.bench.loading is None)
        await desk.press("s", *"1000", "enter")
        await desk.until(lambda: f"{JUDGED} kept · 12 to ask" in desk.title("chunks-title"))
        await desk.until(lambda: "last judged" not in desk.title("status"))
        await desk.press("escape")
        await desk.until(lambda: f"✗ cancelled · {JUDGED}/15" in desk.row("long.jsonl"))
        await desk.until(lambda: "at 1k" not in desk.text)


async def test_it_is_said_where_the_workbench_is_the_first_screen(open_desk, two):
    await begin_and_quit(open_desk, two)
    async with open_desk(two[0], chunk_chars=30_000) as desk:
        await desk.until(lambda: said(desk))
        await desk.sees("s 1000 shows it")


async def test_nothing_is_said_where_the_last_judgment_went_by_what_stands(open_desk, two):
    await begin_and_quit(open_desk, two)
    async with open_desk(*two) as desk:
        await listed(desk)
        await desk.until(lambda: "✗ cancelled" in desk.row("long.jsonl"))
        await desk.until(lambda: " at 1k" not in desk.row("long.jsonl"))
        await desk.press("enter")
        await desk.sees(f"{JUDGED} of 15 kept")
        await desk.sees(f"cancelled, {JUDGED} of 15 parts judged · r goes on: 12 to ask, $0.00")
        assert not said(desk)


async def test_another_model_is_named_with_the_key_that_leads_to_it(open_desk, two, monkeypatch):
    with MessagesServer(api.clean) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        async with open_desk(*two, judge=AnthropicJudge("claude-haiku-5-5")) as desk:
            await listed(desk)
            await desk.press("r")
            await desk.sees("Judge at this price?")
            await desk.press("enter")
            await desk.until(lambda: desk.shelf.lasts and not desk.shelf.busy)
        async with open_desk(*two) as desk:
            await desk.sees("✓ complete 1.00")
            await desk.sees("by claude-haiku-5-5")
            await desk.press("enter")
            words = "last judged by claude-haiku-5-5: 15 of 15 parts, complete"
            await desk.until(lambda: said(desk) == f"{words} · m claude-haiku-5-5 shows it")
            await desk.press("m", *"claude-haiku-5-5", "enter")
            await desk.sees("15 kept · 0 to ask")


@pytest.mark.parametrize("size", SIZES)
async def test_a_cancelled_try_does_not_hide_the_complete_result_before_it(open_desk, two, size):
    async with open_desk(*two, size=size) as desk:
        await judge(desk)
    await begin_and_quit(open_desk, two, chunk_chars=500)
    async with open_desk(*two, size=size) as desk:
        await desk.until(lambda: "before: ⚑ 0.87" in desk.row("long.jsonl"))
        await desk.until(lambda: "at 500; " in desk.row("long.jsonl"))
        await desk.sees(f"{JUDGED}/30 at 500 chars · 0 findings · before: complete 0.87")
        await desk.sees("J 1 enter r goes on" if size[0] < 100 else "J 1 enter r: goes on at 500")
        await desk.press(*"ooo")
        await desk.sees("sorted by score, lowest first" if size[0] > 60 else "by score")
        await desk.until(lambda: "long.jsonl" in desk.rows("sessions")[0])
        # A run that asks nothing takes no place from the one that can be gone on with.
        await desk.press("enter")
        await desk.sees("r asks nothing")
        await desk.press("r")
        await desk.until(lambda: desk.bench.run and desk.bench.run.result and "0.87" in desk.text)
        await desk.sees("J enter r: goes on at 500")
        assert "nothing is asked or recorded anew" in desk.bench.remark
        await desk.press("J")
        await desk.sees("PAST JUDGMENTS of long.jsonl · 2")
        await desk.until(lambda: desk.text.index("✗ cancelled") < desk.text.index("⚑ complete"))


async def test_a_try_of_this_process_does_not_hide_it_either(open_desk, two):
    judge_ = TiredJudge(99)
    async with open_desk(*two, judge=judge_) as desk:
        await judge(desk)
        judge_.answers = judge_.asked + JUDGED
        desk.bench.tuning.set_size(500)
        await desk.press("r")
        await desk.until(lambda: f"◐ judging {JUDGED}/30" in desk.row("long.jsonl"))
        await desk.press("x")
        await desk.until(lambda: "✗ cancelled · 3/30; before: ⚑ 0.87" in desk.row("long.jsonl"))
        await desk.press("ctrl+r")
        await listed(desk)
        await desk.until(lambda: "✗ cancelled · 3/30; before: ⚑ 0.87" in desk.row("long.jsonl"))


async def test_the_result_before_is_the_newest_complete_one(open_desk, two):
    """Two complete ones, by other sizes, and then two that came to no end."""
    for chars in (1000, 30_000):
        async with open_desk(*two, chunk_chars=chars) as desk:
            await judge(desk)
    for _ in range(2):
        await begin_and_quit(open_desk, two, chunk_chars=500)
        two[0].write_text(two[0].read_text().replace("x" * 300, "y" * 300))
    async with open_desk(*two, chunk_chars=500) as desk:
        await desk.until(lambda: "✗ cancelled · 3/30; before: ⚑ 0.00" in desk.row("long.jsonl"))
        await desk.sees("enter r goes on: 27 of 30 chunks left · ")


@pytest.mark.parametrize("size", SIZES)
async def test_a_finding_that_is_marked_wrong_is_counted_in_the_row(open_desk, two, size):
    async with open_desk(*two, size=size) as desk:
        await judge(desk)
        await desk.until(lambda: "wrong" not in desk.row("long.jsonl"))
        await desk.press("enter")
        await desk.until(lambda: "FINDINGS 2" in desk.text)
        await desk.press("full_stop", "w")
        await desk.sees("✘ wrong")
        await desk.press("escape")
        words = "· 2 found, 1 wrong" if size[0] > 100 else "⚑ complete 0.87, 1 wrong"
        await desk.until(lambda: words in desk.row("long.jsonl"))
    async with open_desk(*two, size=size) as desk:
        await desk.until(lambda: words in desk.row("long.jsonl"))
        await desk.until(lambda: "wrong" not in desk.row("short.jsonl"))


async def test_a_result_of_the_workbench_is_counted_with_its_marks(open_desk, two):
    async with open_desk(*two) as desk:
        await listed(desk)
        await desk.press("enter")
        await desk.sees("not judged yet")
        await desk.press("r")
        await desk.sees("FINDINGS 2")
        await desk.press("full_stop", "w", "full_stop", "g")
        await desk.sees("✔ right")
        await desk.press("escape")
        await desk.until(lambda: "2 found, 1 wrong" in desk.row("long.jsonl"))
        await desk.sees("last: quotes 2/2 verified, now")


async def test_a_result_that_an_older_version_recorded_is_shown_as_far_as_it_reads(
    open_desk, two, tmp_path
):
    import sqlite3

    async with open_desk(*two) as desk:
        await judge(desk)
    with sqlite3.connect(tmp_path / "store.sqlite") as store:
        (summary,) = store.execute("SELECT summary FROM judgments").fetchone()
        result = json.loads(summary)
        del result["settings"]
        for found in result["findings"]:
            for name in ("start", "end", "named_event", "corrected"):
                del found[name]
        changed = json.dumps(result), json.dumps(["no digest"])
        store.execute("UPDATE judgments SET summary = ?, digests = ?", changed)
    store.close()
    async with open_desk(*two, chunk_chars=30_000) as desk:
        await desk.until(lambda: "⚑ complete 0.87 · 13/15" not in desk.row("long.jsonl"))
        await desk.until(lambda: "⚑ complete 0.87 · 15/15 · 2 found" in desk.row("long.jsonl"))
        await desk.press("enter")
        await desk.sees("not judged yet")
        assert not said(desk)
