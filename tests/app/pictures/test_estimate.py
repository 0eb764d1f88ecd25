"""How the screen looks that says what judging several sessions comes to."""

from __future__ import annotations

import json
import os

from longjudge_tui.estimate.estimating import Estimating
from stage_for_tests import PRICE, StagedJudge, listed, sizes


@sizes
async def test_all_of_it_estimated(open_desk, looks_as_before, folder, size):
    judge = StagedJudge(price=PRICE)
    async with open_desk(folder, size=size, judge=judge, chunk_chars=30_000) as desk:
        await listed(desk)
        await desk.press("E")
        await desk.sees("all 5 sessions estimated")
        assert await looks_as_before(desk)


@sizes
async def test_a_sample(open_desk, looks_as_before, folder, size, monkeypatch):
    monkeypatch.setattr(Estimating, "estimate_all", lambda _: None)
    for number in range(20):
        words = {"command": f"ls {number}", "why": "x" * 400}
        events = [
            {"kind": "tool_call", "tool": "Bash", "input": words | {"n": n}} for n in range(9)
        ]
        path = folder / f"run-{number:02}.json"
        path.write_text(json.dumps(events[: 2 + number % 8]))
        os.utime(path, (1_789_000_000,) * 2)
    async with open_desk(folder, size=size, judge=StagedJudge(price=PRICE)) as desk:
        await desk.until(lambda: desk.rows("sessions"))
        await desk.press("E", "s")
        await desk.until(lambda: desk.shelf.estimates.current.extrapolated)
        await desk.sees("10 of 25")
        assert await looks_as_before(desk)
