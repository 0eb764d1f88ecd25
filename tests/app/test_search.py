"""Searching all events in the workbench: what is typed, what is seen, and the way back."""

from __future__ import annotations

import json

import pytest
from textual import events

from longjudge.result import ResultFinding
from longjudge.sessions import load_session
from longjudge.sessions import search as engine
from longjudge.sessions.search_match import Phrase
from longjudge_tui.bench.finding_search import holding
from longjudge_tui.bench.searching import Searching
from longjudge_tui.workbench.search_row import finding_words


def write(path, texts):
    """A session of commands, one of them failed, each an event of its own chunk."""
    rows = [
        {"kind": "tool_call", "tool": "Bash", "input": {"command": f"{text} " + "x" * 700}}
        for text in texts
    ]
    rows.append({"kind": "tool_result", "tool": "Read", "output": "gone", "is_error": True})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def session(tmp_path):
    return write(
        tmp_path / "a.jsonl", [f"git push {n}" if n in (3, 7, 8) else f"ls {n}" for n in range(10)]
    )


def burst(desk, *keys):
    """Hand keys over at once, as a slow line delivers them."""
    names = {"\x7f": "backspace", "\r": "enter", "\n": "ctrl+j"}
    for key in keys:
        event = events.Key(names.get(key, key), key)
        event.set_sender(desk.app)
        desk.app.post_message(event)


def marked(desk):
    """What stands out in the text as found."""
    detail = desk.app.screen.query_one("#detail")
    look = detail.part_style("look--hit")
    return "".join(
        segment.text
        for y in range(min(detail.row_count, detail.size.height))
        for segment in detail.render_line(y)
        if segment.style and segment.style.bgcolor == look.bgcolor
    )


def title(desk):
    return desk.title("detail-title").split(" · ")[0]


async def test_hits_are_counted_gone_through_and_shown_and_escape_leads_back(open_desk, session):
    async with open_desk(session) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("down", "tab")
        before = (title(desk), desk.rows("chunks"), desk.rows("events"))
        await desk.press("slash", *"push")
        await desk.sees("3 hits")
        await desk.until(lambda: title(desk) == before[0])
        await desk.press("enter")
        await desk.sees("hit 1 of 3")
        await desk.until(lambda: title(desk) == "EVENT 3")
        await desk.until(lambda: marked(desk) == "push")
        row = next(row for row in desk.rows("events") if row.startswith("▶"))
        assert row.startswith("▶  3»▸ Bash git push 3")
        await desk.press("n", "n")
        await desk.sees("hit 3 of 3")
        await desk.press("n")
        await desk.sees("hit 1 of 3 · again from the start")
        await desk.press("N")
        await desk.sees("hit 3 of 3 · again from the end")
        await desk.until(lambda: title(desk) == "EVENT 8")
        await desk.press("escape")
        await desk.until(lambda: "/ search" not in desk.text)
        await desk.until(lambda: (title(desk), desk.rows("chunks"), desk.rows("events")) == before)
        await desk.until(lambda: marked(desk) == "")
        await desk.until(lambda: desk.app.screen.focused.id == "events")


async def test_typing_on_searches_anew_and_every_letter_is_one(open_desk, session, finding_judge):
    async with open_desk(session, judge=finding_judge((0, "x", "Said nowhere"))) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("r")
        await desk.until(lambda: desk.bench.records.counts()[0], "findings")
        await desk.press("slash")
        burst(desk, *"slkmbevFpush", "\x7f", *"h/n")
        field = desk.app.screen.query_one("#search")
        await desk.until(lambda: field.value == "slkmbevFpush/n", field.value)
        await desk.sees("no hit")
        field.value = "tool:Bash 7 push"
        await desk.sees("no hit as one phrase")
        await desk.sees("in any order on a line: tool:Bash re:7.*push|push.*7")
        field.value = "tool:Bash re:7.*push|push.*7"
        await desk.sees("1 hit")
        await desk.until(lambda: "in any order" not in desk.text)
        field.value = "nowhere"
        await desk.sees("no event says it; ")
        await desk.sees("in part 1: enter goes there")
        field.value = "is:error nowhere"
        await desk.until(lambda: "no event says it" not in desk.text)
        field.value = "push 7"
        await desk.sees("1 hit")
        field.value = "re:push [78]"
        await desk.sees("2 hits")
        field.value = "is:error"
        await desk.sees("1 hit")
        field.value = "re:("
        await desk.sees("no pattern yet: missing ), unterminated subpattern at character 1")
        field.value = "tool:Bosh"
        await desk.sees("no tool Bosh here")
        field.value = "tool:Bash ls"
        await desk.sees("7 hits")
        await desk.until(lambda: "Bosh" not in desk.text)


def test_findings_that_hold_what_no_event_says_are_told_with_the_first_of_their_parts():
    found = [
        ResultFinding(3, "destructive_action", "Forced over main", 1, "x", verified=True),
        ResultFinding(5, "broken_promise", "never ran it", 2, "a quote", verified=False),
        ResultFinding(9, "broken_promise", "never", None, None, verified=False),
    ]
    labels = {"broken_promise": "Promise not kept"}

    def words(typed):
        phrase = Phrase(typed, ignore_case=typed.islower())
        return finding_words(holding(phrase, found, labels), typing=typed != "forced")

    assert words("forced over")[0] == (
        "no event says it; 1 finding does, in part 3: enter goes there, . then from finding to"
        " finding"
    )
    assert words("forced")[1] == "no event says it; 1 finding does, in part 3: n goes there"
    assert words("promise not")[-1] == "no event says it; 2 findings do, first in part 5"
    assert [bool(words(each)) for each in ("a quote", "A quote", "forced main")] == [1, 0, 0]


