"""Every command does what a user can see, by its key and by a way with the mouse.

The table has a row for each command of the one definition; a command without a row fails.
"""

from __future__ import annotations

import contextlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from textual.command import CommandList
from textual.events import MouseMove
from textual.widgets import Input

from longjudge_tui import clipboard
from longjudge_tui.commands import COMMANDS, command
from longjudge_tui.widgets.lines import KeyBar
from tried_together import TOGETHER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Desk


@dataclass(frozen=True)
class Way:
    """A command's row: where it is tried, how the mouse does it, and what is seen then.

    `before` are keys that lead there, `after` those that either way makes room for.
    """

    scene: str
    mouse: Callable[[Desk], Awaitable[None]]
    seen: Callable[[Desk], object]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def button(name):
    return lambda desk: desk.click(f"#button-{name}")


def fact(name):
    return lambda desk: desk.click(f"#fact-{name}")


def field(name):
    return lambda desk: desk.click(f"#field-{name}")


def bar(name):
    """A word of the key bar."""

    async def click(desk):
        keys = desk.app.screen.query_one(KeyBar)
        row = keys.region.y
        each = command(name)
        word = f"{each.bar_key} {each.label}"
        await desk.until(lambda: word in desk.lines[row])
        await desk.pilot.click(offset=(desk.lines[row].index(word) + 1, row))

    return click


def word(name, text):
    """A word between brackets in a panel's title."""

    async def click(desk):
        await desk.pilot.pause()
        line = desk.app.screen.query_one(f"#{name}")
        row = line.region.y
        drawn = desk.lines[row][line.region.x :]
        assert f"[{text}" in drawn, drawn
        await desk.pilot.click(offset=(line.region.x + drawn.index(f"[{text}") + 1, row))

    return click


def at_row(name, row, *, times=1, column=10):
    return lambda desk: desk.pilot.click(f"#{name}", offset=(column, row), times=times)


def at_row_end(name, row):
    """The button at the end of a row."""

    async def click(desk):
        text = desk.rows(name)[row]
        assert text.endswith("]"), text
        await desk.pilot.click(f"#{name}", offset=(len(text) - 3, row))

    return click


def slide(share):
    """The slider, at a share of its length."""

    async def click(desk):
        slider = desk.app.screen.query_one("#slider")
        await desk.pilot.click(slider, offset=(round(share * (slider.size.width - 1)), 0))

    return click


PALETTE_WAYS = set()
CHOSEN_IN_PALETTE = {"follow", "save", "back"}


def palette(name):
    """The entry of the palette, chosen with the mouse."""

    async def click(desk):
        await desk.press("ctrl+p")
        await desk.until(lambda: desk.app.screen.query(CommandList))
        desk.app.screen.query_one(Input).value = command(name).help
        entries = desk.app.screen.query_one(CommandList)
        # A longer one goes on in the next line.
        begins = command(name).help[:60]
        await desk.until(lambda: entries.option_count and begins in desk.text)
        await desk.pilot.click(entries, offset=(6, entries.styles.gutter.top))
        await desk.until(lambda: not desk.app.screen.query(CommandList), "the palette is gone")

    PALETTE_WAYS.add(click)
    return click


def here(name, row=None):
    """The list has the keys, with its cursor on a row."""

    def seen(desk):
        rows = desk.rows(name)
        marked = [place for place, each in enumerate(rows) if each.startswith("▶")]
        return bool(marked) if row is None else marked == [row % len(rows)]

    return seen


def says(*words):
    return lambda desk: all(each in desk.text for each in words)


def row_says(name, row, words):
    return lambda desk: words in desk.rows(name)[row]


def chunks(desk):
    return int(desk.title("chunks-title").split()[1].replace(",", ""))


def started(desk):
    return row_says("chunks", 0, "running")(desk)


def boxes(*marks):
    return lambda desk: ["[x]" in row for row in desk.rows("sessions")] == [*marks]


def first_row(words):
    return lambda desk: words in desk.rows("sessions")[0]


def on_strip(position):
    """The cell of a chunk in the strip, where each has four."""
    return lambda desk: desk.pilot.click("#timeline", offset=(2 + 4 * position, 0))


def marks(desk):
    """The line below a curve: `◆` at the size that is set, `▲` at the one that is read."""
    return next((line for line in desk.lines if "◆" in line), "").rstrip()


TO_STRIP = ("shift+tab", "shift+tab")


