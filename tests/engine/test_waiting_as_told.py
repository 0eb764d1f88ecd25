"""Waits that the provider orders, and how often a chunk is asked before it is given up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

import server as api
from judgments_for_tests import Watched, run
from longjudge import retries
from longjudge.faults import Fault
from longjudge.pauses import PAUSES
from longjudge.updates import ChunkUpdate, Paused
from sessions_for_tests import events, item_of, write_events, write_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from server import MessagesServer, Reply, Request

COUNT = 6


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def first(reply: Reply, item: int = 0) -> Callable[[Request, int], Reply]:
    """A script that answers the first question about one chunk so, and judges everything else."""
    return lambda request, attempt: (
        reply if item_of(request.prompt) == item and attempt == 1 else api.clean(request)
    )


def pauses(watched: Watched) -> list[Paused]:
    return [update for update in watched.updates if isinstance(update, Paused)]


async def test_a_wait_holds_for_other_judgments_of_the_endpoint_too_and_each_is_told(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    wait = 0.5
    served.script = first(api.rate_limited(wait))
    command = {"kind": "tool_call", "tool": "Bash", "input": {"command": f"item 0099 {'.' * 300}"}}
    other_file = write_events(tmp_path / "other.jsonl", [command, *events(COUNT + 3)[COUNT:]])
    async with (
        Watched(session_file, tmp_path / "a.sqlite", concurrency=1) as met,
        Watched(other_file, tmp_path / "b.sqlite") as other,
    ):
        running = met.begin()
        while not pauses(met):
            met.updated.clear()
            await met.updated.wait()
        ordered = time.monotonic()
        assert (await other.judgment.run()).status == "complete"
        assert (await running).status == "complete"
    assert len(served.requests) == COUNT + 1 + 4
    assert all(each.arrived >= ordered + wait - 0.1 for each in served.requests[1:])
    for judgment in (met, other):
        [pause] = pauses(judgment)
        assert 0 < pause.wait <= wait * 1.05
        assert "slow down" in pause.note


async def test_a_wait_that_outlasts_the_limit_ends_at_the_limit(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.rate_limited(60)
    began = time.monotonic()
    result = await run(session_file, store_file, time_limit=0.5, concurrency=2)
    assert time.monotonic() - began < 20
    assert result.status == "timed_out"
    assert result.gaps == {"timed_out": 2, "skipped": COUNT - 2}


async def test_a_forced_wait_holds_for_nobody_else(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    fault = Fault.parse("429=0.3x1@1")
    async with Watched(session_file, store_file, fault=fault) as watched:
        held: list[object] = []
        watched.on_update = lambda update: held.append(PAUSES.current(watched.judge.endpoint))
        result = await watched.judgment.run()
    assert result.status == "complete"
    assert pauses(watched)
    assert not any(held)


async def test_a_wait_that_the_provider_orders_holds_also_where_failures_are_forced(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    wait = 0.3
    fault = Fault.parse("badjson@1")
    async with Watched(session_file, store_file, fault=fault) as watched:
        ordered = time.monotonic()
        PAUSES.order(watched.judge.endpoint, wait, "slow down")
        result = await watched.judgment.run()
    assert result.gaps == {"unparsable": 1}
    [pause] = pauses(watched)
    assert pause.note == "slow down"
    assert all(each.arrived >= ordered + wait - 0.05 for each in served.requests)


async def test_a_chunk_that_waits_for_its_next_try_frees_its_worker(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = first(api.error(503, "loading", headers={"retry-after": "0.5"}))
    async with Watched(session_file, store_file, concurrency=1) as watched:
        await watched.judgment.run()
    asked = [item_of(request.prompt) for request in served.requests]
    assert asked == [*range(COUNT), 0]
    [retrying] = [
        update
        for update in watched.updates
        if isinstance(update, ChunkUpdate) and update.state == "retrying"
    ]
    assert (retrying.reason, retrying.attempt) == ("provider_error", 1)
    assert "loading" in retrying.note
    part = watched.judgment.board.chunks[0]
    assert part.waited >= 0.5
    assert not pauses(watched)


async def test_a_slow_failing_server_is_asked_three_times(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "SOON_SECONDS", 0.05)
    served.script = lambda request, _: (
        api.later(api.error(500), 0.1) if item_of(request.prompt) == 2 else api.clean(request)
    )
    result = await run(session_file, store_file)
    assert result.gaps == {"provider_error": 1}
    assert result.parts[2].attempts == 3


async def test_a_rate_limit_is_asked_three_times_even_where_the_provider_says_not_to(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    headers = {"retry-after": "0.01", "x-should-retry": "false"}
    limited = api.error(429, "slow down", kind="rate_limit_error", headers=headers)
    served.script = lambda request, _: (
        limited if item_of(request.prompt) == 2 else api.clean(request)
    )
    result = await run(session_file, store_file)
    assert result.gaps == {"rate_limited": 1}
    assert result.parts[2].attempts == 3
    assert result.to_dict()["parts"][2]["waited"] > 0


async def test_a_spend_limit_ends_the_judgment_at_once(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.error(
        429, "all spent", kind="rate_limit_error", error_code="enforced_spend_limit_reached"
    )
    result = await run(session_file, store_file, concurrency=1)
    assert (result.status, result.calls) == ("failed", 1)
    assert "raise the spend limit" in (result.error or "")


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_no_other_chunk_would_survive_ends_the_judgment_once_asking_again_was_in_vain(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.001)
    served.script = lambda request, _: api.error(
        status, "not now", headers={"x-should-retry": "true"}
    )
    result = await run(session_file, store_file, concurrency=1)
    assert result.status == "failed"
    assert "not now" in (result.error or "")
    assert max(part.attempts for part in result.parts) == retries.SOON_ATTEMPTS
    assert set(result.gaps) <= {"provider_error", "skipped"}
