"""Judgments with the real SDK against a local server: every ending, and what survives it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from judgments_for_tests import MODEL, Watched, check_sums
from longjudge import CredentialError, Result, judge_session
from longjudge.api import open_session
from longjudge.judges.offline import OfflineJudge, believable_delay
from longjudge.judgment import Judgment
from longjudge.paths import sample_sessions
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.states import ChunkState
from longjudge.store import Store
from longjudge.updates import ChunkUpdate, JudgmentEnded
from server import FOREVER, MessagesServer, Reply, Request
from sessions_for_tests import (
    CHUNK_CHARS,
    events,
    item_of,
    write_equal,
    write_events,
    write_session,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from longjudge.updates import Update

COUNT = 8


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


@pytest.fixture
async def holder(store_file: Path) -> AsyncIterator[sqlite3.Connection]:
    """Another process's connection to the store, with which it can be held."""
    await (await Store.open(store_file)).aclose()
    connection = sqlite3.connect(store_file, isolation_level=None)
    yield connection
    connection.close()


async def judge(path: Path, store: Path, **options: object) -> Result:
    result = await judge_session(path, model=MODEL, chunk_chars=CHUNK_CHARS, store=store, **options)
    assert result is not None
    check_sums(result)
    return result


async def test_every_chunk_is_judged_and_the_second_run_asks_nothing(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.flagged(
            request,
            {"broken_promise": [{"event": 1, "quote": "item 0003", "note": "never did"}]},
        )
        if item_of(request.prompt) == 3
        else api.clean(request)
    )
    first = await judge(session_file, store_file)
    assert (first.status, first.calls, first.cached_chunks) == ("complete", COUNT, 0)
    assert first.score == 1 - 1 / COUNT
    [found] = first.findings
    assert (found.part, found.event, found.verified) == (4, 3, True)
    assert first.cost_usd is not None
    assert first.cost_usd > 0
    assert first.usage.input_tokens == 100 * COUNT
    assert first.evidence == "part 4: never did"
    second = await judge(session_file, store_file)
    assert (second.status, second.calls, second.cached_chunks) == ("complete", 0, COUNT)
    assert second.findings == first.findings
    assert (second.cost_usd, second.usage.input_tokens) == (0, 0)
    assert len(served.requests) == COUNT


async def test_a_grown_session_asks_only_about_its_new_end(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 4)
    await judge(path, store_file)
    write_session(path, 6)
    grown = await judge(path, store_file)
    assert (grown.calls, grown.cached_chunks) == (2, 4)


