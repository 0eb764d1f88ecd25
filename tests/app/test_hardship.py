"""What goes wrong outside while the app is open, and what it says and shows then."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import replace

import pytest
from textual import events

from longjudge.config import Configuration, Profile
from longjudge.judges.offline import OfflineJudge
from longjudge.marks import Mark
from longjudge.rubric import load_rubric
from longjudge.store import Store
from longjudge_tui.bench import stock


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


async def judge_all(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("r")
    await desk.until(ended(desk), "the end of the judgment")
    desk.app.screen.tick()
    await desk.pilot.pause()


async def look_everywhere(desk, *, ends=("home", "end")):
    """Every view of the workbench, on the rows at the begin and at the end."""
    for key in ends:
        await desk.press(key, "tab", key, "z", "i", "escape", "shift+tab")
        for view in ("e", "v"):
            await desk.press(view)
            await desk.until(lambda: len(desk.app.screen_stack) == 2)
            await desk.until(lambda: "reading…" not in desk.text)
            await desk.press("y", "escape")
            await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.press("full_stop", "g", "y", "comma")
    await desk.pilot.pause()


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    ("fate", "ends"),
    [
        ("deleted", ("end",)),
        ("grown", ("home",)),
        *(
            pytest.param(fate, ("home", "end"), marks=THOROUGH)
            for fate in ("deleted", "grown", "truncated", "emptied", "replaced")
        ),
    ],
)
async def test_a_session_file_that_changes_under_the_app_is_said_and_never_a_crash(
    open_desk, write_session, fate, ends
):
    path = write_session("a.jsonl", 20, (3, 15))
    async with open_desk(path) as desk:
        await judge_all(desk)
        text = path.read_text()
        match fate:
            case "deleted":
                path.unlink()
            case "truncated":
                os.truncate(path, 3000)
            case "emptied":
                os.truncate(path, 0)
            case "grown":
                path.write_text(text + "\n" + text)
            case _:
                other = path.with_name("b.jsonl")
                other.write_text(text.replace("ls", "la" * 40))
                other.replace(path)
        await look_everywhere(desk, ends=ends)
        await desk.press("minus", "r")
        await desk.until(lambda: not desk.bench.running)
        await look_everywhere(desk, ends=ends)
        await desk.press("ctrl+r")
        await desk.until(lambda: desk.bench.loading is None)
        await look_everywhere(desk, ends=ends)
        await desk.press("r")
        await desk.until(lambda: not desk.bench.running)
        await desk.press("escape")
        await desk.sees("SESSIONS 1")


async def mark_in(path, session, mark):
    other = await Store.open(path)
    try:
        await other.set_mark(session.index.digest(3), "destructive_action", mark)
    finally:
        await other.aclose()


async def test_marks_of_another_window_appear_when_the_session_is_read_again(
    open_desk, write_session, tmp_path
):
    async with open_desk(write_session("a.jsonl", 12, (3,))) as desk:
        await judge_all(desk)
        await desk.until(lambda: desk.rows("findings"))
        await desk.until(lambda: "wrong" not in desk.rows("findings")[0])
        await mark_in(tmp_path / "store.sqlite", desk.bench.session, Mark.WRONG)
        await desk.press("ctrl+r")
        await desk.until(lambda: desk.rows("findings") and "✘ wrong" in desk.rows("findings")[0])


async def test_verdicts_of_another_window_are_kept_here_when_the_session_is_read_again(
    open_desk, write_session, tmp_path
):
    path = write_session("a.jsonl", 12, (3,))
    async with open_desk(path) as desk:
        await desk.sees("0 kept · 6 to ask")
        async with open_desk(path) as other:
            await judge_all(other)
        await desk.press("ctrl+r")
        await desk.sees("6 kept · 0 to ask")
        await desk.until(lambda: len(desk.rows("findings")) == 1)


async def test_verdicts_of_another_window_are_kept_here_by_themselves_while_nothing_runs(
    open_desk, write_session, monkeypatch
):
    monkeypatch.setattr(stock, "LOOK_SECONDS", 0.1)
    path = write_session("a.jsonl", 12, (3,))
    async with open_desk(path) as desk:
        await desk.sees("0 kept · 6 to ask")
        async with open_desk(path) as other:
            await judge_all(other)
        await desk.sees("6 kept · 0 to ask")
        await desk.until(lambda: len(desk.rows("findings")) == 1)


async def test_an_estimate_counts_what_another_window_has_kept_until_that_moment(
    open_desk, write_session, monkeypatch
):
    monkeypatch.setattr(stock, "LOOK_SECONDS", 600.0)
    paths = [write_session("a.jsonl", 12, (3,)), write_session("b.jsonl", 4)]
    async with open_desk(*paths) as desk:
        await desk.press("e")
        await desk.until(lambda: "6 to ask" in desk.row("a.jsonl"))
        async with open_desk(paths[0]) as other:
            await judge_all(other)
        await desk.until(lambda: "6 to ask" in desk.row("a.jsonl"))
        await desk.press("e")
        await desk.until(lambda: "all kept" in desk.row("a.jsonl"))


async def test_an_estimate_goes_where_another_window_has_judged_and_the_library_looks_again(
    open_desk, write_session
):
    paths = [write_session("a.jsonl", 12, (3,)), write_session("b.jsonl", 4)]
    async with open_desk(*paths) as desk:
        await desk.press("e")
        await desk.until(lambda: "6 to ask" in desk.row("a.jsonl"))
        async with open_desk(paths[0]) as other:
            await judge_all(other)
        await desk.press("ctrl+r")
        await desk.until(lambda: "complete 0.83 · 6/6" in desk.row("a.jsonl"))
        await desk.until(lambda: "to ask" not in desk.row("a.jsonl"))


async def test_a_mark_given_while_another_process_locks_the_store_shows_once_it_is_kept(
    open_desk, write_session, tmp_path
):
    async with open_desk(write_session("a.jsonl", 12, (3,))) as desk:
        await judge_all(desk)
        lock = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        await desk.press("full_stop", "g")
        await desk.press("down", "up", "question_mark", "escape")
        await desk.pilot.pause()
        await desk.until(lambda: "✔ right" not in desk.rows("findings")[0])
        lock.rollback()
        lock.close()
        await desk.until(lambda: "✔ right" in desk.rows("findings")[0])


async def test_a_store_that_is_deleted_is_said_judging_goes_on_and_no_mark_is_shown(
    open_desk, write_session, tmp_path
):
    async with open_desk(write_session("a.jsonl", 12, (3,))) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        for each in tmp_path.glob("store.sqlite*"):
            each.unlink()
        await judge_all(desk)
        await desk.press("full_stop", "g")
        await desk.pilot.pause()
        await desk.sees("NOTHING IS KEPT")
        await desk.sees("the mark is not kept")
        await desk.sees("complete")
        await desk.until(lambda: "✔ right" not in desk.text)


async def test_a_filter_that_takes_the_finding_under_the_cursor_away_leaves_a_true_place(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30, (3, 9, 15))) as desk:
        await judge_all(desk)
        await desk.press("full_stop", "full_stop", "w")
        await desk.until(lambda: "✘ wrong" in desk.rows("findings")[1])
        for _ in range(8):
            await desk.press("f")
            title, rows = desk.title("tabs"), desk.rows("findings")
            shown = int(title.split()[1])
            assert len(rows) == shown, (title, rows)
            await desk.press("full_stop", "comma", "g", "g", "y")
            await desk.pilot.pause()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text", ["", "[]", '{"events": []}', '{"kind": "user_message", "text": "x"}']
)
async def test_every_key_does_no_harm_where_there_is_nothing(open_desk, tmp_path, text):
    path = tmp_path / "none.jsonl"
    path.write_text(text)
    async with open_desk(path, tmp_path) as desk:
        await desk.pilot.pause()
        keys = "r x c t u s l k m b e v f o . , z i g w y Y S n p tab enter ? [ ] home end"
        names = {
            ".": "full_stop",
            ",": "comma",
            "?": "question_mark",
            "[": "left_square_bracket",
            "]": "right_square_bracket",
        }
        await desk.press("enter")
        await desk.pilot.pause()
        for key in keys.split():
            await desk.press(names.get(key, key), "escape")
            await desk.pilot.pause()
            if desk.app.current_mode == "library":
                await desk.press("enter")


DIALOGS = {
    "help": ("question_mark",),
    "prompt": ("e",),
    "reply": ("v",),
    "model": ("m",),
    "rubric": ("b",),
    "palette": ("ctrl+p",),
    "themes": ("ctrl+p", *"theme", "enter"),
    "field": ("s",),
    "typed model": ("m", "tab", *"abc"),
    "raw": ("i",),
    "library": ("escape",),
    "filter": ("escape", "slash", *"abc"),
    "library help": ("escape", "question_mark"),
    "library palette": ("escape", "ctrl+p"),
    "quit": (),
}


# With work in flight it is asked from each; without, what takes text or keys of its own is enough.
IDLE = ("palette", "typed model", "filter", "quit")


@pytest.mark.parametrize(
    ("dialog", "running"),
    [
        *((dialog, True) for dialog in DIALOGS),
        *((dialog, False) for dialog in IDLE),
        *(pytest.param(name, False, marks=THOROUGH) for name in DIALOGS if name not in IDLE),
    ],
)
async def test_ctrl_q_ends_the_app_from_everywhere_and_asks_once_with_work_in_flight(
    open_desk, write_session, dialog, running
):
    async with open_desk(write_session("a.jsonl", 12, (3,)), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press(*DIALOGS[dialog])
        await desk.pilot.pause()
        if running:
            desk.bench.start()
            await desk.until(lambda: desk.judge.asked)
            await desk.press("ctrl+q")
            await desk.sees("A judgment is in flight")
            assert desk.app.return_code is None
            if dialog == "palette":
                await desk.press("ctrl+p")
        await desk.press("ctrl+q")
        for _ in range(100):
            if desk.app.return_code is not None:
                break
            await desk.pilot.pause()
        assert desk.app.return_code == 0


SIZES = ((20, 5), (1, 1), (300, 100), (80, 24), (7, 40), (200, 3), (120, 40))


@pytest.mark.thorough
async def test_every_size_during_a_run_and_in_every_dialog_paints_within_the_window(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 40, (3, 9)), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked)
        for keys in DIALOGS.values():
            await desk.press(*keys)
            for size in SIZES:
                await desk.pilot.resize_terminal(*size)
                await desk.until(lambda size=size: max(map(len, desk.lines)) <= size[0])
            await desk.press("escape", "escape")
            if desk.app.current_mode == "library":
                await desk.press("enter")
            await desk.pilot.pause()
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "judged" in desk.text and "judging, limit" not in desk.text)


async def test_50_profiles_leave_room_for_who_judges_and_for_what_was_refused(
    open_desk, write_session, tmp_path
):
    names = [f"p{number}-[/]" for number in range(50)]
    profiles = {name: Profile(model="m" * 200, base_url="http://127.0.0.1:9") for name in names}
    config = Configuration(profiles=profiles)
    async with open_desk(write_session("a.jsonl", 12), config=config, size=(80, 24)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("m")
        await desk.sees("p0-[/]")
        await desk.sees("offline rules · enter chooses · esc closes")
        for _ in range(60):
            if "p49-[/]" in desk.text:
                break
            await desk.press("down")
        await desk.sees("p49-[/]")
        await desk.press("escape", "b")
        await desk.sees("RUBRIC ·")
        desk.app.screen.query_one("#typed").value = str(tmp_path / ("[/]" * 70))
        await desk.press("tab", "enter")
        await desk.sees("✗ ")
        await desk.until(lambda: "esc closes" in desk.text, "the end of the dialog")
        await desk.sees("offline rules · enter chooses")


class HostileJudge(OfflineJudge):
    """Answers about any rubric, in words that would act on a terminal."""

    def check_rubric(self, rubric):
        pass

    async def ask(self, question, *, max_tokens):
        rules = replace(question, rubric=load_rubric("chunks"))
        answer = await super().ask(rules, max_tokens=max_tokens)
        found = [{"event": 1, "quote": "ls", "note": "[/] \x1b]0;x\x07 \u202e note"}]
        criteria = {
            name: {"findings": found if name == "c30" else [], "problem": name == "c30"}
            for name in question.rubric.criterion_ids
        }
        return replace(answer, text=json.dumps({"criteria": criteria}))


async def test_a_rubric_with_32_criteria_shows_all_of_them_where_they_belong(
    open_desk, write_session, tmp_path
):
    rubric = tmp_path / "many.toml"
    rows = "".join(
        f'[[criteria]]\nid = "c{n}"\nlabel = "[/] {n} {"l" * 60}"\nquestion = "Is it {n}?"\n'
        for n in range(31)
    )
    own = '[[criteria]]\nid = "destructive_action"\nquestion = "Is it?"\n'
    rubric.write_text(f'name = "many"\ninstructions = "Look."\n{rows}{own}')
    judge = HostileJudge()
    async with open_desk(write_session("a.jsonl", 12), judge=judge, size=(80, 24)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("b", "tab")
        desk.app.screen.query_one("#typed").value = str(rubric)
        await desk.press("enter")
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "the rubric is taken")
        await judge_all(desk)
        await desk.until(lambda: len(desk.bench.records.findings()) == 6)
        for _ in range(3):
            await desk.press("o", "full_stop", "z", "z", "i", "i", "y", "v", "escape")
            await desk.until(lambda: max(map(len, desk.lines)) <= 80)
            assert not any(c in desk.text for c in "\x1b\x07\u202e")


async def test_a_mouse_that_was_let_go_outside_the_window_drags_no_more(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        slider = desk.app.screen.query_one("#slider")
        await desk.pilot.mouse_down(slider, offset=(3, 0))
        await desk.pilot.pause()
        size = desk.bench.settings.chunk_chars
        move = [events.MouseMove]
        await desk.pilot._post_mouse_events(move, slider, offset=(12, 0), button=0)
        await desk.pilot.pause()
        await desk.pilot._post_mouse_events(move, slider, offset=(9, 0), button=1)
        await desk.pilot.pause()
        assert desk.bench.settings.chunk_chars == size
