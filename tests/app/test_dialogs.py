"""The log and the dialogs by their keys, one after the other, and the help over each of them.

`tried` notes what was seen to work, so that no command of theirs is left out.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager

import pytest

from longjudge_tui import clipboard
from longjudge_tui.bench import batch_words
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.bench.watching import Watch
from longjudge_tui.commands import COMMANDS, Scope, command
from longjudge_tui.lab import wishes
from longjudge_tui.widgets.lines import panel_around


@pytest.fixture(autouse=True)
def _quiet_clipboard(monkeypatch, tmp_path):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "TMUX", "SSH_TTY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(clipboard, "LOCAL_SECONDS", 20.0)
    monkeypatch.chdir(tmp_path)


class Tried:
    """Presses a command's key and looks for what it does."""

    def __init__(self, desk, *scopes):
        self.desk = desk
        self.left = {
            (each.id, key) for each in COMMANDS if each.scope in scopes for key in each.keys
        }

    async def __call__(self, name, *words, key=None, gone=(), before=()):
        key = key or command(name).keys[0]
        assert (name, key) in self.left, f"{name} by {key} was tried before"
        self.left.discard((name, key))
        await self.desk.press(*before, key)
        for each in words:
            await self.desk.sees(each)
        for each in (gone,) if isinstance(gone, str) else gone:
            await self.desk.until(lambda each=each: each not in self.desk.text, f"{each} is gone")

    def assert_all(self):
        assert not self.left, f"never tried: {self.left}"


async def planned(desk):
    await desk.until(lambda: desk.rows("chunks"), "chunks")


async def help_here(desk, heading, *, closed_by="escape"):
    """The help over what is shown: what it is about comes first."""
    await desk.press("question_mark")
    await desk.sees("KEYS")
    await desk.sees(heading)
    await desk.press(closed_by)
    await desk.until(lambda: "type to filter" not in desk.text)


async def test_the_log_follows_filters_leads_to_chunks_and_is_handed_out(
    open_desk, write_session, tmp_path
):
    async with open_desk(write_session("a.jsonl", 12, (1, 9))) as desk:
        tried = Tried(desk, Scope.LOG)
        await planned(desk)
        await desk.press("4")
        await desk.until(lambda: any("opened: events" in row for row in desk.rows("log")))
        await desk.press("r")
        await desk.until(lambda: any("run ended: complete" in row for row in desk.rows("log")))
        rows = desk.rows("log")
        assert rows[len([row for row in rows if row.strip()]) - 1].startswith("▶"), rows
        assert any("⚑" in row and "part 1" in row for row in rows), rows
        # The bar names what can be done here.
        await desk.until(lambda: "/ Filter" in desk.lines[-1])
        await desk.until(lambda: "Y Copy all" in desk.lines[-1])
        # There is no trouble to show.
        await tried("log_kinds", "[verdicts, f: runs]")
        await desk.until(lambda: "run ended" not in "".join(desk.rows("log")))
        await tried("filter_log", "words to filter the log by")
        await desk.press(*"flagged", "enter")
        await desk.until(lambda: len([row for row in desk.rows("log") if row.strip()]) == 2)
        await tried("copy_log_line", "the line: ")
        await tried("copy_log", "2 lines: ")
        await tried("save_log", "the log is saved as")
        (saved,) = tmp_path.glob("longjudge-log-*.log")
        assert re.findall(r"part (\d): flagged", saved.read_text()) == ["1", "5"]
        await desk.press("enter")
        await desk.until(lambda: desk.rows("chunks")[4].startswith("▶"))
        await desk.press("4")
        await tried("clear_log_filter", "LOG 1", gone="[verdicts")
        # Escape leads back to the library once nothing is filtered.
        await desk.press("escape")
        await desk.sees("SESSIONS 1")
        tried.assert_all()


