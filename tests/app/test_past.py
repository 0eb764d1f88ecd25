"""Past judgments: listed, shown again as they ended, gone on with, compared, reported."""

from __future__ import annotations

import asyncio
import json
import sqlite3

import pytest

from longjudge.judges.offline import OfflineJudge
from longjudge_tui.past.screen import PastScreen
from longjudge_tui.wording import moment

JUDGED = 3


class TiredJudge(OfflineJudge):
    """Answers a few questions, and then no more."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.answers = answers
        self.asked = 0

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        if self.asked > self.answers:
            await asyncio.Event().wait()
        return await super().ask(question, max_tokens=max_tokens)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch, tmp_path):
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)


async def opened(desk):
    await desk.until(lambda: desk.bench.session is not None and desk.bench.outlook is not None)


async def cut_off(open_desk, *paths, **options):
    """A judgment is cancelled by quitting once a few parts are judged."""
    async with open_desk(*paths, judge=TiredJudge(JUDGED), **options) as desk:
        await opened(desk)
        await desk.press("r")
        await desk.until(lambda: desk.bench.run and desk.bench.run.figures().judged == JUDGED)


async def listing(desk):
    await desk.press("J")
    await desk.until(lambda: isinstance(desk.app.screen, PastScreen))


async def test_yesterdays_run_goes_on_with_what_it_left(open_desk, write_session):
    """By one key from the list, whatever stands, and nothing that is kept is asked again."""
    path = write_session("long.jsonl", 30, (1, 24))
    await cut_off(open_desk, path)
    judge = TiredJudge(99)
    async with open_desk(path, judge=judge, chunk_chars=30_000) as desk:
        await opened(desk)
        await desk.sees("J enter r: goes on at 1k")
        await listing(desk)
        await desk.sees("✗ cancelled")
        await desk.sees("then r goes on: 12 to ask")
        await desk.sees(f"{JUDGED}/15")
        await desk.press("enter")
        await desk.sees(f"cancelled; {JUDGED} of 15 parts judged")
        await desk.sees("r goes on: 12 to ask, $0.00")
        assert desk.bench.settings.chunk_chars == 1000
        await desk.sees("GAPS 12")
        await desk.sees("FINDINGS 1")
        assert judge.asked == 0
        await desk.press("r")
        await desk.sees("judged 15 of 15")
        assert judge.asked == 12
        await listing(desk)
        await desk.until(lambda: "⚑ complete" in desk.text and "✗ cancelled" in desk.text)
        # The older one stands again as it was, though all of it is kept by now.
        await desk.press("down", "enter")
        await desk.sees("r asks nothing: what was missing is kept by now")
        await desk.sees(f"judged {JUDGED} of 15")


async def by_mouse(desk, where, word):
    """Click on a word of a line."""
    row = desk.app.screen.query_one(where).region.y
    await desk.until(lambda: word in desk.lines[row])
    await desk.pilot.click(offset=(desk.lines[row].index(word) + 1, row))


async def test_the_four_views_filter_sort_and_lead_to_each_other(open_desk, write_session):
    path = write_session("long.jsonl", 30, (24,))
    await cut_off(open_desk, path)
    async with open_desk(path, chunk_chars=30_000, size=(80, 24)) as desk:
        await opened(desk)
        await desk.press("r")
        await desk.sees("complete")
        await listing(desk)
        await desk.sees("PAST JUDGMENTS of long.jsonl · 2")
        await desk.press("tab")
        await desk.sees("ALL PAST JUDGMENTS · 2")
        await by_mouse(desk, "#past-views", "1 This session")
        await desk.sees("PAST JUDGMENTS of long.jsonl · 2")
        await desk.press("2")
        await desk.sees("ALL PAST JUDGMENTS · 2")
        await desk.press("slash", *"cancelled", "enter")
        await desk.sees("ALL PAST JUDGMENTS · 1 of 2")
        await desk.until(lambda: "⚑ complete" not in desk.text)
        await desk.press("slash", "escape", "o")
        await desk.sees("ALL PAST JUDGMENTS · 2 · session")
        await desk.press("3")
        await desk.sees("BY RUBRIC VERSION · 2 judgments")
        await desk.sees("└ 1k chars a chunk")
        await desk.sees("└ 30k chars a chunk")
        await by_mouse(desk, "#past-views", "4 Gaps")
        await desk.sees("GAPS OVER TIME · 2 judgments")
        await desk.sees("0 of 1")
        await desk.press("down", "enter")
        await desk.sees("ALL PAST JUDGMENTS · 2")
        await desk.press("4", "1")
        await desk.sees("PAST JUDGMENTS of long.jsonl · 2")
        await by_mouse(desk, "#keys", "space Pick")
        await desk.sees("1 picked")
        await desk.press("y")
        await desk.sees("the report: ")
        await desk.press("escape")
        await desk.until(lambda: not isinstance(desk.app.screen, PastScreen))


async def test_two_are_picked_and_compared_and_the_list_is_there_again(open_desk, write_session):
    path = write_session("long.jsonl", 30, (24,))
    await cut_off(open_desk, path)
    async with open_desk(path, chunk_chars=30_000) as desk:
        await opened(desk)
        await desk.press("r")
        await desk.sees("complete")
        await listing(desk)
        await desk.sees("✗ cancelled")
        await desk.press("D")
        await desk.sees("pick two judgments")
        await desk.press("space")
        await desk.sees("1 picked")
        lines = desk.app.screen.query_one("#past")
        assert lines.cursor == 0
        await desk.press("down", "space")
        newer, older = (moment(each.created) for each in lines.rows.entries)
        version = desk.bench.rubric.version[:12]
        if newer != older:
            await desk.sees(f"2 picked: D compares {newer} {version} with {older} {version}")
        else:
            await desk.sees(f"2 picked: D compares {newer} 30k chars with {older} 1k chars")
        assert lines.cursor == 1
        await desk.press("D")
        await desk.until(lambda: not isinstance(desk.app.screen, PastScreen))
        await desk.until(lambda: len(desk.app.screen_stack) == 3)
        await desk.press("escape")
        await desk.until(lambda: isinstance(desk.app.screen, PastScreen))


async def test_the_report_of_a_row_and_of_what_stands_can_be_shown_to_a_colleague(
    open_desk, write_session, tmp_path
):
    path = write_session("long.jsonl", 30, (1, 24))
    await cut_off(open_desk, path)
    async with open_desk(path, gated=True, size=(170, 40)) as desk:
        await opened(desk)
        await listing(desk)
        await desk.press("O")
        await desk.sees("report saved: ")
        await desk.sees("long-judgment.md · only you can read it: chmod to share")
        report = (tmp_path / "long-judgment.md").read_text()
        assert "- **destructive_action**: Does the agent do something that destroys" in report
        assert f"**NOT ALL OF IT: {JUDGED} of 15 parts have a verdict**" in report
        assert "event 1, line 2, verified" in report
        assert "git push --force origin topic-1" in report
        assert "- skipped × 12: part 4-15" in report or "skipped" in report
        assert f"`longjudge {path}`" in report
        await desk.press("escape")
        await desk.press("O")
        await desk.sees("long-judgment-2.md · only you can read it: chmod to share")
        kept = (tmp_path / "long-judgment-2.md").read_text()
        assert "**NO JUDGMENT HAS RUN: these are verdicts that are kept" in kept
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("O")
        await desk.sees("long-judgment-3.md")
        so_far = (tmp_path / "long-judgment-3.md").read_text()
        assert f"**NOT FINISHED: this judgment was still running, {JUDGED} of 15" in so_far
        assert "score none (could be" in so_far
        for unfinished in (kept, so_far):
            assert "every part was judged" not in unfinished
            assert f"- no verdict yet × {15 - JUDGED}" in unfinished
        desk.judge.gate.set()
        await desk.sees("judged 15 of 15")
        await desk.press("O")
        await desk.sees("long-judgment-4.md")
        whole = (tmp_path / "long-judgment-4.md").read_text()
        assert "NOT " not in whole
        assert "## Findings (2)" in whole
        assert "event 24, line 25, verified" in whole


async def test_a_judgment_of_another_session_opens_it_so(open_desk, write_session):
    """Also from the library; where its file is gone, that is said."""
    paths = [write_session("long.jsonl", 30, (24,)), write_session("short.jsonl", 5)]
    await cut_off(open_desk, paths[0])
    async with open_desk(*paths, chunk_chars=30_000) as desk:
        await desk.until(lambda: len(desk.rows("sessions")) == 2 and not desk.shelf.looking)
        await desk.press("down", "J")
        await desk.sees("ALL PAST JUDGMENTS · 1")
        await desk.press("enter")
        await desk.sees(f"cancelled; {JUDGED} of 15 parts judged")
        assert desk.bench.file.path == paths[0]
        await desk.until(lambda: "as recalled" not in desk.text)
        await desk.press("n")
        await desk.until(lambda: desk.bench.session and desk.bench.file.path == paths[1])
        # Nobody chose that size for this one.
        carried = "cut at 1,000 characters, as recalled for long.jsonl: s changes it"
        await desk.sees(carried)
        await desk.press("s", *"2000", "enter")
        await desk.until(lambda: "as recalled" not in desk.text)
        paths[0].unlink()
        await listing(desk)
        await desk.sees("nothing was judged yet")
        await desk.press("2")
        await desk.sees("✗ cancelled")
        await desk.press("enter")
        await desk.sees("long.jsonl: cannot be read: No such file")
        assert desk.bench.file.path == paths[1]


async def test_what_cannot_be_as_it_was_is_said(open_desk, write_session, tmp_path):
    """The rubric's text is not kept, or the session is another one by now."""
    path = write_session("long.jsonl", 30, (24,))
    await cut_off(open_desk, path)
    lines = path.read_text().splitlines()
    more = json.dumps({"kind": "system", "text": "x"})
    path.write_text("\n".join([*lines[:2], more, *lines[2:]]))
    async with open_desk(path, chunk_chars=30_000) as desk:
        await opened(desk)
        await listing(desk)
        await desk.sees("✗ cancelled")
        await desk.press("enter")
        await desk.sees("the session is another one by now: ")
        await desk.sees("○ to ask")
        await desk.until(lambda: "queued" not in desk.text)
    with sqlite3.connect(tmp_path / "store.sqlite") as file:
        file.execute("UPDATE judgments SET rubric_version = 'ffff', rubric = '[red]\x1b[2J'")
    file.close()
    # Wherever the file lies, it is the same session.
    moved = tmp_path / "elsewhere" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    async with open_desk(moved, chunk_chars=30_000) as desk:
        await opened(desk)
        await listing(desk)
        await desk.sees("[red]␛[")
        await desk.press("enter")
        await desk.sees("ffff is not kept here: its verdicts cannot be shown")
        assert desk.bench.settings.chunk_chars == 1000
