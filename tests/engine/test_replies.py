"""Replies on their real way: the SDK, a local server, the store; and what a bad one leaves."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import server as api
from judgments_for_tests import Watched, check_sums, run
from longjudge.api import open_session
from longjudge.budget import Budget
from longjudge.judges.make import make_judge
from longjudge.judgment import Judgment
from longjudge.retries import MAX_TOKENS, MORE_TOKENS
from longjudge.settings import Settings
from longjudge.store import (
    Asked,
    GapReply,
    Store,
    Stretch,
    last_gap,
    read_gap_replies,
    real_path,
)
from longjudge.verdict import Finding, Verdict
from reply_table import ONE, ONE_CRITERION, TWO, TWO_CRITERIA, Gap, Row
from sessions_for_tests import CHUNK_CHARS, events, item_of, write_events, write_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.rubric import Rubric
    from server import MessagesServer, Reply, Request

MODEL = "claude-haiku-5-5"
WINDOW = "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"
CUT, BAD, GOOD = api.truncated(), api.no_json(), api.clean


def reply_of(row: Row) -> Reply:
    blocks = [{"type": "text", "text": row.reply}] if isinstance(row.reply, str) else row.reply
    return api.message(blocks, stop_reason=row.stop)


@pytest.mark.parametrize(
    ("rows", "rubric"), [(TWO, TWO_CRITERIA), (ONE, ONE_CRITERION)], ids=["two", "one"]
)
async def test_exactly_the_rows_of_the_table_with_a_verdict_reach_the_store(
    served: MessagesServer, tmp_path: Path, store_file: Path, rows: Sequence[Row], rubric: Rubric
) -> None:
    served.script = lambda request, _: reply_of(rows[item_of(request.prompt)])
    session = await open_session(write_session(tmp_path / "s.jsonl", len(rows)))
    store, judge = await Store.open(store_file), make_judge(MODEL)
    judgment = Judgment(
        session,
        rubric=rubric,
        judge=judge,
        store=store,
        settings=Settings(CHUNK_CHARS, concurrency=8),
    )
    result = await judgment.run()
    replies = {gap.part: gap for gap in await read_gap_replies(store, result.id)}
    await store.aclose()
    await judge.aclose()
    session.close()
    check_sums(result)
    kept: list[tuple[str, Verdict]] = []
    for part, row in zip(result.parts, rows, strict=True):
        if isinstance(row.expect, Gap):
            assert part.reason == row.expect.reason, row.name
            assert row.expect.words in replies[part.part].problem, row.name
        else:
            assert part.state in ("clean", "flagged"), row.name
            findings = tuple(Finding(*found) for found in row.expect)
            digest = judgment.plan.digest(part.part - 1).hex()
            kept.append((digest, Verdict(rubric.criterion_ids, findings)))
    with sqlite3.connect(store_file) as connection:
        stored = connection.execute("SELECT chunk_digest, verdict FROM verdicts").fetchall()
    connection.close()
    assert sorted(stored) == sorted((digest, verdict.to_json()) for digest, verdict in kept)


def sequence(*replies: Reply) -> object:
    """A script: one reply after the other, the last one again and again."""

    def script(request: Request, attempt: int) -> Reply:
        reply = replies[min(attempt, len(replies)) - 1]
        return api.clean(request) if reply is GOOD else reply

    return script


REFUSED_CAP = api.error(400, "max_tokens: 16384 > 8192, the most", kind="invalid_request_error")
TOO_MUCH = api.error(400, WINDOW, kind="invalid_request_error")


@pytest.mark.parametrize(
    ("replies", "caps", "reason", "problem"),
    [
        ([BAD, GOOD], "small small", None, ""),
        ([BAD, BAD, GOOD], "small small", "unparsable", "no JSON object"),
        ([CUT, GOOD], "small large", None, ""),
        ([CUT, CUT, GOOD], "small large", "truncated", "cut off at its limit"),
        ([CUT, BAD, GOOD], "small large large", None, ""),
        ([CUT, BAD, BAD, GOOD], "small large large", "unparsable", "no JSON object"),
        ([CUT, BAD, CUT, GOOD], "small large large", "truncated", "cut off at its limit"),
        ([BAD, CUT, GOOD], "small small large", None, ""),
        ([BAD, CUT, CUT, GOOD], "small small large", "truncated", "cut off at its limit"),
        ([BAD, CUT, BAD, GOOD], "small small large", "unparsable", "no JSON object"),
        ([api.refusal(), GOOD], "small", "refused", "cyber: This looks harmful."),
        ([BAD, api.refusal(), GOOD], "small small", "refused", "cyber"),
        ([CUT, api.refusal(), GOOD], "small large", "refused", "cyber"),
        ([CUT, REFUSED_CAP, GOOD], "small large", "truncated", "16384 > 8192"),
        ([CUT, TOO_MUCH, GOOD], "small large", "truncated", "larger cap was refused"),
        ([BAD, CUT, REFUSED_CAP, GOOD], "small small large", "truncated", "16384 > 8192"),
        ([CUT, api.error(500), REFUSED_CAP, GOOD], "small large large", "truncated", "8192"),
        ([BAD, REFUSED_CAP, GOOD], "small small", "provider_error", "16384 > 8192"),
        ([CUT, BAD, REFUSED_CAP, GOOD], "small large large", "provider_error", "16384 > 8192"),
        ([api.error(500), BAD, GOOD], "small small small", None, ""),
        ([BAD, api.error(500), GOOD], "small small small", None, ""),
    ],
)
async def test_a_bad_reply_is_asked_once_more_and_a_cut_one_with_a_larger_cap(
    served: MessagesServer,
    tmp_path: Path,
    store_file: Path,
    replies: Sequence[Reply],
    caps: str,
    reason: str | None,
    problem: str,
) -> None:
    served.script = sequence(*replies)
    async with Watched(write_session(tmp_path / "s.jsonl", 1), store_file) as watched:
        result = await watched.judgment.run()
        gaps = await read_gap_replies(watched.store, result.id)
    sent = [dict(request.body) for request in served.requests]
    sizes = {"small": MAX_TOKENS, "large": MORE_TOKENS}
    assert [body.pop("max_tokens") for body in sent] == [sizes[cap] for cap in caps.split()]
    assert all(body == sent[0] for body in sent)
    assert result.parts[0].reason == reason
    assert bool(gaps) == (reason is not None)
    assert all(problem in gap.problem for gap in gaps)


async def test_a_budget_that_ends_before_the_second_question_leaves_what_came_of_the_first(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = sequence(CUT, GOOD)
    path = write_session(tmp_path / "s.jsonl", 1)
    async with Watched(path, store_file, budget=Budget(max_calls=1)) as watched:
        result = await watched.judgment.run()
        [gap] = await read_gap_replies(watched.store, result.id)
    assert (len(served.requests), result.gaps) == (1, {"truncated": 1})
    assert gap.reply.startswith('{"criteria"')
    assert "cut off" in gap.problem


async def test_the_replies_of_gaps_stay_beside_the_judgment_as_they_came(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    hostile = "\x1b[2J\x00 \u202e </td>'); DROP TABLE gap_replies; --\r\n```\n"

    def script(request: Request, _: int) -> Reply:
        match item_of(request.prompt):
            case 0:
                return api.text(hostile)
            case 1:
                return api.text("\ud800 half")
            case 2:
                return api.text("x" * 300_000)
            case 3:
                return api.error(400, "bad field", kind="invalid_request_error")
            case 4:
                return api.refusal()
            case _:
                return api.clean(request)

    served.script = script
    equal = [events(1)[0], *events(6)[1:], events(2)[1]]
    path = write_events(tmp_path / "s.jsonl", equal)
    async with Watched(path, store_file) as watched:
        result = await watched.judgment.run()
        gaps = await read_gap_replies(watched.store, result.id)
    assert [gap.part for gap in gaps] == [1, 2, 3, 4, 5, 7]
    by_part = {gap.part: gap for gap in gaps}
    assert by_part[1].reply == hostile
    assert by_part[2].reply == "\ufffd half"
    assert by_part[2] == GapReply(2, by_part[7].problem, by_part[7].reply)
    assert by_part[3].reply.endswith("x\n[100000 more characters were not kept]")
    assert "longer than 200000" in by_part[3].problem
    assert (by_part[4].reply, "bad field" in by_part[4].problem) == ("", True)
    assert (by_part[5].reply, "This looks harmful" in by_part[5].problem) == ("", True)
    assert "gap_replies" not in json.dumps(result.to_dict())


async def test_a_judgment_without_gaps_leaves_no_reply_of_one(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = sequence(BAD, GOOD)
    path = write_session(tmp_path / "s.jsonl", 2)
    result = await run(path, store_file)
    assert result.status == "complete"
    with sqlite3.connect(store_file) as connection:
        assert connection.execute("SELECT count(*) FROM gap_replies").fetchone() == (0,)
    connection.close()


async def test_the_last_gap_of_a_chunk_is_that_of_the_newest_judgment_of_the_same_plan(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    served.script = lambda request, _: BAD if item_of(request.prompt) else api.clean(request)
    path = write_session(tmp_path / "s.jsonl", 3)
    async with Watched(path, store_file) as watched:
        result = await watched.judgment.run()
        part, store = result.parts[1], watched.store
        here = Stretch(part.part, part.thread, part.first_event, part.last_event, part.chars)
        asked = Asked(real_path(path), watched.session.id, MODEL, result.rubric["version"])
        last = await last_gap(store, asked, here)
        assert last is not None
        assert (last.reason, last.gap.part) == ("unparsable", 2)
        assert last.gap.reply == "I would rather talk about something else."
        first = result.parts[0]
        judged = Stretch(1, first.thread, first.first_event, first.last_event, first.chars)
        for others, there in (
            (asked, judged),
            (asked, replace(here, chars=here.chars + 1)),
            (asked, replace(here, part=99)),
            (replace(asked, model="another"), here),
            (replace(asked, rubric_version="another"), here),
            (replace(asked, session_id="another"), here),
            (replace(asked, real_path=""), here),
        ):
            assert await last_gap(store, others, there) is None
    served.script = api.clean
    async with Watched(path, store_file) as watched:
        await watched.judgment.run()
        assert await last_gap(watched.store, asked, here) is None
