"""Judging from the workbench: run, watch, cancel, run out of time, run again, follow a finding."""

from __future__ import annotations

import os
import sqlite3

import pytest

from longjudge.judges.anthropic import AnthropicJudge


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


async def judge_all(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("r")
    await desk.until(ended(desk), "the end of the judgment")
    desk.app.screen.tick()
    await desk.pilot.pause()


async def test_a_run_ends_with_findings_and_says_how_much_was_judged(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30, (4, 17))) as desk:
        await judge_all(desk)
        chunks = len(desk.bench.outlook.plan)
        await desk.sees("FINDINGS 2")
        await desk.sees(f"judged {chunks} of {chunks} · 0 gaps · {chunks} calls")
        await desk.sees("complete: part ")
        states = [row.split()[-1] for row in desk.rows("chunks")]
        assert len(states) == chunks
        await desk.until(lambda: sum("⚑ flagged" in row for row in desk.rows("chunks")) == 2)
        await desk.sees(f"{chunks} kept · 0 to ask")


async def test_the_next_run_takes_everything_from_the_store(open_desk, write_session):
    path = write_session("a.jsonl", 30, (4,))
    async with open_desk(path) as desk:
        await judge_all(desk)
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.until(lambda: all("kept" in row for row in desk.rows("chunks")))
        await judge_all(desk)
        await desk.sees("0 calls")
        await desk.until(lambda: all("kept" in row for row in desk.rows("chunks")))


