"""One chunk tried by a rubric: asked by the engine, kept like any verdict, and no judgment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.api import open_session
from longjudge.chunks import plan_chunks
from longjudge.judges.offline import OfflineJudge
from longjudge.keys import KeyMaker
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.bench.attempt import REPLY_HEAD, Attempt
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.judges.base import Answer, Question

SETTINGS = Settings(chunk_chars=1000)


class SayingJudge(OfflineJudge):
    """Answers with the words that it was given, else as the rules do."""

    def __init__(self, words: str = "") -> None:
        super().__init__()
        self.words = words
        self.asked = 0

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        self.asked += 1
        answer = await super().ask(question, max_tokens=max_tokens)
        return replace(answer, text=self.words) if self.words else answer


async def tried(path: Path, store: Store, judge: SayingJudge, position: int = 1) -> Attempt:
    """Try a chunk of a session, to the end."""
    session, rubric = await open_session(path), load_rubric("chunks")
    try:
        plan = plan_chunks(session.index, SETTINGS.chunk_chars, None)
        maker = KeyMaker(judge, rubric, redactor=SETTINGS.redactor)
        attempt = Attempt(
            session,
            position,
            maker.key(plan.digest(position)),
            rubric=rubric,
            judge=judge,
            store=store,
            settings=SETTINGS,
        )
        await attempt.run()
        return attempt
    finally:
        session.close()


async def test_a_try_asks_one_chunk_and_its_verdict_is_kept(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", 4)
    store, judge = await Store.open(tmp_path / "s.sqlite"), SayingJudge()
    first = await tried(path, store, judge)
    assert first.outcome is not None
    assert first.kept
    assert judge.asked == 1
    assert "part 2 by" in first.words
    assert "1 call" in first.words
    assert set(await store.all_keys()) == {first.key}
    assert await store.judgment_ids() == []
    head, _, reply = first.outcome.text.partition(REPLY_HEAD)
    assert "destructive_action" in head
    assert reply.strip().startswith('{"criteria"')
    again = await tried(path, store, judge)
    assert "kept before, nothing was asked" in again.words
    assert judge.asked == 1
    assert again.outcome is not None
    assert reply in again.outcome.text
    await store.aclose()


async def test_a_reply_that_is_no_verdict_is_shown_as_it_came_and_is_not_kept(
    tmp_path: Path,
) -> None:
    path = write_session(tmp_path / "s.jsonl", 4)
    store = await Store.open(tmp_path / "s.sqlite")
    attempt = await tried(path, store, SayingJudge("I would rather not say."))
    assert "✗ gap (unparsable)" in attempt.words
    assert attempt.outcome is not None
    assert attempt.outcome.text.endswith("I would rather not say.")
    assert "no verdict: " in attempt.outcome.text
    assert not attempt.kept
    assert await store.all_keys() == set()
    await store.aclose()