@pytest.mark.parametrize(
    ("reply", "reason", "questions"),
    [
        (api.error(400, "bad request", kind="invalid_request_error"), "provider_error", 1),
        (api.error(500), "provider_error", 5),
        (api.DROP, "provider_error", 5),
        (api.html(), "provider_error", 5),
        (api.no_json(), "unparsable", 2),
        (api.truncated(), "truncated", 2),
        (api.thinking_only(), "truncated", 2),
        (api.refusal(), "refused", 1),
        (api.error(413, "too large", kind="request_too_large"), "too_large", 1),
        (
            api.error(
                400,
                "prompt is too long: 250000 tokens > 200000 maximum",
                kind="invalid_request_error",
            ),
            "too_large",
            1,
        ),
        (api.rate_limited(0.01), "rate_limited", 8),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_chunk_that_is_never_answered_is_one_gap_of_its_kind_beside_judged_ones(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    reply: Reply,
    reason: str,
    questions: int,
) -> None:
    served.script = lambda request, _: reply if item_of(request.prompt) == 2 else api.clean(request)
    result = await judge(session_file, store_file)
    assert (result.status, result.gaps) == ("partial", {reason: 1})
    assert result.parts[2].reason == reason
    assert result.parts[2].attempts == questions
    assert result.calls == COUNT - 1 + questions
    assert result.score == 1.0
    assert result.score_range == (1 - 1 / COUNT, 1.0)
    served.script = api.clean
    again = await judge(session_file, store_file)
    assert (again.status, again.calls) == ("complete", 1)


@pytest.mark.parametrize(
    "reply",
    [
        api.error(500),
        api.error(529, kind="overloaded_error"),
        api.rate_limited(0.01),
        api.DROP,
        api.no_json(),
        api.truncated(),
        Reply(body=api.text("{}").body, cut=True),
    ],
)
async def test_a_chunk_that_fails_once_and_then_answers_is_judged(
    served: MessagesServer, session_file: Path, store_file: Path, reply: Reply
) -> None:
    served.script = lambda request, attempt: (
        reply if item_of(request.prompt) == 2 and attempt == 1 else api.clean(request)
    )
    result = await judge(session_file, store_file)
    assert (result.status, result.parts[2].attempts) == ("complete", 2)
    assert result.calls == COUNT + 1


async def test_a_cut_reply_is_asked_again_with_a_larger_cap_and_the_same_question(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, attempt: api.truncated() if attempt == 1 else api.clean(request)
    await judge(write_session(tmp_path / "s.jsonl", 1), store_file)
    first, second = (dict(request.body) for request in served.requests)
    assert first.pop("max_tokens") < second.pop("max_tokens")
    assert first == second


async def test_a_refused_credential_stops_the_judgment_and_skips_the_rest(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.error(401, "invalid key", kind="authentication_error")
    result = await judge(session_file, store_file, concurrency=1)
    assert (result.status, result.calls) == ("failed", 1)
    assert result.gaps == {"provider_error": 1, "skipped": COUNT - 1}
    assert result.evidence == "no part of the session could be judged"
    assert result.error is not None
    assert "invalid key" in result.error


async def test_the_limit_keeps_what_came_in_time_and_says_what_did_not(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.held(request) if item_of(request.prompt) >= 3 else api.clean(request)
    )
    result = await judge(session_file, store_file, time_limit=0.5, concurrency=2)
    assert (result.status, result.score) == ("timed_out", None)
    assert result.gaps == {"timed_out": 2, "skipped": COUNT - 5}
    assert result.evidence == f"not judged within 0.5 seconds; 3 of {COUNT} parts judged"
    assert result.calls_without_reply == 2
    assert result.seconds < 3
    await served.until(lambda: not served.open_requests)
    served.script = api.clean
    again = await judge(session_file, store_file)
    assert (again.status, again.calls, again.cached_chunks) == ("complete", COUNT - 3, 3)


async def test_an_answer_that_arrives_within_the_grace_is_kept(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.later(api.clean(request), 0.7)
    path = write_session(tmp_path / "s.jsonl", 3)
    result = await judge(path, store_file, time_limit=0.3, concurrency=1)
    assert (result.status, result.judged_chunks) == ("timed_out", 1)
    assert result.gaps == {"skipped": 2}


async def test_without_a_credential_a_session_that_has_to_be_asked_is_an_error(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(CredentialError, match="ANTHROPIC_API_KEY"):
        await judge(session_file, store_file)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    await judge(session_file, store_file)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    kept = await judge(session_file, store_file)
    assert (kept.status, kept.calls) == ("complete", 0)


async def test_a_session_without_tool_calls_is_none_and_nothing_is_sent(
    served: MessagesServer, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    talk = [{"kind": "user_message", "text": "hello"}]
    assert await judge_session(talk, store=store_file) is None
    assert served.requests == []


async def test_equal_chunks_are_asked_once(served: MessagesServer, store_file: Path) -> None:
    same = [events(2)[1]] * 5 + events(1)
    result = await judge_session(
        same, model=MODEL, chunk_chars=CHUNK_CHARS, store=store_file, concurrency=4
    )
    assert result is not None
    check_sums(result)
    assert (result.status, result.calls, result.cached_chunks) == ("complete", 2, 4)
    assert [part.from_cache for part in result.parts] == [False, True, True, True, True, False]


async def test_what_is_wrong_with_a_question_is_wrong_with_its_equals(
    served: MessagesServer, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.clean(request) if item_of(request.prompt) == 0 else api.refusal()
    )
    same = [events(2)[1]] * 5 + events(1)
    result = await judge_session(same, model=MODEL, chunk_chars=CHUNK_CHARS, store=store_file)
    assert result is not None
    check_sums(result)
    assert (result.gaps, result.calls) == ({"refused": 5}, 2)


async def test_judgments_at_the_same_time_never_pay_twice_for_one_question(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    served.script = api.held
    stores = [tmp_path / "a.sqlite", tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    first = asyncio.ensure_future(judge(session_file, stores[0]))
    await served.until(lambda: len(served.open_requests) == 4)
    second = asyncio.ensure_future(judge(session_file, stores[1]))
    await served.until(lambda: len(served.open_requests) == COUNT)
    async with Watched(session_file, stores[2]) as third:
        waits = third.begin()
        await third.until(COUNT, "waiting")
        served.release()
        results = await asyncio.gather(first, second, waits)
    assert len(served.requests) == COUNT
    assert {result.status.value for result in results} == {"complete"}
    assert sum(result.calls for result in results) == COUNT
    assert sum(result.cached_chunks for result in results) == 2 * COUNT
    # Each store was given what the others paid for.
    for store in stores:
        assert (await judge(session_file, store)).calls == 0


async def test_a_judgment_asks_itself_when_the_one_it_waited_for_was_cancelled(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = api.held
    first = asyncio.ensure_future(judge(session_file, store_file))
    await served.until(lambda: len(served.open_requests) == 4)
    second = asyncio.ensure_future(judge(session_file, store_file))
    await served.until(lambda: len(served.open_requests) == 8)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    served.release()
    result = await second
    assert (result.status, result.calls) == ("complete", COUNT)


async def test_a_store_that_cannot_be_written_is_said_and_judging_goes_on(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = await judge(session_file, tmp_path / "file" / "store.sqlite")
    assert (result.status, result.judged_chunks) == ("complete", COUNT)
    assert result.store_error
    assert (await judge(session_file, tmp_path / "file" / "store.sqlite")).calls == COUNT


async def test_half_a_second_on_the_long_sample_shows_every_face_of_a_timeout(
    store_file: Path,
) -> None:
    session = await open_session(sample_sessions() / "checkout-refactor.jsonl")
    store = await Store.open(store_file)
    judgment = Judgment(
        session,
        rubric=load_rubric("chunks"),
        judge=OfflineJudge(believable_delay),
        store=store,
        settings=Settings(time_limit=0.5),
    )
    result = await judgment.run()
    await store.aclose()
    session.close()
    check_sums(result)
    assert result.status == "timed_out"
    assert result.judged_chunks > 0
    assert set(result.gaps) == {"timed_out", "skipped"}


async def test_a_session_rewritten_while_it_is_judged_ends_as_a_partial_result(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    async with Watched(session_file, store_file, concurrency=1) as watched:
        changed = session_file.read_text().replace("item 0005", "item 9995")
        session_file.write_text(changed)
        result = await watched.judgment.run()
        check_sums(result)
        assert (result.status, result.judged_chunks) == ("partial", 5)
        assert result.gaps == {"skipped": COUNT - 5}
        assert result.error is not None
        assert "changed while it was open" in result.error
        assert len(await watched.store.all_keys()) == 5
    assert {item_of(request.prompt) for request in served.requests} == set(range(5))


async def test_a_session_that_vanishes_while_it_is_judged_does_not_take_its_result_along(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    async with Watched(session_file, store_file, concurrency=1) as watched:

        def empty(update: Update) -> None:
            if isinstance(update, ChunkUpdate) and update.state is ChunkState.CLEAN:
                session_file.write_text("")

        watched.on_update = empty
        result = await watched.judgment.run()
        kept = await watched.store.all_keys()
    check_sums(result)
    assert (result.status, result.judged_chunks, len(kept)) == ("partial", 1, 1)
    assert "changed while it was open" in (result.error or "")


async def test_a_reply_with_characters_that_no_store_can_hold_is_kept(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    def script(request: Request, _: int) -> Reply:
        reply = json.loads(api.clean(request).body)
        return api.text("\ud800 " + reply["content"][1]["text"])

    served.script = script
    first = await judge(session_file, store_file)
    assert (first.status, first.store_error) == ("complete", None)
    assert (await judge(session_file, store_file)).calls == 0


async def test_numbers_of_tokens_that_no_store_can_hold_lose_no_verdict(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.message(
        [{"type": "text", "text": json.loads(api.clean(request).body)["content"][1]["text"]}],
        usage={"input_tokens": 2**63, "output_tokens": 10**30, "cache_read_input_tokens": -1},
    )
    path = write_session(tmp_path / "s.jsonl", 2)
    assert (await judge(path, store_file)).status == "complete"
    assert (await judge(path, store_file)).calls == 0


async def test_thousands_of_findings_are_no_verdict_and_hundreds_are_placed_at_once(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    found = {"event": 1, "quote": "words that do not stand there", "note": "n"}
    many = 150
    served.script = lambda request, _: api.flagged(request, {"broken_promise": [found] * many})
    text = "a b " * 50_000
    path = write_events(tmp_path / "s.jsonl", [*events(1), {"kind": "system", "text": text}])
    result = await judge_session(path, model=MODEL, chunk_chars=1_000_000, store=store_file)
    assert result is not None
    assert (len(result.findings), result.verified_share) == (many, 0.0)
    many = 3_000
    path = write_session(tmp_path / "t.jsonl", 1)
    assert (await judge(path, store_file)).gaps == {"unparsable": 1}


def test_judgments_in_two_threads_never_pay_twice_for_one_question(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    def run() -> Result:
        return asyncio.run(judge(session_file, store_file))

    with ThreadPoolExecutor(2) as threads:
        results = [future.result() for future in [threads.submit(run), threads.submit(run)]]
    assert len(served.requests) == COUNT
    assert sum(result.calls for result in results) == COUNT
    assert {result.status.value for result in results} == {"complete"}


async def test_a_store_that_another_process_holds_does_not_keep_a_stopped_judgment(
    served: MessagesServer, session_file: Path, store_file: Path, holder: sqlite3.Connection
) -> None:
    async with Watched(session_file, store_file) as watched:
        holder.execute("BEGIN EXCLUSIVE")
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 2)
        watched.judgment.cancel()
        async with asyncio.timeout(4):
            result = await running
        check_sums(result)
        assert result.store_error is not None


async def test_a_limit_that_found_every_chunk_ended_has_ended_nothing(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.refusal() if item_of(request.prompt) == 0 else api.later(api.clean(request), 0.6)
    )
    path = write_session(tmp_path / "s.jsonl", 2)
    result = await judge(path, store_file, time_limit=0.3)
    assert (result.status, result.gaps, result.score) == ("partial", {"refused": 1}, 1.0)


async def test_a_chunk_is_shown_as_judged_only_after_its_verdict_is_committed(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    async with Watched(session_file, store_file, concurrency=4) as watched:
        seen: list[tuple[int, int]] = []

        def count(update: Update) -> None:
            if isinstance(update, ChunkUpdate) and update.state is ChunkState.CLEAN:
                reader = sqlite3.connect(store_file)
                committed = reader.execute("SELECT count(*) FROM verdicts").fetchone()[0]
                reader.close()
                seen.append((len(seen) + 1, committed))

        watched.on_update = count
        await watched.judgment.run()
    assert len(seen) == COUNT
    assert all(committed >= shown for shown, committed in seen)


async def test_one_chunk_can_be_cancelled_in_flight_queued_and_waiting_to_be_asked_again(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    def script(request: Request, attempt: int) -> Reply:
        match item_of(request.prompt):
            case 0:
                return api.held(request)
            case 1:
                return api.error(500, headers={"retry-after": "20"})
            case _:
                return api.held(request)

    served.script = script
    async with Watched(session_file, store_file) as watched:
        running = watched.begin()
        # Part 2 waits to be asked again, so part 3 has its worker.
        await served.until(lambda: len(served.requests) == 3)
        await watched.until(2, "retrying")
        assert watched.judgment.cancel_part(1)
        assert watched.judgment.cancel_part(2)
        assert watched.judgment.cancel_part(6)
        assert not watched.judgment.cancel_part(6)
        served.release()
        result = await running
        check_sums(result)
        # Nobody waited out the 20 seconds of a chunk that was given up.
        assert result.seconds < 10
    assert result.gaps == {"cancelled": 3}
    assert [part.part for part in result.parts if part.reason] == [1, 2, 6]
    assert result.status == "partial"
    assert result.judged_chunks == COUNT - 3
    assert watched.states(1) == ["running", "gap"]
    assert watched.states(2) == ["running", "retrying", "gap"]
    assert watched.states(6) == ["gap"]
    assert watched.states(3) == ["running", "clean"]


async def test_a_listener_may_cancel_a_chunk_the_moment_it_hears_of_its_question(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.held(request) if item_of(request.prompt) == 0 else api.clean(request)
    )
    async with Watched(session_file, store_file) as watched:

        def cancel(update: Update) -> None:
            if isinstance(update, ChunkUpdate) and update.state is ChunkState.RUNNING:
                assert update.part != 1 or watched.judgment.cancel_part(1)

        watched.on_update = cancel
        async with asyncio.timeout(20):
            result = await watched.judgment.run()
    check_sums(result)
    assert (result.gaps, result.judged_chunks) == ({"cancelled": 1}, COUNT - 1)


@pytest.mark.parametrize("part", [0, -1, COUNT + 1])
async def test_a_part_that_does_not_exist_can_be_neither_cancelled_nor_asked_again(
    served: MessagesServer, session_file: Path, store_file: Path, part: int
) -> None:
    served.script = lambda request, _: (
        api.refusal() if item_of(request.prompt) == COUNT - 2 else api.held(request)
    )
    async with Watched(session_file, store_file, concurrency=COUNT) as watched:
        running = watched.begin()
        await watched.until(COUNT - 1, "gap")
        await watched.until(COUNT, "running")
        assert not watched.judgment.cancel_part(part)
        assert not watched.judgment.ask_again(part)
        served.release()
        result = await running
    assert (result.gaps, result.calls) == ({"refused": 1}, COUNT)


async def test_cancelling_the_first_of_equal_chunks_lets_the_next_be_asked(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 3)
    served.script = lambda request, attempt: (
        api.held(request) if item_of(request.prompt) == 1 and attempt == 1 else api.clean(request)
    )
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 2)
        watched.judgment.cancel_part(2)
        result = await running
    assert result.gaps == {"cancelled": 1}
    assert [part.state.value for part in result.parts] == ["clean", "gap", "clean", "clean"]
    assert [part.from_cache for part in result.parts] == [False, False, False, True]


async def test_cancelling_one_before_the_first_question_leaves_its_equals_to_be_asked(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 3)
    async with Watched(path, store_file) as watched:
        watched.while_preparing(lambda: watched.judgment.cancel_part(2))
        result = await watched.judgment.run()
    assert [part.state.value for part in result.parts] == ["clean", "gap", "clean", "clean"]
    assert result.calls == 2


async def test_a_chunk_that_waits_for_another_judgment_can_be_cancelled_by_itself(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    served.script = api.held
    first = asyncio.ensure_future(judge(path, store_file))
    await served.until(lambda: len(served.requests) == 1)
    async with Watched(path, store_file) as watched:
        second = watched.begin()
        await watched.until(1, "waiting")
        assert watched.judgment.cancel_part(1)
        # The question of the other judgment is still on its way.
        assert (await second).gaps == {"cancelled": 1}
        assert len(served.open_requests) == 1
    served.release()
    assert (await first).status == "complete"


async def test_what_a_stopped_judgment_waited_for_changes_nothing_about_it_any_more(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    served.script = api.held
    async with (
        Watched(path, store_file) as first,
        Watched(path, tmp_path / "other.sqlite") as second,
    ):
        one = first.begin()
        await first.until(1, "running")
        other = second.begin()
        await second.until(1, "waiting")
        second.judgment.cancel()
        assert (await other).gaps == {"skipped": 1}
        first.judgment.cancel()
        await one
    assert second.states(1) == ["waiting", "gap"]
    assert isinstance(second.updates[-1], JudgmentEnded)
    assert second.judgment.board.chunks[0].state is ChunkState.GAP


async def test_cancelling_a_follower_leaves_its_leaders_question_to_those_who_wait_for_it(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 3)
    # Every first answer is held until the second judgment waits for it.
    served.script = lambda request, attempt: api.later(
        api.error(500) if item_of(request.prompt) == 1 and attempt == 1 else api.clean(request),
        FOREVER,
    )
    async with (
        Watched(path, store_file) as first,
        Watched(path, tmp_path / "other.sqlite") as second,
    ):
        one = first.begin()
        await served.until(lambda: len(served.requests) == 2)
        other = second.begin()
        await second.until(1, "waiting")
        await second.until(2, "waiting")
        assert first.judgment.cancel_part(3)
        served.release()
        results = [await one, await other]
    assert [result.status.value for result in results] == ["partial", "complete"]
    assert results[0].gaps == {"cancelled": 1}
    assert len(served.requests) == 3
    assert results[1].calls == 0


async def test_a_verdict_on_its_way_into_the_store_is_not_paid_for_again_by_those_who_wait(
    served: MessagesServer, tmp_path: Path, store_file: Path, holder: sqlite3.Connection
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    served.script = api.held
    async with Watched(path, store_file) as first, Watched(path, store_file) as second:
        keep, committing = first.store.keep, asyncio.Event()

        async def tell_and_keep(*verdict: Any, **options: Any) -> None:
            committing.set()
            await keep(*verdict, **options)

        first.store.keep = tell_and_keep
        one = first.begin()
        await served.until(lambda: len(served.requests) == 1)
        other = second.begin()
        await second.until(1, "waiting")
        holder.execute("BEGIN IMMEDIATE")
        served.release()
        await committing.wait()
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
        holder.execute("ROLLBACK")
        result = await other
    assert (result.status, result.calls, len(served.requests)) == ("complete", 0, 1)


async def test_an_answer_that_comes_in_the_moment_of_a_cancel_is_kept(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file) as watched:
        ask = watched.judge.ask

        async def ask_and_cancel(question: Any, **options: Any) -> Any:
            answer = await ask(question, **options)
            running.cancel()
            return answer

        watched.judge.ask = ask_and_cancel
        running = watched.begin()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert (await judge(path, store_file)).calls == 0
    assert len(served.requests) == 1


async def test_many_answers_at_once_do_not_keep_a_stopped_judgment_at_a_store_that_is_held(
    served: MessagesServer, tmp_path: Path, store_file: Path, holder: sqlite3.Connection
) -> None:
    path = write_session(tmp_path / "s.jsonl", 100)
    served.script = lambda request, _: api.held(request)
    async with Watched(path, store_file, concurrency=100) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 100)
        holder.execute("BEGIN EXCLUSIVE")
        served.release()
        await served.until(lambda: sum(r.answered for r in served.requests) == 100)
        watched.judgment.cancel()
        async with asyncio.timeout(5):
            result = await running
        async with asyncio.timeout(5):
            await watched.store.aclose()
        check_sums(result)


async def test_cancelling_all_closes_what_is_in_flight_and_twice_changes_nothing(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.clean(request) if item_of(request.prompt) < 2 else api.held(request)
    )
    async with Watched(session_file, store_file) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.requests) == 4)
        watched.judgment.cancel()
        watched.judgment.cancel()
        result = await running
        watched.judgment.cancel()
        check_sums(result)
        await served.until(lambda: not served.open_requests)
    assert (result.status, result.score) == ("cancelled", None)
    assert result.gaps == {"cancelled": 2, "skipped": COUNT - 4}
    assert result.evidence == f"cancelled; 2 of {COUNT} parts judged"
    assert sum(request.client_closed for request in served.requests) == 2


async def test_a_rate_limit_holds_every_worker_and_frees_the_one_that_met_it(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    first_reply = asyncio.get_running_loop().time

    served.script = lambda request, attempt: (
        api.rate_limited(0.4)
        if item_of(request.prompt) == 0 and attempt == 1
        else api.clean(request)
    )
    async with Watched(session_file, store_file, concurrency=1) as watched:
        started = first_reply()
        result = await watched.judgment.run()
        assert first_reply() - started >= 0.4
    assert result.status == "complete"
    arrivals = [request.arrived for request in served.requests]
    # Nothing but the refused question arrived before the time that the provider named.
    assert arrivals[1] - arrivals[0] >= 0.39
    assert watched.states(1) == ["running", "retrying", "running", "clean"]


async def test_the_text_of_a_chunk_is_all_that_leaves_the_machine(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    await judge(session_file, store_file)
    for request in served.requests:
        assert set(request.body) == {
            "model",
            "max_tokens",
            "system",
            "messages",
            "output_config",
        }
        assert str(session_file) not in str(request.body)
        assert "session.jsonl" not in str(request.body)
