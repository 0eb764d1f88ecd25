"""The panels of the workbench: borders that move, one that fills the screen, tabs, gaps."""

from __future__ import annotations

import pytest
from textual.events import MouseMove

from longjudge_tui.bench.kept_layout import KeptLayout
from longjudge_tui.bench.layout import Panel

PANELS = ("chunks", "events", "findings", "detail")


async def planned(desk):
    await desk.until(lambda: desk.rows("chunks"), "chunks")


def region(desk, name):
    return desk.app.screen.query_one(f"#{name}").region


def seen(desk):
    """The panels that are on the screen."""
    return [name for name in PANELS if region(desk, name).height and region(desk, name).width]


async def drag(desk, name, *, right=0, down=0):
    """Drag a handle with the mouse."""
    handle = region(desk, name)
    x, y = handle.x + handle.width // 2, handle.y
    await desk.pilot.mouse_down(offset=(x, y))
    for step in (0.5, 1.0):
        place = (round(x + right * step), round(y + down * step))
        await desk.pilot._post_mouse_events([MouseMove], offset=place, button=1)
        await desk.pilot.pause()
    await desk.pilot.mouse_up(offset=(x + right, y + down))


async def test_borders_follow_the_mouse_and_keep_their_shares_when_the_terminal_changes(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await planned(desk)
        before = {name: region(desk, name) for name in (*PANELS, "settings")}
        await drag(desk, "split-chunks", right=-18)
        await desk.until(lambda: region(desk, "chunks").width == 50)
        await desk.until(lambda: region(desk, "events").width == before["events"].width + 18)
        await drag(desk, "split-below", right=10)
        await desk.until(lambda: region(desk, "findings").width == before["findings"].width + 10)
        await drag(desk, "tabs", down=-6)
        await desk.until(lambda: region(desk, "findings").height == before["findings"].height + 6)
        await drag(desk, "split-settings", right=-8)
        await desk.until(lambda: region(desk, "settings").width == 28)
        chunks, events = region(desk, "chunks").width, region(desk, "events").width
        await desk.pilot.resize_terminal(140, 50)
        await desk.until(lambda: region(desk, "header").width == 140)
        wider = region(desk, "chunks").width, region(desk, "events").width
        assert sum(wider) == chunks + events + 20
        assert abs(wider[0] / sum(wider) - chunks / (chunks + events)) < 0.02
        await desk.until(lambda: region(desk, "settings").width == 28)
        await desk.pilot.resize_terminal(120, 40)
        await desk.until(lambda: region(desk, "chunks").width == chunks)
        # Twice on a border puts that one back, a key all of them.
        await desk.pilot.click("#split-chunks", offset=(0, 3), times=2)
        await desk.until(lambda: region(desk, "chunks").width == 68)
        await desk.until(lambda: region(desk, "findings").height == before["findings"].height + 6)
        await desk.press("vertical_line")
        await desk.until(
            lambda: before == {name: region(desk, name) for name in (*PANELS, "settings")}
        )


async def test_keys_move_the_borders_of_the_panel_with_the_keys_as_far_as_it_stays_usable(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 12), size=(80, 24)) as desk:
        await planned(desk)
        chunks, below = region(desk, "chunks").width, region(desk, "findings")
        await desk.press("less_than_sign", "less_than_sign")
        await desk.until(lambda: region(desk, "chunks").width == chunks - 8)
        await desk.press("tab", *["less_than_sign"] * 6)
        await desk.until(lambda: region(desk, "events").width == 22)
        await desk.press("1", *["ctrl+right"] * 2, "right_parenthesis")
        await desk.until(lambda: region(desk, "findings").width == below.width + 8)
        await desk.until(lambda: region(desk, "findings").height == below.height + 1)
        await drag(desk, "tabs", down=-8)
        await desk.until(lambda: len(desk.rows("chunks")) <= 3)
        await desk.until(lambda: seen(desk) == [*PANELS])
        await desk.sees("CHUNKS")
        await drag(desk, "tabs", down=12)
        await desk.press("left_parenthesis")
        await desk.until(lambda: region(desk, "below-panel").height == 5)
        await desk.sees("[copy y]")


