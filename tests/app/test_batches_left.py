"""What becomes of batches when the app, or their session, is left: they run on, or end."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

import server as api
from longjudge.config import BatchesTable, Configuration
from longjudge.judges.make import make_judge
from longjudge_tui.widgets import quit_batches
from longjudge_tui.widgets.quit_batches import QuitBatchesDialog
from server import FOREVER, MessagesServer

EVENTS = 8
CHUNKS = 4
QUICK = Configuration(batches=BatchesTable(longest_look=0.05))


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        server.batches.latency = FOREVER
        yield server


def judge():
    return make_judge("claude-haiku-5-5")


def rows(path, columns="owner, state, cancel"):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {columns} FROM batches ORDER BY created").fetchall()


def logged(desk):
    return "\n".join(each.words for each in desk.bench.log.since(0))


async def send(desk):
    await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")
    await desk.press("A")
    await desk.sees("Judge as a batch?")
    await desk.press("enter")
    await desk.until(lambda: f"{CHUNKS} in a batch (msgbatch_" in desk.title("status"))


async def gone(desk):
    await desk.until(lambda: not desk.app.is_running or desk.app._exit, "the app on its way out")


async def test_what_a_batch_costs_and_how_long_it_takes_is_said_before_it_is_sent(
    open_desk, write_session, served
):
    path = write_session("a.jsonl", EVENTS)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")
        await desk.press("A")
        await desk.sees("4 questions to claude-haiku-5-5")
        totals = desk.bench.outlook.totals
        half = f"as a batch: about ${totals.cost_usd / 2:.4f} ("
        await desk.sees(half)
        await desk.sees("usually within an hour, at most a day")
        await desk.sees(f"live it would be ~${totals.cost_usd:.4f}")
        assert not served.batches.all
        await desk.press("y")
        await desk.until(lambda: served.batches.all)
        served.batches.finish()
        await desk.sees("complete: ")
        assert not served.requests


async def test_the_title_of_the_chunks_has_no_live_price_of_what_is_in_a_batch(
    open_desk, write_session, served
):
    served.script = lambda request, _: (
        api.clean(request) if request.custom_id else api.held(request)
    )
    path = write_session("a.jsonl", EVENTS)
    async with open_desk(path, judge=judge(), config=QUICK, concurrency=2) as desk:

        def title():
            return desk.title("chunks-title")

        await desk.until(lambda: "4 to ask · ~$" in title())
        cost = desk.bench.outlook.totals.cost_usd
        await desk.press("r")
        await desk.until(lambda: len(served.requests) == 2)
        await desk.press("A")
        await desk.sees("Move the rest into a batch?")
        await desk.press("enter")
        half = f"0 kept · 2 in a batch · 2 to ask · ~${cost / 2:.4f}"
        await desk.until(lambda: half in title(), half)
        served.release()
        await desk.until(lambda: title().endswith("2 kept · 2 in a batch"))
        assert "$" not in title()
        assert desk.bench.running


async def test_enter_leaves_the_batch_running_and_the_next_start_shows_its_verdicts(
    open_desk, write_session, served, tmp_path
):
    path = write_session("a.jsonl", EVENTS)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await desk.press("escape")
        await desk.until(lambda: "A batch is out" not in desk.text)
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await desk.press("enter")
        await gone(desk)
    assert rows(tmp_path / "store.sqlite") == [("", "submitted", "")]
    assert not served.batches.called["cancel"]
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await desk.until(lambda: "taken up: 4 questions" in logged(desk))
        served.batches.finish()
        await desk.until(lambda: "4 kept" in desk.title("chunks-title"))
        await desk.until(
            lambda: (
                all("● kept" in row for row in desk.rows("chunks")[:CHUNKS])
                or all("✓ clean" in row for row in desk.rows("chunks")[:CHUNKS])
            )
        )
    assert len(served.batches.all) == 1
    assert not served.requests


@pytest.mark.parametrize("keys", [("ctrl+q", "ctrl+q"), ("ctrl+q", "y")])
async def test_ctrl_q_again_means_yes_and_leaves_it_running(
    open_desk, write_session, served, tmp_path, keys
):
    async with open_desk(write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press(keys[0])
        await desk.sees("A batch is out")
        await desk.press(keys[1])
        await gone(desk)
    assert rows(tmp_path / "store.sqlite") == [("", "submitted", "")]
    assert not served.batches.called["cancel"]


async def test_another_key_cancels_the_batch_at_the_provider_and_quits(
    open_desk, write_session, served, tmp_path
):
    served.batches.done_at_cancel = 0.5
    async with open_desk(write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await desk.press("x")
        await gone(desk)
        await desk.until(lambda: not desk.bench.queues.live)
        kept = await desk.bench.store.all_keys()
    assert served.batches.called["cancel"] == 1
    assert len(kept) == CHUNKS // 2, "what had an answer was paid for"
    assert [row[1:] for row in rows(tmp_path / "store.sqlite")] in (
        [("harvested", "cancelled")],
        [],
    )


async def test_a_second_press_does_not_wait_for_the_end_and_the_cancel_is_not_forgotten(
    open_desk, write_session, served, tmp_path
):
    served.batches.cancel_latency = FOREVER
    path = write_session("a.jsonl", EVENTS)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await desk.press("x")
        await desk.sees("Cancelling 1 batch at the provider")
        await desk.until(lambda: "leave it running" not in desk.text)
        await desk.until(lambda: served.batches.called["cancel"])
        await desk.press("x")
        await gone(desk)
    [(owner, state, cancel)] = rows(tmp_path / "store.sqlite")
    assert owner
    assert (state, cancel) == ("submitted", "cancelled")


async def test_another_session_can_be_opened_meanwhile_and_nothing_is_asked_twice(
    open_desk, write_session, served
):
    one, other = write_session("a.jsonl", EVENTS, padding=310), write_session("b.jsonl", 4)
    async with open_desk(one, other, judge=judge(), config=QUICK) as desk:
        await desk.until(lambda: desk.row("a.jsonl"))
        await desk.press("enter")
        await send(desk)
        await desk.press("escape")
        await desk.sees("SESSIONS 2")
        await desk.press("down", "enter")
        await desk.until(lambda: "b.jsonl" in desk.title("header"))
        await desk.until(lambda: "2 to ask" in desk.title("chunks-title"))
        assert desk.bench.batches_out == 1
        assert not served.batches.called["cancel"]
        await desk.press("escape")
        await desk.sees("SESSIONS 2")
        await desk.press("up", "enter")
        await desk.until(lambda: "a.jsonl" in desk.title("header"))
        await desk.until(lambda: all("◷ waiting" in row for row in desk.rows("chunks")[:CHUNKS]))
        await desk.until(lambda: "of this window" in desk.title("status"))
        await desk.press("r")
        await desk.sees("all of it is in a batch already")
        served.batches.finish()
        await desk.until(lambda: "4 kept" in desk.title("chunks-title"))
        assert "is home: 4 verdicts kept" in logged(desk)
    assert not served.requests


async def test_a_cancel_waits_for_the_batch_in_sight_and_again_waits_no_longer(
    open_desk, write_session, served
):
    served.batches.cancel_latency = FOREVER
    async with open_desk(write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("x")
        await desk.until(lambda: "cancelling 1 batch at the provider" in desk.title("status"))
        await desk.until(lambda: served.batches.called["cancel"])
        await desk.press("x")
        await desk.until(lambda: "is still being cancelled" in desk.title("status"))
        await desk.until(lambda: not any("▤" in row for row in desk.rows("chunks")))
        assert desk.bench.batches_out == 1
        served.batches.finish()
        await desk.until(lambda: not desk.bench.batches_out)


async def test_a_provider_without_batches_says_so_and_all_of_it_stays_to_ask(
    open_desk, write_session, served
):
    served.batches.available = False
    async with open_desk(write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK) as desk:
        await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")
        await desk.press("A")
        await desk.sees("Judge as a batch?")
        await desk.press("enter")
        await desk.until(lambda: "takes no batches; r asks live" in desk.title("status"))
        assert "no batch of 4 questions" in logged(desk)
        assert not served.requests
        await desk.press("r")
        await desk.sees("complete: ")


async def test_what_goes_into_a_batch_outlasts_the_limit_of_live_questions(
    open_desk, write_session, served
):
    served.script = lambda request, _: (
        api.clean(request) if request.custom_id else api.held(request)
    )
    path = write_session("a.jsonl", 16)
    async with open_desk(path, judge=judge(), config=QUICK, time_limit=4.0) as desk:
        await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")
        await desk.press("r")
        await desk.until(lambda: len(served.requests) == 4)
        await desk.press("A")
        await desk.sees("Move the rest into a batch?")
        await desk.press("enter")
        await desk.until(lambda: served.batches.all)
        await desk.until(lambda: desk.bench.run.seconds > 5.0)
        assert not desk.bench.stopping
        served.release()
        served.batches.finish()
        await desk.sees("complete: ")


async def test_what_is_left_of_a_run_is_said_as_it_is_once_its_batch_is_home(
    open_desk, write_session, served
):
    path = write_session("a.jsonl", EVENTS)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await desk.press("enter")
        await gone(desk)
    async with open_desk(path, judge=judge(), config=QUICK, size=(200, 40)) as desk:
        await desk.until(lambda: "last run, " in desk.title("status"))
        await desk.until(lambda: "what is left is in a batch" in desk.title("status"))
        await desk.sees("no secrets found · all of it in a batch")
        await desk.until(lambda: desk.title("chunks-title").endswith("0 kept · 4 in a batch"))
        assert "r runs" not in desk.text
        assert "goes on: " not in desk.title("status")
        served.batches.finish()
        await desk.until(lambda: "4 kept" in desk.title("chunks-title"))
        await desk.until(lambda: "what was missing is kept by now" in desk.title("status"))
        assert "goes on: " not in desk.title("status")


async def test_the_question_of_quitting_gives_way_once_a_batch_is_out(
    open_desk, write_session, served
):
    served.script = api.held
    path = write_session("a.jsonl", 16)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")
        await desk.press("r")
        await desk.until(lambda: len(served.requests) == 4)
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        assert desk.bench.run.move_to_batch()
        await desk.sees("A batch is out")
        await desk.sees("asked live is cancelled.")
        assert "A judgment is in flight" not in desk.text
        await desk.press("escape")
        await desk.until(lambda: "A batch is out" not in desk.text)
        assert desk.bench.running


async def test_a_key_meant_for_the_question_before_does_not_answer_the_one_in_its_place(
    open_desk, write_session, served, monkeypatch
):
    monkeypatch.setattr(quit_batches, "SETTLE_SECONDS", 600.0)
    served.script = api.held
    path = write_session("a.jsonl", 16)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await desk.until(lambda: "to ask" in desk.title("chunks-title"), "a plan")
        await desk.press("r")
        await desk.until(lambda: len(served.requests) == 4)
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        assert desk.bench.run.move_to_batch()
        await desk.until(lambda: isinstance(desk.app.screen, QuitBatchesDialog))
        await desk.press("y", "enter", "x")
        await desk.sees("A batch is out by now")
        assert desk.app.is_running
        assert not desk.app._exit
        assert not served.batches.called["cancel"]
        assert desk.bench.running
        monkeypatch.setattr(quit_batches, "SETTLE_SECONDS", 0.0)
        await desk.press("y")
        await gone(desk)
    assert not served.batches.called["cancel"]


async def test_a_pause_does_not_hide_that_the_batch_goes_on(open_desk, write_session, served):
    path = write_session("a.jsonl", EVENTS)
    async with open_desk(path, judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("P")
        await desk.until(lambda: "nothing is asked, 4 in a batch go on" in desk.title("status"))
        served.batches.finish()
        await desk.sees("complete: ")


async def test_a_run_that_was_in_a_batch_says_what_limit_holds_for_it_then(
    open_desk, write_session, served
):
    served.script = lambda request, _: (
        api.clean(request) if request.custom_id else api.held(request)
    )
    async with open_desk(write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK) as desk:
        await send(desk)
        await desk.press("A")
        await desk.sees("Ask the batch's rest live?")
        await desk.press("enter")
        await desk.until(lambda: "judging, limit a day" in desk.title("status"))
        assert "86400" not in desk.title("status")
        served.release()
        await desk.sees("complete: ")
