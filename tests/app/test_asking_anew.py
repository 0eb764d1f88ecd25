"""A judged chunk is asked anew, and the newest answer counts; what is said beside a run."""

from __future__ import annotations

import asyncio
import gc
import json
import re
from weakref import ref

import pytest

from longjudge.judges.base import Again, AskError
from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.states import GapReason
from longjudge.store import Store
from longjudge_tui.bench import stock


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


class ChangingJudge(OfflineJudge):
    """Says what it is told to say; its answers may wait."""

    def __init__(self):
        super().__init__()
        self.note, self.error, self.asked = "", None, 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        answer = await super().ask(question, max_tokens=max_tokens)
        found = [{"event": 1, "quote": "ls", "note": self.note}] if self.note else []
        names = question.rubric.criterion_ids
        criteria = {name: {"findings": [], "problem": False} for name in names}
        criteria["destructive_action"] = {"findings": found, "problem": bool(found)}
        return type(answer)(json.dumps({"criteria": criteria}), answer.stop, answer.usage)


async def judged(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("r")
    await desk.until(ended(desk))


async def asked_anew(desk, *keys):
    """Press the keys that ask anew, and wait for that judgment to begin."""
    before = desk.bench.run
    await desk.press(*keys)
    await desk.until(lambda: desk.bench.run is not before, "a judgment of its own")


async def test_a_judged_chunk_is_asked_anew_once_that_is_agreed_to_and_the_newest_answer_counts(
    open_desk, write_session
):
    judge = ChangingJudge()
    judge.note = "the first note"
    async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
        await judged(desk)
        chunks, judge.asked, judge.note = len(desk.bench.outlook.plan), 0, "the second note"
        # A key that is held down agrees to nothing, and says so once.
        await desk.press("home", "down", *["a"] * 5)
        await desk.sees("part 2 is judged already: ask it anew?")
        await desk.sees("$0.00 · model offline")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        await desk.press("escape", "a")
        assert not desk.bench.running
        judge.gate.clear()
        await asked_anew(desk, "enter")
        # What is known stays in sight, and counts, until there is something newer.
        await desk.until(lambda: "still ⚑ flagged" in desk.rows("chunks")[1])
        await desk.until(lambda: "the first note" in "".join(desk.rows("findings")))
        await desk.sees(f"judged {chunks} of {chunks}")
        judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "asked 2 times" in desk.rows("chunks")[1])
        await desk.until(lambda: "the second note" in desk.rows("chunks")[1])
        assert judge.asked == 1
        await desk.sees(f"1 call, {chunks - 1} saved")
        await desk.press("v")
        await desk.sees("asked 2 times")
        await desk.sees("── answer 1 of 2, the one that counts: ")
        shown = desk.app.screen._shown
        first, second = (shown.text[low:high] for low, high in shown.heads)
        assert "flagged: the second note ──" in first
        assert second.startswith("── answer 2 of 2: ")
        assert second.endswith(" · offline · $0.00 · flagged: the first note ──")
        assert "first note" not in shown.copied
        assert "first note" in shown.text[shown.heads[1][1] :]


async def test_a_run_is_forgotten_with_its_session(open_desk, write_session):
    files = write_session("a.jsonl", 6), write_session("b.jsonl", 3)
    judge = ChangingJudge()
    judge.error = AskError("too long", again=Again.NEVER, reason=GapReason.TOO_LARGE)
    async with open_desk(*files, judge=judge, tour=True, chunk_chars=4000) as desk:
        await desk.until(lambda: desk.rows("sessions"))
        await desk.press("enter")
        await judged(desk)
        await desk.sees("too large: } uses")
        # The error has the frames that it was raised through.
        run, judge.error = ref(desk.bench.run), None
        await desk.press("n")
        await desk.until(lambda: desk.bench.run is None and desk.bench.loading is None)
        await desk.until(lambda: desk.rows("chunks"))

        def forgotten():
            gc.collect()
            return run() is None

        await desk.until(forgotten)


