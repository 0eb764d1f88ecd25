"""The library as a user meets it: what it lists, and what its keys and its mouse do."""

from __future__ import annotations

import json
import os
import shutil
import threading

import pytest

import server as api
from longjudge.errors import UsageError
from longjudge.judges.anthropic import AnthropicJudge
from longjudge_tui.library import counting, pricing
from longjudge_tui.main import find_files
from server import MessagesServer


def names(desk) -> list[str]:
    """The files of the rows in sight, by what each row says."""
    return [next((w for w in row.split() if w.endswith(".jsonl")), row) for row in rows(desk)]


def rows(desk) -> list[str]:
    return desk.rows("sessions")


def selected(desk) -> list[bool]:
    return ["[x]" in row for row in rows(desk)]


def status(desk) -> str:
    return desk.title("library-status")


def asked(desk) -> str:
    return desk.title("library-sum")


async def counted(desk):
    """Every row in sight has its counts."""
    await desk.until(lambda: rows(desk) and not any("…  " in row for row in rows(desk)))


@pytest.fixture
def three(write_session):
    return [
        write_session("long.jsonl", 30, (4,)),
        write_session("middle.jsonl", 20),
        write_session("short.jsonl", 10, (3,)),
    ]


@pytest.fixture
def remote(monkeypatch):
    """A model behind a server that the test answers for."""

    def use(server):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        return AnthropicJudge("claude-haiku-5-5")

    return use


