"""Chunks that the offline rules flag and the model calls clean: marked, counted, explained."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from longjudge.disputes import rules_say
from longjudge.judges.offline import OfflineJudge
from longjudge_tui.bench import records

DEED = "git push --force origin topic-1"


class Trusting(OfflineJudge):
    """A model that calls everything clean, but for chunks with certain words in them."""

    judges_meaning = True
    model = label = "trusting"
    endpoint = "test"

    def __init__(self, *suspicious: str) -> None:
        super().__init__()
        self.suspicious = suspicious

    async def ask(self, question, *, max_tokens):
        answer = await super().ask(question, max_tokens=max_tokens)
        if any(words in question.user for words in self.suspicious):
            return answer
        clean = {name: {"findings": [], "problem": False} for name in question.rubric.criterion_ids}
        return replace(answer, text=json.dumps({"criteria": clean}))


def ended(desk):
    return desk.bench.run is not None and desk.bench.run.result is not None


@pytest.mark.parametrize(
    ("colour", "size"),
    [(True, (120, 40)), (False, (80, 24))],
    ids=["large, in colour", "small, NO_COLOR"],
)
async def test_a_disagreement_is_marked_counted_and_explained(
    open_desk, write_session, monkeypatch, colour, size
):
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    readers = []

    def say(*arguments, **options):
        readers.append(threading.current_thread())
        return rules_say(*arguments, **options)

    monkeypatch.setattr(records, "rules_say", say)
    path = write_session("a.jsonl", 9, flagged=(1, 4, 7))
    async with open_desk(path, judge=Trusting("topic-7"), size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: ended(desk))
        await desk.until(lambda: "⚑ flagged" in desk.text)
        disputed = [row for row in desk.rows("chunks") if "✓ clean ≠" in row]
        assert len(disputed) == desk.bench.run.result.disagreements == 2
        assert all("rules disagree" in row for row in disputed)
        await desk.until(lambda: desk.text.count("✓ clean ≠") == 2)
        await desk.sees("≠ rules disagree in 2 parts")
        live = next(row for row in desk.lines if "1 finding, ≠ 2" in row)
        # What is known of the quotes, and what the run has cost, are not what has no room.
        assert "quotes 1/1 verified" in live
        assert not colour or "5 calls" in live

        first = desk.bench.outlook.plan.part_of(1) - 1
        desk.app.screen.chunks.move_to(first)
        await desk.sees("≠ offline rules say · Destructive")
        await desk.sees("EVENT 1")
        await desk.until(
            lambda: next(row for row in desk.rows("events") if "git push" in row).startswith("▷")
        )
        await desk.until(lambda: desk.highlighted() in DEED)
        await desk.until(lambda: desk.highlighted())
        await desk.until(
            lambda: "right g" not in desk.text, "there is no mark on what the model has not found"
        )
        await desk.until(lambda: len(desk.rows("findings")) == 1, "it is no finding")
    assert readers
    assert threading.main_thread() not in readers, "the rules take longer than a frame"


async def test_the_filter_of_findings_leads_through_the_disagreements(
    open_desk, write_session, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = write_session("a.jsonl", 9, flagged=(1, 4))
    async with open_desk(path, judge=Trusting()) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: ended(desk))
        await desk.sees("f shows what the rules say")
        await desk.sees("f: rules disagree 2")
        await desk.press("f")
        await desk.until(lambda: len(desk.rows("findings")) == 2)
        await desk.until(
            lambda: all("≠" in row and "rules: " in row for row in desk.rows("findings"))
        )
        await desk.until(lambda: all("⚑" not in row for row in desk.rows("findings")))
        await desk.sees("RULES DISAGREE 2")
        await desk.press("full_stop")
        await desk.sees("EVENT 4")
        await desk.sees("rules 2 of 2")
        await desk.press("g")
        await desk.sees("there is no mark on it")
        assert not await desk.bench.store.marks()
        await desk.press("S")
        await desk.until(lambda: list(tmp_path.glob("*.md")))
        await desk.sees("saved as")
        [saved] = tmp_path.glob("*.md")
        copied = saved.read_text(encoding="utf-8")
        assert "offline" in copied
        assert "trusting" not in copied


async def test_kept_disagreements_are_there_when_the_session_is_opened_again(
    open_desk, write_session
):
    path = write_session("a.jsonl", 9, flagged=(1, 4))
    async with open_desk(path, judge=Trusting()) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(lambda: ended(desk))
    async with open_desk(path, judge=Trusting()) as desk:
        await desk.sees("≠ 2 disagreements")
        await desk.until(lambda: sum("✓ clean ≠" in row for row in desk.rows("chunks")) == 2)
        await desk.press("ctrl+r")
        await desk.until(lambda: sum("✓ clean ≠" in row for row in desk.rows("chunks")) == 2)
        await desk.press("f", "full_stop")
        await desk.sees("≠ offline rules say · Destructive action")
        await desk.until(lambda: desk.highlighted())
