"""Asking again and afresh: a gap during a run, chosen chunks after it, everything with `fresh`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import server as api
from judgments_for_tests import MODEL, Watched, bad, check_sums, run
from longjudge import judge_session
from longjudge.errors import UsageError
from longjudge.states import TRANSITIONS, ChunkState
from longjudge.updates import ChunkUpdate, JudgmentEnded
from server import FOREVER, MessagesServer, Reply, Request
from sessions_for_tests import item_of, write_equal, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.updates import Update

COUNT = 6


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def asked(served: MessagesServer) -> list[int]:
    return [item_of(request.prompt) for request in served.requests]


def test_of_what_has_ended_only_a_gap_opens_again() -> None:
    open_again = {
        (state, following)
        for state, allowed in TRANSITIONS.items()
        for following in allowed
        if state.ended
    }
    assert open_again == {(ChunkState.GAP, ChunkState.QUEUED)}


async def test_a_fresh_run_asks_every_chunk_and_its_verdicts_replace_the_kept_ones(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    assert (await run(session_file, store_file)).flagged_chunks == 0
    served.script = lambda request, _: bad(request)
    fresh = await run(session_file, store_file, fresh=True)
    assert (fresh.status, fresh.calls, fresh.cached_chunks) == ("complete", COUNT, 0)
    assert fresh.flagged_chunks == COUNT
    again = await run(session_file, store_file)
    assert (again.calls, again.flagged_chunks) == (0, COUNT)


async def test_judge_session_takes_fresh_and_a_size_in_tokens(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    for calls in (3, 6):
        result = await judge_session(
            session_file, model=MODEL, chunk_tokens=300, store=store_file, fresh=True
        )
        assert result is not None
        assert len(served.requests) == calls
    assert result.settings["chunk_tokens"] == 300
    assert "chunk_chars" not in result.settings


async def test_a_fresh_run_asks_equal_chunks_once(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 4)
    await run(path, store_file)
    result = await run(path, store_file, fresh=True)
    assert (result.calls, result.cached_chunks) == (2, 3)


async def test_a_fresh_run_that_is_cut_off_leaves_the_old_verdicts_of_what_it_did_not_reach(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    await run(session_file, store_file)
    served.script = lambda request, _: (
        bad(request) if item_of(request.prompt) < 2 else api.later(bad(request), FOREVER)
    )
    cut = await run(session_file, store_file, fresh=True, time_limit=1.0, concurrency=1)
    assert (cut.status, cut.judged_chunks) == ("timed_out", 2)
    assert cut.gaps == {"timed_out": 1, "skipped": COUNT - 3}
    served.script = api.clean
    after = await run(session_file, store_file)
    assert (after.calls, after.cached_chunks, after.flagged_chunks) == (0, COUNT, 2)


async def test_a_fresh_run_takes_no_answer_that_landed_before_it_began(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    served.script = lambda request, _: (
        api.held(request) if item_of(request.prompt) == COUNT - 1 else api.clean(request)
    )
    async with Watched(session_file, tmp_path / "a.sqlite") as first:
        running = first.begin()
        for part in range(1, COUNT):
            await first.until(part, "clean")
        async with Watched(session_file, tmp_path / "b.sqlite", fresh=True) as second:
            other = second.begin()
            for part in range(1, COUNT):
                await second.until(part, "clean")
            # What is still on its way for the first is not asked twice.
            await second.until(COUNT, "waiting")
            served.release()
            result = await other
        await running
    assert result.calls == COUNT - 1
    assert len(served.requests) == 2 * COUNT - 1


async def test_a_fresh_answer_that_another_judgment_asked_for_replaces_the_kept_one_too(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 1)
    assert (await run(path, store_file)).flagged_chunks == 0
    served.script = lambda request, _: api.later(bad(request), FOREVER)
    async with (
        Watched(path, tmp_path / "other.sqlite") as first,
        Watched(path, store_file, fresh=True) as second,
    ):
        one = first.begin()
        await first.until(1, "running")
        other = second.begin()
        await second.until(1, "waiting")
        served.release()
        results = [await one, await other]
    assert [result.flagged_chunks for result in results] == [1, 1]
    after = await run(path, store_file)
    assert (after.calls, after.flagged_chunks) == (0, 1)


async def test_a_gap_is_asked_again_while_the_judgment_runs(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    def script(request: Request, attempt: int) -> Reply:
        match item_of(request.prompt):
            case 0:
                return api.refusal() if attempt == 1 else api.clean(request)
            case 5:
                return api.held(request)
            case _:
                return api.clean(request)

    served.script = script
    async with Watched(session_file, store_file) as watched:
        running = watched.begin()
        await watched.until(1, "gap")
        await watched.until(5, "clean")
        assert watched.judgment.ask_again(1)
        assert not watched.judgment.ask_again(1)
        assert not watched.judgment.ask_again(5)
        assert not watched.judgment.ask_again(COUNT + 1)
        await watched.until(1, "clean")
        served.release()
        result = await running
        assert not watched.judgment.ask_again(1)
    check_sums(result)
    assert (result.status, result.calls) == ("complete", COUNT + 1)
    assert watched.states(1) == ["running", "gap", "queued", "running", "clean"]
    assert result.parts[0].attempts == 2
    assert result.parts[0].reason is None


async def test_its_attempts_count_anew(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, attempt: {
        0: api.no_json() if attempt <= 3 else api.clean(request),
        5: api.held(request),
    }.get(item_of(request.prompt), api.clean(request))
    async with Watched(session_file, store_file) as watched:
        running = watched.begin()
        await watched.until(1, "gap")
        assert watched.judgment.ask_again(1)
        # Two bad replies again would be one too many for what is left of the first count.
        await watched.until(1, "clean")
        served.release()
        result = await running
    assert watched.states(1).count("running") == 4
    assert result.status == "complete"


async def test_a_chunk_cancelled_by_itself_can_be_asked_again_and_follows_its_equals(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 3)
    served.script = api.held
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.open_requests) == 2)
        assert watched.judgment.cancel_part(2)
        await watched.until(2, "gap")
        # Part 3 is asked in its place by now, so part 2 follows it.
        await watched.until(3, "running")
        assert watched.judgment.ask_again(2)
        served.release()
        result = await running
    check_sums(result)
    assert (result.status, result.calls) == ("complete", 3)
    assert [part.from_cache for part in result.parts] == [False, True, False, True]


async def test_a_gap_whose_equal_was_judged_meanwhile_takes_that_verdict(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 2)
    served.script = lambda request, _: (
        api.held(request) if item_of(request.prompt) == 0 else api.clean(request)
    )
    async with Watched(path, store_file) as watched:
        watched.while_preparing(lambda: watched.judgment.cancel_part(2))
        running = watched.begin()
        await watched.until(3, "clean")
        assert watched.judgment.ask_again(2)
        assert watched.states(2) == ["gap", "queued", "clean"]
        served.release()
        result = await running
    assert (result.status, result.calls) == ("complete", 2)


async def test_gaps_with_the_same_text_are_asked_again_together(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 3)
    served.script = lambda request, attempt: (
        api.held(request)
        if item_of(request.prompt) == 0
        else api.refusal()
        if attempt == 1
        else api.clean(request)
    )
    async with Watched(path, store_file) as watched:
        running = watched.begin()
        await watched.until(4, "gap")
        assert watched.judgment.ask_again(3)
        await watched.until(4, "clean")
        served.release()
        result = await running
    assert (result.status, result.calls) == ("complete", 3)
    assert [part.from_cache for part in result.parts] == [False, True, False, True]


async def test_a_listener_may_ask_again_the_moment_it_hears_of_the_gap(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, attempt: api.refusal() if attempt <= 2 else api.clean(request)
    async with Watched(session_file, store_file) as watched:

        def again(update: Update) -> None:
            if isinstance(update, ChunkUpdate) and update.state is ChunkState.GAP:
                assert watched.judgment.ask_again(update.part)

        watched.on_update = again
        async with asyncio.timeout(20):
            result = await watched.judgment.run()
    assert (result.status, result.calls) == ("complete", 3 * COUNT)


async def test_nothing_is_asked_again_once_the_judgment_stops(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        api.refusal() if item_of(request.prompt) == 0 else api.held(request)
    )
    async with Watched(session_file, store_file) as watched:
        running = watched.begin()
        await watched.until(1, "gap")
        watched.judgment.cancel()
        assert not watched.judgment.ask_again(1)
        result = await running
        assert not watched.judgment.ask_again(1)
    assert isinstance(watched.updates[-1], JudgmentEnded)
    assert result.parts[0].reason == "refused"


async def test_after_a_run_one_gap_is_asked_and_the_others_stay_what_they_were(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: (
        {1: api.refusal(), 3: api.no_json()}.get(item_of(request.prompt)) or api.clean(request)
    )
    async with Watched(session_file, store_file) as watched:
        before = await watched.judgment.run()
        earlier = dict(enumerate(watched.judgment.board.chunks))
    assert before.gaps == {"refused": 1, "unparsable": 1}
    served.requests.clear()
    served.script = api.clean
    async with Watched(session_file, store_file, only=frozenset({1}), earlier=earlier) as watched:
        after = await watched.judgment.run()
        problem = watched.judgment.board.chunks[3].problem
    check_sums(after)
    assert asked(served) == [1]
    assert (after.status, after.gaps, after.calls) == ("partial", {"unparsable": 1}, 1)
    assert after.parts[3].attempts == before.parts[3].attempts == 2
    assert problem == earlier[3].problem != ""


async def test_what_nobody_knows_of_an_earlier_run_is_skipped(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    result = await run(session_file, store_file, only=frozenset({2}))
    assert (result.status, result.calls) == ("partial", 1)
    assert result.gaps == {"skipped": COUNT - 1}


async def test_a_limit_that_cuts_only_what_was_not_asked_for_again_has_ended_nothing(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, _: api.later(api.clean(request), 0.6)
    result = await run(session_file, store_file, only=frozenset({2}), time_limit=0.3)
    assert (result.status, result.judged_chunks) == ("partial", 1)


async def test_a_verdict_that_the_store_did_not_take_is_not_lost_when_a_gap_is_asked_again(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    store_file = tmp_path / "file" / "store.sqlite"
    served.script = lambda request, _: (
        api.refusal() if item_of(request.prompt) == 0 else bad(request)
    )
    async with Watched(session_file, store_file) as watched:
        await watched.judgment.run()
        earlier = dict(enumerate(watched.judgment.board.chunks))
    served.script = api.clean
    served.requests.clear()
    result = await run(session_file, store_file, only=frozenset({0}), earlier=earlier)
    assert asked(served) == [0]
    assert (result.status, result.flagged_chunks) == ("complete", COUNT - 1)


async def test_a_chunk_with_a_verdict_is_asked_afresh_alone_and_the_newest_answer_counts(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    await run(session_file, store_file)
    served.requests.clear()
    served.script = lambda request, _: bad(request)
    result = await run(session_file, store_file, only=frozenset({4}), fresh=True)
    assert asked(served) == [4]
    assert (result.status, result.calls, result.cached_chunks) == ("complete", 1, COUNT - 1)
    assert [part.state.value for part in result.parts] == ["clean"] * 4 + ["flagged", "clean"]
    assert (await run(session_file, store_file)).flagged_chunks == 1


@pytest.mark.parametrize("ending", ["refused", "limit", "cancelled"])
async def test_a_chunk_that_is_asked_anew_in_vain_keeps_its_verdict(
    served: MessagesServer, session_file: Path, store_file: Path, ending: str
) -> None:
    served.script = lambda request, _: bad(request)
    await run(session_file, store_file)
    served.script = api.held if ending == "cancelled" else lambda *_: api.refusal()
    if ending == "limit":
        served.script = lambda request, _: api.later(api.clean(request), FOREVER)
    limit = 0.3 if ending == "limit" else 600.0
    only = frozenset({4})
    async with Watched(session_file, store_file, only=only, fresh=True, time_limit=limit) as again:
        running = again.begin()
        if ending == "cancelled":
            await again.until(5, "running")
            assert again.judgment.cancel_part(5)
        result = await running
        record = again.judgment.board.chunks[4]
    check_sums(result)
    assert (result.status, result.gaps, result.calls) == ("complete", {}, 1)
    assert (result.flagged_chunks, result.parts[4].from_cache) == (COUNT, True)
    assert record.in_vain.startswith({"limit": "timed_out"}.get(ending, ending))
    served.script = api.clean
    after = await run(session_file, store_file)
    assert (after.calls, after.flagged_chunks) == (0, COUNT)


async def test_equal_chunks_that_are_asked_anew_in_vain_keep_their_verdicts(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", COUNT)
    await run(path, store_file)
    served.script = lambda *_: api.refusal()
    result = await run(path, store_file, only=frozenset({1}), fresh=True)
    assert (result.status, result.calls, result.cached_chunks) == ("complete", 1, COUNT + 1)


async def test_what_no_verdict_stood_for_is_a_gap_when_it_is_asked_anew(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda *_: api.refusal()
    result = await run(session_file, store_file, only=frozenset({0}), fresh=True)
    assert result.gaps == {"refused": 1, "skipped": COUNT - 1}


async def test_more_calls_in_flight_begin_at_once_and_fewer_when_surplus_ones_are_over(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 40)
    served.script = api.held
    async with Watched(path, store_file, concurrency=2) as watched:
        running = watched.begin()
        await served.until(lambda: len(served.open_requests) == 2)
        watched.judgment.set_concurrency(20)
        await served.until(lambda: len(served.open_requests) == 20)
        watched.judgment.set_concurrency(3)
        assert watched.judgment.concurrency == 3
        together: list[int] = []

        def script(request: Request, _: int) -> Reply:
            together.append(len(served.open_requests))
            return api.later(api.clean(request), 0.02)

        served.script = script
        served.release()
        result = await running
    assert result.status == "complete"
    assert result.settings["concurrency"] == 3
    # The surplus had left by the time of the last questions.
    assert max(together[-10:]) <= 3


async def test_concurrency_of_a_judgment_that_has_not_begun_or_is_over_can_be_set(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = api.held
    async with Watched(session_file, store_file, concurrency=1) as watched:
        watched.judgment.set_concurrency(COUNT)
        running = watched.begin()
        await served.until(lambda: len(served.open_requests) == COUNT)
        served.release()
        await running
        watched.judgment.set_concurrency(2)


async def test_concurrency_set_while_the_judge_gets_ready_counts(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = api.held
    async with Watched(session_file, store_file, concurrency=1) as watched:
        watched.while_preparing(lambda: watched.judgment.set_concurrency(COUNT))
        running = watched.begin()
        await served.until(lambda: len(served.open_requests) == COUNT)
        served.release()
        assert (await running).settings["concurrency"] == COUNT


@pytest.mark.parametrize("concurrency", [0, -1, 257])
async def test_a_concurrency_out_of_range_changes_nothing(
    served: MessagesServer, session_file: Path, store_file: Path, concurrency: int
) -> None:
    async with Watched(session_file, store_file) as watched:
        with pytest.raises(UsageError, match="use 1 to 256"):
            watched.judgment.set_concurrency(concurrency)
        assert watched.judgment.concurrency == 2


async def test_fewer_workers_leave_while_they_wait_for_a_retry(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = lambda request, attempt: (
        api.error(500, headers={"retry-after": "1"}) if attempt == 1 else api.clean(request)
    )
    async with Watched(session_file, store_file, concurrency=COUNT) as watched:
        running = watched.begin()
        for part in range(1, COUNT + 1):
            await watched.until(part, "retrying")
        watched.judgment.set_concurrency(1)
        result = await running
    assert result.status == "complete"
    second = [request for request in served.requests if request.attempt == 2]
    assert len(second) == COUNT
