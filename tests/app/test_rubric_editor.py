"""The rubric editor: typed, checked, priced, tried, used, saved, and never lost."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from longjudge.paths import drafts_path
from longjudge.rubric import load_rubric
from longjudge.rubric_toml import rubric_toml
from longjudge.store import rubric_versions
from longjudge_tui.bench.drafts import DraftKeeper, read_drafts
from longjudge_tui.bench.rubric_source import BUILT_IN, RubricSource
from longjudge_tui.editor.screen import RubricEditor
from longjudge_tui.editor.text import RubricText

STANDING = load_rubric("chunks").version


async def editor(desk) -> RubricEditor:
    """The editor over the workbench, its text read."""
    await desk.until(lambda: desk.bench.outlook is not None)
    await desk.press("B")
    await desk.until(lambda: isinstance(desk.app.screen, RubricEditor))
    screen = desk.app.screen
    await desk.until(lambda: screen.session is not None and screen.session.is_checked)
    return screen


def told(desk, words: str) -> bool:
    """Whether a message says it, however it is wrapped."""
    return any(words in each.message for each in desk.app._notifications)


def drafts(desk) -> list[str]:
    screen = desk.app.screen
    return [each.text for each in read_drafts(desk.bench.editing.folder, screen.session.source.key)]


async def test_an_edit_is_checked_priced_tried_and_judged_by(open_desk, write_session) -> None:
    async with open_desk(write_session("a.jsonl", 12, (1, 9)), gated=True) as desk:
        screen = await editor(desk)
        await desk.sees("changes nothing that reaches the judge: 0 kept · 6 to ask")
        await desk.sees("PROMPT of part 1")
        await desk.sees("f1 Help")
        # A fault is said with its line, and a key goes there.
        await desk.press("down", "end", "x")
        await desk.sees("✗ 1 fault")
        assert any(row.startswith("✗ line 2") for row in desk_rows(screen, "faults"))
        await desk.press("up", "ctrl+g")
        assert screen.area.cursor_location == (1, 0)
        await desk.press("ctrl+t")
        await desk.until(lambda: told(desk, "1 fault and cannot be tried"))
        await desk.press("end", "backspace")
        screen.area.insert(" Be strict.", (3, 0))
        await desk.until(lambda: screen.session.is_checked)
        await desk.sees("this edit over the session: 0 kept · 6 to ask")
        await desk.sees(f"in use is {STANDING}")
        edited = screen.session.checked.rubric
        assert edited.instructions.count("Be strict.") == 1
        await desk.until(lambda: "Be strict." in screen.session.prompt.text, "the prompt follows")
        # One chunk is asked, at the price that is said; the reply stands beside the text.
        await desk.press("f3", "f3", "f2", "ctrl+t")
        await desk.sees("part 2 by")
        await desk.sees("running")
        assert desk.app.in_flight
        desk.judge.gate.set()
        await desk.sees("RAW REPLY")
        assert desk.judge.asked == 1
        await desk.sees("this edit over the session: 1 kept · 5 to ask")
        await desk.sees("kept, asks nothing")
        assert await desk.bench.store.judgment_ids() == [], "a try is no judgment"
        # What is used is judged by, and asks what the try has not.
        await desk.press("ctrl+r")
        await desk.until(lambda: not isinstance(desk.app.screen, RubricEditor))
        assert desk.bench.rubric == edited
        await desk.press("r")
        await desk.sees("judged 6 of 6")
        assert desk.judge.asked == 6
        [version] = await rubric_versions(desk.bench.store)
        assert (version.version, version.sessions) == (edited.version, 1)
        screen = await editor(desk)
        assert "Be strict." in screen.area.text
        assert screen.session.unsaved


async def draft_of(pid: int, text: str) -> Path:
    """A draft of the built-in rubric that a living process has typed."""
    keeper = DraftKeeper(drafts_path(), RubricSource("chunks", BUILT_IN, "").key, "chunks")
    keeper.follow(text)
    await keeper.flush()
    started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    row = json.loads(keeper.path.read_text()) | {"pid": pid, "started": started}
    keeper.path.write_text(json.dumps(row))
    return keeper.path


def desk_rows(screen, name) -> list[str]:
    lines = getattr(screen, name)
    rows = range(min(lines.row_count, lines.size.height))
    return [lines.render_line(y).text.strip("▶▷ ").rstrip() for y in rows]


async def test_what_is_not_saved_is_a_draft_until_it_is_saved(
    open_desk, write_session, tmp_path: Path
) -> None:
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        screen = await editor(desk)
        standing = screen.area.text
        assert standing == rubric_toml(load_rubric("chunks"))
        await desk.press("#", "?", "enter")
        assert screen.area.text == f"#?\n{standing}", "a key of the app is text here"
        await desk.until(lambda: drafts(desk) == [f"#?\n{standing}"], "a draft is written")
        await desk.press("escape")
        await desk.until(lambda: told(desk, "not saved: the draft is kept"))
        screen = await editor(desk)
        assert screen.area.text == f"#?\n{standing}"
        await desk.until(lambda: told(desk, "restored: the draft of"))
        assert told(desk, "enter takes the first back")
        # A built-in rubric is saved as another file.
        await desk.press("ctrl+o")
        await desk.sees("SAVE AS")
        await desk.until(lambda: "enter Save  escape Not" in desk.text.splitlines()[-1])
        await desk.until(lambda: "ctrl+r" not in desk.text.splitlines()[-1])
        await desk.press("escape")
        await desk.until(lambda: "SAVE AS" not in desk.text)
        await desk.sees("ctrl+r Use")
        await desk.press("ctrl+s")
        path = tmp_path / "mine.toml"
        screen.query_one("#rubric-save-path").value = str(path)
        # What is asked stays asked, with what was typed, until it is answered.
        await desk.press("ctrl+r", "ctrl+o")
        await desk.until(lambda: told(desk, "enter saves it, escape does not; then ctrl+r uses"))
        await desk.until(lambda: desk.app.screen is screen)
        screen.set_focus(screen.area)
        await desk.press("escape", "ctrl+s")
        await desk.until(lambda: desk.app.screen is screen)
        screen.query_one("#rubric-save-path").value = str(path)
        await desk.press("ctrl+s", "enter")
        await desk.until(lambda: not screen.session.unsaved, "saved")
        assert path.read_text() == f"#?\n{standing}"
        await desk.until(lambda: not list(desk.bench.editing.folder.iterdir()), "no draft is left")
        # What somebody else has written there meanwhile stays.
        theirs = standing.replace("force-pushing?", "worse?")
        path.write_text(theirs)
        await desk.press("enter", "ctrl+s")
        await desk.until(lambda: told(desk, "has changed on disk since it was opened"))
        assert path.read_text() == theirs
        mine = screen.area.text
        # The draft says so when it is opened again; what it is saved over is a version.
        await desk.press("escape")
        await desk.until(lambda: not isinstance(desk.app.screen, RubricEditor))
        screen = await editor(desk)
        await desk.until(lambda: told(desk, "mine.toml has changed since, and is among"))
        assert screen.area.text == mine
        await desk.press("ctrl+s")
        await desk.until(lambda: path.read_text() == mine)
        kept = [each.toml for each in await rubric_versions(desk.bench.store)]
        assert theirs in kept
        # A file that somebody removed is written anew where it stood.
        path.unlink()
        await desk.press("ctrl+o")
        screen.query_one("#rubric-save-path").value = str(path)
        await desk.press("enter")
        await desk.until(lambda: path.is_file() and path.read_text() == mine)


async def test_what_was_typed_before_the_start_is_told_once_on_opening(
    open_desk, write_session
) -> None:
    path = await draft_of(os.getpid(), "# left")
    row = json.loads(path.read_text())
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
        assert not told(desk, "an edit of the rubric"), "typed in this window"
        assert await desk.bench.editing.left_before(desk.bench) is None
    path.write_text(json.dumps(row | {"started": "1"}))
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await desk.until(lambda: told(desk, "an edit of the rubric waits in B: typed "))
        assert await desk.bench.editing.left_before(desk.bench) is None
        screen = await editor(desk)
        assert screen.area.text == "# left"


async def test_a_version_is_taken_back_and_what_stood_there_is_not_lost(
    open_desk, write_session
) -> None:
    # Another window is open, and has a draft of its own.
    theirs = await draft_of(os.getppid(), "# theirs")
    async with open_desk(write_session("a.jsonl", 12), size=(80, 24)) as desk:
        screen = await editor(desk)
        standing = screen.area.text
        assert "# theirs" not in standing
        await desk.until(lambda: told(desk, "another window edits this rubric too"))
        await desk.press("down", "down", "down", "right", "!")
        await desk.until(lambda: screen.session.is_checked and screen.session.unsaved)
        edited = screen.area.text
        version = screen.session.checked.rubric.version
        # Where there is room for one alone, the panes stand in the place of the text.
        await desk.press("ctrl+n")
        await desk.sees("PROMPT of part 1")
        await desk.press("ctrl+n", "ctrl+n")
        await desk.sees("VERSIONS")
        await desk.sees("in another window")
        await desk.sees("− Judge what the agent does")
        await desk.sees("+ J!udge what the agent does")
        await desk.press("enter")
        await desk.until(lambda: screen.area.text == standing, "taken back")
        await desk.until(lambda: version in "".join(desk_rows(screen, "past")), "kept as a version")
        await desk.press("ctrl+n", "ctrl+z")
        assert screen.area.text == edited
        await desk.sees(" 1  name")
        # Nothing that acts on a terminal gets into the text, nor more than a file may hold.
        screen.area.insert("# \x1b]0;x\x07 [red]\r\n", (0, 0))
        await desk.sees("# ␛]0;x␇ [red]")
        await desk.until(lambda: told(desk, "2 characters that act on a terminal"))
        held = screen.area.text
        screen.area.insert("x" * 100_001, (0, 0))
        await desk.until(lambda: told(desk, "100000 bytes at most"))
        assert screen.area.text == held
        # Terminals paste carriage returns; a text takes the place of one as long as it may be.
        screen.area.insert("# one\r# two\r\n", (0, 0))
        assert screen.area.text == f"# one\n# two\n{held}"
        for text in ("#" * 90_000, f"{'#' * 90_000}!", held):
            screen.area.take(text)
            assert screen.area.text == text
        assert not screen.area.soft_wrap
        # What is taken back is said wherever the keys are.
        await desk.press("ctrl+n", "ctrl+z")
        await desk.until(lambda: told(desk, "taken back"))
        assert screen.area.text.endswith("!")
    assert "# theirs" in theirs.read_text()


async def test_a_narrower_terminal_leaves_the_keys_where_they_can_be_seen(
    open_desk, write_session, monkeypatch
) -> None:
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        screen = await editor(desk)
        await desk.press("ctrl+n", "ctrl+n")
        await desk.until(lambda: screen.focused is screen.past)
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: screen.focused is screen.area)
        await desk.press("x")
        await desk.sees("✗ 1 fault")
        # The faults have the keys until there is none.
        await desk.press("tab")
        assert screen.focused is screen.faults
        await desk.press("ctrl+z")
        await desk.until(lambda: screen.focused is screen.area)
        assert not screen.faults.display

        # A draft that cannot be written is said to be none, and is there while the app is.
        def full(self: object, text: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(DraftKeeper, "_put_text", full)
        await desk.press("#")
        await desk.sees("drafts cannot be kept (No space left on device)")
        await desk.press("escape")
        await desk.until(lambda: told(desk, "NOT SAVED: B opens it again until you quit"))
        await desk.until(lambda: not isinstance(desk.app.screen, RubricEditor))
        screen = await editor(desk)
        assert screen.area.text.startswith("#name")


async def test_the_text_of_an_editor_that_was_left_is_kept_by_nothing_of_the_app(
    open_desk, write_session
) -> None:
    async with open_desk(write_session("a.jsonl", 12)) as desk:

        def followers() -> list[object]:
            watchers = getattr(desk.app, "__watchers", {}).get("theme", [])
            return [each for each, _ in watchers if isinstance(each, RubricText)]

        await editor(desk)
        assert followers()
        await desk.press("escape")
        await desk.until(lambda: not followers())


async def test_end_and_home_go_on_to_the_ends_of_a_line_that_takes_several_rows(
    open_desk, write_session
) -> None:
    async with open_desk(write_session("a.jsonl", 3), size=(80, 24)) as desk:
        area = (await editor(desk)).area
        row = next(n for n, line in enumerate(area.text.split("\n")) if len(line) > 120)
        length = len(area.document.get_line(row))
        area.move_cursor((row, 0))
        await desk.press("end")
        assert 0 < area.cursor_location[1] < length
        await desk.press("end")
        assert area.cursor_location == (row, length)
        await desk.press("home")
        assert 0 < area.cursor_location[1] < length
        await desk.press("shift+home")
        assert area.cursor_location == (row, 0)
        assert area.selected_text
        await desk.press("ctrl+end")
        assert area.cursor_location == area.document.end
        await desk.press("ctrl+shift+home")
        assert area.selected_text == area.text