async def test_the_log_says_what_a_run_is_about_before_it_begins(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await planned(desk)
        log, first = desk.bench.log, desk.bench.log.end
        # As if the run came before the first look, and no other look before its end.
        desk.app._watch = Watch(desk.bench)
        desk.app._watch.follow = lambda: None
        desk.bench.tuning.set_time_limit(77)
        desk.bench.start()
        await desk.until(lambda: desk.bench.run and desk.bench.run.result)
        kinds = [each.kind for each in log.since(first)]
        assert kinds[:3] == [LogKind.SESSION, LogKind.SETTING, LogKind.RUN]


async def test_prompt_choice_and_price_have_their_keys_and_their_help(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (1, 9))) as desk:
        tried = Tried(desk, Scope.TEXT, Scope.CHOICE, Scope.CONFIRM, Scope.HELP)
        await planned(desk)
        await desk.press("e")
        await desk.sees("PROMPT of part 1")
        await tried("copy_text", "characters to the terminal")
        await help_here(desk, "In prompt and reply", closed_by="question_mark")
        await tried("close_text", gone="PROMPT of part 1")
        await tried("close_text", key="q", before=("e",), gone="PROMPT of part 1")
        await desk.press("b")
        await desk.sees("RUBRIC ·")
        await help_here(desk, "In a choice")
        await tried("close_choice", gone="RUBRIC ·")
        await desk.press("r")
        await desk.sees("complete: part ")
        for name, key in (("decline", "escape"), ("decline", "n"), ("agree", "y")):
            await desk.press("a")
            await desk.sees("ask it anew?")
            if key == "n":
                await help_here(desk, "Where a price is asked about")
            await tried(name, key=key, gone="ask it anew?")
        await desk.until(lambda: not desk.bench.running)
        await desk.press("a")
        await desk.sees("ask it anew?")
        await tried("agree", key="enter", gone="ask it anew?")
        await desk.press("question_mark", *"wrong")
        await desk.sees("“wrong”")
        await desk.until(lambda: "Mark the finding wrong" in desk.text and "Judge" not in desk.text)
        await desk.press("escape")
        await desk.sees("Here: CHUNKS")
        await tried("close_help", gone="KEYS")
        await tried("close_help", key="question_mark", before=("question_mark",), gone="KEYS")
        tried.assert_all()


async def test_the_help_and_the_bar_follow_the_panel_that_has_the_keys(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (1, 9)), size=(80, 24)) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.sees("complete: part ")
        await desk.press("full_stop")
        await desk.until(lambda: desk.lines[-1].split()[:3] == [".", "Next", "finding"])
        await help_here(desk, "Here: FINDINGS")
        await desk.press("s")
        await help_here_in_field(desk)
        for name in ("events", "findings", "gaps", "holds", "log", "detail", "slider", "timeline"):
            await names_only_keys_that_work(desk, name)
        await desk.press("escape", "1", "escape")
        await desk.sees("SESSIONS 1")
        await help_here(desk, "Here: SESSIONS")


async def names_only_keys_that_work(desk, name):
    """What the help says first about a panel, and the bar shows, does something there."""
    screen = desk.app.screen
    tabs = ("findings", "gaps", "holds", "log")
    if name in tabs:
        await desk.press(f"{tabs.index(name) + 1}")
    screen.set_focus(screen.query_one(f"#{name}"))
    await desk.until(lambda: screen.focused is not None and screen.focused.id == name)
    panel, active = panel_around(screen.focused), screen.active_bindings
    for each in panel.keys:
        does = [active[key].binding.action for key in command(each).keys if key in active]
        assert any(each in action for action in does), (name, each, does)


async def help_here_in_field(desk):
    """A question mark in a field takes the number, and opens the help like every key."""
    await desk.press("question_mark")
    await desk.sees("KEYS")
    await desk.press("escape")
    await desk.until(lambda: "KEYS" not in desk.text)


@asynccontextmanager
async def judging(open_desk, write_session):
    async with open_desk(
        write_session("a.jsonl", 12), write_session("b.jsonl", 3), gated=True
    ) as desk:
        await desk.sees("12 events")
        await desk.press("r")
        await desk.until(lambda: "judging 0/6" in desk.row("a.jsonl"))
        yield desk
        desk.judge.gate.set()


