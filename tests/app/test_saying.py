"""What the lines around a run say: how it goes, how it ended, what to do next, and by which key."""

from __future__ import annotations

import pytest

from longjudge.judges.anthropic import AnthropicJudge

sizes = pytest.mark.parametrize(
    "size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)]
)


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


def painted(desk, name):
    """A widget of one line, as it is cut on the screen."""
    region = desk.app.screen.query_one(f"#{name}").content_region
    return desk.lines[region.y][region.x : region.right].rstrip()


def messages(desk):
    return [note.message for note in desk.app._notifications]


async def running(desk, key="r"):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press(key)
    await desk.sees("◐ running")


@sizes
async def test_a_short_limit_that_cuts_nothing_off_is_explained(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 6), size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("t")
        said = "done within 0.5 s, nothing timed out: try smaller chunks ([) or a longer session"
        await desk.until(lambda: said in messages(desk))
        await desk.until(lambda: said[:70] in painted(desk, "status"))
        await desk.until(lambda: said in desk.title("status"))
        await desk.until(lambda: "complete: " in desk.title("status"))
        await desk.press("r")
        await desk.until(lambda: said not in desk.title("status"))


async def test_answers_that_come_in_the_grace_after_the_limit_are_explained(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 6), gated=True) as desk:
        await running(desk, "t")
        await desk.sees("the time limit is reached: ")
        desk.judge.gate.set()
        await desk.until(
            lambda: "the answers on their way at 0.5 s still came" in desk.title("status")
        )
        assert desk.bench.run.result.status == "complete"


@sizes
async def test_a_short_limit_with_everything_kept_says_why_nothing_can_time_out(
    open_desk, write_session, size
):
    async with open_desk(write_session("a.jsonl", 6), size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        first = desk.bench.run
        await desk.press("t")
        await desk.until(
            lambda: painted(desk, "status").find("nothing is asked and nothing can time out") >= 0
        )
        await desk.until(lambda: "another chunk size ([ ]) asks anew" in desk.title("status"))
        await desk.until(lambda: any("nothing can time out" in note for note in messages(desk)))
        assert desk.bench.run is first
        await desk.press("right_square_bracket")
        await desk.until(lambda: "nothing can time out" not in desk.title("status"))


async def test_a_short_run_that_times_out_needs_no_explanation(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 6), gated=True) as desk:
        await running(desk, "t")
        await desk.until(ended(desk))
        await desk.sees("timed_out: not judged within 0.5 seconds")
        await desk.until(lambda: "nothing timed out" not in desk.title("status"))


@sizes
@pytest.mark.parametrize("key", ["x", "t"])
async def test_after_a_cancel_or_a_time_out_the_status_names_the_key_that_goes_on(
    open_desk, write_session, size, key
):
    async with open_desk(write_session("a.jsonl", 30), gated=True, size=size) as desk:
        await running(desk, "t" if key == "t" else "r")
        if key == "x":
            await desk.press("x")
        await desk.until(ended(desk))
        await desk.until(lambda: "r goes on" in painted(desk, "status"))
        desk.judge.gate.set()
        await desk.press("r")
        await desk.sees("complete: ")
        await desk.until(lambda: "goes on" not in desk.title("status"))


