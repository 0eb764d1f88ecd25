"""Budgets of whole judgments and commands: never passed, honest about what was not asked."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

import server as api
from commands_for_tests import longjudge
from judgments_for_tests import MODEL, Watched, check_sums, run
from longjudge import retries
from longjudge.budget import Budget
from longjudge.errors import UsageError
from longjudge.prices import Usage, cost_usd
from longjudge.updates import Stopping
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, item_of, write_equal, write_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commands_for_tests import Finished
    from longjudge.result import Result

COUNT = 12


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def write_sessions(folder: Path, counts: list[int]) -> list[Path]:
    """Sessions of these sizes, each with texts of its own, so that none answers another's."""
    paths = [write_session(folder / f"{n}.jsonl", count) for n, count in enumerate(counts)]
    for n, path in enumerate(paths):
        path.write_text(path.read_text().replace("next file", f"file number {n}"))
    return paths


def upper_price(watched: Watched) -> float:
    """What is reserved for a question about a chunk of that session."""
    measured = watched.judgment._measured()
    price = measured.upper_price(watched.judgment.plan, 0, retries.MAX_TOKENS)
    assert price is not None
    return price


async def until_spent(watched: Watched, served: MessagesServer, calls: int) -> asyncio.Task[Result]:
    """Judge until the budget has ended with its last calls in flight."""
    running = watched.begin()
    await watched.until(COUNT, "gap")
    await served.until(lambda: len(served.open_requests) == calls)
    return running


async def test_calls_are_never_more_than_allowed_with_64_workers_and_several_judgments(
    served: MessagesServer, tmp_path: Path
) -> None:
    budget = Budget(max_calls=50)
    paths = write_sessions(tmp_path, [100, 101, 102])
    results = await asyncio.gather(
        *(
            run(path, tmp_path / f"{n}.sqlite", concurrency=64, budget=budget)
            for n, path in enumerate(paths)
        )
    )
    assert len(served.requests) == 50
    assert sum(result.calls for result in results) == 50
    assert sum(result.judged_chunks for result in results) == 50
    assert {reason for result in results for reason in result.gaps} == {"skipped"}