async def test_sessions_are_listed_largest_first_with_what_tells_their_length(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.until(lambda: names(desk) == ["long.jsonl", "middle.jsonl", "short.jsonl"])
        await desk.until(lambda: "offline rules" in desk.lines[0])
        await desk.until(lambda: "3 sessions" in desk.lines[0])
        await counted(desk)
        await desk.until(
            lambda: "sorted by file size, largest first" in desk.title("library-title")
        )
        await desk.until(lambda: "sorted by file size, largest first" in status(desk))
        shown = {file: desk.shelf.counting.facts[file] for file in desk.shelf.listing.view}
        about = [f"~{each.tokens / 1000:.1f}k" for each in shown.values()]
        lengths = [row.split()[-2:] for row in rows(desk)]
        assert lengths == [["30", about[0]], ["20", about[1]], ["10", about[2]]]
        columns = desk.title("library-columns")
        for title, words in (("events", "30"), ("tokens", about[0])):
            assert columns.index(title) + len(title) == rows(desk)[0].index(words) + len(words)
        await desk.until(lambda: all("events" in row and "kB" in row for row in rows(desk)))
        await desk.sees(f"30 events · {about[0]} tokens · 30 tool calls · 1 thread")


async def test_a_session_with_few_events_is_not_called_the_longest(open_desk, three, tmp_path):
    bulky = tmp_path / "bulky.jsonl"
    event = {"kind": "tool_call", "tool": "Bash", "input": {"command": "x" * 40_000}}
    bulky.write_text(json.dumps(event))
    async with open_desk(bulky, *three) as desk:
        await counted(desk)
        await desk.until(lambda: names(desk)[0] == "bulky.jsonl")
        await desk.until(lambda: "longest" not in desk.text)
        await desk.until(lambda: "o sorts by events" in status(desk))
        await desk.press("o")
        await desk.sees("sorted by events, most first")
        await desk.until(
            lambda: names(desk) == ["long.jsonl", "middle.jsonl", "short.jsonl", "bulky.jsonl"]
        )


@pytest.mark.parametrize("place", ["top", "further down"])
async def test_another_order_keeps_the_cursor_on_its_session_or_at_the_top(open_desk, three, place):
    for age, path in enumerate(reversed(three)):
        os.utime(path, (1_700_000_000 - age * 90_000,) * 2)
    async with open_desk(*three) as desk:
        await counted(desk)
        if place == "further down":
            await desk.press("down", "down")
        await desk.press("o", "o")
        await desk.sees("sorted by age, newest first")
        await desk.until(lambda: names(desk) == ["short.jsonl", "middle.jsonl", "long.jsonl"])
        await desk.until(lambda: rows(desk)[0].startswith("▶"))
        if place == "further down":
            await desk.press("down", "o")
            await desk.sees("sorted by score")
            await desk.until(lambda: desk.row("middle.jsonl").startswith("▶"))
            await desk.press("o", "o", "enter")
            await desk.sees("20 events · 20 tool calls")


async def test_an_order_by_events_says_how_many_are_counted(open_desk, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    event = json.dumps({"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}})
    for number in range(60):
        (folder / f"run-{number:04}.jsonl").write_text(f"{event}\n" * 2)
    async with open_desk(folder) as desk:
        await counted(desk)
        await desk.until(lambda: not desk.shelf.counting.reading)
        known = len(desk.shelf.counting.facts)
        assert known < 60
        await desk.press("o")
        await desk.sees(f"SESSIONS 60 · sorted by events, most first, of {known} counted")


async def test_the_title_of_a_session_stands_in_the_header_of_the_workbench(open_desk, tmp_path):
    title = "Repair the brakes of the red bicycle"
    path = tmp_path / "titled.json"
    events = [{"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}}] * 3
    path.write_text(json.dumps({"title": title, "events": events}))
    async with open_desk(path) as desk:
        await desk.sees("3 events")
        await desk.until(lambda: f"titled.json · {title} · " in desk.lines[0])
        await desk.pilot.resize_terminal(60, 24)
        await desk.until(lambda: title not in desk.lines[0])
        await desk.until(lambda: "titled.json" in desk.lines[0])
        await desk.until(lambda: "3 events" in desk.lines[0])
        await desk.until(lambda: "offline rules" in desk.lines[0])


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (50, 16)])
async def test_rows_keys_and_buttons_have_their_place(open_desk, three, size):
    async with open_desk(*three, size=size) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: not desk.shelf.busy and len(desk.shelf.lasts) == 3)
        await desk.until(lambda: "⚑ complete 0." in desk.text and "✓ complete 1.00" in desk.text)
        await desk.until(lambda: max(map(len, desk.lines)) <= size[0])
        for words in ("SESSIONS 3", "long.jsonl", "[x]", "enter Open", "ctrl+q Quit"):
            await desk.sees(words)
        await desk.until(lambda: "⚑ complete 0." in desk.row("long.jsonl"))
        await desk.until(lambda: "✓ complete 1.00" in desk.row("middle.jsonl"))


async def test_enter_opens_a_session_and_escape_comes_back_to_its_row(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.press("down", "enter")
        await desk.sees("middle.jsonl · ")
        await desk.sees("20 events · 20 tool calls")
        await desk.press("escape")
        await desk.sees("SESSIONS 3")
        await desk.until(lambda: rows(desk)[1].startswith("▶"))
        await desk.press("up", "enter")
        await desk.sees("30 events · 30 tool calls")


async def test_a_double_click_opens_and_the_palette_leads_back(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.pilot.click("#sessions", offset=(60, 2), times=2)
        await desk.sees("10 events · 10 tool calls")
        back = [c for c in desk.app.get_system_commands(desk.app.screen) if "library" in c.title]
        await back[0].callback()
        await desk.sees("SESSIONS 3")


async def test_one_named_session_opens_at_once_and_escape_leads_to_the_library(
    open_desk, write_session
):
    async with open_desk(write_session("only.jsonl", 5)) as desk:
        await desk.sees("5 events · 5 tool calls")
        await desk.press("escape")
        await desk.sees("SESSIONS 1")
        await desk.until(lambda: names(desk) == ["only.jsonl"])


async def test_the_sort_goes_round_and_says_by_what(open_desk, three):
    long, middle, short = three
    for age, path in enumerate((middle, short, long)):
        os.utime(path, (1_700_000_000 - age * 90_000,) * 2)
    async with open_desk(*three) as desk:
        await counted(desk)
        await desk.sees("sorted by file size, largest first")
        await desk.press("o")
        await desk.sees("sorted by events, most first")
        await desk.until(lambda: names(desk) == ["long.jsonl", "middle.jsonl", "short.jsonl"])
        await desk.click("#button-next-order")
        await desk.sees("sorted by age, newest first")
        await desk.until(lambda: names(desk) == ["middle.jsonl", "short.jsonl", "long.jsonl"])
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 3)
        await desk.press("o")
        await desk.sees("sorted by score, lowest first")
        await desk.until(lambda: names(desk) == ["short.jsonl", "long.jsonl", "middle.jsonl"])
        await desk.press("o")
        await desk.sees("sorted by title")
        await desk.until(lambda: names(desk) == ["long.jsonl", "middle.jsonl", "short.jsonl"])
        await desk.press("o")
        await desk.sees("sorted by file size, largest first")


async def test_typing_filters_by_words_of_path_title_and_format(open_desk, three, tmp_path):
    titled = tmp_path / "titled.json"
    events = [{"kind": "tool_call", "tool": "Bash", "input": {}}]
    titled.write_text(json.dumps({"title": "Repair the Brakes", "events": events}))
    async with open_desk(*three, titled) as desk:
        await counted(desk)
        await desk.press("slash", *"mid")
        await desk.sees("SESSIONS 1 of 4")
        await desk.until(lambda: names(desk) == ["middle.jsonl"])
        await desk.press("escape")
        await desk.sees("SESSIONS 4 ")
        await desk.press("slash", *"brakes json", "enter")
        await desk.sees("SESSIONS 1 of 4")
        await desk.until(lambda: "Repair the Brakes" in rows(desk)[0])
        await desk.press("space")
        await desk.until(lambda: selected(desk) == [True])
        await desk.press("escape")
        await desk.sees("SESSIONS 4 ")
        await desk.click("#filter")
        await desk.press(*"a/b")
        await desk.sees("nothing has these words")
        await desk.until(lambda: desk.app.screen.query_one("#filter").value == "a/b")


async def test_space_a_click_on_the_box_and_clicks_with_ctrl_and_shift_select(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.press("space")
        await desk.until(lambda: selected(desk) == [True, False, False])
        await desk.sees("1 selected")
        await desk.pilot.click("#sessions", offset=(2, 2))
        await desk.until(lambda: selected(desk) == [True, False, True])
        await desk.pilot.click("#sessions", offset=(40, 0), control=True)
        await desk.until(lambda: selected(desk) == [False, False, True])
        await desk.pilot.click("#sessions", offset=(40, 2), shift=True)
        await desk.until(lambda: selected(desk) == [True, True, True])
        await desk.press("A")
        await desk.until(lambda: selected(desk) == [False, False, False])
        await desk.press("slash", *"short", "enter", "A", "escape")
        await desk.until(lambda: selected(desk) == [False, False, True])


async def test_an_estimate_is_shown_for_each_row_and_in_all(open_desk, three, remote):
    with MessagesServer(lambda *_: api.error(500, "not asked")) as server:
        async with open_desk(*three, judge=remote(server)) as desk:
            await desk.press("space", "down", "space", "e")
            await desk.until(lambda: "2 selected" in asked(desk) and "to ask" in asked(desk))
            await desk.until(lambda: not desk.shelf.pricing.waiting)
            await desk.until(lambda: "estimated" not in asked(desk))
            await counted(desk)
            words = asked(desk).split(" · ")
            assert words[2] == "50 events"
            per_row = [int(row.split(" to ask")[0].split()[-1]) for row in rows(desk)[:2]]
            assert f"{sum(per_row)} to ask" in words
            assert words[-1].startswith("~$")
            await desk.until(lambda: "to ask" not in rows(desk)[2])
            await desk.press("A", "A")
            await desk.press("end")
            await desk.click("#button-estimate")
            await desk.until(lambda: "to ask ~$" in rows(desk)[2])
        assert server.requests == []


async def test_nothing_is_asked_before_its_price_was_agreed_to(open_desk, three, remote):
    with MessagesServer(api.clean) as server:
        async with open_desk(*three, judge=remote(server)) as desk:
            await desk.press("space", "down", "space", "r")
            await desk.sees("Judge at this price?")
            questions = sum(desk.shelf.price(file).to_ask for file in desk.shelf.listing.selected)
            await desk.sees(f"ask {questions} questions about 2 sessions, ~$")
            await desk.sees("claude-haiku-5-5?")
            await desk.press("escape")
            await desk.sees("2 selected")
            assert server.requests == []
            await desk.press("r")
            await desk.sees("Judge at this price?")
            await desk.click("#yes")
            await desk.until(lambda: len(desk.shelf.lasts) == 2, "two results")
            # Equal chunks of the two are asked once.
            sent = len(server.requests)
            assert 0 < sent <= questions
            # What is kept costs nothing, and is not asked about again.
            await desk.press("r")
            await desk.until(lambda: desk.shelf.queue.begun == 2 and not desk.shelf.busy)
            assert len(server.requests) == sent


async def test_several_are_judged_one_after_the_other_and_keep_their_results(
    open_desk, three, finding_judge
):
    async with open_desk(*three, gated=True) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: "◐ judging 0/" in desk.row("long.jsonl"))
        await desk.until(lambda: "… waiting" in desk.row("middle.jsonl"))
        await desk.until(lambda: "… waiting" in desk.row("short.jsonl"))
        await desk.until(lambda: "1 of 3: ◐ judging" in status(desk))
        desk.judge.gate.set()
        await desk.until(lambda: not desk.shelf.busy)
        await desk.sees("· 1 finding")
        await desk.until(lambda: "✓ complete 1.00 · 10/10" in desk.row("middle.jsonl"))
    async with open_desk(*three) as desk:
        await desk.until(lambda: "· 1 finding" in desk.row("short.jsonl"))
        await desk.until(lambda: "complete" in desk.row("long.jsonl"))
        # What is asked for is said, though it is nothing; and nothing is recorded twice.
        recorded = await desk.bench.store.judgment_ids()
        await desk.press("e")
        await desk.until(lambda: "⚑ complete 0.93 · 0 to ask" in desk.row("long.jsonl"))
        await desk.pilot.resize_terminal(80, 24)
        await desk.sees(" 15 kept · 0 to ask · $0.00 · events · 30 events")
        await desk.until(lambda: "⚑ complete 0.93 · 0 to ask" in desk.row("long.jsonl"))
        await desk.pilot.resize_terminal(120, 40)
        await desk.press("r")
        await desk.until(lambda: "nothing to ask: all 15 chunks are kept" in messages(desk))
        await desk.press("A", "r")
        about = "nothing to ask about 3 sessions: all 30 chunks are kept"
        await desk.until(lambda: about in messages(desk))
        await desk.until(lambda: "· 0 to ask" in desk.row("short.jsonl"))
        await desk.press("A", "enter")
        await desk.sees("kept · 1 finding · r asks nothing")
        await desk.press("r")
        await desk.sees("judged 15 of 15")
        await desk.until(lambda: "nothing to ask: all 15 chunks are kept" in messages(desk))
        assert await desk.bench.store.judgment_ids() == recorded


async def test_a_result_of_the_workbench_is_in_the_row(open_desk, three):
    async with open_desk(*three, gated=True) as desk:
        await desk.press("enter")
        await desk.sees("30 events · 30 tool calls")
        await desk.sees("not judged yet")
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("escape")
        await desk.until(lambda: "◐ judging 0/15" in desk.row("long.jsonl"))
        await desk.press("down", "r")
        await desk.until(lambda: any("cancel it (x) first" in n for n in messages(desk)))
        desk.judge.gate.set()
        await desk.until(lambda: "⚑ complete 0.93" in desk.row("long.jsonl"))


def messages(desk) -> list[str]:
    return [n.message for n in desk.app._notifications]


async def test_the_workbench_does_not_judge_while_the_library_does(open_desk, three):
    async with open_desk(*three, gated=True) as desk:
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked)
        await desk.press("down", "enter")
        await desk.sees("20 events · 20 tool calls")
        await desk.sees("not judged yet")
        await desk.press("r")
        await desk.until(lambda: any("the library is judging" in n for n in messages(desk)))
        assert not desk.bench.running
        await desk.press("escape", "x")
        await desk.until(lambda: not desk.shelf.busy)
        await desk.press("enter")
        await desk.sees("CHUNKS")
        await desk.press("r")
        await desk.until(lambda: desk.bench.running)
        desk.judge.gate.set()


@pytest.mark.parametrize("by", ["key", "mouse"])
async def test_one_cancel_ends_everything(open_desk, three, by):
    async with open_desk(*three, gated=True) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: desk.judge.asked)
        if by == "key":
            await desk.press("x")
        else:
            await desk.click("#button-cancel-all")
        await desk.until(lambda: not desk.shelf.busy)
        await desk.until(lambda: "✗ cancelled" in desk.row("long.jsonl"))
        await desk.until(lambda: "✗ cancelled" in desk.row("middle.jsonl"))
        await desk.until(lambda: "✗ cancelled" in desk.row("short.jsonl"))


async def test_a_row_is_cancelled_by_itself(open_desk, three):
    async with open_desk(*three, gated=True) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: desk.judge.asked)
        await desk.press("down", "c")
        await desk.until(lambda: "✗ cancelled" in desk.row("middle.jsonl"))
        await desk.press("up", "c")
        await desk.until(lambda: "✗ cancelled" in desk.row("long.jsonl"))
        desk.judge.gate.set()
        await desk.until(lambda: "complete" in desk.row("short.jsonl"))
        await desk.until(lambda: "✗ cancelled" in desk.row("middle.jsonl"))


async def test_a_judge_that_answers_nobody_ends_the_rest(open_desk, three, remote):
    with MessagesServer(lambda *_: api.error(401, "no such key")) as server:
        async with open_desk(*three, judge=remote(server)) as desk:
            await desk.press("A", "r")
            await desk.sees("Judge at this price?")
            await desk.press("enter")
            await desk.until(lambda: not desk.shelf.busy and desk.shelf.lasts)
            await desk.until(lambda: "✗ failed" in desk.row("long.jsonl"))
            await desk.until(lambda: "✗ not asked: " in desk.row("middle.jsonl"))
            await desk.until(lambda: "✗ not asked: " in desk.row("short.jsonl"))
            words = "2 waiting session(s) were not asked"
            await desk.until(lambda: [n for n in messages(desk) if words in n])
            assert sum("no such key" in n for n in messages(desk)) == 1


async def test_a_missing_credential_is_said_once(open_desk, three):
    async with open_desk(*three, judge=AnthropicJudge("claude-haiku-5-5")) as desk:
        await desk.press("A", "r")
        await desk.sees("Judge at this price?")
        await desk.press("enter")
        await desk.until(lambda: "✗ failed: " in desk.row("short.jsonl"))
        await desk.until(lambda: not desk.shelf.busy)
        await desk.until(lambda: all("✗ failed: " in row for row in rows(desk)))
        await desk.until(lambda: any("ANTHROPIC_API_KEY" in n for n in messages(desk)))
        assert sum("ANTHROPIC_API_KEY" in n for n in messages(desk)) == 1


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_why_a_session_failed_is_short_in_its_row_and_whole_under_the_cursor(
    open_desk, three, size
):
    async with open_desk(*three, judge=AnthropicJudge("claude-haiku-5-5"), size=size) as desk:
        await desk.press("A", "r")
        await desk.sees("Judge at this price?")
        await desk.press("enter")
        await desk.until(lambda: not desk.shelf.busy and "✗ failed: " in desk.row("long.jsonl"))
        await desk.until(lambda: all(row.endswith("✗ failed: no credential") for row in rows(desk)))
        status = desk.app.screen.query_one("#library-status")

        def uncovered():
            desk.app.clear_notifications()
            return status.size.height == 2 and not desk.app.screen.query("Toast")

        await desk.until(uncovered)
        said = " ".join("".join(desk.lines[status.region.y : status.region.bottom]).split())
        for words in (
            "no credential for claude-haiku-5-5",
            "ANTHROPIC_AUTH_TOKEN",
            "choose offline (enter, then m)",
        ):
            assert words in said
        await desk.sees("3 selected")
        await desk.press("slash")
        await desk.until(lambda: status.size.height == 1)


async def test_while_the_filter_is_typed_enter_is_said_to_lead_to_the_list(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.until(lambda: "enter opens" in status(desk))
        await desk.press("slash", *"mid")
        await desk.until(lambda: "enter goes to the list" in status(desk))
        await desk.press("enter")
        await desk.until(lambda: "enter opens" in status(desk))
        await desk.until(lambda: names(desk) == ["middle.jsonl"])


async def test_the_title_has_what_the_other_columns_leave(open_desk, tmp_path):
    title = "Split the checkout into a service of its own, and move the prices there"
    path = tmp_path / "titled.json"
    steps = [{"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}}] * 3
    path.write_text(json.dumps({"title": title, "events": steps}))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"title": "Other", "events": steps}))
    async with open_desk(path, other) as desk:
        await desk.until(lambda: title[:40] in desk.text)
        columns = desk.title("library-columns")
        row = desk.row("Split")
        assert columns.index("title") == row.index("Split")
        assert columns.index("events") + len("events") == row.rindex("3") + 1
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 2 and not desk.shelf.busy)
        await desk.until(lambda: "✓ complete 1.00 · 1/1" in desk.row("Split"))
        await desk.until(lambda: title[:25] in desk.row("Split"))
        await desk.until(
            lambda: (
                desk.title("library-columns").index("last result") == desk.row("Split").index("✓")
            )
        )