async def test_one_panel_fills_the_screen_until_another_one_is_wanted(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (1, 9))) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.sees("complete: part ")

        async def fills(name):
            await desk.until(lambda: seen(desk) == [name], f"{name} alone")
            await desk.until(lambda: region(desk, name).width >= 118)
            for words in ("a.jsonl", "judged 6 of 6", "complete: part", "[ Run", "ctrl+q Quit"):
                await desk.sees(words)
            await desk.sees("[all panels M]")

        await desk.press("M")
        await fills("chunks")
        await desk.press("M")
        await desk.until(lambda: seen(desk) == [*PANELS])
        await desk.press("tab", "M")
        await fills("events")
        await desk.press("escape")
        await desk.until(lambda: seen(desk) == [*PANELS])
        await desk.press("1", "M")
        await fills("findings")
        # Enter goes on in the list; the chunks are elsewhere.
        await desk.press("shift+tab")
        await desk.until(lambda: seen(desk) == [*PANELS])
        # In the text the findings and the hits of a search come to the reader.
        await desk.pilot.click("#detail-title", offset=(3, 0), times=2)
        await fills("detail")
        await desk.press("full_stop")
        await desk.sees("topic-1")
        await desk.press("full_stop", "z")
        await desk.sees("AROUND EVENT 9")
        await fills("detail")
        await desk.press("escape")
        await desk.sees("finding 2 of 2")
        await desk.press("slash", *"topic", "enter")
        await desk.sees("hit 2 of 2")
        await fills("detail")
        await desk.press("escape")
        await desk.until(lambda: "/ search" not in desk.text)
        await desk.press("backslash")
        await desk.until(lambda: seen(desk) == [*PANELS])
        await desk.until(lambda: region(desk, "settings").height > 1)
        await desk.pilot.click("#chunks-title", offset=(3, 0), times=2)
        await fills("chunks")
        # A number is typed where the settings are, in their line.
        await desk.press("s", *"2100", "enter")
        await desk.sees("chunk   2100")
        await desk.until(lambda: seen(desk) == ["chunks"])


async def test_in_a_small_terminal_both_halves_are_there_and_nothing_is_half_there(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 12), size=(60, 24), tour=True) as desk:
        await planned(desk)
        await desk.sees("[ Cancel x ]")
        await desk.until(lambda: "0.5 s t" not in desk.text)
        # The border as high as it goes, then with what comes between, and fewer rows.
        await desk.press(*["right_parenthesis"] * 9)
        await desk.sees("the border goes")
        await desk.press("slash", *"re:(")
        await desk.sees("no pattern yet")
        await desk.until(lambda: "n Next" not in desk.text)
        await desk.sees("escape End")
        for columns, rows in ((60, 15), (80, 24)):
            await desk.pilot.resize_terminal(columns, rows)
            await desk.until(lambda rows=rows: region(desk, "keys").y == rows - 1)
            await desk.until(lambda: seen(desk) == [*PANELS])
        await desk.sees("[ 0.5 s t ]")
        await desk.press("escape")
        await desk.pilot.resize_terminal(40, 12)
        await desk.until(lambda: region(desk, "keys").y == 11)
        await desk.until(lambda: not region(desk, "timeline").height)
        await desk.press("escape")
        await desk.sees("SESSIONS 1")


async def test_keys_of_the_layout_say_why_nothing_moves_and_tab_knows_every_panel(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 12), size=(80, 24)) as desk:
        await planned(desk)
        await desk.press("vertical_line")
        await desk.sees("every border stands where it")
        # The field of the log is a part of its panel, the strip leads to the chunk's row.
        await desk.press("4", "slash")
        await desk.until(lambda: desk.app.screen.focused.id == "log-filter")
        await desk.press("tab")
        await desk.until(lambda: desk.app.screen.focused is desk.app.screen.detail.view)
        await desk.press("tab", "pagedown", "enter")
        await desk.until(lambda: desk.app.screen.focused.id == "chunks")
        await desk.until(lambda: not desk.rows("chunks")[0].startswith("▶"))
        # In few rows the settings at the side come closer, down to their buttons.
        for rows, left_out in ((30, "[ Run 0.5 s t ] "), (24, "exact prompt"), (16, "▏ SETTINGS")):
            await desk.pilot.resize_terminal(120, rows)
            await desk.until(lambda rows=rows: region(desk, "keys").y == rows - 1)
            await desk.sees("[ Cancel       x ]")
            await desk.until(lambda words=left_out: words not in desk.text, left_out)