async def test_what_a_budget_left_out_is_skipped_and_asked_by_the_next_run(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    async with Watched(session_file, store_file, budget=Budget(max_calls=5)) as watched:
        result = await watched.judgment.run()
        assert watched.judgment.budget_ended
        assert [u.cause for u in watched.updates if isinstance(u, Stopping)] == ["budget"]
    check_sums(result)
    assert (result.status, result.calls, result.gaps) == ("partial", 5, {"skipped": COUNT - 5})
    assert result.score == 1.0
    again = await run(session_file, store_file)
    assert (again.status, again.calls, again.cached_chunks) == ("complete", COUNT - 5, 5)


async def test_questions_in_flight_are_awaited_to_the_last_when_the_budget_ends(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = api.held
    async with Watched(
        session_file, store_file, budget=Budget(max_calls=3), concurrency=8
    ) as watched:
        running = await until_spent(watched, served, 3)
        served.release()
        result = await running
    assert (result.judged_chunks, result.calls) == (3, 3)
    assert result.gaps == {"skipped": COUNT - 3}


async def test_a_retry_is_a_call_and_a_chunk_that_may_not_be_asked_again_says_what_went_wrong(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    def script(request: api.Request, attempt: int) -> api.Reply:
        match item_of(request.prompt):
            case 0:
                return api.error(500)
            case 1:
                return api.no_json()
            case 2:
                return api.rate_limited(0.01)
            case _:
                return api.clean(request)

    served.script = script
    result = await run(session_file, store_file, concurrency=1, budget=Budget(max_calls=3))
    assert len(served.requests) == 3
    assert result.status == "failed"
    asked = [part.reason for part in result.parts if part.attempts]
    assert asked
    assert set(asked) <= {"provider_error", "unparsable", "rate_limited"}
    assert result.gaps["skipped"] == COUNT - len(asked)


async def test_a_chunk_waiting_for_its_next_attempt_ends_with_its_trouble_at_once(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.error(500, headers={"retry-after": "20"})
        if item_of(request.prompt) == 0
        else api.clean(request)
    )
    result = await run(session_file, store_file, concurrency=1, budget=Budget(max_calls=4))
    assert result.parts[0].reason == "provider_error"
    assert result.gaps == {"provider_error": 1, "skipped": COUNT - 4}
    assert result.seconds < 10


async def test_the_cost_stays_within_its_limit_and_its_room_is_used(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    each = cost_usd(MODEL, Usage(100, 10))
    assert each is not None
    async with Watched(session_file, store_file) as watched:
        upper = upper_price(watched)
    # Room for five answers and the upper price of the one that follows.
    limit = 5 * each + 1.05 * upper
    result = await run(session_file, store_file, concurrency=64, budget=Budget(max_cost=limit))
    assert result.cost_usd is not None
    assert result.cost_usd <= limit
    assert 5 <= result.judged_chunks <= COUNT
    small = Budget(max_cost=0.99 * upper)
    nothing = await run(session_file, store_file, budget=small, fresh=True)
    assert (nothing.calls, nothing.status) == (0, "failed")


async def test_answers_dearer_than_expected_end_the_budget_before_the_next_question(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.message(
        [{"type": "text", "text": json.loads(api.clean(request).body)["content"][1]["text"]}],
        usage={"input_tokens": 10_000_000, "output_tokens": 10},
    )
    budget = Budget(max_cost=1.0)
    result = await run(session_file, store_file, concurrency=1, budget=budget)
    assert (result.calls, result.judged_chunks) == (1, 1)
    assert result.gaps == {"skipped": COUNT - 1}


def _uncounted(request: api.Request) -> api.Reply:
    body = json.loads(api.clean(request).body)
    del body["usage"]
    return api.Reply(body=json.dumps(body).encode())


def _counted(request: api.Request, **usage: object) -> api.Reply:
    return api.Reply(
        body=json.dumps(json.loads(api.clean(request).body) | {"usage": usage}).encode()
    )


PAID_UNSEEN = {
    "no usage": _uncounted,
    "nothing": lambda request: _counted(request, input_tokens=0, output_tokens=0),
    "negative": lambda request: _counted(request, input_tokens=-5, output_tokens=-1),
    "words": lambda request: _counted(request, input_tokens="many", output_tokens=[1]),
    "too many": lambda request: _counted(request, input_tokens=2**60, output_tokens=9),
    "no output": lambda request: _counted(request, input_tokens=100),
    "a body cut off": lambda request: api.Reply(body=api.clean(request).body, cut=True),
    "a body that is no JSON": lambda request: api.invalid_json(),
    "a lost connection": lambda request: api.DROP,
}


@pytest.mark.parametrize("reply", PAID_UNSEEN.values(), ids=PAID_UNSEEN)
async def test_what_nobody_counted_costs_the_budget_as_much_as_was_reserved(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    reply: Callable[[api.Request], api.Reply],
) -> None:
    async with Watched(session_file, store_file) as watched:
        upper = upper_price(watched)
    served.script = lambda request, _: reply(request)
    budget = Budget(max_cost=3.5 * upper)
    result = await run(session_file, store_file, budget=budget)
    assert len(served.requests) == result.calls == 3


async def test_an_error_costs_a_budget_nothing(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, attempt: api.error(500) if attempt < 3 else api.clean(request)
    async with Watched(session_file, store_file) as watched:
        upper = upper_price(watched)
    result = await run(session_file, store_file, budget=Budget(max_cost=2 * upper))
    assert (result.status, result.calls) == ("complete", 3 * COUNT)


async def test_the_limit_on_cost_needs_a_known_price(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    with pytest.raises(UsageError, match="unknown"):
        await run(session_file, store_file, model="my-own", budget=Budget(max_cost=1))
    assert served.requests == []


async def test_without_a_call_left_kept_verdicts_are_used_and_no_credential_is_needed(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await run(session_file, store_file, budget=Budget(max_calls=4))
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    result = await run(session_file, store_file, budget=Budget(max_calls=0))
    assert (result.status, result.calls, result.cached_chunks) == ("partial", 0, 4)
    assert result.gaps == {"skipped": COUNT - 4}


async def test_equals_of_a_chunk_that_was_not_asked_are_skipped_with_it(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 3)
    served.script = lambda request, _: api.error(500)
    result = await run(path, store_file, concurrency=1, budget=Budget(max_calls=2))
    check_sums(result)
    assert result.parts[2].reason == result.parts[3].reason == "skipped"


async def test_a_cancel_after_the_end_of_the_budget_cancels_what_is_in_flight(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = api.held
    async with Watched(
        session_file, store_file, budget=Budget(max_calls=2), concurrency=4
    ) as watched:
        running = await until_spent(watched, served, 2)
        assert not watched.judgment.ask_again(COUNT)
        watched.judgment.cancel()
        result = await running
    check_sums(result)
    assert result.status == "cancelled"
    assert result.gaps == {"cancelled": 2, "skipped": COUNT - 2}


async def test_a_cancel_when_the_budget_has_ended_it_all_has_ended_nothing(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.later(api.clean(request), 0.3)
    async with Watched(
        session_file, store_file, budget=Budget(max_calls=2), concurrency=4
    ) as watched:
        running = await until_spent(watched, served, 2)
        watched.judgment.cancel()
        result = await running
    assert (result.status, result.judged_chunks) == ("partial", 2)


def judge(*arguments: object, base_url: str = "http://127.0.0.1:9") -> Finished:
    environment = {"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": base_url}
    return longjudge("judge", "--json", *arguments, **environment)


def test_one_budget_holds_for_all_sessions_of_a_command_and_its_end_is_said_once(
    tmp_path: Path,
) -> None:
    paths = write_sessions(tmp_path, [8, 6, 4])
    options = ["--chunk-chars", CHUNK_CHARS, "--store", tmp_path / "store.sqlite"]
    with MessagesServer() as server:
        [kept] = judge(paths[2], *options, base_url=server.base_url).objects
        before = len(server.requests)
        done = judge(*paths, "--max-calls", 10, *options, base_url=server.base_url)
        assert len(server.requests) - before == 10
    results = done.objects
    assert kept["status"] == "complete"
    assert done.code == 3
    assert [result["status"] for result in results] == ["complete", "partial", "complete"]
    assert results[1]["gaps"] == {"skipped": 4}
    assert (results[2]["calls"], results[2]["cached_chunks"]) == (0, 4)
    assert done.err.count("the budget ended") == 1
    assert "1.jsonl: the budget ended it with 2 of 6 parts judged: all 10 calls" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-cost", "-1"], "out of range"),
        (["--max-cost", "nan"], "out of range"),
        (["--max-cost", "inf"], "out of range"),
        (["--max-calls", "-1"], "out of range"),
        (["--max-cost", "1", "--model", "llama-of-my-own"], "price of llama-of-my-own is unknown"),
        (["--chunk-tokens", "900"], "exclude each other"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused_before_anything_is_read(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = judge(tmp_path / "missing.jsonl", "--chunk-chars", CHUNK_CHARS, *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_a_plan_in_tokens_is_judged_and_named_in_the_settings(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", 6)
    options = ["--chunk-tokens", 300, "--model", "offline", "--store", tmp_path / "s.sqlite"]
    [result] = judge(path, *options).objects
    assert result["settings"] == {"chunk_tokens": 300, "concurrency": 4, "time_limit": 600}
    assert 1 < result["chunks"] < 6
