"""How the library looks in its main states.

CONTRIBUTING.md says how to look at the pictures; each is taken where a state has come to rest.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stage_for_tests import HOUR, PRICE, StagedJudge, listed, sizes, statuses


@sizes
async def test_library_as_it_is_listed(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        assert await looks_as_before(desk)


@sizes
async def test_library_filtered(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("slash", *"release")
        await desk.sees("SESSIONS 2 of 5")
        assert await looks_as_before(desk)


@sizes
async def test_library_where_nothing_has_the_words(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("slash", *"zebra")
        await desk.sees("SESSIONS 0 of 5")
        assert await looks_as_before(desk)


@sizes
async def test_library_with_several_selected_and_estimated(
    open_desk, looks_as_before, folder, size
):
    judge = StagedJudge(price=PRICE)
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("space", "down", "space", "down", "down", "space", "e")
        await desk.until(lambda: len(desk.shelf.listing.selected) == 3)
        await desk.until(lambda: not desk.shelf.pricing.waiting)
        await desk.until(lambda: desk.shelf.sum_selected().priced == 3)
        assert await looks_as_before(desk)


@sizes
async def test_library_asks_before_it_spends(open_desk, looks_as_before, folder, size):
    judge = StagedJudge(price=PRICE)
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.sees("Judge at this price?")
        await desk.until(lambda: not desk.shelf.pricing.waiting)
        await desk.until(lambda: "estimated together" not in desk.title("library-sum"))
        await desk.sees("no secrets found")
        await desk.sees("sorted by file size")
        assert await looks_as_before(desk)


@sizes
async def test_library_judging_one_with_others_waiting(open_desk, looks_as_before, folder, size):
    judge = StagedJudge(held=range(13, 99))
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.sees("judging 12/")
        assert await looks_as_before(desk)


@sizes
async def test_library_with_results(open_desk, looks_as_before, folder, clock, size):
    """Complete with and without findings, timed out, cancelled, and not applicable."""
    judge = StagedJudge()
    async with open_desk(folder, size=size, judge=judge, chunk_chars=10_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 5 and not desk.shelf.busy)
        clock.forward(3 * HOUR)
        await desk.press("A")
        judge.held = range(1, 9_999)
        desk.bench.tuning.set_size(12_000)
        desk.bench.tuning.set_time_limit(0.1)
        await desk.press("down", "r")
        await desk.until(lambda: statuses(desk).count("timed_out") == 1)
        desk.bench.tuning.set_time_limit(600)
        await desk.press("down", "r")
        await desk.sees("judging 0/")
        await desk.press("c")
        await desk.until(lambda: statuses(desk).count("cancelled") == 1)
        await desk.until(lambda: not desk.shelf.busy)
        clock.forward(5 * 60)
        await desk.press("home")
        assert await looks_as_before(desk)


@sizes
async def test_library_with_files_that_are_no_sessions(open_desk, looks_as_before, folder, size):
    Path(folder, "notes.jsonl").write_text('{"shopping": ["milk", "bread"]}\n' * 900)
    Path(folder, "broken.json").write_text('[{"kind": "tool_call", "tool": ' + " " * 2_000)
    for name in ("notes.jsonl", "broken.json"):
        os.utime(folder / name, (1_789_000_000,) * 2)
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("down", "down", "down", "down")
        assert await looks_as_before(desk)


@sizes
async def test_library_help(open_desk, looks_as_before, folder, size):
    async with open_desk(folder, size=size) as desk:
        await listed(desk)
        await desk.press("question_mark")
        await desk.sees("In the library")
        assert await looks_as_before(desk)


async def test_library_with_hostile_names_and_titles(open_desk, looks_as_before, folder):
    events = [{"kind": "tool_call", "tool": "[red]Bash[/]", "input": {"command": "ls"}}]
    title = "\x1b]0;owned\x07 [/] [@click=app.quit]go[/] \u202egnp.exe list[int]"
    for name in ("[bold]a[.json", "new\nline \x1b[2Jb.json"):
        path = folder / name
        path.write_text(json.dumps({"title": title if "bold" in name else "", "events": events}))
        os.utime(path, (1_789_990_000,) * 2)
    async with open_desk(folder) as desk:
        await listed(desk)
        await desk.press("end")
        assert await looks_as_before(desk)


@pytest.mark.parametrize("theme", ["textual-light", "longjudge-high-contrast"])
async def test_library_in_other_colours(open_desk, looks_as_before, folder, theme):
    judge = StagedJudge(held=range(13, 99))
    async with open_desk(folder, judge=judge, theme=theme, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("A", "r")
        await desk.sees("judging 12/")
        assert await looks_as_before(desk)
