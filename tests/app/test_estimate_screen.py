"""What judging several sessions comes to: its figures, a sample, and the ways to begin."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress

import pytest

from batches_for_tests import configure
from longjudge.errors import LoadCancelledError
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.sessions.loader import load_sessions
from longjudge.store import Store
from longjudge_tui.estimate import batch_run, reading
from server import FOREVER, MessagesServer

STATUS = "#estimate-status"
SECONDS = 60.0
"""How long a process of its own may take on a busy machine."""


def figures(desk) -> dict[str, str]:
    """The figures on the screen, by what they are called; of two columns the second one."""
    table = desk.app.screen.query_one("#estimate-figures")
    top = table.region.y
    rows = [line[1:] for line in desk.lines[top + 1 : top + table.size.height]]
    return {row[:16].strip(): re.split(r"\s{2,}", row[16:].strip())[-1] for row in rows}


def status(desk) -> str:
    return desk.app.screen.query_one(STATUS).text


async def within(desk, condition) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with suppress(AssertionError):
            await desk.until(condition)
            return
    await desk.until(condition)


@pytest.fixture(autouse=True)
def _no_run_is_left(monkeypatch):
    """A batch run outlives the app, but no test."""
    running, start = [], subprocess.Popen

    def begin(*words, **options):
        running.append(start(*words, **options))
        return running[-1]

    monkeypatch.setattr(batch_run.subprocess, "Popen", begin)
    yield
    for each in running:
        with suppress(ChildProcessError):
            if os.waitpid(each.pid, os.WNOHANG) == (0, 0):
                os.kill(each.pid, signal.SIGKILL)
                os.waitpid(each.pid, 0)


@pytest.fixture
def three(write_session):
    return [
        write_session("long.jsonl", 30, (4,)),
        write_session("middle.jsonl", 20),
        write_session("short.jsonl", 10, (3,)),
    ]


@pytest.fixture
def many(write_session, tmp_path):
    """Twenty sessions of different sizes, in a folder."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        events = write_session(f"s{number:02}.jsonl", 3 + number, padding=300 + number)
        events.rename(folder / events.name)
    return folder


@pytest.fixture
def gate(monkeypatch):
    """Opens what is read for an estimate; until then nothing but a sample is."""
    opened = threading.Event()

    def held(path, on_progress, seen=None):
        while seen is not None and not opened.wait(0.01):
            if not on_progress(0, 1):
                raise LoadCancelledError("stopped")
        return load_sessions(path, on_progress, seen)

    def shared(self, _path):
        return set()

    monkeypatch.setattr(reading, "load_sessions", held)
    monkeypatch.setattr(reading.Copies, "read_before", shared)
    yield opened
    opened.set()


@pytest.fixture
def provider(monkeypatch, tmp_path):
    """A provider with batches, and a model behind it."""
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        yield server


def remote() -> AnthropicJudge:
    return AnthropicJudge("claude-haiku-5-5")


