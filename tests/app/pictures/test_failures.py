"""How forced failures, what is held outside, and the greeting look.

CONTRIBUTING.md says how to look at the pictures; each is taken where a state has come to rest.
"""

from __future__ import annotations

from stage_for_tests import StagedJudge, judge_eight, planned, sizes


@sizes
async def test_failure_lab_with_a_failure_picked(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000) as desk:
        await planned(desk)
        await desk.press("F", "down", "down", "down", "w", "w", "w", "n")
        await desk.sees("429x1@30%")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_with_what_is_held(open_desk, looks_as_before, long_session, clock, size):
    judge = StagedJudge(held=range(9, 99))
    async with open_desk(long_session, size=size, judge=judge, chunk_chars=30_000) as desk:
        await judge_eight(desk)
        clock.forward(3.2)
        await desk.press("H")
        await desk.sees("HOLDS 4 leases")
        # What was released until then stays in sight for a moment.
        clock.forward(3)
        await desk.until(lambda: not any("released" in row for row in desk.rows("holds")))
        await desk.press("home")
        assert await looks_as_before(desk)


@sizes
async def test_workbench_that_greets(open_desk, looks_as_before, long_session, size):
    async with open_desk(long_session, size=size, chunk_chars=30_000, tour=True) as desk:
        await planned(desk)
        await desk.sees("1/3")
        assert await looks_as_before(desk)
