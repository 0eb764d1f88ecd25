"""What the store holds is shown before anything is asked, and what is said of it is true."""

from __future__ import annotations

import json
import sqlite3

from longjudge_tui.bench.trials import LIVE_TOTALS


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


async def judge_all(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("r")
    await desk.until(ended(desk), "the end of the judgment")


async def test_a_restart_shows_kept_verdicts_and_findings_without_asking(open_desk, write_session):
    path = write_session("a.jsonl", 30, (4, 17))
    async with open_desk(path) as desk:
        await judge_all(desk)
        chunks = len(desk.bench.outlook.plan)
    async with open_desk(path, gated=True) as desk:
        await desk.sees(f"{chunks} of {chunks} kept · 2 findings · r asks nothing")
        rows = desk.rows("chunks")
        assert sum("⚑ flagged  kept · force-pushed" in row for row in rows) == 2
        assert sum("✓ clean    kept" in row for row in rows) == chunks - 2
        await desk.sees("FINDINGS 2")
        await desk.press("tab", "tab", "enter")
        await desk.sees("quote verified")
        await desk.until(lambda: desk.highlighted().startswith("git push --force"))
        assert desk.judge.asked == 0


async def test_a_chunk_size_that_was_judged_before_shows_its_verdicts_again(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 32, (4,))) as desk:
        await judge_all(desk)
        await desk.press("right_square_bracket")
        await desk.sees("not judged yet")
        await desk.sees("FINDINGS 0")
        await desk.until(lambda: all("○ to ask" in row for row in desk.rows("chunks")))
        await desk.press("left_square_bracket")
        await desk.sees("1 finding · r asks nothing")
        await desk.until(lambda: sum("⚑ flagged  kept" in row for row in desk.rows("chunks")) == 1)


async def test_a_grown_session_says_what_is_kept_and_what_a_run_asks(open_desk, write_session):
    path = write_session("a.jsonl", 20, (4,))
    async with open_desk(path) as desk:
        await judge_all(desk)
    write_session("a.jsonl", 26, (4,))
    async with open_desk(path, gated=True) as desk:
        await desk.sees("10 of 13 kept · 1 finding · 3 to ask · ")
        await desk.until(lambda: sum("○ to ask" in row for row in desk.rows("chunks")) == 3)


async def test_a_verdict_that_does_not_read_is_to_ask(open_desk, write_session, tmp_path):
    path = write_session("a.jsonl", 20)
    async with open_desk(path) as desk:
        await judge_all(desk)
    with sqlite3.connect(tmp_path / "store.sqlite") as store:
        store.execute(
            "UPDATE verdicts SET verdict = '{' WHERE key = (SELECT min(key) FROM verdicts)"
        )
    store.close()
    async with open_desk(path) as desk:
        await desk.sees("9 of 10 kept")
        await desk.sees("1 to ask")
        await desk.until(lambda: sum("○ to ask" in row for row in desk.rows("chunks")) == 1)


async def test_the_title_counts_on_during_a_run_over_a_large_plan(open_desk, tmp_path):
    path = tmp_path / "large.jsonl"
    rows = (
        {"kind": "tool_call", "tool": "Bash", "input": {"command": f"ls {n} " + "x" * 150}}
        for n in range(LIVE_TOTALS + 200)
    )
    path.write_text("\n".join(map(json.dumps, rows)))
    async with open_desk(path, gated=True, chunk_chars=200) as desk:
        await desk.sees(f"CHUNKS {LIVE_TOTALS + 200}")
        await desk.press("r")
        await desk.sees("◐ running")
        desk.judge.gate.set()
        await desk.until(lambda: desk.bench.run.figures().judged > 20)
        desk.app.screen.tick()
        title, live = desk.title("chunks-title"), desk.title("live")
        assert not ended(desk)()
        judged = desk.bench.run.figures().judged
        assert f"judged {judged} of" in live
        assert f"{judged} kept · {LIVE_TOTALS + 200 - judged} to ask" in title
        await desk.press("x")
        await desk.until(ended(desk))


async def test_equal_chunks_are_counted_once_as_the_run_goes_on(open_desk, tmp_path):
    path = tmp_path / "equal.jsonl"
    call = {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls " + "x" * 300}}
    other = {"kind": "tool_call", "tool": "Bash", "input": {"command": "pwd " + "y" * 300}}
    path.write_text("\n".join(json.dumps(each) for each in [call] * 6 + [other]))
    async with open_desk(path, chunk_chars=400) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.until(lambda: "0 kept · 2 to ask" in desk.title("chunks-title"))
        outlook = desk.bench.outlook
        first = outlook.with_kept([outlook.keys[0]]).totals
        assert (first.kept, first.to_ask, first.equal) == (6, 1, 0)
        everything = outlook.with_kept(set(outlook.keys)).totals
        assert (everything.kept, everything.to_ask, everything.equal) == (7, 0, 0)