async def test_quitting_with_a_queue_asks_once(open_desk, three):
    async with open_desk(*three, gated=True) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: desk.judge.asked)
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.press("escape")
        await desk.sees("SESSIONS 3")
        assert desk.shelf.busy
        await desk.press("ctrl+q", "ctrl+q")
        await desk.until(lambda: desk.app.return_code is not None)
        assert desk.app.return_code == 0


async def test_what_is_no_session_says_why_and_can_be_hidden(open_desk, three, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in three:
        shutil.move(path, folder / path.name)
    (folder / "package.json").write_text('{"name": "[/] \x1b[31m", "version": 1}')
    async with open_desk(folder) as desk:
        await desk.until(lambda: "✗ " in desk.row("package.json"))
        assert messages(desk) == []
        await desk.press("end", "enter")
        await desk.until(lambda: any("package.json" in n for n in messages(desk)))
        await desk.sees("SESSIONS 4")
        await desk.press("h")
        await desk.sees("SESSIONS 3 of 4")
        await desk.until(lambda: desk.row("package.json") == "")
        await desk.press("h")
        await desk.sees("SESSIONS 4 ")


async def test_a_named_path_that_cannot_be_read_is_said_beside_the_others(
    open_desk, three, tmp_path
):
    async with open_desk(*three, tmp_path / "gone.jsonl") as desk:
        await desk.until(lambda: any("gone.jsonl" in n for n in messages(desk)))
        await desk.until(lambda: "✗ " in desk.row("gone.jsonl"))
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 3 and not desk.shelf.busy)