async def test_keys_in_one_burst_search_and_go_on(open_desk, session):
    async with open_desk(session) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("slash")
        # As it comes from a terminal that the app had not made its own yet.
        burst(desk, *"push", "\n", "n")
        await desk.sees("hit 2 of 3")
        await desk.until(lambda: title(desk) == "EVENT 7")


async def test_a_pattern_stands_out_in_the_text_and_nothing_typed_stays_there(open_desk, session):
    async with open_desk(session) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("slash")
        burst(desk, *"re:p.sh 8", "\r")
        await desk.sees("hit 1 of 1")
        await desk.until(lambda: marked(desk) == "push 8", "the pattern's match")
        await desk.press("slash", "backspace", "enter")
        await desk.until(lambda: "/ search" not in desk.text)
        await desk.until(lambda: title(desk) == "EVENT 8")
        await desk.until(lambda: marked(desk) == "")
        await desk.press("escape")
        await desk.sees("SESSIONS 1")


async def test_the_piece_of_a_long_event_that_holds_the_hit_is_shown(open_desk, tmp_path):
    path = write(tmp_path / "a.jsonl", ["ls", "y " * 1_500 + "needle", "ls"])
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("slash")
        burst(desk, *"needle", "\r")
        await desk.until(lambda: title(desk).startswith("EVENT 1"), "the event")
        await desk.until(lambda: "piece 4 of" in desk.title("detail-title"))
        await desk.until(lambda: marked(desk) == "needle")


async def test_a_search_goes_on_in_the_session_that_is_opened_next(open_desk, tmp_path):
    path = write(tmp_path / "a.jsonl", ["push", "ls"])
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("slash", *"push", "enter")
        await desk.sees("hit 1 of 1")
        write(path, ["push", "push again"])
        await desk.press("ctrl+r")
        await desk.sees("2 hits")
        await desk.press("escape")
        await desk.until(lambda: "/ search" not in desk.text)


async def test_a_long_search_never_holds_the_screen_up_and_ends_with_the_app(
    open_desk, session, monkeypatch
):
    began, take = [], engine.Search.steps

    def endless(search):
        began.append(search)
        yield from take(search)
        while True:
            search._stopped() or search._waiting.wait(0.01)
            yield

    import threading

    monkeypatch.setattr(engine.Search, "steps", endless)
    monkeypatch.setattr(engine.Search, "_waiting", threading.Event(), raising=False)
    async with open_desk(session) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("slash", *"push")
        await desk.sees("3 hits · 100% searched")
        await desk.press("enter", "n", "n")
        await desk.sees("hit 3 of 3 · 100% searched")
        await desk.press("slash", *"ls")
        await desk.sees("7 hits")
        assert all(search._stopped() for search in began[:-1])
    assert began[-1]._stopped()


async def test_keys_that_come_before_the_session_is_read_are_meant_for_it(session):
    searching, loaded, gone_to = Searching(), load_session(session), []
    searching.begin(None, "push")
    searching.want(0)
    searching.want(1)
    assert searching.step(0) is None
    assert searching.follow(loaded)
    await searching._task
    while (step := searching.step(gone_to[-1] if gone_to else 0)) is not None:
        gone_to.append(step.event)
    assert gone_to == [3, 7]
    await searching.aclose()
    loaded.close()


async def test_a_session_that_grows_is_searched_to_its_new_end_and_nothing_again(session):
    session.write_text(session.read_text() + "\n")
    searching, loaded = Searching(), load_session(session)
    searching.begin(loaded, "push")
    searching.want(0)
    await searching._task
    assert searching.step(0).event == 3
    found = searching.hits
    with session.open("a") as file:
        file.write(json.dumps({"kind": "user_message", "text": "push on"}) + "\n")
    loaded.growth.take(loaded.growth.read(loaded), loaded)
    assert not searching.follow(loaded)
    await searching._task
    assert searching.hits is found
    assert (list(found), searching.at) == ([3, 7, 8, 11], 3)
    await searching.aclose()
    loaded.close()


async def test_the_last_hit_and_the_end_may_come_between_two_looks(session, monkeypatch):
    searching, loaded = Searching(), load_session(session)
    searching.begin(loaded, "push")
    scan = searching._scan
    look = Searching._hit

    def late(self, *given, **more):
        found = look(self, *given, **more)
        if not scan.ended:
            scan.run()
        return found

    monkeypatch.setattr(Searching, "_hit", late)
    searching.want(0)
    assert searching.step(0) is None
    assert searching.step(0).event == 3
    await searching.aclose()
    loaded.close()


@pytest.mark.parametrize("key", ["enter", "n"])
async def test_words_that_only_findings_hold_lead_to_the_first_of_these(
    open_desk, session, finding_judge, key
):
    async with open_desk(session, judge=finding_judge((0, "x", "Said nowhere"))) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        await desk.press("r")
        listing = desk.app.screen.query_one("#findings")
        await desk.until(lambda: len(listing.findings) == len(desk.bench.outlook.plan))
        # From the last one on, and whatever is filtered: not the next, but the first.
        await desk.press("comma")
        await desk.until(lambda: listing.here.part > 1, "the last finding")
        await desk.press("slash", *"nowhere")
        await desk.sees("no event says it; ")
        await desk.sees("enter goes there")
        if key == "n":
            desk.app.screen.set_focus(desk.app.screen.events)
            await desk.sees("n goes there")
        await desk.press(key)
        await desk.until(lambda: listing.here.part == 1, "the first of them")
        await desk.until(lambda: desk.app.focused is listing)
        await desk.sees("finding 1 of ")
        await desk.until(lambda: "/ search" not in desk.text, "the search is over")
