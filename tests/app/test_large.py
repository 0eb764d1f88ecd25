"""Events too large to read between two frames: read in a thread, shown by the page."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from longjudge_tui.bench.texts import SLOW_CHARS


@pytest.fixture(params=[5_000_000, pytest.param(20_000_000, marks=pytest.mark.thorough)])
def huge_session(tmp_path, request):
    path = tmp_path / "huge.jsonl"
    filler = "".join(f"line {number} of the log\x1b[2J\n" for number in range(request.param // 25))
    half = len(filler) // 2
    rows = [
        {"kind": "tool_call", "tool": "Bash", "input": {"command": "make"}},
        {"kind": "tool_result", "tool": "Bash", "output": filler[:half] + "\n" + filler[half:]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


async def longest_pause(desk, act):
    """The longest time for which the loop did not turn while something was done."""
    longest, over = 0.0, asyncio.Event()

    async def watch():
        nonlocal longest
        before = time.perf_counter()
        while not over.is_set():
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        await act()
        over.set()
    return longest


async def test_a_huge_event_is_read_aside_and_its_piece_is_shown(open_desk, huge_session):
    async with open_desk(huge_session, chunk_chars=30_000, size=(200, 40)) as desk:
        await desk.until(lambda: len(desk.rows("chunks")) > 10)
        assert await longest_pause(desk, lambda: desk.press("down")) < 0.5
        await desk.until(lambda: "piece 1 of" in desk.title("detail-title"))
        await desk.until(lambda: "◂ Bash line 0 of the log" in desk.text)
        piece = desk.bench.outlook.plan[1].piece
        chars = piece.end - piece.start
        detail = desk.app.screen.query_one("#detail")
        assert len(detail._paged.text) == chars
        await desk.sees("line 0 of the log␛[2J")

        async def walk():
            for _ in range(10):
                desk.app.screen.chunks.action_down()
                await desk.pilot.pause()

        assert await longest_pause(desk, walk) < 0.5
        await desk.until(lambda: "piece 11 of" in desk.title("detail-title"))


async def test_a_quote_in_a_huge_event_is_found_from_what_was_kept(
    open_desk, tmp_path, finding_judge
):
    path = tmp_path / "far.json"
    command = f"echo {'x' * 195}\n" * (SLOW_CHARS // 160) + "drop everything"
    path.write_text(json.dumps([{"kind": "tool_call", "tool": "Bash", "input": {"c": command}}]))
    judge = finding_judge((1, "drop everything", "a note"))
    async with open_desk(path, judge=judge, chunk_chars=10_000_000) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: desk.bench.run and desk.bench.run.result)
    async with open_desk(path, chunk_chars=10_000_000) as desk:
        await desk.sees("1 of 1 kept · 1 finding · r asks nothing")
        await desk.press("tab", "tab", "enter")
        await desk.sees("quote verified")
        await desk.until(lambda: desk.highlighted() == "drop everything")
