"""Settling many chunks, or huge ones, leaves the event loop its turns."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from judgments_for_tests import Watched, bad, run
from longjudge import asking, judge_session, turns
from longjudge.sessions import model
from longjudge.updates import ChunkUpdate
from server import flagged, held
from sessions_for_tests import events, write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from longjudge.judges.base import Question
    from longjudge.judges.reply import BadReply
    from longjudge.redaction import Redacted
    from longjudge.store import KeptVerdict
    from server import MessagesServer, Reply, Request

CHUNKS = 12


async def settled_in_turns(path: Path, store: Path) -> list[tuple[int, int]]:
    """For each chunk that came from what is kept, its part and the loop's turn when it was told."""
    turn = 0
    told: list[tuple[int, int]] = []

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async with Watched(path, store) as watched:
        watched.on_update = lambda update: (
            told.append((update.part, turn))
            if isinstance(update, ChunkUpdate) and update.from_cache
            else None
        )
        counting = asyncio.create_task(count_turns())
        await watched.judgment.run()
        counting.cancel()
    return told


async def test_the_loop_gets_its_turns_while_kept_verdicts_are_settled(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = lambda request, _: bad(request)
    path = write_session(tmp_path / "s.jsonl", CHUNKS)
    await run(path, store_file)
    monkeypatch.setattr(turns, "HELD_SECONDS", 0.0)
    settled = await settled_in_turns(path, store_file)
    assert [part for part, _ in settled] == list(range(1, CHUNKS + 1))
    assert len({turn for _, turn in settled}) == CHUNKS


async def test_the_loop_gets_its_turns_while_equal_chunks_take_one_verdict(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = lambda request, _: bad(request)
    path = write_events(tmp_path / "s.jsonl", [events(1)[0], *[events(2)[1]] * CHUNKS])
    monkeypatch.setattr(turns, "HELD_SECONDS", 0.0)
    settled = await settled_in_turns(path, store_file)
    assert len(served.requests) == 2
    assert len(settled) == CHUNKS - 1
    assert len({turn for _, turn in settled}) == CHUNKS - 1


async def test_the_loop_gets_its_turns_between_questions_and_between_answers_that_are_due_at_once(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, made, read = 0, list[int](), list[int]()
    build, understand = asking.build_question, asking.understand

    def built(*arguments: Any, **options: Any) -> Question:
        made.append(turn)
        return build(*arguments, **options)

    def understood(*arguments: Any) -> KeptVerdict | BadReply:
        read.append(turn)
        return understand(*arguments)

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(asking, "build_question", built)
    monkeypatch.setattr(asking, "understand", understood)
    monkeypatch.setattr(turns, "HELD_SECONDS", 0.0)
    served.script = held
    path = write_session(tmp_path / "s.jsonl", CHUNKS)
    async with Watched(path, store_file, concurrency=CHUNKS) as watched:
        running = watched.begin()
        counting = asyncio.create_task(count_turns())
        await served.until(lambda: len(served.requests) == CHUNKS)
        served.release()
        result = await running
        counting.cancel()
    assert result.judged_chunks == CHUNKS
    assert len(set(made)) == len(made) == CHUNKS
    assert len(set(read)) == len(read) == CHUNKS


async def test_a_huge_event_with_kept_findings_is_not_read_on_the_loop(
    served: MessagesServer, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(request: Request, _: int) -> Reply:
        found = {"event": 1, "quote": "some words", "note": "n"}
        return flagged(request, {"broken_promise": [found]})

    served.script = script
    huge: dict[str, object] = {"kind": "assistant_message", "text": "some words " * 100_000}
    path = write_events(tmp_path / "s.jsonl", [events(1)[0], huge])
    await judge_session(path, model="claude-haiku-5-5", chunk_chars=500_000, store=store_file)
    asked, on_loop = len(served.requests), list[int]()
    redact, loop_thread = model.redact, threading.get_ident()

    def watched(text: str) -> Redacted:
        if threading.get_ident() == loop_thread:
            on_loop.append(len(text))
        return redact(text)

    monkeypatch.setattr(model, "redact", watched)
    result = await judge_session(
        path, model="claude-haiku-5-5", chunk_chars=500_000, store=store_file
    )
    assert result is not None
    assert len(served.requests) == asked
    assert [found.event for found in result.findings if found.verified] == [1, 1, 1]
    assert max(on_loop) < 10_000