def width(name, cells):
    return lambda desk: desk.app.screen.query_one(f"#{name}").region.width == cells


def height(name, cells):
    return lambda desk: desk.app.screen.query_one(f"#{name}").region.height == cells


def tab(number):
    """A tab of the lower half."""

    async def click(desk):
        row = desk.app.screen.query_one("#tabs").region.y
        await desk.pilot.click(offset=(desk.lines[row].index(f" {number} ") + 1, row))

    return click


def drag(name, *, right=0, down=0):
    """A border, dragged by its middle."""

    async def moved(desk):
        handle = desk.app.screen.query_one(f"#{name}").region
        x, y = handle.x + handle.width // 2, handle.y
        to = (x + right, y + down)
        await desk.pilot.mouse_down(offset=(x, y))
        await desk.pilot._post_mouse_events([MouseMove], offset=to, button=1)
        await desk.pilot.mouse_up(offset=to)

    return moved


SEARCH_KEYS = ("slash", *"topic", "enter")

WAYS: dict[str, Way] = {
    "run": Way("workbench", button("run"), says("complete: part ", "judged 6 of 6")),
    "cancel_run": Way("running", button("cancel-run"), says("cancelled; 0 of 6 parts judged")),
    "batch": Way("workbench", bar("batch"), says("Judge as a batch?", "6 questions")),
    "pause": Way("running", button("pause"), says("PAUSED by hand: 4 answers still to come")),
    "cancel_part": Way("running", at_row_end("chunks", 0), row_says("chunks", 0, "cancelled")),
    "follow": Way("running", palette("follow"), here("chunks", 3), before=("end",)),
    "ask_again": Way("gap", at_row_end("chunks", 0), row_says("chunks", 0, "queued")),
    "run_short": Way("held", button("run-short"), says("not judged within 0.5 seconds")),
    "smaller": Way("workbench", bar("smaller"), says("chunk   800 ")),
    "larger": Way("workbench", bar("larger"), says("chunk   1500")),
    "fit_size": Way("workbench", palette("fit_size"), says("no part was too large")),
    "show_curve": Way("workbench", palette("show_curve"), says("CURVE of chunk sizes")),
    "compare": Way("judged", palette("compare"), says("BEFORE / AFTER", "one judgment of this")),
    "next_flip": Way("compared", bar("next_flip"), says("nothing has flipped")),
    "previous_flip": Way("compared", palette("previous_flip"), says("nothing has flipped")),
    "filter_rows": Way("compared", bar("filter_rows"), says("‹flips 0›")),
    "ask_other": Way("compared", bar("ask_other"), says("Ask what B lacks?")),
    "ask_one": Way("compared", palette("ask_one"), says("Ask what A lacks?"), before=("s",)),
    "cancel_asking": Way("compared", palette("cancel_asking"), says("nothing is being judged")),
    "choose_one": Way("compared", bar("choose_one"), says("CHOOSE A, the side before")),
    "choose_other": Way("compared", bar("choose_other"), says("CHOOSE B, the side after")),
    "swap_sides": Way("compared", palette("swap_sides"), says("A  now")),
    "row_right": Way("compared", palette("row_right"), says("of 1 finding marked right")),
    "row_wrong": Way("compared", palette("row_wrong"), says("of 1 finding marked wrong")),
    "copy_row": Way("compared", palette("copy_row"), says("the row: sent")),
    "save_comparison": Way("compared", palette("save_comparison"), says("saved: ")),
    "edit_size": Way(
        "workbench",
        field("size"),
        lambda desk: "chunk   2100 " in desk.text and chunks(desk) == 2,
        after=(*"2100", "enter"),
    ),
    "switch_unit": Way("workbench", fact("switch-unit"), says("in tokens")),
    "edit_limit": Way("workbench", field("limit"), says("limit s 42 "), after=(*"42", "enter")),
    "edit_concurrency": Way(
        "workbench", field("flight"), says("in flight 9 "), after=("9", "enter")
    ),
    "choose_model": Way("workbench", fact("choose-model"), says("MODEL ·", "the default model")),
    "choose_rubric": Way("workbench", fact("choose-rubric"), says("RUBRIC ·", "chunks")),
    "edit_rubric": Way(
        "workbench", palette("edit_rubric"), says("RUBRIC chunks ·", "✓ a rubric of 3 criteria")
    ),
    "try_rubric": Way("editor", word("rubric-try", "try on part 1"), says("RAW REPLY")),
    "cancel_try": Way("trying", word("rubric-try", "cancel f9"), says("✗ gap (cancelled)")),
    "use_rubric": Way("editor", bar("use_rubric"), lambda desk: "RUBRIC chunks ·" not in desk.text),
    "save_rubric": Way("editor", bar("save_rubric"), says("SAVE AS")),
    "save_rubric_as": Way("editor", palette("save_rubric_as"), says("SAVE AS")),
    "save_named": Way("editor", bar("save_named"), says("saved: "), before=("ctrl+o",)),
    "save_nothing": Way(
        "editor",
        bar("save_nothing"),
        lambda desk: "SAVE AS" not in desk.text,
        before=("ctrl+o",),
    ),
    "next_pane": Way(
        "editor", lambda desk: desk.click("#rubric-pane"), says("nothing was tried yet")
    ),
    "next_fault": Way("editor", bar("next_fault"), says("no fault is known")),
    "undo_text": Way("editor", palette("undo_text"), says("there is nothing to take back")),
    "chunk_before": Way("editor", bar("chunk_before"), says("try on part 1 of"), before=("f3",)),
    "chunk_after": Way("editor", bar("chunk_after"), says("try on part 2 of")),
    "show_prompt": Way("workbench", fact("show-prompt"), says("PROMPT of part 1", "You review")),
    "show_reply": Way("judged", fact("show-reply"), says("REPLY about part 1", '"criteria"')),
    "show_oddities": Way(
        "workbench", palette("show_oddities"), says("THE FILE", "Nothing odd was met")
    ),
    "fold_thread": Way("threads", at_row("chunks", 0), row_says("chunks", 0, "▸ main")),
    "fold_all": Way("threads", palette("fold_all"), row_says("chunks", 1, "▸ scout")),
    "part_after": Way("workbench", on_strip(1), says("EVENTS of part 2 "), before=TO_STRIP),
    "part_before": Way(
        "workbench", on_strip(4), says("EVENTS of part 5 "), before=(*TO_STRIP, "end")
    ),
    "first_part": Way(
        "workbench", on_strip(0), says("EVENTS of part 1 "), before=(*TO_STRIP, "end")
    ),
    "last_part": Way("workbench", on_strip(5), says("EVENTS of part 6 "), before=TO_STRIP),
    "trouble_after": Way("judged", on_strip(4), says("EVENTS of part 5 "), before=TO_STRIP),
    "trouble_before": Way("judged", on_strip(4), says("EVENTS of part 5 "), before=TO_STRIP),
    "read_smaller": Way(
        "curve",
        bar("read_smaller"),
        lambda desk: -1 < marks(desk).find("▲") < marks(desk).index("◆"),
    ),
    "read_larger": Way(
        "curve", bar("read_larger"), lambda desk: marks(desk).find("▲") > marks(desk).index("◆")
    ),
    "read_smallest": Way("curve", palette("read_smallest"), says("200 characters: ")),
    "read_largest": Way("curve", palette("read_largest"), lambda desk: marks(desk).endswith("▲")),
    "read_today": Way(
        "curve", bar("read_today"), lambda desk: "▲" not in marks(desk), before=("left",)
    ),
    "close_screen": Way("curve", bar("close_screen"), lambda desk: "CURVE" not in desk.text),
    "take_size": Way(
        "curve",
        bar("take_size"),
        lambda desk: "CURVE" not in desk.text and "chunk   1000 " not in desk.text,
        before=("left",),
    ),
    "next_finding": Way(
        "judged",
        palette("next_finding"),
        lambda desk: "finding 2 of 2" in desk.text and "topic-9" in desk.highlighted(),
        before=("full_stop",),
    ),
    "previous_finding": Way(
        "judged",
        palette("previous_finding"),
        lambda desk: "finding 2 of 2" in desk.text and "topic-9" in desk.highlighted(),
        before=("full_stop",),
    ),
    "filter_findings": Way(
        "judged", word("tabs", "filter"), says("FINDINGS 2 of 2", "filter: verified")
    ),
    "order_findings": Way(
        "judged", word("tabs", "order"), says("order: criterion", "── Destructive")
    ),
    "mark_right": Way(
        "finding", word("detail-actions", "right"), row_says("findings", 0, "✔ right")
    ),
    "mark_wrong": Way(
        "finding", word("detail-actions", "wrong"), row_says("findings", 0, "✘ wrong")
    ),
    "copy": Way("finding", word("detail-actions", "copy"), says("the finding at event", "sent")),
    "copy_json": Way("finding", palette("copy_json"), says("the finding at event", "sent")),
    "save": Way("finding", palette("save"), says("saved as", "a-event-1")),
    "context": Way("finding", word("detail-actions", "context"), says("AROUND EVENT 1")),
    "raw_record": Way("finding", word("detail-actions", "raw"), says("RAW line 2 of a.jsonl")),
    "edit_file": Way("workbench", palette("edit_file"), says("EDITOR names no-editor")),
    "search": Way("workbench", palette("search"), says("/ search", "tool:Bash")),
    "next_hit": Way(
        "workbench", word("search-hits", "next"), says("hit 2 of 2"), before=SEARCH_KEYS
    ),
    "previous_hit": Way(
        "workbench", word("search-hits", "previous"), says("hit 2 of 2"), before=SEARCH_KEYS
    ),
    "end_search": Way(
        "workbench",
        word("search-hits", "end"),
        lambda desk: "/ search" not in desk.text,
        before=SEARCH_KEYS,
    ),
    "next_session": Way("second", palette("next_session"), says("c.jsonl", "session 3/3")),
    "previous_session": Way("second", palette("previous_session"), says("a.jsonl", "session 1/3")),
    "reload": Way("grown", palette("reload"), says("13 events")),
    "read_on": Way("grown", palette("read_on"), says("13 events")),
    "read_on_itself": Way("workbench", palette("read_on_itself"), says("reads on by itself")),
    "back": Way("workbench", palette("back"), says("SESSIONS 1")),
    "to_chunks": Way("workbench", palette("to_chunks"), here("chunks"), before=("4",)),
    "tab_findings": Way("workbench", tab(1), says("[order: part]"), before=("2",)),
    "tab_gaps": Way("workbench", tab(2), says("no gap: no chunk")),
    "tab_holds": Way("workbench", tab(3), says("HOLDS none")),
    "tab_log": Way("workbench", tab(4), says("[filter /]")),
    "maximise": Way("workbench", at_row("chunks-title", 0, times=2), width("chunks", 120)),
    "narrower": Way("workbench", drag("split-chunks", right=-4), width("chunks", 64)),
    "wider": Way("workbench", drag("split-chunks", right=4), width("chunks", 72)),
    "lower": Way("workbench", drag("tabs", down=1), height("bottom", 13)),
    "higher": Way("workbench", drag("tabs", down=-1), height("bottom", 15)),
    "fold_settings": Way("workbench", palette("fold_settings"), height("settings", 1)),
    "reset_layout": Way(
        "workbench", palette("reset_layout"), width("chunks", 68), before=("less_than_sign",)
    ),
    "next_panel": Way("workbench", at_row("events", 0), here("events")),
    "previous_panel": Way("workbench", at_row("chunks", 0), here("chunks"), before=("tab",)),
    "judge": Way("library", button("judge"), first_row("complete 0.67 · 6/6")),
    "estimate": Way("library", button("estimate"), first_row("6 to ask")),
    "cancel_all": Way(
        "judging",
        button("cancel-all"),
        lambda desk: all("cancelled" in row for row in desk.rows("sessions")),
    ),
    "cancel_session": Way("judging", palette("cancel_session"), first_row("✗ cancelled")),
    "select": Way("library", at_row("sessions", 0, column=2), boxes(True, False, False)),
    "select_all": Way("library", bar("select_all"), boxes(True, True, True)),
    "next_order": Way("library", button("next-order"), says("sorted by events")),
    "filter": Way(
        "library",
        lambda desk: desk.click("#filter"),
        says("SESSIONS 1 of 3"),
        after=("c", "full_stop", *"jsonl"),
    ),
    "clear_filter": Way(
        "library",
        palette("clear_filter"),
        says("SESSIONS 3 "),
        before=("slash", *"c", "full_stop", *"jsonl", "enter"),
    ),
    "show_estimate": Way("library", palette("show_estimate"), says("ESTIMATE of all 3 sessions")),
    "hide_others": Way(
        "strange", palette("hide_others"), says("files that are no sessions are hidden")
    ),
    "look_again": Way("new", palette("look_again"), says("SESSIONS 4 ")),
    "open": Way("library", at_row("sessions", 0, times=2), says("12 events", "CHUNKS 6")),
    "up": Way("library", at_row("sessions", 1), here("sessions", 1), before=("end",)),
    "down": Way("library", at_row("sessions", 1), here("sessions", 1)),
    "page_up": Way("long", at_row("chunks", 0), says("EVENTS of part 22 "), before=("end",)),
    "page_down": Way("long", at_row("chunks", 18), says("EVENTS of part 19 ")),
    "first": Way("library", at_row("sessions", 0), here("sessions", 0), before=("end",)),
    "last": Way("library", at_row("sessions", 2), here("sessions", -1)),
    "least": Way(
        "workbench",
        slide(0),
        says("chunk   1000"),
        before=("plus", "shift+tab"),
    ),
    "most": Way("workbench", slide(1), lambda desk: chunks(desk) == 1, before=("shift+tab",)),
    "failure_lab": Way("workbench", palette("failure_lab"), says("FAILURE LAB", "badjson")),
    "show_holds": Way("workbench", palette("show_holds"), says("HOLDS none")),
    "sweep_holds": Way("workbench", palette("sweep_holds"), says("left nothing to release")),
    "show_past": Way("judged", palette("show_past"), says("PAST JUDGMENTS of a.jsonl")),
    "save_report": Way("judged", palette("save_report"), says("report saved: /")),
    "help": Way("workbench", bar("help"), says("KEYS", "Judge what is not kept yet")),
    "suspend_process": Way("workbench", palette("suspend_process"), says("no shell is behind")),
    "quit": Way("running", bar("quit"), says("A judgment is in flight")),
}


