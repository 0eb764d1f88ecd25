"""A gap is asked again by itself, during a judgment and after it; the others stay as they are."""

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


class RefusingJudge(OfflineJudge):
    """Declines until it is told not to; its answers may wait."""

    def __init__(self):
        super().__init__()
        self.willing = False
        self.asked = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        await self.gate.wait()
        answer = await super().ask(question, max_tokens=max_tokens)
        if self.willing:
            return answer
        return type(answer)("I would rather not", answer.stop, answer.usage)


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


def gaps(desk, reason):
    return sum(f"✗ gap      {reason}" in row for row in desk.rows("chunks"))


async def ask_again(desk, way, row):
    if way == "key":
        await desk.press("home", *["down"] * row, "a")
    else:
        text = desk.rows("chunks")[row]
        assert text.endswith("[ask again]")
        await desk.pilot.click("#chunks", offset=(len(text) - 4, row))


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_after_a_run_only_the_gap_is_asked_and_the_others_keep_their_reasons(
    open_desk, write_session, way
):
    judge = RefusingJudge()
    async with open_desk(write_session("a.jsonl", 20), judge=judge) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        chunks = len(desk.bench.outlook.plan)
        await desk.until(lambda: gaps(desk, "unparsable") == chunks)
        judge.willing, judge.asked, first = True, 0, desk.bench.run
        judge.gate.clear()
        await ask_again(desk, way, 2)
        await desk.until(lambda: "◐ running" in desk.rows("chunks")[2])
        assert gaps(desk, "unparsable") == chunks - 1
        judge.gate.set()
        await desk.until(lambda: desk.bench.run is not first and ended(desk)())
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[2])
        assert judge.asked == 1
        assert gaps(desk, "unparsable") == chunks - 1
        result = desk.bench.run.result
        assert (result.judged_chunks, result.gaps) == (1, {"unparsable": chunks - 1})
        await ask_again(desk, way, 4)
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[4])
        await desk.until(ended(desk))
        assert judge.asked == 2


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_during_a_run_a_cancelled_chunk_is_asked_again(open_desk, write_session, way):
    async with open_desk(write_session("a.jsonl", 20), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("down", "c")
        await desk.until(lambda: "✗ gap      cancelled" in desk.rows("chunks")[1])
        run = desk.bench.run
        await desk.until(lambda: desk.rows("chunks")[1].endswith("[ask again]"))
        await ask_again(desk, way, 1)
        await desk.until(lambda: "✗ gap" not in desk.rows("chunks")[1])
        desk.judge.gate.set()
        await desk.until(ended(desk))
        assert desk.bench.run is run
        assert run.result.gaps == {}
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[1])


async def test_what_is_no_gap_is_not_asked_again(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("a")
        await desk.sees("part 1 is no gap")
        assert not desk.bench.running


async def test_quitting_asks_while_a_chunk_is_asked_again(open_desk, write_session):
    judge = RefusingJudge()
    async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        judge.willing = True
        judge.gate.clear()
        await desk.press("a")
        await desk.sees("◐ running")
        await desk.press("ctrl+q")
        await desk.sees("A judgment is in flight")
        await desk.press("escape")
        judge.gate.set()
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])


async def test_an_ask_again_without_a_credential_leaves_the_gaps_as_they_were(
    open_desk, write_session, monkeypatch
):
    from longjudge.errors import CredentialError

    judge = RefusingJudge()
    async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        first = desk.bench.run

        async def prepare():
            raise CredentialError("no credential; set ANTHROPIC_API_KEY")

        monkeypatch.setattr(judge, "prepare", prepare)
        await desk.press("a")
        await desk.sees("set ANTHROPIC_API_KEY")
        await desk.until(lambda: desk.bench.run is first and not desk.bench.running)
        assert gaps(desk, "unparsable") == len(desk.bench.outlook.plan)


def text_of(desk):
    return desk.title("detail-title")