async def test_only_rows_in_sight_are_counted_and_the_rest_when_they_come(open_desk, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    event = json.dumps({"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}})
    for number in range(1000):
        (folder / f"run-{number:04}.jsonl").write_text(f"{event}\n" * 2)
    async with open_desk(folder) as desk:
        await counted(desk)
        in_sight = len(rows(desk))
        await desk.until(lambda: not desk.shelf.counting.reading)
        assert len(desk.shelf.counting.facts) == in_sight < 100
        await desk.press("end")
        await counted(desk)
        await desk.until(lambda: not desk.shelf.counting.reading)
        assert in_sight < len(desk.shelf.counting.facts) <= 2 * in_sight + 1


async def test_a_count_is_abandoned_when_its_row_is_scrolled_away(open_desk, three, monkeypatch):
    begun, never, real = threading.Event(), threading.Event(), counting.load_sessions

    def slow(path, report):
        if path.name == "long.jsonl":
            begun.set()
            while report(0, 1):
                never.wait(0.005)
        return real(path, report)

    monkeypatch.setattr(counting, "load_sessions", slow)
    async with open_desk(*three) as desk:
        await desk.until(begun.is_set)
        long = desk.shelf.listing.files[0]
        assert long in desk.shelf.counting.reading
        await desk.press("slash", *"short")
        await desk.until(lambda: long not in desk.shelf.counting.reading)
        assert long not in desk.shelf.counting.facts
        await desk.until(lambda: "10" in desk.row("short.jsonl"))


async def test_a_new_look_finds_new_files_and_keeps_what_is_selected(
    open_desk, three, write_session, tmp_path
):
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in three:
        shutil.move(path, folder / path.name)
    async with open_desk(folder) as desk:
        await counted(desk)
        await desk.press("down", "space")
        shutil.move(write_session("new.jsonl", 60), folder / "new.jsonl")
        shutil.move(write_session("middle.jsonl", 70), folder / "middle.jsonl")
        await desk.press("ctrl+r")
        await desk.sees("SESSIONS 4")
        await desk.until(lambda: names(desk)[:2] == ["middle.jsonl", "new.jsonl"])
        await desk.until(lambda: selected(desk) == [True, False, False, False])
        await counted(desk)
        await desk.until(lambda: desk.row("middle.jsonl").split()[-2] == "70")


def conversation(name: str) -> dict[str, object]:
    function = {"name": "bash", "arguments": json.dumps({"command": f"ls {name}"})}
    call = {"id": f"call-{name}", "type": "function", "function": function}
    return {
        "id": name,
        "messages": [
            {"role": "user", "content": f"look at {name}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call-{name}", "content": "done"},
        ],
    }


async def test_a_file_with_several_sessions_becomes_a_row_for_each(open_desk, tmp_path):
    path = tmp_path / "two.jsonl"
    path.write_text("".join(json.dumps(conversation(name)) + "\n" for name in ("alpha", "beta")))
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.app.current_mode == "library" and len(rows(desk)) == 2)
        assert {file.session for file in desk.shelf.listing.view} == {"alpha", "beta"}
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 2 and not desk.shelf.busy)
        await desk.press("enter")
        await desk.sees("3 events · 1 tool call ")
        await desk.press("n")
        await desk.until(lambda: desk.bench.file.session == "beta")


async def test_several_sessions_of_a_file_that_was_not_in_sight_are_judged(
    open_desk, three, tmp_path, monkeypatch
):
    monkeypatch.setattr(counting, "READERS", 0)
    path = tmp_path / "two.jsonl"
    path.write_text("".join(json.dumps(conversation(name)) + "\n" for name in ("alpha", "beta")))
    async with open_desk(path, *three) as desk:
        await desk.until(lambda: len(rows(desk)) == 4)
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 5 and not desk.shelf.busy)
        await desk.until(lambda: len(rows(desk)) == 5)
        await desk.until(lambda: all("complete" in row for row in rows(desk)))