async def test_a_gap_says_which_key_asks_about_it_and_which_about_all(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await running(desk)
        await desk.press("x")
        await desk.until(ended(desk))
        await desk.sees("PART 1 · gap")
        text = " ".join(row[1:].strip() for row in desk.rows("detail"))
        assert "a asks again about this one, r (when no judgment is in flight)" in text


@pytest.fixture
def longer(monkeypatch):
    """A short limit that no test comes to."""
    monkeypatch.setattr("longjudge_tui.workbench.tuning_actions.SHORT_LIMIT", 50.5)


@sizes
async def test_while_it_runs_the_limit_it_runs_by_is_said(open_desk, write_session, longer, size):
    async with open_desk(write_session("a.jsonl", 30), gated=True, size=size) as desk:
        await running(desk, "t")
        await desk.until(lambda: "judging, limit 50.5 s…" in painted(desk, "status"))
        await desk.until(lambda: "next s  600" in desk.text)
        await desk.until(lambda: "limit s" not in desk.text)
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.sees("limit s 600")


async def test_the_time_that_has_passed_is_not_taken_for_the_time_that_is_left(
    open_desk, write_session, clock
):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await running(desk)
        await desk.until(lambda: "· 0:00 elapsed" in desk.title("live"))
        await desk.press("c")
        await desk.until(lambda: "✗ gap" in desk.text)
        clock.forward(3)
        await desk.until(lambda: "· 0:03 elapsed" in desk.title("live"))
        await desk.until(lambda: "left" not in desk.title("live"))
        await desk.press("x")
        await desk.sees("cancelling: ")
        await desk.until(lambda: desk.title("live").endswith("· 0:03 elapsed"))
        await desk.until(ended(desk))
        await desk.until(lambda: desk.title("live").endswith("· 0:03"))


async def test_less_than_a_second_left_is_not_said_to_be_none(
    open_desk, write_session, longer, clock
):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await running(desk, "t")
        await desk.press("c")
        await desk.until(lambda: "✗ gap" in desk.text)
        clock.forward(50.2)
        await desk.until(lambda: "about 0:01 left" in desk.title("live"))


@sizes
async def test_a_model_that_cannot_be_asked_is_known_before_a_run(open_desk, write_session, size):
    judge = AnthropicJudge("claude-haiku-5-5")
    async with open_desk(write_session("a.jsonl", 6), judge=judge, size=size) as desk:
        another = "m chooses another model, such as offline"
        await desk.until(lambda: another in painted(desk, "live"))
        await desk.until(lambda: "r runs" not in desk.title("live"))
        await desk.until(
            lambda: desk.title("live").startswith(f"ANTHROPIC_API_KEY is not set: {another} · not")
        )
        await desk.press("r")
        await desk.until(lambda: painted(desk, "status").find(f"✗ {another}: no credential") >= 0)
        await desk.until(
            lambda: "set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN" in desk.title("status")
        )
        await desk.until(lambda: any(words.startswith(another) for words in messages(desk)))
        await desk.until(
            lambda: not any("--model" in words for words in (*messages(desk), desk.title("status")))
        )


@sizes
async def test_a_model_with_a_key_runs_as_before(open_desk, write_session, size, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    judge = AnthropicJudge("claude-haiku-5-5")
    async with open_desk(write_session("a.jsonl", 6), judge=judge, size=size) as desk:
        await desk.until(lambda: painted(desk, "live").endswith("r runs"))
        await desk.until(lambda: "no key" not in desk.title("live"))


async def test_a_key_is_looked_for_once_per_model_and_run(open_desk, write_session, monkeypatch):
    looked = []

    def look(model, config):
        looked.append(model)
        return "no such key"

    monkeypatch.setattr("longjudge_tui.bench.bench.credential_fault", look)
    judge = AnthropicJudge("claude-haiku-5-5")
    async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
        await desk.sees("no such key: m chooses another model")
        for _ in range(5):
            await desk.press("right_square_bracket")
            desk.app.screen.tick()
        assert looked == ["claude-haiku-5-5"]
        await desk.press("r")
        await desk.sees("ANTHROPIC_API_KEY")
        await desk.until(lambda: len(looked) == 2)
        await desk.press("m", "home", "enter")
        await desk.until(lambda: "MODEL" not in desk.text)
        await desk.until(lambda: desk.title("live").endswith("r runs"))


async def test_a_chunk_that_is_asked_again_shows_the_seconds_of_this_attempt(
    open_desk, write_session, clock
):
    async with open_desk(write_session("a.jsonl", 6), gated=True) as desk:
        await running(desk)
        clock.forward(1.1)
        await desk.until(lambda: "◐ running  1.1 s " in desk.rows("chunks")[0])
        await desk.press("c")
        await desk.until(lambda: "✗ gap" in desk.rows("chunks")[0])
        await desk.press("a")
        await desk.until(lambda: "◐ running  0.0 s · attempt 2" in desk.rows("chunks")[0])
        clock.forward(0.3)
        await desk.until(lambda: "◐ running  0.3 s · attempt 2" in desk.rows("chunks")[0])
        desk.judge.gate.set()
        await desk.until(ended(desk))
        await desk.until(lambda: "✓ clean    1.4 s in 2 attempts" in desk.rows("chunks")[0])
        assert desk.bench.run.result.parts[0].seconds == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("model", "shown"),
    [("claude-sonnet-5-5", "sonnet-5-5"), ("claude-opus-4", "claude-opus-4")],
)
async def test_a_model_is_told_from_the_others_in_the_settings(
    open_desk, write_session, model, shown
):
    async with open_desk(write_session("a.jsonl", 3), judge=AnthropicJudge(model)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.until(lambda: painted(desk, "fact-choose-model").split() == [shown, "m"])
