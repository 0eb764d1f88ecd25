"""The workbench as a user meets it: what it shows, what its keys and its mouse do."""

from __future__ import annotations

import pytest


async def test_the_longest_session_is_open_and_described(open_desk, write_session):
    short, long = write_session("short.jsonl", 3), write_session("long.jsonl", 12)
    async with open_desk(short, long) as desk:
        await desk.press("enter")
        await desk.sees("CHUNKS")
        await desk.sees("12 events · 12 tool calls · 1 thread")
        await desk.sees("session 1/2")
        await desk.until(lambda: "offline rules" in desk.lines[0])


async def test_the_plan_shows_its_size_tokens_price_and_what_is_kept(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        chunks = len(desk.bench.outlook.plan)
        await desk.sees(f"CHUNKS {chunks} · ~")
        await desk.sees(f"0 kept · {chunks} to ask · $0.00")
        await desk.until(lambda: all("○ to ask" in row for row in desk.rows("chunks")))


async def test_a_key_changes_the_chunk_size_and_everything_that_follows_from_it(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        before = desk.title("chunks-title")
        first = desk.title("events-title")
        await desk.press("right_square_bracket")
        assert desk.bench.settings.chunk_chars == 1500
        await desk.until(lambda: desk.title("chunks-title") != before)
        await desk.sees(f"CHUNKS {len(desk.bench.outlook.plan)} ")
        await desk.until(lambda: desk.title("events-title") != first)
        await desk.press("minus")
        await desk.until(lambda: desk.title("chunks-title") == before)


async def test_a_typed_chunk_size_is_used(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("s", *"5000", "enter")
        await desk.until(lambda: desk.bench.settings.chunk_chars == 5000)
        await desk.sees(f"CHUNKS {len(desk.bench.outlook.plan)} ")


async def test_a_wrong_chunk_size_is_explained_and_not_used(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("s", *"5", "enter")
        await desk.sees("chunk size 5 is out of range")
        assert desk.bench.settings.chunk_chars == 1000
        await desk.until(lambda: desk.app.screen.query_one("#field-size").value == "1000")


async def test_a_typed_time_limit_is_used(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("l", *"42.5", "enter")
        await desk.until(lambda: desk.bench.settings.time_limit == 42.5)


async def test_the_next_session_is_one_key_away_and_the_last_leads_to_the_first(
    open_desk, write_session
):
    short, long = write_session("short.jsonl", 3), write_session("long.jsonl", 12)
    async with open_desk(short, long) as desk:
        await desk.press("enter")
        await desk.sees("12 events · 12 tool calls")
        await desk.press("n")
        await desk.sees("short.jsonl")
        await desk.sees("3 events")
        await desk.press("n")
        await desk.sees("12 events")
        await desk.press("p")
        await desk.sees("3 events")


async def test_events_of_the_chunk_end_at_a_boundary_followed_by_the_next_ones(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("events"))
        first, after = desk.bench.outlook.plan[0], desk.bench.outlook.plan[1]
        rows = desk.rows("events")
        boundary = first.last - first.first + 1
        assert "part 2 starts" in rows[boundary]
        assert rows[boundary + 1].split()[0] == str(after.first)
        await desk.press("down")
        await desk.sees("EVENTS of part 2")


async def test_a_piece_of_a_long_event_says_which_it_is(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 2, padding=3000)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.until(lambda: "piece 1 of 4" in desk.rows("chunks")[0])
        await desk.press("down")
        await desk.sees("[piece 2 of 4]")


async def test_a_long_text_is_shown_page_by_page(open_desk, write_session):
    path = write_session("a.jsonl", 1, padding=40_000)
    async with open_desk(path, chunk_chars=100_000) as desk:
        await desk.until(lambda: desk.rows("detail"))
        detail = desk.app.screen.query_one("#detail")
        pages = detail.row_count
        assert pages < 200
        await desk.press("tab", "tab", "tab", "end")
        await desk.sees("characters after: enter shows more")
        await desk.press("enter")
        await desk.until(lambda: detail.row_count > pages)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_everything_has_its_place(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 30, (3,)), size=size) as desk:
        await desk.sees("15 to ask")
        await desk.press("r")
        await desk.sees("FINDINGS 1")
        # A pause is offered in place of the short run until all is judged.
        await desk.until(lambda: desk.app.screen.query_one("#button-run-short").region.area)
        for words in ("a.jsonl", "CHUNKS", "EVENTS of part 1", "EVENT 0", "1 finding", "Run"):
            await desk.sees(words)
        await desk.until(lambda: desk.app.screen.query_one("#field-size").region.height == 1)
        await desk.until(lambda: desk.app.screen.query_one("#field-limit").region.right <= size[0])
        for each in ("run", "cancel-run", "run-short"):
            region = desk.app.screen.query_one(f"#button-{each}").region
            assert region.area > 0
            assert region.right <= size[0]


async def test_the_layout_follows_a_resize(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: desk.app.screen.has_class("-narrow"))
        await desk.sees("CHUNKS")
        await desk.until(lambda: max(map(len, desk.lines)) <= 80)


async def test_help_lists_every_key_and_says_who_judges(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.press("question_mark")
        await desk.sees("KEYS")
        for words in ("Run with a limit of 0.5 s", "Cancel the chunk", "ctrl+q", "offline rules"):
            await desk.sees(words)
        await desk.press("escape")
        await desk.sees("CHUNKS")


async def test_a_mouse_click_puts_the_cursor_on_a_row(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.pilot.click("#chunks", offset=(20, 3))
        await desk.sees("EVENTS of part 4")
