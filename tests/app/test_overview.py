"""All chunks at once: the strip above the panels, threads that fold, the curve of chunk sizes."""

from __future__ import annotations

from textual import events

from longjudge.chunks import plan_chunks


def strip(desk):
    """The strip, as far as its chunks go."""
    line = desk.lines[desk.app.screen_stack[0].query_one("#timeline").region.y]
    return line[1:].split("   ")[0].rstrip()


def folded(desk):
    """The rows of the threads, as far as their names."""
    return [row[1:].split("  ")[0].rstrip() for row in desk.rows("chunks") if row[1:2] in "▸▾"]


async def test_the_strip_shows_what_becomes_of_every_chunk_and_leads_there(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 12, (1, 9)), gated=True) as desk:
        await desk.until(lambda: strip(desk) == " ".join(["···"] * 6))
        await desk.press("r")
        await desk.until(lambda: strip(desk) == "▓▓▓ ▓▓▓ ▓▓▓ ▓▓▓ ░░░ ░░░")
        # It says what its glyphs mean, of those that are there, where there is room.
        await desk.sees("▓ running  ░ queued")
        await desk.until(lambda: "█ flagged" not in desk.text)
        await desk.press("c")
        await desk.until(lambda: strip(desk).startswith("▚▚▚ ▓▓▓"))
        desk.judge.gate.set()
        await desk.until(lambda: strip(desk) == "▚▚▚ ▄▄▄ ▄▄▄ ▄▄▄ ███ ▄▄▄")
        await desk.press("shift+tab", "shift+tab")
        for key, part in (
            *(("down", 5), ("down", 1), ("right", 2), ("end", 6), ("left", 5), ("up", 1)),
            *(("up", 5), ("home", 1)),
        ):
            await desk.press(key)
            await desk.sees(f"EVENTS of part {part} ")
        # Dragged along, it goes with the mouse.
        await desk.pilot.mouse_down("#timeline", offset=(2, 0))
        move = [events.MouseMove]
        await desk.pilot._post_mouse_events(move, "#timeline", offset=(14, 0), button=1)
        await desk.pilot.mouse_up("#timeline", offset=(14, 0))
        await desk.sees("EVENTS of part 4 ")
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: strip(desk).startswith("▚▚▚ ▄▄▄"))


async def test_more_chunks_than_cells_show_the_most_urgent_of_each_cell(open_desk, write_session):
    path = write_session("a.jsonl", 300, (222,))
    async with open_desk(path, size=(80, 24)) as desk:
        await desk.until(lambda: strip(desk) == "·" * 78)
        await desk.press("r")
        await desk.until(lambda: "complete" in desk.text and "·" not in strip(desk))
        await desk.until(lambda: strip(desk).count("█") == 1)
        await desk.until(lambda: strip(desk).replace("█", "▄") == "▄" * 78)
        await desk.pilot.click("#timeline", offset=(1 + strip(desk).index("█"), 0))
        part = desk.bench.outlook.plan.part_of(222)
        await desk.until(lambda: abs(desk.app.screen.chunks.position + 1 - part) <= 1)