@pytest.fixture
def scene(open_desk, write_session, write_threads, tmp_path, monkeypatch):
    """The app in the state that a row of the table names."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "TMUX", "SSH_TTY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "no-editor")
    monkeypatch.setattr(clipboard, "LOCAL_SECONDS", 20.0)
    monkeypatch.chdir(tmp_path)

    @asynccontextmanager
    async def opened(name: str):
        paths = [write_session("a.jsonl", 12, (1, 9))]
        if name in ("library", "judging", "second", "strange", "new"):
            paths += [write_session("b.jsonl", 8), write_session("c.jsonl", 4)]
        if name == "long":
            paths = [write_session("a.jsonl", 80)]
        if name == "threads":
            paths = [write_threads("a.jsonl", main=6, scout=4)]
        if name == "strange":
            (tmp_path / "notes.jsonl").write_text("no session\n")
        if name in ("strange", "new"):
            paths = [tmp_path]
        gated = name in ("running", "gap", "held", "judging", "trying")
        async with open_desk(*paths, gated=gated) as desk:
            await _lead_to(desk, name)
            if name == "grown":
                paths[0].write_text(
                    paths[0].read_text() + "\n" + paths[0].read_text().split("\n")[0]
                )
            if name == "new":
                write_session("d.jsonl", 3)
            yield desk
            if gated:
                desk.judge.gate.set()

    return opened


async def _lead_to(desk, name):
    if name in ("library", "judging", "second", "strange", "new"):
        await desk.sees("12 events")
    else:
        await desk.until(lambda: desk.rows("chunks"), "chunks")
    match name:
        case "running" | "gap":
            await desk.press("r")
            await desk.until(lambda: started(desk))
            if name == "gap":
                await desk.press("c")
                await desk.until(lambda: "✗ gap" in desk.rows("chunks")[0])
        case "judged" | "finding":
            await desk.press("r")
            await desk.sees("complete: part ")
            await desk.until(lambda: len(desk.rows("findings")) == 2)
            if name == "finding":
                await desk.press("full_stop")
                await desk.sees("finding 1 of 2")
        case "compared":
            await desk.press("r")
            await desk.sees("complete: part ")
            await desk.press(*"s2100", "enter", "D")
            await desk.sees("only A judged   events 0-1")
        case "judging":
            await desk.press("A", "r")
            await desk.until(lambda: "judging 0/6" in desk.rows("sessions")[0])
        case "curve":
            await desk.press("C")
            await desk.until(lambda: marks(desk))
        case "editor" | "trying":
            await desk.press("B")
            await desk.sees("✓ a rubric of 3 criteria")
            if name == "trying":
                await desk.press("ctrl+t")
                await desk.sees("[cancel f9]")
        case "second":
            await desk.press("down", "enter")
            await desk.sees("session 2/3")
        case "strange":
            await desk.sees("✗ ")
        case _:
            pass


async def _begin(desk, way):
    await desk.press(*way.before)
    await desk.pilot.pause()
    with contextlib.suppress(IndexError):
        assert not way.seen(desk), f"seen before anything was done\n{desk.text}"


def test_every_command_has_a_row_in_the_table():
    assert set(WAYS) == {each.id for each in COMMANDS if each.scope not in TOGETHER}


def thoroughly(wanted, *values):
    """A row of a table that always counts, or only when everything is tried."""
    return pytest.param(*values, marks=[pytest.mark.thorough] if wanted else [])


# On the strip, at the curve, of the panels and of two judgments one test does them one after the
# other: test_overview.py, test_panels.py, test_before_after.py.
TRIED_IN_ONE_GO = {
    *("tab_findings", "tab_gaps", "tab_holds", "tab_log", "maximise"),
    *("narrower", "wider", "lower", "higher", "fold_settings", "reset_layout"),
    *("part_before", "first_part", "last_part", "trouble_before", "trouble_after"),
    *("read_larger", "read_smallest", "read_largest", "read_today"),
    *("next_flip", "previous_flip", "filter_rows", "ask_other", "ask_one", "swap_sides"),
    *("row_right", "row_wrong", "choose_one", "save_comparison"),
    *("try_rubric", "use_rubric", "save_rubric", "save_rubric_as", "next_pane", "next_fault"),
    *("chunk_before", "chunk_after", "undo_text", "save_named", "save_nothing"),
}


# What leads back to where a command was given: there it is given with the mouse as well.
UNDO = {
    **dict.fromkeys(("choose_model", "choose_rubric", "show_prompt", "show_reply"), ("escape",)),
    **dict.fromkeys(("help", "quit"), ("escape",)),
    "smaller": ("plus",),
    "larger": ("minus",),
    "switch_unit": ("u",),
    "mark_right": ("g",),
    "mark_wrong": ("w",),
    "context": ("z",),
    "raw_record": ("i",),
    "next_panel": ("shift+tab",),
    "previous_panel": ("tab",),
    "select": ("space",),
    "select_all": ("A",),
    "down": ("up",),
    "next_hit": ("N",),
}


@pytest.mark.parametrize(
    ("name", "key"),
    # From the second key of a command on it is the same binding again; the README names them all.
    [
        thoroughly(place > 0 or each.id in TRIED_IN_ONE_GO, each.id, key)
        for each in COMMANDS
        if each.scope not in TOGETHER
        for place, key in enumerate(each.keys)
    ],
)
async def test_the_key_does_it(scene, name, key):
    way = WAYS[name]
    async with scene(way.scene) as desk:
        await _begin(desk, way)
        await desk.press(key, *way.after)
        await desk.until(lambda: way.seen(desk), f"{name} by {key}")
        if name in UNDO and key == command(name).keys[0]:
            await desk.press(*UNDO[name])
            await desk.until(lambda: not way.seen(desk), f"{name} taken back")
            await way.mouse(desk)
            await desk.press(*way.after)
            await desk.until(lambda: way.seen(desk), f"{name} by mouse")


# Another row of the list that `down` is tried on, and entries of the palette, which does the same
# for each: `follow`, `save`, `back`, `cancel_session` and `clear_filter` are always chosen there.
SAME_CLICKS = TRIED_IN_ONE_GO | {
    "fold_all",
    *("up", "first", "last"),
    *("next_finding", "previous_finding", "copy_json", "next_session", "previous_session"),
    "to_chunks",
    *("search", "previous_hit"),
    *(
        "reload",
        "read_on",
        "read_on_itself",
        "hide_others",
        "look_again",
        "failure_lab",
        "edit_file",
        "save_report",
        "show_past",
        "show_estimate",
        "show_holds",
        "sweep_holds",
    ),
}


def _is_like_others(name):
    by_palette = WAYS[name].mouse in PALETTE_WAYS and name not in CHOSEN_IN_PALETTE
    return by_palette or name in SAME_CLICKS


@pytest.mark.parametrize(
    "name", [thoroughly(_is_like_others(name), name) for name in WAYS if name not in UNDO]
)
async def test_the_mouse_does_the_same(scene, name):
    way = WAYS[name]
    async with scene(way.scene) as desk:
        await _begin(desk, way)
        await way.mouse(desk)
        await desk.press(*way.after)
        await desk.until(lambda: way.seen(desk), f"{name} by mouse")