async def test_the_text_follows_the_chunk_from_gap_to_verdict(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 20), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        assert text_of(desk).startswith("EVENT 0 ")
        await desk.press("c")
        await desk.until(lambda: text_of(desk).startswith("PART 1 · gap"))
        await desk.press("a")
        await desk.until(lambda: text_of(desk).startswith("EVENT 0 "))
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        assert text_of(desk).startswith("EVENT 0 ")
        await desk.sees("command: ls")


async def test_a_gap_that_is_read_turns_into_the_chunk_when_it_is_asked_again(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 20), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("c", "enter")
        await desk.until(lambda: desk.app.focused.id == "detail")
        await desk.press("a")
        await desk.until(lambda: text_of(desk).startswith("EVENT 0 "))
        desk.judge.gate.set()
        await desk.until(ended(desk))


@pytest.mark.parametrize("keys", [("enter",), ("tab", "down"), ("z",), ("i",)])
async def test_a_gap_takes_the_place_of_nothing_that_is_looked_at(open_desk, write_session, keys):
    async with open_desk(write_session("a.jsonl", 20), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        before = text_of(desk)
        await desk.press(*keys)
        if keys != ("enter",):
            await desk.until(lambda: text_of(desk) != before and "reading" not in text_of(desk))
        looked_at = text_of(desk)
        desk.bench.cancel_part(0)
        await desk.until(lambda: "✗ gap" in desk.rows("chunks")[0])
        assert text_of(desk) == looked_at
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.pilot.pause()
        assert text_of(desk) == looked_at


async def test_a_judgment_of_its_own_leaves_the_event_that_is_looked_at(open_desk, write_session):
    judge = RefusingJudge()
    async with open_desk(write_session("a.jsonl", 20), judge=judge) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        await desk.until(lambda: text_of(desk).startswith("PART 1 · gap"))
        await desk.press("tab", "down")
        await desk.until(lambda: text_of(desk).startswith("EVENT 1 "))
        judge.willing, first = True, desk.bench.run
        await desk.press("a")
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        await desk.until(lambda: desk.bench.run is not first and ended(desk)())
        await desk.pilot.pause()
        assert text_of(desk).startswith("EVENT 1 ")
        assert desk.rows("events")[1].startswith("▶")


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
        assert len(desk.app.screen_stack) == 2
        await desk.press("escape", "a")
        assert not desk.bench.running
        judge.gate.clear()
        await asked_anew(desk, "enter")
        # What is known stays in sight, and counts, until there is something newer.
        await desk.until(lambda: "still ⚑ flagged" in desk.rows("chunks")[1])
        assert "the first note" in "".join(desk.rows("findings"))
        await desk.sees(f"judged {chunks} of {chunks}")
        judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "asked 2 times" in desk.rows("chunks")[1])
        assert "the second note" in desk.rows("chunks")[1]
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


@pytest.mark.parametrize("preview", [False, True], ids=["after-a-run", "before-one"])
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
        assert "no new verdict: provider_error" in desk.rows("chunks")[0]
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
        assert len(desk.app.screen.query("Toast")) == 1
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
        assert f" {chunks} to ask · $0.00 · new rubric" in desk.title("chunks-title")
        desk.bench.tuning.use_rubric(load_rubric("chunks"))
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        assert "new rubric" not in desk.text


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
        assert "all wait" not in desk.title("status")


async def test_a_size_that_fits_is_offered_where_parts_were_too_large(open_desk, write_session):
    judge = ChangingJudge()
    judge.error = AskError("too long", again=Again.NEVER, reason=GapReason.TOO_LARGE)
    async with open_desk(write_session("a.jsonl", 12), judge=judge, chunk_chars=4000) as desk:
        await judged(desk)
        parts = len(desk.bench.outlook.plan)
        await desk.sees(f"{parts} parts too large: }} uses chunks of ")
        size = desk.bench.fit.size
        assert f"chunks of {size:,} characters" in desk.title("status")
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