@pytest.mark.parametrize(
    "preview",
    [
        pytest.param(False, id="after-a-run"),
        pytest.param(True, id="before-one", marks=pytest.mark.thorough),
    ],
)
async def test_a_chunk_that_is_asked_anew_in_vain_keeps_its_verdict_and_says_why(
    open_desk, write_session, preview
):
    judge, session = ChangingJudge(), write_session("a.jsonl", 6)
    async with open_desk(session, judge=judge) as desk:
        await judged(desk)
        if preview:
            desk.bench.reload()
            await desk.until(lambda: desk.bench.run is None and desk.bench.loading is None)
            await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        chunks = len(desk.bench.outlook.plan)
        judge.error = AskError("no luck", again=Again.NEVER, reason=GapReason.PROVIDER_ERROR)
        await asked_anew(desk, "a", "enter")
        await desk.until(ended(desk))
        await desk.sees("part 1 keeps its verdict, no new one came: provider_error: no luck")
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        await desk.until(lambda: "no new verdict: provider_error" in desk.rows("chunks")[0])
        result = desk.bench.run.result
        assert (result.status, result.judged_chunks, result.gaps) == ("complete", chunks, {})


async def test_a_judged_chunk_waits_for_the_end_of_a_run_to_be_asked_anew(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 20), gated=True, concurrency=1) as desk:
        desk.judge.gate.set()
        await judged(desk)
        desk.judge.gate.clear()
        await asked_anew(desk, "a", "enter")
        await desk.press("down", *["a"] * 9)
        await desk.sees("part 2 is judged; it can be asked anew")
        await desk.until(lambda: len(desk.app.screen.query("Toast")) == 1)
        desk.judge.gate.set()
        await desk.until(ended(desk))


async def test_the_chunks_to_ask_say_which_part_of_their_key_is_new(
    open_desk, write_session, tmp_path
):
    other = tmp_path / "other.toml"
    other.write_text(
        'name = "other"\n[[criteria]]\nid = "destructive_action"\nquestion = "Was it?"\n',
        encoding="utf-8",
    )
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await desk.until(lambda: "never asked" in desk.rows("chunks")[0])
        await judged(desk)
        desk.bench.tuning.use_rubric(load_rubric(str(other)))
        await desk.until(lambda: "○ to ask   new rubric" in desk.rows("chunks")[0])
        chunks = len(desk.bench.outlook.plan)
        await desk.until(lambda: "to ask: new rubric" in desk.title("live"))
        summary = f" {chunks} to ask · $0.00 · new rubric"
        await desk.until(lambda: summary in desk.title("chunks-title"))
        desk.bench.tuning.use_rubric(load_rubric("chunks"))
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        await desk.until(lambda: "new rubric" not in desk.text)


async def test_a_wait_that_the_provider_orders_counts_down(open_desk, write_session):
    judge = ChangingJudge()
    judge.error = AskError(
        "429: slow down", again=Again.WHEN_TOLD, reason=GapReason.RATE_LIMITED, wait=30.0
    )
    async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        seen = set()

        def counts_down():
            seen.update(re.findall(r"all wait (\d+) s: 429: slow down", desk.title("status")))
            return len(seen) > 1

        await desk.until(counts_down)
        await desk.press("x")
        await desk.until(ended(desk))
        await desk.until(lambda: "all wait" not in desk.title("status"))


async def test_a_size_that_fits_is_offered_where_parts_were_too_large(open_desk, write_session):
    judge = ChangingJudge()
    judge.error = AskError("too long", again=Again.NEVER, reason=GapReason.TOO_LARGE)
    async with open_desk(write_session("a.jsonl", 12), judge=judge, chunk_chars=4000) as desk:
        await judged(desk)
        parts = len(desk.bench.outlook.plan)
        await desk.sees(f"{parts} parts too large: }} uses chunks of ")
        size = desk.bench.fit.size
        await desk.until(lambda: f"chunks of {size:,} characters" in desk.title("status"))
        await desk.press("right_curly_bracket")
        assert desk.bench.settings.chunk_chars == size < 4000
        judge.error = None
        await judged(desk)
        await desk.sees("complete: ")
        await desk.press("right_curly_bracket")
        await desk.sees("no part was too large")


async def test_what_is_answered_while_the_store_is_read_is_read_too(tmp_path, monkeypatch):
    gate, reading, answers = asyncio.Event(), asyncio.Event(), []

    async def slow(_):
        found = dict.fromkeys(answers, 2)
        reading.set()
        await gate.wait()
        return found

    monkeypatch.setattr(stock, "times_asked", slow)
    store = await Store.open(tmp_path / "store.sqlite")
    held = stock.Stock(store, set(), lost=int, changed=int, notice=pytest.fail)
    held.learn_again()
    await reading.wait()
    answers.append("key")
    held.learn_again()
    gate.set()
    await held._learning
    assert held.times_asked("key") == 2
    await held.aclose()
    await store.aclose()