async def test_it_counts_all_that_is_shown(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.press("E")
        await desk.sees("ESTIMATE of all 3 sessions")
        await desk.sees("all 3 sessions estimated")
        await desk.sees("chunks of 1,000 characters")
        found = figures(desk)
        assert found["sessions"] == "3"
        assert found["chunks"] == "30"
        assert found["kept"] == "0"
        assert found["price, live"] == found["price, batch"] == "no cost"
        await desk.until(lambda: "long.jsonl" in desk.text.split("the longest")[1].splitlines()[1])
        await desk.press("escape")
        await desk.sees("SESSIONS 3")


async def test_what_is_kept_is_not_asked_again_and_the_filter_says_what_is_meant(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.press("r")
        await desk.until(lambda: len(desk.shelf.lasts) == 1 and not desk.shelf.busy)
        await desk.press("slash", *"long", "enter", "E")
        await desk.sees("ESTIMATE of the 1 session shown by the filter “long”")
        await desk.sees("all 1 session estimated")
        assert (figures(desk)["kept"], figures(desk)["to ask"]) == ("15", "0")
        assert figures(desk)["time, live"] == figures(desk)["time, batch"] == "none"
        await desk.press("escape", "escape", "A", "E")
        await desk.sees("ESTIMATE of the 3 selected sessions")
        await desk.sees("all 3 sessions estimated")
        found = figures(desk)
        # The others are equal to what was judged.
        assert int(found["kept"]) > 15
        assert int(found["chunks"]) == 30


async def test_an_estimate_is_stopped_and_goes_on_where_it_was(open_desk, three, gate):
    async with open_desk(*three) as desk:
        await desk.press("E")
        await desk.sees("estimated 0 of 3 sessions")
        await desk.press("x")
        await desk.until(lambda: status(desk).startswith("nothing is estimated yet"))
        gate.set()
        await desk.press("a")
        await desk.sees("all 3 sessions estimated")
        assert figures(desk)["sessions"] == "3"


async def test_an_estimate_goes_on_behind_the_library_which_says_so(open_desk, three, gate):
    async with open_desk(*three) as desk:
        await desk.press("E")
        await desk.sees("estimated 0 of 3 sessions")
        await desk.press("escape")
        await desk.sees("estimated 0 of 3, E shows it")
        gate.set()
        await desk.until(lambda: "E shows it" not in desk.text)
        await desk.press("E")
        await desk.sees("all 3 sessions estimated")
        await desk.press("escape")
        await desk.sees("SESSIONS 3")


async def test_what_was_stopped_never_looks_like_all_of_it(open_desk, three, gate, monkeypatch):
    async def compare(self):
        self._copies = None

    def held(path, on_progress, seen=None):
        while path.name == "middle.jsonl" and not gate.wait(0.01):
            if not on_progress(0, 1):
                raise LoadCancelledError("stopped")
        return load_sessions(path, on_progress, seen)

    monkeypatch.setattr(reading.Reading, "compare", compare)
    monkeypatch.setattr(reading, "load_sessions", held)
    async with open_desk(*three, judge=remote()) as desk:
        await desk.press("E")
        await desk.sees("SO FAR: 1 of 3")
        await desk.press("x")
        await desk.sees("STOPPED: only 1 of 3 sessions are in these sums")
        await desk.sees("so far 1 of 3")
        await desk.press("r")
        await desk.sees("what that costs is not known yet")
        await desk.press("b")
        await desk.until(lambda: desk.app.screen.query(STATUS), "no question about a price")


async def test_a_sample_is_marked_as_extrapolated_and_the_rest_follows(open_desk, many, gate):
    async with open_desk(many, judge=remote()) as desk:
        await desk.press("E")
        await desk.sees("estimated 0 of 20 sessions")
        await desk.press("s")
        await desk.sees("EXTRAPOLATED from 10 of 20 files")
        found = figures(desk)
        assert found["sessions"].startswith("~20")
        low, high = found["chunks"].split("(")[1].rstrip(")").split("-")
        assert int(low) < int(high)
        assert found["price, live"].startswith("~$")
        await desk.sees("the longest of those drawn")
        await desk.press("s")
        await desk.sees("the sample is drawn, and its figures stand here")
        await desk.press("r")
        await desk.sees("EXTRAPOLATED from 10 of 20 files: ask about")
        await desk.press("n")
        gate.set()
        await desk.press("a")
        await desk.sees("all 20 sessions estimated")
        await desk.until(lambda: "EXTRAPOLATED" not in desk.text)
        chunks = int(figures(desk)["chunks"])
        assert int(low) <= chunks <= int(high)


async def test_a_sample_of_few_is_all_of_them(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.press("E")
        await desk.sees("all 3 sessions estimated")
        await desk.press("s")
        await desk.sees("all of it is estimated: a sample would tell less")
        await desk.press("a")
        await desk.sees("all of it is estimated, and the store is as it was")


async def test_the_sample_is_judged_first_and_tells_what_all_would_come_to(open_desk, many, gate):
    async with open_desk(many) as desk:
        await desk.press("E", "j")
        await desk.sees("there is no sample yet")
        await desk.click("#button-sample-first")
        await desk.sees("EXTRAPOLATED from 10 of 20 files")
        await desk.press("j")
        await desk.sees("EXTRAPOLATED from 10 judged sessions: 0% flagged (0%-")
        assert len(desk.shelf.lasts) == 10
        await desk.sees("of about 20 sessions, no cost in all")
        await desk.sees("! the store changed since (+")
        await desk.sees("a estimates anew")
        gate.set()
        await desk.press("a")
        await desk.sees("all 20 sessions estimated")
        assert int(figures(desk)["kept"]) > 0
        await desk.until(lambda: "the store changed since" not in desk.text)
        await desk.sees("EXTRAPOLATED from 10 judged sessions")


async def test_judging_live_asks_for_the_price_and_goes_back_to_the_library(
    open_desk, three, provider
):
    async with open_desk(*three, judge=remote()) as desk:
        await desk.press("E")
        await desk.sees("all 3 sessions estimated")
        await desk.press("r")
        await desk.sees("Judge at this price?")
        await desk.sees("about 3 sessions, ~$")
        assert not provider.requests
        await desk.press("y")
        await desk.until(lambda: len(desk.shelf.lasts) == 3 and not desk.shelf.busy)
        await desk.until(lambda: desk.row("long.jsonl") and "complete" in desk.row("long.jsonl"))


async def test_a_batch_run_judges_in_a_process_of_its_own(open_desk, three, provider):
    async with open_desk(*three, judge=remote()) as desk:
        await desk.press("E")
        await desk.sees("all 3 sessions estimated")
        await desk.press("b")
        await desk.sees("Send it at this price?")
        await desk.sees("It goes on without the app.")
        assert not provider.batches.all
        await desk.press("y")
        await within(desk, lambda: "batch run ended: 3 of 3 sessions, $" in status(desk))
        assert len(provider.batches.own) == 1
        assert not provider.requests
        await desk.press("escape")
        await desk.sees("SESSIONS 3")
        await within(desk, lambda: "✓ complete 1.00" in desk.row("long.jsonl"))
        await within(desk, lambda: "✓ complete 1.00" in desk.row("short.jsonl"))
        log = [line.words for line in desk.bench.log.since(0)]
        assert any(words.startswith("batch run: batch msgbatch") for words in log), log


async def test_a_batch_run_is_cancelled_at_the_provider(open_desk, three, provider):
    provider.batches.latency = FOREVER
    async with open_desk(*three, judge=remote()) as desk:
        await desk.press("E", "c")
        await desk.sees("no batch run goes on")
        await desk.sees("all 3 sessions estimated")
        await desk.press("b")
        await desk.sees("Send it at this price?")
        await desk.press("y")
        await within(desk, lambda: provider.batches.own)
        await desk.press("escape")
        await desk.sees("batch run: 0 of 3 sessions")
        await desk.press("x")
        await desk.sees("nothing is being judged: E, then c cancels the batch run")
        assert not provider.batches.called["cancel"]
        await desk.press("E", "b")
        await desk.sees("a batch run goes on: let it end, or cancel it first")
        await desk.press("c")
        await within(desk, lambda: "batch run cancelled" in status(desk))
        assert provider.batches.called["cancel"] == 1


async def test_a_batch_run_that_was_killed_says_which_key_takes_over_what_it_left(
    open_desk, three, provider
):
    provider.batches.latency = FOREVER
    async with open_desk(*three, judge=remote()) as desk:
        await desk.press("E")
        await desk.sees("all 3 sessions estimated")
        await desk.press("b")
        await desk.sees("Send it at this price?")
        await desk.press("y")
        await within(desk, lambda: provider.batches.own)
        os.kill(desk.shelf.estimates.runs._process.process.pid, signal.SIGKILL)
        ended = "batch run ended by a signal: 0 of 3 sessions · b takes over what it left"
        await within(desk, lambda: ended in status(desk))
        await desk.press("b")
        await desk.sees("Send it at this price?")
        await desk.press("y")
        await within(desk, lambda: "batch run: 0 of 3 sessions" in status(desk))
        provider.batches.finish()
        await within(desk, lambda: "batch run ended: 3 of 3 sessions" in status(desk))
        assert len(provider.batches.own) == 1


async def test_a_batch_run_outlives_the_app_which_says_so(open_desk, three, provider, capfd):
    provider.batches.latency = FOREVER
    async with open_desk(*three, judge=remote()) as desk:
        store = desk.bench.store.path
        await desk.press("E")
        await desk.sees("all 3 sessions estimated")
        await desk.press("b")
        await desk.sees("Send it at this price?")
        await desk.press("y")
        await within(desk, lambda: provider.batches.own)
        process = desk.shelf.estimates.runs._process.process.pid
    said = capfd.readouterr().err
    assert "batch run: 0 of 3 sessions: it goes on without the app" in said
    os.kill(process, 0)
    provider.batches.finish()
    await asyncio.to_thread(os.waitpid, process, 0)
    opened = await Store.open_to_read(store)
    try:
        assert {each.status for each in await opened.last_judgments()} == {"complete"}
    finally:
        await opened.aclose()


async def test_without_a_key_a_batch_run_is_seen_with_the_offline_rules(open_desk, three):
    async with open_desk(*three) as desk:
        await desk.press("E", "b")
        await within(desk, lambda: "batch run ended: 3 of 3 sessions, 2 flagged" in status(desk))
        await desk.press("escape")
        await within(desk, lambda: "⚑ complete 0." in desk.row("long.jsonl"))