async def test_help_and_the_palette_have_every_command_of_the_library(open_desk, three):
    async with open_desk(*three) as desk:
        commands = {c.title for c in desk.app.get_system_commands(desk.app.screen)}
        assert any("Select all that are shown" in title for title in commands)
        await desk.press("question_mark")
        await desk.sees("In the library")
        for words in ("Sort by the next thing", "Filter by words", "ctrl+q", "offline rules"):
            await desk.sees(words)
        await desk.press("escape")
        await desk.sees("SESSIONS 3")


async def test_a_session_that_was_asked_for_by_its_id_is_the_only_one(tmp_path, three):
    path = tmp_path / "two.jsonl"
    path.write_text("".join(json.dumps(conversation(name)) + "\n" for name in ("alpha", "beta")))
    assert [file.session for file in find_files([path], "beta").files] == ["beta"]
    assert [file.path for file in find_files([tmp_path], "middle").files] == [three[1]]
    with pytest.raises(UsageError, match="name the file that holds it"):
        find_files([tmp_path], "gamma")


@pytest.mark.parametrize("name", ["longjudge-high-contrast", "longjudge-high-contrast-light"])
async def test_the_high_contrast_themes_can_be_chosen(open_desk, three, name):
    async with open_desk(*three) as desk:
        desk.app.theme = name
        await desk.press("down")
        await desk.sees("SESSIONS 3")
        assert name in desk.app.available_themes


