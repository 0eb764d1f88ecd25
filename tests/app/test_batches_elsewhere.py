"""Batches that another process left running while the app was open: seen, and brought home."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from batches_for_tests import configure
from longjudge.config import BatchesTable, Configuration
from longjudge.judges.make import make_judge
from server import FOREVER, MessagesServer

WIDE = (200, 40)
EVENTS = 8
CHUNKS = 4
MODEL = "claude-haiku-5-5"
QUICK = Configuration(batches=BatchesTable(longest_look=0.05))


@pytest.fixture
def served(monkeypatch, tmp_path):
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        server.batches.latency = FOREVER
        yield server


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def desk_on(open_desk, store):
    """The app with a judge behind the provider's endpoint."""

    def opened(*paths):
        return open_desk(*paths, judge=make_judge(MODEL), config=QUICK, store=store, size=WIDE)

    return opened


async def elsewhere(store, *words):
    """Run a command on the same store in another process, to its end."""
    command = [sys.executable, "-m", "longjudge", *map(str, words), "--store", str(store)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)


async def leave_running(store, *paths):
    options = "--batch", "--detach", "--chunk-chars", 1000, "--model", MODEL
    await elsewhere(store, "judge", *options, *paths)


async def planned(desk):
    await desk.until(lambda: " kept · " in desk.title("chunks-title"), "a plan")


async def seen_out(desk):
    """Wait until the plan is seen to be in a batch that nobody follows."""
    await desk.until(lambda: "left running" in desk.title("status"), "a batch left running")


async def said(desk, words):
    log = desk.bench.log
    await desk.until(lambda: any(words in each.words for each in log.since(0)), words)


async def all_kept(desk):
    await desk.until(lambda: f"{CHUNKS} kept" in desk.title("chunks-title"), "all kept")


async def test_what_a_sweep_brings_home_is_shown_as_kept(desk_on, write_session, served, store):
    path = write_session("a.jsonl", EVENTS)
    async with desk_on(path) as desk:
        await planned(desk)
        await leave_running(store, path)
        await seen_out(desk)
        served.batches.finish()
        await desk.press("H")
        await desk.sees("left running")
        await desk.press("W")
        await desk.sees("released 1 batch")
        await desk.press("escape")
        await all_kept(desk)


@pytest.mark.parametrize("key", ["r", pytest.param("A", marks=pytest.mark.thorough)])
async def test_what_another_process_left_running_is_followed_where_it_is_asked_for(
    desk_on, write_session, served, store, key
):
    path = write_session("a.jsonl", EVENTS)
    async with desk_on(path) as desk:
        await planned(desk)
        await leave_running(store, path)
        await seen_out(desk)
        await desk.until(lambda: "0 of 4 chunks to ask · 4 in a batch" in desk.title("live"))
        if key == "A":
            served.batches.finish()
        await desk.press(key)
        await said(desk, "all of it is in a batch already: msgbatch_")
        await said(desk, "1 batch of before taken up (4 questions): followed from now on")
        served.batches.finish()
        await all_kept(desk)
    assert len(served.batches.all) == 1
    assert not served.requests


@pytest.mark.thorough
async def test_why_what_is_in_a_batch_cannot_be_followed_is_said_to_who_asks_for_it(
    desk_on, write_session, served, store, monkeypatch
):
    path = write_session("a.jsonl", EVENTS)
    async with desk_on(path) as desk:
        await planned(desk)
        await leave_running(store, path)
        await seen_out(desk)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        await desk.press("r")
        await desk.sees("batches are left where they are: ")


@pytest.mark.thorough
async def test_a_batch_that_ended_while_it_was_asked_whether_to_cancel_it_is_said_to_have_ended(
    desk_on, write_session, served, store
):
    path = write_session("a.jsonl", EVENTS)
    async with desk_on(path) as desk:
        await planned(desk)
        await leave_running(store, path)
        await desk.press("H")
        await desk.until(lambda: any("left running" in row for row in desk.rows("holds")))
        await desk.press("c")
        await desk.sees("Cancel this batch?")
        served.batches.finish()
        await elsewhere(store, "holds", "--sweep")
        await desk.press("y")
        await said(desk, "has ended meanwhile: there is nothing to cancel")
        await desk.press("escape")
        await all_kept(desk)
    assert not served.batches.called["cancel"]


async def test_the_library_asks_nothing_that_is_in_a_batch_and_says_so(
    desk_on, write_session, served, store
):
    one = write_session("a.jsonl", EVENTS, padding=310)
    other = write_session("b.jsonl", 4)
    async with desk_on(one, other) as desk:
        await desk.until(lambda: desk.row("a.jsonl"))
        await leave_running(store, one)
        await desk.press("A", "r")
        await desk.sees("ask 2 questions about 1 session, ")
        await desk.sees("4 questions more are in a batch already, not asked again")
        await desk.press("n")
        await desk.until(lambda: "ask 2 questions" not in desk.text)
        await desk.press("A")
        await desk.until(lambda: not desk.shelf.listing.selected)
        await desk.press("home", "r")
        await said(desk, "all of it is in a batch already: 4 questions, not asked again")
        await said(desk, "followed from now on")
        assert not desk.shelf.busy
        served.batches.finish()
        await desk.until(lambda: len(desk.shelf.bench._stock.keys) == CHUNKS)
        await desk.press("r")
        await desk.until(lambda: desk.row("a.jsonl") and "complete" in desk.row("a.jsonl"))
    assert len(served.batches.all) == 1
    assert not served.requests


@pytest.mark.thorough
async def test_the_library_says_that_it_waits_for_what_is_in_a_batch_which_is_followed_then(
    desk_on, write_session, served, store
):
    begun = write_session("begun.jsonl", EVENTS // 2)
    grown, other = write_session("grown.jsonl", EVENTS), write_session("c.jsonl", 2, padding=310)
    async with desk_on(grown, other) as desk:
        await desk.until(lambda: desk.row("grown.jsonl"))
        await leave_running(store, begun)
        await desk.press("r")
        await desk.sees("ask 2 questions about 1 session, ")
        await desk.sees("2 questions more are in a batch already, not asked again")
        await desk.press("y")
        await desk.sees("2 waiting for another judgment · 1 of 1: ◐ judging 2/4")
        await said(desk, "1 batch of before taken up (2 questions): followed from now on")
        served.batches.finish()
        await desk.until(lambda: "✓ complete 1.00" in desk.row("grown.jsonl"))
    assert len(served.requests) == 2