async def test_threads_fold_away_and_whatever_leads_into_one_unfolds_it(open_desk, write_threads):
    async with open_desk(write_threads("a.jsonl", main=6, scout=4, tester=2)) as desk:
        await desk.until(lambda: folded(desk) == ["▾ main", "▾ scout", "▾ tester"])
        await desk.until(lambda: len(desk.rows("chunks")) == 3 + 6)
        # Where a thread begins is said among the events, and between the chunks of the strip.
        await desk.sees("── thread main ─")
        await desk.until(lambda: strip(desk) == "··· ··· ··· │··· ··· │···")
        await desk.until(lambda: "T Fold  Z Fold all" in desk.lines[-1])
        await desk.press("T")
        await desk.until(lambda: folded(desk)[0] == "▸ main" and len(desk.rows("chunks")) == 6)
        # What is known about its chunks stays in sight, also of those that are folded away.
        await desk.press("r")
        await desk.until(lambda: "3 of 3 chunks judged" in desk.rows("chunks")[0])
        await desk.press("Z")
        await desk.until(lambda: folded(desk) == ["▸ main", "▸ scout", "▸ tester"])
        await desk.until(lambda: len(desk.rows("chunks")) == 3)
        # A key for a chunk has none to mean there.
        await desk.press("c")
        await desk.sees("this is a thread")
        # Another chunk size leaves them folded.
        await desk.press("plus")
        await desk.until(lambda: "chunk   1500" in desk.text)
        await desk.until(lambda: folded(desk) == ["▸ main", "▸ scout", "▸ tester"])
        await desk.press("slash", *"scout-2", "enter")
        await desk.until(lambda: folded(desk) == ["▸ main", "▾ scout", "▸ tester"])
        await desk.until(
            lambda: desk.app.screen.chunks.position == desk.bench.outlook.plan.part_of(8) - 1
        )
        # Back from the search is back to where one was: the thread stays folded.
        await desk.press("escape")
        await desk.until(lambda: "/ search" not in desk.text)
        await desk.until(lambda: folded(desk) == ["▸ main", "▾ scout", "▸ tester"])
        await desk.until(lambda: desk.app.screen.chunks.on_thread)
        await desk.pilot.click("#timeline", offset=(1 + strip(desk).rindex("│") + 1, 0))
        await desk.until(lambda: folded(desk) == ["▸ main", "▾ scout", "▾ tester"])
        await desk.sees("── thread tester ─")
        await desk.pilot.click("#chunks", offset=(10, 0))
        await desk.until(lambda: folded(desk)[0] == "▾ main")


async def test_one_thread_has_nothing_to_fold(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 4)) as desk:
        await desk.until(lambda: len(desk.rows("chunks")) == 2)
        await desk.press("T")
        await desk.sees("one thread: there is nothing to fold")
        await desk.until(lambda: not folded(desk))


async def test_the_curve_shows_every_size_and_sets_the_one_that_is_read(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 40, (3,)), gated=True) as desk:
        await desk.until(lambda: len(desk.rows("chunks")) > 1)
        await desk.press("C")
        # What is read comes before the sizes that are still to be worked out.
        await desk.sees("◆ 1k is set")
        index = desk.bench.session.index

        async def reads(size):
            chunks = len(plan_chunks(index, size))
            await desk.sees(f"{size:,} characters: {chunks} chunk")
            await desk.sees(f"0 kept · {chunks} to ask")

        await reads(1_000)
        await desk.sees("larger chunks save less than 3 %")
        screen = desk.app.screen
        await desk.press("home")
        await reads(200)
        await desk.press("right", "right", "left")
        await reads(screen._sizes[1])
        await desk.press("end")
        await reads(screen._sizes[-1])
        await desk.press("C")
        await reads(1_000)
        # At another width other sizes stand in the columns; what is read stays.
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: len(screen._sizes) < 80 and "◆ 1k is set" in desk.text)
        await desk.until(lambda: "escape Back" in desk.lines[-1])
        await reads(1_000)
        await desk.press("right", "right", "right")
        wanted = screen._cursor
        assert wanted > 1_000
        await desk.press("enter")
        await desk.until(lambda: desk.bench.tuning.size == wanted and "CURVE" not in desk.text)
        # During a judgment it may be looked at, and not be changed.
        await desk.press("r")
        await desk.until(lambda: "running" in desk.text)
        await desk.press("C")
        await desk.sees("is set")
        await desk.press("home")
        await desk.sees("kept: as of before")
        await desk.press("enter")
        await desk.sees("a judgment is in flight:")
        assert desk.bench.tuning.size == wanted
        await desk.press("escape")
        await desk.until(lambda: "CURVE" not in desk.text)
        desk.judge.gate.set()
