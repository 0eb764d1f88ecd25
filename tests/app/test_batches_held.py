"""Batches among the holds: seen with their states, and cancelled there, whoever left them."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

import server as api
from longjudge.config import BatchesTable, Configuration
from longjudge.judges.make import make_judge
from longjudge.owner import this_process
from longjudge.states import JudgmentStatus
from longjudge.store import Store
from longjudge_tui.bench import holding
from server import FOREVER, MessagesServer

WIDE = (200, 40)
EVENTS = 8
CHUNKS = 4
QUICK = Configuration(batches=BatchesTable(longest_look=0.05))


@pytest.fixture(autouse=True)
def _released_rows_stay(monkeypatch):
    monkeypatch.setattr(holding, "LINGER_SECONDS", 600.0)


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        server.batches.latency = FOREVER
        yield server


def judge():
    return make_judge("claude-haiku-5-5")


async def planned(desk):
    await desk.until(lambda: " kept · " in desk.title("chunks-title"), "a plan")


async def send(desk):
    await planned(desk)
    await desk.press("A")
    await desk.sees("Judge as a batch?")
    await desk.press("enter")
    await desk.until(lambda: f"{CHUNKS} in a batch (msgbatch_" in desk.title("status"))


async def row_with(desk, *words):
    await desk.until(
        lambda: any(all(word in row for word in words) for row in desk.rows("holds")),
        f"a hold with {words}",
    )


async def test_a_batch_is_listed_and_cancelled_under_the_cursor_and_its_states_are_seen(
    open_desk, write_session, served
):
    served.batches.cancel_latency = FOREVER
    async with open_desk(
        write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK, size=WIDE
    ) as desk:
        await send(desk)
        await desk.press("H")
        await desk.sees("HOLDS 1 batch")
        await row_with(desk, "▤ out", "this window", "msgbatch_", "4 questions")
        await desk.until(lambda: "c Cancel batch" in desk.lines[-1])
        assert "Cancel chunk" not in desk.lines[-1]
        await desk.press("c")
        await desk.sees("Cancel this batch?")
        await desk.press("escape")
        await desk.until(lambda: "Cancel this batch?" not in desk.text)
        assert not served.batches.called["cancel"]
        await desk.press("c")
        await desk.sees("Cancel this batch?")
        await desk.press("enter")
        await row_with(desk, "▤ cancel sent")
        served.batches.finish()
        await row_with(desk, "✓ released")
        await desk.sees("HOLDS none")
        await desk.until(lambda: not desk.bench.running)
        assert served.batches.called["cancel"] == 1


async def test_a_judgment_whose_batch_is_cancelled_is_cancelled(open_desk, write_session, served):
    served.batches.done_at_cancel = 0.5
    async with open_desk(
        write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK, size=WIDE
    ) as desk:
        await send(desk)
        await desk.press("H")
        await row_with(desk, "▤ out", "this window")
        await desk.press("c")
        await desk.sees("The judgment ends with it, as cancelled.")
        await desk.press("enter")
        await desk.until(lambda: "cancelled; 2 of 4 parts judged" in desk.title("status"))
        result = desk.bench.run.result
    assert result.status is JudgmentStatus.CANCELLED
    assert result.gaps == {"cancelled": 2}
    assert (result.judged_chunks, result.unjudged_chunks, result.chunks) == (2, 2, CHUNKS)
    assert served.batches.called["cancel"] == 1


async def test_what_is_asked_live_goes_on_when_the_batch_beside_it_is_cancelled(
    open_desk, write_session, served
):
    served.batches.done_at_cancel = 0.0
    served.script = lambda request, _: (
        api.clean(request) if request.custom_id else api.held(request)
    )
    async with open_desk(
        write_session("a.jsonl", EVENTS), judge=judge(), config=QUICK, size=WIDE, concurrency=1
    ) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: served.requests)
        await desk.press("A")
        await desk.sees("Move the rest into a batch?")
        await desk.press("enter")
        await desk.until(lambda: f"{CHUNKS - 1} in a batch (msgbatch_" in desk.title("status"))
        await desk.press("H")
        await row_with(desk, "▤ out", "this window")
        rows = desk.rows("holds")
        batch = next(i for i, row in enumerate(rows) if "msgbatch_" in row)
        lease = next(i for i, row in enumerate(rows) if "lease" in row)
        for row, is_batch in ((lease, False), (batch, True)):
            await desk.press("home", *["down"] * row)
            await desk.until(lambda is_batch=is_batch: ("c Cancel" in desk.lines[-1]) is is_batch)
        await desk.press("c")
        await desk.sees("Cancel this batch?")
        assert "The judgment ends with it" not in desk.text
        await desk.press("enter")
        await row_with(desk, "✓ released", "msgbatch_")
        assert desk.bench.running
        served.release()
        await desk.until(lambda: "1 of 4 parts judged" in desk.title("status"))
        result = desk.bench.run.result
    assert result.status is JudgmentStatus.PARTIAL
    assert result.gaps == {"cancelled": 3}


async def test_a_small_terminal_says_what_is_in_a_batch_and_what_can_be_done(
    open_desk, write_session, served
):
    served.script = api.held
    async with open_desk(
        write_session("a.jsonl", 16), judge=judge(), config=QUICK, size=(80, 24), concurrency=2
    ) as desk:
        await planned(desk)
        await desk.press("r")
        await desk.until(lambda: len(served.requests) == 2)
        await desk.press("A")
        await desk.sees("Move the rest into a batch?")
        await desk.press("enter")
        await desk.sees("CHUNKS 8 · 6 in a batch · ~$")
        await desk.sees("A asks it live, x cancels")
        await desk.press("H")
        await row_with(desk, "▤ out", "6 questions", "this window")


async def left_running(path, store, open_desk):
    async with open_desk(path, judge=judge(), config=QUICK, store=store) as desk:
        await send(desk)
        await desk.press("ctrl+q")
        await desk.sees("A batch is out")
        await desk.press("enter")
        await desk.until(lambda: not desk.app.is_running or desk.app._exit)


async def test_one_that_nobody_follows_is_taken_up_and_cancelled(
    open_desk, write_session, served, tmp_path
):
    path, store = write_session("a.jsonl", EVENTS), tmp_path / "store.sqlite"
    await left_running(path, store, open_desk)
    served.batches.done_at_cancel = 1.0
    # By the offline rules nothing at the provider's endpoint is taken up.
    async with open_desk(path, store=store, config=QUICK, size=WIDE) as desk:
        await planned(desk)
        await desk.press("H")
        await row_with(desk, "▤ out", "left running", "nobody")
        await desk.press("c")
        await desk.sees("Cancel this batch?")
        await desk.press("y")
        await row_with(desk, "✓ released")
        assert served.batches.called["cancel"] == 1
        assert len(await desk.bench.store.all_keys()) == CHUNKS, "what had an answer is kept"


@contextlib.contextmanager
def another_process():
    """A process that lives, by its number and when it was started, as the kernel says it."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        stat = Path(f"/proc/{child.pid}/stat").read_text()
        yield child.pid, stat.rpartition(")")[2].split()[19]
    finally:
        child.communicate(b"\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads what the kernel says")
