"""A gap is asked again by itself, during a judgment and after it; the others stay as they are."""

from __future__ import annotations

import asyncio

import pytest

from longjudge.judges.offline import OfflineJudge


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
        await desk.until(lambda: gaps(desk, "unparsable") == chunks - 1)
        judge.gate.set()
        await desk.until(lambda: desk.bench.run is not first and ended(desk)())
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[2])
        assert judge.asked == 1
        await desk.until(lambda: gaps(desk, "unparsable") == chunks - 1)
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
        await desk.until(lambda: gaps(desk, "unparsable") == len(desk.bench.outlook.plan))


def text_of(desk):
    return desk.title("detail-title")


async def test_the_text_follows_the_chunk_from_gap_to_verdict(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 20), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.until(lambda: text_of(desk).startswith("EVENT 0 "))
        await desk.press("c")
        await desk.until(lambda: text_of(desk).startswith("PART 1 · gap"))
        await desk.press("a")
        await desk.until(lambda: text_of(desk).startswith("EVENT 0 "))
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "✓ clean" in desk.rows("chunks")[0])
        await desk.until(lambda: text_of(desk).startswith("EVENT 0 "))
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


@pytest.mark.parametrize(
    "keys",
    [
        ("enter",),
        ("tab", "down"),
        pytest.param(("z",), marks=pytest.mark.thorough),
        pytest.param(("i",), marks=pytest.mark.thorough),
    ],
)
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
        await desk.until(lambda: text_of(desk) == looked_at)
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.pilot.pause()
        await desk.until(lambda: text_of(desk) == looked_at)


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
        await desk.until(lambda: text_of(desk).startswith("EVENT 1 "))
        await desk.until(lambda: desk.rows("events")[1].startswith("▶"))
