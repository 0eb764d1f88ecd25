"""Two judgments side by side: what flipped, which is better, and asking only what one lacks."""

from __future__ import annotations

import pytest

from longjudge.errors import UsageError
from longjudge.store import PastJudgment, Store, real_path
from longjudge_tui.compare.opening import comparison_screen

HOSTILE = "[/] \x1b[2J list[int] [@click=app.quit]x[/]"


def past(path, id, *states, version="v0", findings=(), session_id="a", created=2.0, **members):
    """A judgment of `write_session("a.jsonl", 12)` in chunks of two events each."""
    parts = [
        {
            "part": number + 1,
            "state": state,
            "reason": "timed_out" if state == "gap" else None,
            "thread": "main",
            "first_event": 2 * number,
            "last_event": 2 * number + 1,
        }
        for number, state in enumerate(states)
    ]
    result = {
        "session": {"path": "a.jsonl", "format": "generic", "events": 12},
        "settings": {"chunk_chars": 1000},
        "parts": parts,
        "findings": list(findings),
        "chunks": len(parts),
        **members,
    }
    names = (path.name, real_path(path), session_id, "mine", version, "offline", "partial")
    return PastJudgment(id, *names, created, result, ("00" * 32,) * len(findings))


async def told(desk, words):
    """Wait for a message, which may be wrapped anywhere."""
    notes = desk.app._notifications
    await desk.until(lambda: any(words in each.message for each in notes), words)


async def keep(tmp_path, *judgments):
    store = await Store.open(tmp_path / "store.sqlite")
    for each in judgments:
        await store.record_judgment(each)
    await store.aclose()