async def test_a_failure_of_the_bench_ends_the_app_in_the_library_too(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.until(lambda: len(rows(desk)) == 3)

        def fail():
            raise RuntimeError("the marks cannot be read")

        desk.bench.raise_failure, before = fail, desk.bench.raise_failure
        try:
            with pytest.raises(RuntimeError, match="the marks"):
                desk.shelf.follow()
        finally:
            desk.bench.raise_failure = before


async def test_the_place_of_a_session_is_that_of_the_order_it_was_opened_in(
    open_desk, write_session
):
    older, newer = write_session("older.jsonl", 20), write_session("newer.jsonl", 10)
    os.utime(older, (1_700_000_000,) * 2)
    async with open_desk(older, newer) as desk:

        def order():
            return [file.path.stem for file in desk.shelf.listing.view]

        await desk.until(lambda: order() == ["older", "newer"])
        await desk.press("enter")
        await desk.sees("session 1/2")
        await desk.press("escape", "o", "o")
        await desk.until(lambda: order() == ["newer", "older"])
        await desk.press("end", "enter")
        await desk.sees("session 2/2")


async def test_while_an_offer_is_priced_a_frame_looks_at_no_session_again(
    open_desk, three, remote, monkeypatch
):
    released = threading.Event()
    price = pricing._price

    def held(*arguments):
        assert released.wait(30)
        return price(*arguments)

    monkeypatch.setattr(pricing, "_price", held)
    with MessagesServer(lambda *_: api.error(500, "not asked")) as server:
        async with open_desk(*three, judge=remote(server)) as desk:
            await desk.until(lambda: len(rows(desk)) == 3)
            await desk.press("A", "r")
            looks = []
            of_all = desk.shelf.pricing.of_all
            monkeypatch.setattr(
                desk.shelf.pricing, "of_all", lambda *given: looks.append(1) or of_all(*given)
            )
            for _ in range(20):
                assert desk.shelf.take_offer() is None
            assert len(looks) <= 1
            released.set()
            await desk.sees("Judge at this price?")