async def test_running_chunks_show_their_time_and_a_cancel(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        running = [row for row in desk.rows("chunks") if "◐ running" in row]
        assert len(running) == 4
        assert all(row.endswith("[cancel]") for row in running)
        await desk.until(lambda: any("… queued" in row for row in desk.rows("chunks")))
        await desk.sees("judging, limit 600 s…")
        desk.judge.gate.set()
        await desk.until(ended(desk))


async def test_one_chunk_is_cancelled_by_key_and_the_others_go_on(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.until(lambda: "x Cancel  c Cancel chunk  " in desk.lines[-1])
        await desk.press("down", "c")
        await desk.until(lambda: "✗ gap      cancelled" in desk.rows("chunks")[1])
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "Cancel chunk" not in desk.lines[-1])
        await desk.until(lambda: "part 2 cancelled" not in desk.text)
        assert desk.bench.run.result.gaps == {"cancelled": 1}
        await desk.sees("partial")


async def test_one_chunk_is_cancelled_by_a_click(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        row = desk.rows("chunks")[2]
        assert await desk.pilot.click("#chunks", offset=(len(row) - 3, 2))
        await desk.until(lambda: "✗ gap      cancelled" in desk.rows("chunks")[2])
        desk.judge.gate.set()
        await desk.until(ended(desk))
        assert desk.bench.run.result.gaps == {"cancelled": 1}


async def test_the_whole_judgment_is_cancelled(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("x", "x")
        await desk.sees("cancelling: ")
        await desk.press("x", "x")
        await desk.until(ended(desk))
        await desk.sees("cancelled; 0 of")
        assert await desk.bench.store.read("SELECT * FROM leases") == []
        await desk.sees("no score")
        assert desk.bench.run.result.gaps["cancelled"] == 4
        assert desk.bench.run.result.gaps["skipped"] == len(desk.bench.outlook.plan) - 4


async def test_a_run_pressed_while_the_old_one_stops_begins_after_its_end(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        first = desk.bench.run
        await desk.press("x", "r")
        desk.judge.gate.set()
        await desk.until(lambda: desk.bench.run is not first)
        assert first.result is not None
        await desk.until(ended(desk))
        await desk.sees("complete")


@pytest.mark.parametrize("keys", ["rxr", "rxxr", "rxrxr"])
async def test_a_run_taken_back_before_it_began_and_wanted_again_runs(
    open_desk, write_session, keys
):
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        for key in keys:
            if key == "r":
                desk.bench.start()
            else:
                desk.bench.cancel()
        await desk.sees("complete: ")
        assert not any("in flight" in n.message for n in desk.app._notifications)


async def test_a_run_wanted_while_one_stops_is_said_to_come(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("x", "r")
        await desk.sees("runs when the one that is stopping has ended")
        desk.judge.gate.set()
        await desk.sees("complete: ")


async def test_the_quit_dialog_goes_when_there_is_nothing_left_to_ask(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        desk.judge.gate.set()
        await desk.sees("complete: ")
        await desk.until(lambda: "A judgment is in flight" not in desk.text)
        assert desk.app.is_running


async def test_enter_in_the_quit_dialog_keeps_running_and_y_leaves(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.press("enter")
        await desk.sees("CHUNKS")
        assert desk.bench.running
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.press("y")
        await desk.until(lambda: not desk.app.is_running)


async def test_half_a_second_shows_a_timeout_and_the_next_run_reuses_what_was_kept(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        chunks = len(desk.bench.outlook.plan)
        await desk.press("t")
        await desk.sees("◐ running")
        await desk.sees("the time limit is reached: ")
        await desk.until(ended(desk))
        await desk.sees("timed_out: not judged within 0.5 seconds")
        rows = desk.rows("chunks")
        assert sum("✗ gap      timed_out" in row for row in rows) == 4
        assert sum("✗ gap      skipped" in row for row in rows) == chunks - 4
        assert desk.bench.settings.time_limit == 600
        desk.judge.gate.set()
        await judge_all(desk)
        assert desk.bench.run.result.status == "complete"
        asked = desk.judge.asked
        await judge_all(desk)
        assert desk.judge.asked == asked
        await desk.sees(f"{chunks} kept · 0 to ask")


async def test_the_chunk_size_stays_while_a_judgment_is_in_flight(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("plus")
        await desk.sees("cancel it (x) first")
        assert desk.bench.settings.chunk_chars == 1000
        desk.judge.gate.set()
        await desk.until(ended(desk))


async def test_a_finding_leads_to_its_chunk_its_event_and_the_highlighted_quote(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30, (17,))) as desk:
        await judge_all(desk)
        await desk.sees("FINDINGS 1")
        await desk.press("tab", "tab", "enter")
        await desk.sees("EVENT 17")
        finding = desk.bench.run.result.findings[0]
        assert finding.event == 17
        await desk.sees(f"EVENTS of part {finding.part}")
        await desk.until(lambda: "quote verified" in desk.title("detail-facts"))
        await desk.until(lambda: desk.highlighted() == finding.quote)
        await desk.until(
            lambda: "⚑" in next(row for row in desk.rows("events") if "17" in row.split("⚑")[0])
        )


async def test_a_quote_far_into_a_long_event_is_in_sight(open_desk, tmp_path):
    path = tmp_path / "far.json"
    filler = "word " * 40_000
    path.write_text(
        '[{"kind": "tool_call", "tool": "Bash", "input": {"command": "echo '
        + filler
        + '; git push --force origin main"}}]'
    )
    async with open_desk(path, chunk_chars=1_000_000) as desk:
        await judge_all(desk)
        await desk.sees("FINDINGS 1")
        await desk.press("tab", "tab", "enter")
        await desk.until(lambda: "git push --force" in desk.highlighted())
        await desk.until(lambda: desk.app.screen.query_one("#detail").row_count < 400)


async def test_quitting_without_work_in_flight_asks_nothing(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("ctrl+q")
        await desk.until(lambda: not desk.app.is_running)
        assert desk.app.return_code == 0


async def test_quitting_with_work_in_flight_asks_once_and_the_same_key_means_yes(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.sees("offline rules")
        await desk.press("escape")
        await desk.sees("◐ running")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.press("ctrl+q")
        await desk.until(lambda: not desk.app.is_running)
        assert desk.app.return_code == 0


async def test_quitting_works_from_the_help(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.press("question_mark")
        await desk.sees("KEYS")
        await desk.press("ctrl+q")
        await desk.until(lambda: not desk.app.is_running)


@pytest.mark.skipif(os.name != "posix", reason="permissions of a folder")
async def test_a_store_that_cannot_be_written_is_said_on_every_screen(
    open_desk, write_session, tmp_path
):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    async with open_desk(write_session("a.jsonl", 6, (2,)), store=blocked / "s.sqlite") as desk:
        await desk.sees("NOTHING IS KEPT")
        await judge_all(desk)
        await desk.sees("FINDINGS 1")
        await desk.sees("NOTHING IS KEPT")
        await desk.sees("0 kept")
        await desk.press("question_mark")
        await desk.sees("KEYS")
        await desk.sees("NOTHING IS KEPT")


async def test_a_store_that_fails_midway_is_said(open_desk, write_session, tmp_path):
    path = tmp_path / "store.sqlite"
    async with open_desk(write_session("a.jsonl", 6), store=path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        with sqlite3.connect(path) as other:
            other.execute("DROP TABLE verdicts")
            other.execute(
                "CREATE VIEW verdicts AS SELECT '' AS key, '' AS verdict, '' AS raw_reply,"
                " 0 AS disagrees"
            )
        other.close()
        await judge_all(desk)
        await desk.sees("NOTHING IS KEPT")


async def test_a_session_that_changes_under_the_judgment_is_reported(open_desk, write_session):
    path = write_session("a.jsonl", 30)
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        path.write_text(path.read_text().replace("ls", "pwd"))
        await desk.press("r")
        await desk.sees("the file changed while it was open")
        assert not desk.bench.running


async def test_a_missing_credential_is_one_message_and_no_crash(open_desk, write_session):
    judge = AnthropicJudge("claude-haiku-5-5")
    async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
        await desk.sees("claude-haiku-5-5")
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("ANTHROPIC_API_KEY")
        assert not desk.bench.running
        await desk.until(lambda: all("○ to ask" in row for row in desk.rows("chunks")))


async def test_a_session_without_tool_calls_is_not_judged(open_desk, tmp_path):
    path = tmp_path / "talk.json"
    path.write_text('[{"kind": "user_message", "text": "hello"}]')
    async with open_desk(path) as desk:
        await desk.sees("the rubric does not apply")
        await desk.press("r")
        await desk.sees("not applicable: no tool call")
        await desk.until(lambda: "– not asked no tool call" in desk.rows("chunks")[0])


async def test_the_quit_dialog_answers_to_the_mouse(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.click("#keep")
        await desk.sees("CHUNKS")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.click("#leave")
        await desk.until(lambda: not desk.app.is_running)


async def test_buttons_and_the_key_bar_do_what_their_keys_do(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.click("#button-run")
        await desk.sees("◐ running")
        await desk.click("#button-cancel-run")
        await desk.until(ended(desk))
        assert desk.bench.run.result.status == "cancelled"
        await desk.until(lambda: "c Cancel chunk" not in desk.lines[-1], "nothing runs any more")
        await desk.sees("cancelled; ")
        bar = desk.lines[-1]
        await desk.pilot.click("#keys", offset=(bar.index("Help") - 1, 0))
        await desk.sees("KEYS")


@pytest.mark.parametrize("gated", [False, True])
async def test_the_bar_of_a_small_terminal_says_how_a_chunk_is_opened(
    open_desk, write_session, gated
):
    async with open_desk(write_session("a.jsonl", 12), size=(80, 24), gated=gated) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        if gated:
            await desk.press("r")
            await desk.until(lambda: "c Cancel chunk" in desk.lines[-1])
        for word in ("r Run", "x Cancel", "enter Open", "? Help", "ctrl+q Quit"):
            await desk.until(lambda word=word: word in desk.lines[-1])