async def test_from_no_judgment_to_asking_what_the_new_settings_lack(
    open_desk, write_session, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    async with open_desk(write_session("a.jsonl", 12, (3, 9))) as desk:
        await desk.until(lambda: desk.bench.outlook)
        await desk.press("D")
        await desk.sees("there is no judgment of this session yet: r in the workbench makes one")
        await desk.press("R")
        await told(desk, "there is no judgment of this session yet")
        await desk.press("escape", "r")
        await desk.sees("complete: part ")
        await desk.press(*"s2100", "enter", "D")
        await desk.sees("0 of 2 judged")
        await desk.sees("only A judged")
        await desk.sees("scores not comparable: 1,000 characters and 2,100 characters")
        await desk.sees("different chunk sizes: flips are not about the rubric alone")
        comparing = desk.app.screen.comparing
        terms = await comparing.terms_of_side(one=False)
        with pytest.raises(UsageError, match="2 chunks to ask by now, not 1"):
            comparing.ask(terms, 1, one=False)
        await desk.press("r")
        await desk.sees("Ask what B lacks?")
        await desk.sees("0 of 2 chunks have a verdict · 2 to ask · $0.00")
        assert desk.bench.run is None
        await desk.press("y")
        await desk.sees("the same in 6 of 6 stretches")
        await desk.sees("findings: 2 in both")
        await desk.sees("‹all 6›")
        # Nothing flipped and no side lacks anything: there is nothing else to show.
        await desk.press("f")
        await told(desk, "no other filter holds a row")
        await desk.sees("‹all 6›")
        # What is flagged by now stands at the top, and the cursor that nobody moved on it.
        await desk.sees("▶both flagged")
        await desk.press("r")
        await told(desk, "B lacks nothing: all 2 chunks have a verdict")
        await desk.press("g")
        await desk.sees("of 1 finding marked right, A finds 1, B 1")
        await desk.press("S")
        await told(desk, "saved: ")
        await told(desk, "a-before-after.md · only you can read it: chmod to share")
        [saved] = tmp_path.glob("a-before-after*.md")
        assert "## Both flagged (2)" in saved.read_text()
        assert "Both were asked the same:\n\n- **destructive_action**: Does" in saved.read_text()
        # The key that saves a whole report elsewhere does so here.
        await desk.press("O")
        await told(desk, "a-before-after-2.md")
        await desk.press("down", "enter")
        await desk.sees("EVENT 9 ")
        await desk.until(lambda: "topic-9" in desk.highlighted())
        await desk.until(lambda: "BEFORE / AFTER" not in desk.text)


async def test_flips_with_both_sides_below_one_another_and_what_cannot_be_asked_is_said(
    open_desk, write_session, tmp_path
):
    path = write_session("a.jsonl", 12, (1, 9))
    found = {"part": 4, "criterion": "destructive_action", "note": HOSTILE, "event": 6}
    states = ("clean", "clean", "gap", "flagged", "clean", "clean")
    torn = past(path, "j_torn", "no state", created=1.0)
    await keep(tmp_path, past(path, "j_old", *states, findings=[found]), torn)
    async with open_desk(path, size=(80, 24)) as desk:
        await desk.until(lambda: desk.bench.outlook)
        await desk.press("r")
        await desk.sees("complete")
        await desk.press("D")
        await desk.sees("2 clean → flagged · 1 flagged → clean")
        await desk.sees("A is partial: 1 of 6 chunks have no verdict")
        await desk.sees("scores none on one side")
        await desk.sees("A · part 1 clean")
        bar = desk.text.splitlines()[-1]
        assert "y Copy" in bar, bar
        assert "S Save" in bar, bar
        await desk.sees("B · part 1 flagged")
        await desk.press("full_stop", "full_stop")
        await desk.sees("A · part 4 flagged")
        await desk.until(lambda: "\x1b" not in desk.text)
        await desk.sees("list[int] [@click")
        await desk.press("full_stop")
        await desk.sees("B · part 1 flagged")
        await desk.press("R")
        await told(desk, "the text of the rubric mine")
        await desk.press("a")
        await desk.sees("CHOOSE A")
        await desk.press("end", "enter")
        await told(desk, "it was recorded in a form")
        # What is chosen once stands when the screen is opened again.
        await desk.press("a", "end", "up", "enter", "escape", "D")
        await desk.sees("2 clean → flagged · 1 flagged → clean")
        assert desk.bench.chosen_before[2] == "j_old"
        await desk.press("a", "escape", "f", "s")
        await desk.until(lambda: "CHOOSE" not in desk.text)
        await desk.sees("‹only one side judged 1›")
        await desk.sees("A  now")
        await desk.sees("BEFORE / AFTER")


async def test_what_a_recorded_side_lacks_is_asked_by_its_own_settings(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (1, 9)), gated=True) as desk:
        await desk.until(lambda: desk.bench.outlook)
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked)
        await desk.press("x")
        await desk.sees("cancelled; 0 of 6 parts judged")
        await desk.press(*"s2100", "enter", "D")
        await desk.sees("A is partial: 6 of 6 chunks have no verdict")
        desk.judge.gate.set()
        await desk.press("R")
        await desk.sees("The workbench stands at these settings from then on.")
        await desk.sees("0 of 6 chunks have a verdict · 6 to ask")
        # However often the key is pressed, there is one question, and one answer to it.
        await desk.press("n")
        desk.app.screen.action_ask_one()
        desk.app.screen.action_ask_one()
        await desk.sees("Ask what A lacks?")
        await told(desk, "the price is being worked out")
        await desk.press("y")
        await desk.until(lambda: "Ask what A lacks?" not in desk.text)
        await desk.sees("only A judged 6")
        assert desk.bench.settings.chunk_chars == 1000
        await desk.sees("2,100 characters")


async def test_two_of_a_session_that_is_not_open_are_shown_from_the_library(
    open_desk, write_session, tmp_path
):
    path = write_session("a.jsonl", 12)
    one, other = past(path, "j_1", "clean"), past(path, "j_2", "gap", version="v1")
    await keep(tmp_path, one, other, past(path, "j_3", "clean", session_id="b"))
    async with open_desk(path, write_session("b.jsonl", 4)) as desk:
        await desk.sees("SESSIONS 2")
        screen = comparison_screen(desk.bench, "j_1", "j_2")
        desk.app.push_screen(screen)
        await desk.sees("only A judged   events 0-1 ")
        await desk.press("enter")
        await told(desk, "is not the one that is open")
        await desk.press("escape")
        desk.app.push_screen(comparison_screen(desk.bench, "j_1", "j_3"))
        await desk.sees("these judge different sessions")
        await desk.press("escape")
        desk.app.push_screen(comparison_screen(desk.bench, "j_1", "j_nowhere"))
        await desk.sees("the store has no such judgment that reads")
