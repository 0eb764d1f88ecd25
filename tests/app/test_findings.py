"""The list of findings: what a row says, and that it stays where its reader has scrolled."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.offline import OfflineJudge
from longjudge.marks import Mark
from longjudge.result import ResultFinding
from longjudge.rubric import load_rubric, parse_rubric
from longjudge_tui.wording import dollars
from longjudge_tui.workbench.findings_list import FindingsList
from longjudge_tui.workbench.findings_order import ShownFinding


def finding(part, note="a note", **others):
    facts = {"criterion": "destructive_action", "event": part, "quote": "q", "verified": True}
    return ResultFinding(part=part, note=note, **(facts | others))


class SlowAfterOne(OfflineJudge):
    """Answers the first question when the test says so, and the others never."""

    def __init__(self):
        super().__init__()
        self.first, self.asked = asyncio.Event(), 0

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        await (self.first if self.asked == 1 else asyncio.Event()).wait()
        return await super().ask(question, max_tokens=max_tokens)


async def shown(desk, findings):
    lines = desk.app.screen.query_one("#findings")
    # The screen fills the list with what its own judgment found, which is nothing here.
    desk.app.screen.show_findings = lambda: None
    lines.show_findings(findings)
    await desk.pilot.pause()
    return lines


async def test_new_findings_leave_the_list_where_it_was_scrolled(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        lines = await shown(desk, [finding(part) for part in range(1, 60, 2)])
        lines.scroll_to(y=12, animate=False)
        await desk.pilot.pause()
        top = lines.render_line(0).text
        await shown(desk, [finding(part) for part in [*range(1, 60, 2), 90, 91]])
        assert lines.render_line(0).text == top
        lines.action_down()
        await desk.pilot.pause()
        assert lines.cursor_in_sight


async def test_the_cursor_stays_on_its_finding_and_in_sight(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        lines = await shown(desk, [finding(part) for part in range(30, 60)])
        lines.move_to(lines.size.height - 1)
        here = lines.findings[lines.cursor]
        await shown(desk, [finding(part) for part in range(20, 60)])
        assert lines.findings[lines.cursor] == here
        assert lines.cursor_in_sight


@pytest.mark.parametrize("width", [38, 58, 100])
def test_a_row_begins_with_the_criterion_and_says_it_once(width):
    lines = FindingsList(load_rubric("chunks"), id="findings")
    lines._rows_shown = [ShownFinding(finding(7, note="", quote=None))]
    text = "".join(cell for cell, _ in lines.row_cells(0, width))
    assert text[:width].count("Destructive action") == 1
    assert "destructive_action" not in text


def test_a_criterion_without_label_is_named_by_its_id():
    rubric = parse_rubric('name = "x"\n[[criteria]]\nid = "odd_thing"\nquestion = "Odd?"', "x")
    lines = FindingsList(rubric, id="findings")
    lines._rows_shown = [ShownFinding(finding(7, criterion="odd_thing", verified=False))]
    text = "".join(cell for cell, _ in lines.row_cells(0, 58))
    assert "odd_thing" in text
    assert "? unverified" in text


@pytest.mark.parametrize("width", [38, 58, 100])
@pytest.mark.parametrize("mark", [*Mark])
def test_a_mark_has_its_glyph_in_the_row_and_leaves_room_for_the_note(width, mark):
    lines = FindingsList(load_rubric("chunks"), id="findings")
    lines._rows_shown = [ShownFinding(finding(7), mark)]
    text = "".join(cell for cell, _ in lines.row_cells(0, width))[:width]
    words = {Mark.RIGHT: "✔ right", Mark.WRONG: "✘ wrong"}[mark]
    if width < 40:
        # It stands where a finding without a mark has its flag.
        assert text.startswith(f"{words[0]} 7 ")
    else:
        assert f"you: {words}" in text
    assert "✓" in text, "verified shows beside the mark"
    assert text.endswith("a note")


@pytest.mark.parametrize("width", [58, 100])
@pytest.mark.parametrize(("named", "words"), [(4, "event 4"), (None, "no event of the chunk")])
def test_a_corrected_event_is_said_in_the_row_with_what_the_judge_named(width, named, words):
    lines = FindingsList(load_rubric("chunks"), id="findings")
    lines._rows_shown = [ShownFinding(finding(7, named_event=named, corrected=True))]
    text = "".join(cell for cell, _ in lines.row_cells(0, width))
    assert f"the judge named {words}: " in text
    assert "✓" in text


async def test_a_list_that_was_empty_for_a_moment_goes_on_where_it_was(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        lines = await shown(desk, [finding(part) for part in range(1, 9)])
        lines.move_to(4)
        here = lines.here
        await shown(desk, [])
        await shown(desk, [finding(part) for part in range(1, 9)])
        assert lines.here == here


async def test_other_chunks_leave_the_cursor_on_the_same_quote(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        found = [finding(part, event=part, quote=f"q{part}") for part in range(1, 9)]
        lines = await shown(desk, found)
        lines.move_to(4)
        event = lines.here.event
        await shown(desk, [replace(each, part=each.part // 2) for each in found])
        assert lines.here.event == event


def test_a_price_that_is_not_nothing_never_reads_as_nothing():
    assert dollars(0.00002) == "<$0.0001"
    assert dollars(0.0) == "$0.00"
    assert dollars(None) == "price unknown"


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_what_is_not_verified_says_why_in_sight(
    open_desk, write_session, size, finding_judge
):
    judge = finding_judge((1, "nowhere to be seen", "one"), (999, "ls", "two"))
    async with open_desk(write_session("a.jsonl", 1), judge=judge, size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("all, f: unverified 2]")
        await desk.press("tab", "tab", "enter")
        await desk.sees("quote not found")
        await desk.press("down", "enter")
        await desk.sees("no such event")


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
@pytest.mark.parametrize("model", ["offline", "some-unpriced-model"])
async def test_the_price_is_in_the_title_of_the_plan(
    open_desk, write_session, size, model, monkeypatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
    judge = OfflineJudge() if model == "offline" else AnthropicJudge(model)
    price = "$0.00" if model == "offline" else "price unknown"
    async with open_desk(write_session("a.jsonl", 2000), judge=judge, size=size) as desk:
        await desk.sees("CHUNKS 1000")
        title = next(each for each in desk.lines if "CHUNKS" in each)
        assert price in title[: title.index("EVENTS")]


async def test_findings_are_listed_when_there_are_others_and_not_with_every_frame(
    open_desk, write_session, monkeypatch
):
    listed = []
    arranged = FindingsList.show_findings

    def counted(self, findings, *others):
        listed.append(len(findings))
        arranged(self, findings, *others)

    judge = SlowAfterOne()
    path = write_session("a.jsonl", 12, (0,))
    async with open_desk(path, judge=judge, concurrency=2) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: judge.asked == 2)
        marks = desk.bench.marking
        await desk.until(lambda: desk.app.screen._marks_seen == marks.changes > 1)
        monkeypatch.setattr(FindingsList, "show_findings", counted)
        for _ in range(5):
            desk.app.screen.tick()
        assert listed == []
        judge.first.set()
        await desk.sees("FINDINGS 1 ")
        assert desk.bench.running
        assert listed == [1]
        for _ in range(5):
            desk.app.screen.tick()
        assert listed == [1]


async def test_a_finding_has_its_place_wherever_the_cursor_is(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        found = [finding(1), finding(2, criterion="other"), finding(3), finding(3)]
        lines = await shown(desk, found)
        lines.next_order()
        assert lines.findings == [found[0], *found[2:], found[1]]
        for place, row in enumerate((1, 2, 3, 5)):
            lines.move_to(row)
            assert lines.place_here == place
            assert lines.place_of(lines.here) == place
        assert [lines.place_of(each) for each in found] == [0, 3, 1, 1]
        assert lines.place_of(finding(9)) is None