async def test_holds_and_the_question_whether_to_quit_have_their_keys(open_desk, write_session):
    async with judging(open_desk, write_session) as desk:
        tried = Tried(desk, Scope.QUIT, Scope.HELD)
        for key in command("keep_running").keys:
            await desk.press("ctrl+q")
            await desk.sees("A judgment is in flight")
            if key == "escape":
                await help_here(desk, "Where it is asked whether to quit")
            await tried("keep_running", key=key, gone="A judgment is in flight")
        await desk.press("H")
        await desk.sees("HOLDS 4 leases")
        await desk.sees("this window")
        await help_here(desk, "In the list of holds")
        await desk.press("enter")
        await desk.sees("part 1 of ")
        await tried("cancel_batch", "this is a lease")
        await tried("close_holds", gone="HOLDS 4")
        await tried("close_holds", key="H", before=("H",), gone="HOLDS 4")
        await desk.press("H")
        await tried("sweep_held", "left nothing to release")
        desk.judge.gate.set()
        await tried("cancel_held", "HOLDS none, 4 released")
        await desk.press("escape")
        desk.judge.gate.clear()
        await desk.press("r")
        await desk.until(lambda: "judging" in desk.row("a.jsonl"))
        left = []
        desk.app.leave = left.append
        desk.app.leave = lambda code=0: left.append(code)
        await desk.press("ctrl+q")
        await tried("cancel_and_quit")
        await desk.until(lambda: left == [0])
        tried.assert_all()


async def test_the_question_what_becomes_of_batches_has_its_keys(
    open_desk, write_session, monkeypatch
):
    monkeypatch.setattr(batch_words, "OFFLINE_SECONDS", 600.0)
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        tried = Tried(desk, Scope.QUIT_BATCH)
        await desk.until(lambda: "to ask" in desk.title("chunks-title"))
        await desk.press("A", "enter")
        await desk.sees("in a batch (offline_")
        for key in command("stay_here").keys:
            await desk.press("ctrl+q")
            await desk.sees("A batch is out")
            if key == "escape":
                await help_here(desk, "Where it is asked what becomes of batches")
            await tried("stay_here", key=key, gone="A batch is out")
        left = []
        desk.app.leave = lambda code=0: left.append(code)
        for key in command("leave_batches").keys:
            await desk.press("ctrl+q")
            await desk.sees("A batch is out")
            await tried("leave_batches", key=key, gone="A batch is out")
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await tried("cancel_batches", gone="A batch is out")
        await desk.until(lambda: left == [0, 0, 0])
        tried.assert_all()


async def test_the_failure_lab_has_its_keys(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        tried = Tried(desk, Scope.LAB)
        await planned(desk)
        names = [name for name, _ in wishes.kinds()]
        await desk.press("F")
        await desk.sees("FAILURE LAB")
        await help_here(desk, "In the failure lab")
        await desk.press(*["down"] * names.index("429"))
        await tried("lab_where", "429@1")
        await tried("lab_often", "429x1@1")
        await tried("lab_value", "429=2x1@1")
        await tried("lab_add", "‹–›", gone="‹part 1›")
        await desk.press(*["down"] * names.index("badjson"))
        await desk.sees("429=2x1@1+badjson")
        await desk.sees("→ a run asks 6 chunks: 6 gaps (6 unparsable), 0 judged")
        await tried("lab_copy", "longjudge judge", "(OSC 52)")
        await tried("lab_add", key="plus", before=("w",))
        await desk.sees("429=2x1@1+badjson@1")
        await tried("lab_drop", gone="+badjson@1")
        await tried("lab_drop", "no failure is forced", key="delete")
        await tried("lab_spec", before=())
        await desk.press(*"drop@2", "enter")
        await desk.sees("FORCED FAILURES drop@2")
        await desk.press("F")
        await desk.sees("↺ drop@2")
        await tried("close_lab", "FORCED FAILURES drop@2", gone="FAILURE LAB")
        await desk.press("F")
        await tried("lab_off", gone="FORCED FAILURES")
        assert desk.bench.forcing.fault is None
        # What was used before is one row of the list.
        await desk.press("F", "end")
        await desk.sees("part 2: the connection breaks")
        await desk.press("enter")
        await desk.sees("FORCED FAILURES drop@2")
        tried.assert_all()
