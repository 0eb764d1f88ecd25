"""What the lines on stderr say while a judgment runs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from longjudge.cli import progress as progresses
from longjudge.cli.progress import Progress
from longjudge.states import ChunkState, GapReason
from longjudge.updates import AskedBy, ChunkUpdate, Paused, Stopping

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITED = "429 (rate_limit_error): slow\x1b[2J down"


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Draw as on a terminal of 80 columns; the clock stands but for what the test adds."""
    clock = SimpleNamespace(now=100.0)

    def seconds_pass(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr(progresses, "progress_is_live", lambda: True)
    monkeypatch.setattr(progresses, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(progresses, "TICK_SECONDS", 0.001)
    monkeypatch.setenv("COLUMNS", "80")
    return seconds_pass


def retrying(reason: GapReason, wait: float) -> ChunkUpdate:
    return ChunkUpdate(3, ChunkState.RETRYING, reason, attempt=1, wait=wait, note="no luck")


def test_without_a_terminal_a_wait_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(12)
    progress(Paused(11.4, LIMITED))
    for _ in range(4):
        progress(retrying(GapReason.RATE_LIMITED, 11.4))
    assert capsys.readouterr().err.splitlines() == [
        "waiting 12 s: 429 (rate_limit_error): slow␛[2J down"
    ]


def test_without_a_terminal_waits_that_follow_each_other_are_rarely_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(progresses, "time", SimpleNamespace(monotonic=lambda: clock.now))
    progress = Progress(12)
    for _ in range(60):
        progress(Paused(1.5, "429"))
        progress(Paused(1.8, "429"))
        clock.now += 2
    progress(Paused(60, "529"))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == said[1] == "waiting 2 s: 429"
    assert said[-1] == "waiting 60 s: 529"
    assert 10 <= len(said) <= 13


def test_a_part_that_fails_by_itself_is_said_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(12)
    progress(retrying(GapReason.PROVIDER_ERROR, 4.2))
    progress(retrying(GapReason.PROVIDER_ERROR, 0.4))
    assert capsys.readouterr().err == "part 3: asked again in 4 s: no luck\n"


def test_who_is_waited_for_is_said(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    on_terminal: Callable[[float], None],
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    progress = Progress(3)
    for part in (1, 2):
        on_terminal(1)
        progress(ChunkUpdate(part, ChunkState.WAITING))
    assert capsys.readouterr().err.endswith("in flight, 2 s · 2 waiting for another judgment")
    on_terminal(1)
    progress(AskedBy(1, "batch msgbatch_1\x1b[2J"))
    progress(ChunkUpdate(3, ChunkState.GAP))
    shown = capsys.readouterr().err
    assert "0 flagged, 1 gap, 0 in flight, 3 s · 2 waiting" in shown
    assert "\x1b[2J" not in shown


async def test_on_a_terminal_a_wait_is_counted_down_where_nothing_else_happens(
    capsys: pytest.CaptureFixture[str], on_terminal: Callable[[float], None]
) -> None:
    drawn = ""

    async def until(words: str) -> None:
        nonlocal drawn
        while words not in drawn:
            await asyncio.sleep(0.001)
            drawn += capsys.readouterr().err

    progress = Progress(12)
    async with asyncio.timeout(20), progress.counting_down():
        progress(Paused(12, LIMITED))
        await until("waiting 12 s: 429")
        on_terminal(5)
        await until("waiting 7 s: 429")
        on_terminal(8)
        drawn = ""
        await until("0 in flight, 13 s")
        assert "waiting" not in drawn
    assert "\x1b" not in drawn
    assert all(len(line) < 80 for line in drawn.split("\r"))
    # The line is gone, and nothing draws it any more.
    assert capsys.readouterr().err.endswith("\r")


async def test_a_stop_ends_the_countdown(
    capsys: pytest.CaptureFixture[str], on_terminal: Callable[[float], None]
) -> None:
    progress = Progress(12)
    progress(Paused(60, LIMITED))
    progress(Stopping("limit"))
    capsys.readouterr()
    on_terminal(1)
    progress(ChunkUpdate(1, ChunkState.RUNNING))
    assert "waiting" not in capsys.readouterr().err


def test_of_many_chunks_that_are_asked_again_the_first_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(50)
    for part in range(1, 51):
        update = ChunkUpdate(
            part, ChunkState.RETRYING, GapReason.PROVIDER_ERROR, attempt=1, wait=2.0, note="no luck"
        )
        progress(update)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[0] == "part 1: asked again in 2 s: no luck"
    assert lines[-1] == "more parts are asked again; the others are not listed"