async def test_one_that_another_process_follows_is_left_to_that(
    open_desk, write_session, served, tmp_path
):
    path, file = write_session("a.jsonl", EVENTS), tmp_path / "store.sqlite"
    await left_running(path, file, open_desk)
    with another_process() as (pid, started):
        store, here, now = await Store.open(file), this_process(), time.time()
        await store.write(
            "INSERT INTO owners (id, host, boot, pid, started, since, beat, beat_monotonic, doing)"
            " VALUES ('b_other',?,?,?,?,?,?,?,'test')",
            (here.host, here.boot, pid, started, now, now, time.monotonic()),
        )
        await store.write("UPDATE batches SET owner = 'b_other'", ())
        await store.aclose()
        async with open_desk(path, judge=judge(), config=QUICK, store=file, size=WIDE) as desk:
            await planned(desk)
            await desk.until(lambda: all("◷ waiting" in each for each in desk.rows("chunks")[:4]))
            await desk.sees(f"of pid {pid}")
            await desk.press("r")
            await desk.sees("all of it is in a batch already")
            await desk.press("H")
            await row_with(desk, "▤ out", f"pid {pid}", "alive")
            await desk.press("c")
            said = f"is followed by pid {pid} on"
            log = desk.bench.log
            await desk.until(lambda: any(said in each.words for each in log.since(0)), said)
    assert not served.batches.called["cancel"]
    assert not served.requests