async def test_the_layout_and_the_tab_are_as_they_were_left(open_desk, write_session, tmp_path):
    path, session = tmp_path / "state" / "layout.json", write_session("a.jsonl", 12)
    kept = KeptLayout(path)
    await kept.read()
    async with open_desk(session, layout=kept) as desk:
        await planned(desk)
        await desk.press("less_than_sign", "right_parenthesis", "backslash")
        await desk.until(lambda: "[ Run   r ]" in desk.text)
        narrower = region(desk, "chunks").width
        await desk.press("2", "M")
        await desk.until(lambda: "no gap" in desk.rows("gaps")[0])
        await desk.pilot.resize_terminal(80, 24)
        # Another breadth has a layout of its own.
        await desk.until(lambda: region(desk, "chunks").width == 44)
        await desk.press("shift+tab")
        await desk.pilot.resize_terminal(120, 40)
        await desk.until(lambda: region(desk, "gaps").width == 120)
        await desk.until(lambda: desk.app.screen.focused.id == "gaps")
    await kept.aclose()
    kept = KeptLayout(path)
    await kept.read()
    async with open_desk(session, layout=kept) as desk:
        await desk.until(lambda: "6 of 6 chunks to ask" in desk.text)
        await desk.until(lambda: region(desk, "gaps").width == 120)
        await desk.until(lambda: desk.app.screen.maximised is Panel.BELOW)
        await desk.until(lambda: desk.app.screen.focused.id == "gaps")
        await desk.press("M")
        await desk.until(lambda: region(desk, "chunks").width)
        await desk.until(lambda: region(desk, "settings").height == 1)
        await desk.until(lambda: region(desk, "chunks").width == narrower)


async def test_a_file_that_is_no_layout_is_said_once(open_desk, write_session, tmp_path):
    path = tmp_path / "layout.json"
    path.write_text("{[/]")
    kept = KeptLayout(path)
    await kept.read()
    async with open_desk(write_session("a.jsonl", 3), layout=kept) as desk:
        await desk.sees("the layout cannot be used: layout.json")
        await planned(desk)
        await desk.until(lambda: seen(desk) == [*PANELS])
        assert not kept.notices


async def test_gaps_are_listed_as_they_come_and_lead_to_their_chunks(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (1,)), gated=True) as desk:
        await planned(desk)
        await desk.press("2")
        await desk.sees("no gap")
        await desk.press("r")
        await desk.until(lambda: "running" in desk.rows("chunks")[0])
        await desk.press("3", "tab", "tab", "c")
        await desk.sees("2 GAPS 1")
        await desk.press("2")
        await desk.until(lambda: "✗ 1  cancelled  1× " in desk.rows("gaps")[0])
        await desk.press("x")
        await desk.until(lambda: "GAPS 6" in desk.title("tabs"))
        await desk.press("end")
        await desk.sees("PART 6 · gap · ")
        await desk.press("v")
        await desk.sees("REPLY about part 6")
        await desk.press("escape", "up", "a")
        # What was asked again is no gap any more, and the cursor is on the one below it.
        await desk.until(lambda: "GAPS 5" in desk.title("tabs"))
        await desk.sees("PART 6 · gap · ")
        await desk.press("enter")
        await desk.until(lambda: desk.rows("chunks")[5].startswith("▶"))
        desk.judge.gate.set()
        await desk.until(lambda: "clean" in desk.rows("chunks")[4])


async def test_each_tab_keeps_its_place_and_a_finding_brings_its_own_back(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12, (1, 9)), size=(80, 24)) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: len(desk.rows("findings")) == 2)
        await desk.press("1", "down")
        for name, words in (("GAPS", "no gap"), ("HOLDS", "nothing is held"), ("LOG", "LOG ")):
            row = region(desk, "tabs").y
            await desk.pilot.click(offset=(desk.lines[row].index(name) + 1, row))
            await desk.sees(words)
        await desk.press("1")
        await desk.until(lambda: desk.rows("findings")[1].startswith("▶"))
        await desk.press("H")
        await desk.sees("HOLDS none")
        await desk.press("H")
        await desk.until(lambda: "HOLDS none" not in desk.text)
        await desk.press("2", "full_stop")
        await desk.until(lambda: desk.rows("findings")[0].startswith("▶"))


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(40, 12), (60, 15), (80, 24), (115, 24), (150, 30), (240, 70)])
async def test_every_panel_can_fill_every_terminal(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 12), size=size) as desk:
        await planned(desk)
        for _ in PANELS:
            await desk.press("M")
            await desk.until(lambda: len(seen(desk)) == 1)
            await desk.press("M", "tab")
            await desk.until(lambda: len(seen(desk)) == 4)
