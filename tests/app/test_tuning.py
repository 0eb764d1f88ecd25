"""What a run goes by is changed by key and by mouse, and everything else follows at once."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from textual import events

from longjudge.judges.anthropic import AnthropicJudge
from longjudge_tui.bench.sizes import Scale, Unit, next_size
from longjudge_tui.workbench.size_slider import SizeSlider

RUBRIC = dedent(
    """
    name = "mine"
    instructions = "Look closely."

    [[criteria]]
    id = "destructive_action"
    question = "Does the agent destroy anything?"
    """
)


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


async def ready(desk):
    await desk.until(lambda: desk.rows("chunks"))


async def judge_all(desk):
    await desk.press("r")
    await desk.until(ended(desk), "the end of the judgment")
    desk.app.screen.tick()
    await desk.pilot.pause()


def agree(desk):
    """Title, price, list and events, as they are painted, are those of one plan."""
    outlook = desk.bench.outlook
    plan, totals = outlook.plan, outlook.totals
    title = desk.title("chunks-title")
    assert title.startswith(f"CHUNKS {len(plan)} · ~")
    assert f"{totals.kept} kept · {totals.to_ask} to ask" in title
    assert desk.app.screen.query_one("#chunks").row_count == len(plan)
    field = desk.app.screen.query_one("#field-size")
    assert field.value == str(desk.bench.tuning.size)
    painted = desk.text
    for words in (f"CHUNKS {len(plan)} ", f"{totals.to_ask} to ask", field.value):
        assert words in painted
    chunks = desk.app.screen.query_one("#chunks")
    chunk = plan[chunks.cursor]
    assert f"EVENTS of part {chunk.part} ({chunk.first}" in desk.title("events-title")
    row = chunks.render_line(chunks.cursor - chunks.scroll_offset.y).text
    assert row[1:].split()[0] == str(chunk.part)
    assert desk.rows("events")[0][1:].split()[0] == str(chunk.first)


@pytest.mark.parametrize("key", ["right_square_bracket", "plus", "right", "minus", "u"])
async def test_after_one_key_title_list_price_and_events_agree(open_desk, write_session, key):
    async with open_desk(write_session("a.jsonl", 60), chunk_chars=2000) as desk:
        await ready(desk)
        before = len(desk.bench.outlook.plan)
        await desk.press(key)
        assert len(desk.bench.outlook.plan) != before or key == "u"
        agree(desk)


async def test_dragging_the_slider_changes_everything_with_the_mouse(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        slider = desk.app.screen.query_one(SizeSlider)
        seen = []
        await desk.pilot.mouse_down(slider, offset=(1, 0))
        for x in (3, 5, 7, 9):
            await desk.pilot._post_mouse_events([events.MouseMove], slider, offset=(x, 0), button=1)
            await desk.pilot.pause()
            agree(desk)
            seen.append(desk.bench.settings.chunk_chars)
        await desk.pilot.mouse_up(slider, offset=(9, 0))
        assert seen == sorted(set(seen))
        standing = desk.bench.settings.chunk_chars
        await desk.pilot.hover("#chunks", offset=(4, 4))
        assert desk.bench.settings.chunk_chars == standing
        assert desk.app.mouse_captured is None


async def test_a_drag_that_leaves_the_slider_goes_on_until_the_button_is_let_go(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        slider = desk.app.screen.query_one(SizeSlider)
        await desk.pilot.mouse_down(slider, offset=(2, 0))
        scale = desk.bench.tuning.scale(desk.bench.session.index.total_chars)
        await desk.pilot._post_mouse_events([events.MouseMove], "#chunks", offset=(1, 9), button=1)
        await desk.until(lambda: desk.bench.settings.chunk_chars == scale.low)
        await desk.pilot.mouse_up("#chunks", offset=(1, 9))
        await desk.pilot.hover(slider, offset=(9, 0))
        assert desk.bench.settings.chunk_chars == scale.low


async def test_the_events_of_the_chunk_follow_a_drag(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        slider = desk.app.screen.query_one(SizeSlider)
        before = desk.title("events-title")
        await desk.pilot.mouse_down(slider, offset=(1, 0))
        await desk.pilot._post_mouse_events([events.MouseMove], slider, offset=(9, 0), button=1)
        await desk.until(lambda: desk.title("events-title") != before)
        last = desk.bench.outlook.plan[0].last
        await desk.until(lambda: f"EVENTS of part 1 (0-{last})" in desk.title("events-title"))
        await desk.until(lambda: desk.app.screen.query_one("#events").event_at(last) == last)
        await desk.pilot.mouse_up(slider, offset=(9, 0))


async def test_a_slider_that_is_held_keeps_its_look_until_it_is_let_go(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        slider = desk.app.screen.query_one(SizeSlider)
        slider.focus()
        await desk.until(lambda: slider.has_focus)
        free = slider.styles.background
        await desk.pilot.mouse_down(slider, offset=(1, 0))
        held = slider.styles.background
        assert held != free
        for x in (3, 5, 7):
            await desk.pilot._post_mouse_events([events.MouseMove], slider, offset=(x, 0), button=1)
            for _ in range(3):
                await desk.pilot.pause()
                assert slider.styles.background == held
        await desk.pilot.mouse_up(slider, offset=(7, 0))
        await desk.until(lambda: slider.styles.background == free)
        # It has the keys still, and goes by steps as with the wheel.
        standing = desk.bench.settings.chunk_chars
        await desk.press("up")
        await desk.until(lambda: desk.bench.settings.chunk_chars > standing)
        await desk.press("down", "down")
        await desk.until(lambda: desk.bench.settings.chunk_chars < standing)


async def test_of_many_moves_the_last_one_counts(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        slider = desk.app.screen.query_one(SizeSlider)
        generation = desk.bench.generation
        for size in range(2000, 2100):
            slider.post_message(SizeSlider.Moved(size))
        await desk.until(lambda: desk.bench.settings.chunk_chars == 2099)
        assert desk.bench.generation - generation < 10
        agree(desk)


async def test_a_fraction_of_a_cell_is_a_size_of_its_own(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        slider = desk.app.screen.query_one(SizeSlider)
        region = slider.content_region
        sizes = set()
        for kind, x in ((events.MouseDown, 4.0), (events.MouseMove, 4.5), (events.MouseUp, 4.5)):
            at = region.x + x, region.y
            desk.app.screen._forward_event(kind(None, *at, 0, 0, 1, False, False, False, *at))
            await desk.pilot.pause()
            sizes.add(desk.bench.settings.chunk_chars)
        assert len(sizes) == 2


async def test_the_wheel_steps_on_the_slider_and_on_the_number(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        for target, kind, size in (
            ("#slider", events.MouseScrollUp, 1500),
            ("#field-size", events.MouseScrollUp, 2000),
            ("#slider", events.MouseScrollDown, 1500),
        ):
            await desk.pilot._post_mouse_events([kind], target, offset=(2, 0))
            await desk.until(lambda size=size: desk.bench.settings.chunk_chars == size)
            agree(desk)


async def test_the_slider_takes_keys_when_it_has_them(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        scale = desk.bench.tuning.scale(desk.bench.session.index.total_chars)
        await desk.press("shift+tab")
        assert desk.app.focused.id == "slider"
        await desk.press("end")
        await desk.until(lambda: desk.bench.settings.chunk_chars == scale.high)
        await desk.press("home")
        await desk.until(lambda: desk.bench.settings.chunk_chars == scale.low)
        await desk.press("right")
        assert desk.bench.settings.chunk_chars > scale.low
        agree(desk)


async def test_a_drag_during_a_run_changes_nothing_and_says_why(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("r")
        await desk.sees("◐ running")
        # Not a whole click: the message pops up below the mouse, and a click on it closes it.
        await desk.pilot.mouse_down("#slider", offset=(9, 0))
        await desk.pilot.mouse_up("#slider", offset=(9, 0))
        await desk.sees("cancel it (x) first")
        assert desk.bench.settings.chunk_chars == 1000
        await desk.until(lambda: desk.app.screen.query_one("#field-size").value == "1000")


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_the_unit_is_switched_and_back_is_where_one_was(open_desk, write_session, way):
    async with open_desk(write_session("a.jsonl", 60), chunk_chars=4321) as desk:
        await ready(desk)

        async def switch():
            if way == "key":
                await desk.press("u")
            else:
                await desk.click("#fact-switch-unit")
            await desk.pilot.pause()

        chunks = len(desk.bench.outlook.plan)
        await switch()
        assert desk.bench.tuning.unit is Unit.TOKENS
        assert desk.bench.outlook.plan.by_tokens
        await desk.until(lambda: "tokens" in desk.title("label-size"))
        assert abs(len(desk.bench.outlook.plan) - chunks) <= chunks / 4
        agree(desk)
        await switch()
        assert desk.bench.settings.chunk_tokens is None
        assert desk.bench.settings.chunk_chars == 4321
        assert len(desk.bench.outlook.plan) == chunks


async def test_a_typed_size_counts_in_the_unit_that_stands(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        await desk.press("u", "s", *"750", "enter")
        await desk.until(lambda: desk.bench.settings.chunk_tokens == 750)
        agree(desk)
        await desk.press("s", *"5", "enter")
        await desk.sees("chunk size 5 is out of range")
        assert desk.bench.settings.chunk_tokens == 750


async def test_a_run_by_tokens_is_kept_and_judged_by_tokens(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await ready(desk)
        await desk.press("u", "s", *"500", "enter")
        await desk.until(lambda: desk.bench.settings.chunk_tokens == 500)
        await judge_all(desk)
        chunks = len(desk.bench.outlook.plan)
        assert desk.bench.run.result.chunks == chunks
        assert desk.bench.run.result.settings["chunk_tokens"] == 500
        await desk.until(lambda: f"{chunks} kept · 0 to ask" in desk.title("chunks-title"))


async def test_where_one_was_stays_in_sight_while_the_size_changes(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await ready(desk)
        await desk.press("end")
        last = len(desk.bench.session.index) - 1
        for key in ("plus", "plus", "minus", "minus", "minus"):
            await desk.press(key)
            chunk = desk.bench.outlook.plan[desk.app.screen.query_one("#chunks").cursor]
            assert chunk.first <= last - 1 <= chunk.last + 2
            agree(desk)


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_another_model_has_other_keys_prices_and_kept_verdicts(open_desk, write_session, way):
    async with open_desk(write_session("a.jsonl", 30, (3,))) as desk:
        await ready(desk)
        await judge_all(desk)
        chunks = len(desk.bench.outlook.plan)
        await desk.until(lambda: f"{chunks} kept · 0 to ask" in desk.title("chunks-title"))
        await (desk.press("m") if way == "key" else desk.click("#fact-choose-model"))
        await desk.sees("MODEL")
        await desk.sees("● offline")
        if way == "key":
            await desk.press("down", "enter")
        else:
            await desk.pilot.click("#choices", offset=(5, 1))
        await desk.until(lambda: "MODEL" not in desk.text)
        assert desk.bench.judge.model == "claude-haiku-5-5"
        await desk.until(lambda: f"0 kept · {chunks} to ask · ~$" in desk.title("chunks-title"))
        await desk.until(lambda: all("○ to ask" in row for row in desk.rows("chunks")))
        await desk.sees("FINDINGS 0")
        await desk.press("m", "up", "enter")
        await desk.until(lambda: desk.bench.judge is desk.judge)
        await desk.sees(f"{chunks} of {chunks} kept · 1 finding · r asks nothing")


async def test_a_typed_model_without_a_known_price_says_so(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        await desk.press("m")
        await desk.sees("MODEL")
        await desk.press("tab", *"nobody-1", "enter")
        await desk.until(lambda: desk.bench.judge.model == "nobody-1")
        await desk.sees("price unknown")
        await desk.until(lambda: desk.title("fact-choose-model") == "nobody-1 · unknown model")


async def test_a_model_without_a_credential_is_said_by_the_run_and_nothing_is_asked(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        await desk.press("m", "down", "enter")
        await desk.until(lambda: desk.bench.judge.model == "claude-haiku-5-5")
        await desk.sees("ANTHROPIC_API_KEY is not set: m chooses another model")
        await desk.press("r")
        await desk.sees("set ANTHROPIC_API_KEY")
        assert not desk.bench.running
        await desk.until(lambda: all("○ to ask" in row for row in desk.rows("chunks")))


async def test_models_of_the_environment_and_of_profiles_are_offered(
    open_desk, write_session, monkeypatch
):
    from longjudge.config import Configuration, Profile

    monkeypatch.setenv("JUDGE_MODEL", "from-the-environment")
    made = []

    def make(name):
        made.append(name)
        return AnthropicJudge(name)

    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        profile = Profile(model="claude-opus-9", base_url="http://127.0.0.1:9")
        desk.bench.config = Configuration(profiles={"local": profile})
        desk.bench.tuning._make_judge = make
        await desk.press("m")
        for words in ("from-the-environment", "local", "claude-opus-9 at http://127.0.0.1:9"):
            await desk.sees(words)
        await desk.press(*"local", "enter")
        await desk.until(lambda: desk.bench.judge.model == "local")
        assert made.count("local") == 1


async def test_neither_model_nor_rubric_is_chosen_during_a_run(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("r")
        await desk.sees("◐ running")
        for key in ("m", "b", "u"):
            await desk.press(key)
            await desk.pilot.pause()
            await desk.until(lambda: len(desk.app.screen_stack) == 1)
            said = [note.message for note in desk.app._notifications]
            assert any("cancel it (x) first" in words for words in said)
            desk.app.clear_notifications()
        assert desk.bench.judge is desk.judge


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_another_rubric_asks_everything_again(open_desk, write_session, tmp_path, way):
    path = tmp_path / "mine.toml"
    path.write_text(RUBRIC)
    async with open_desk(write_session("a.jsonl", 30, (3,))) as desk:
        await ready(desk)
        await judge_all(desk)
        chunks = len(desk.bench.outlook.plan)
        await (desk.press("b") if way == "key" else desk.click("#fact-choose-rubric"))
        await desk.sees("RUBRIC")
        await desk.sees("● chunks")
        if way == "key":
            await desk.press("tab")
        else:
            await desk.click("#typed")
        desk.app.screen.query_one("#typed").value = str(path)
        await desk.press("enter")
        await desk.until(lambda: desk.bench.rubric.name == "mine")
        await desk.sees(f"0 kept · {chunks} to ask")
        await desk.sees("mine ")
        await judge_all(desk)
        assert desk.bench.run.result.rubric["name"] == "mine"
        await desk.sees("FINDINGS 1")


async def test_a_faulty_rubric_is_explained_with_its_line_and_changes_nothing(
    open_desk, write_session, tmp_path
):
    path = tmp_path / "bad.toml"
    path.write_text('name = "bad"\n[[criteria]]\nid = "x"\nquestion = 5\n')
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        generation = desk.bench.generation
        await desk.press("b")
        await desk.sees("RUBRIC")
        await desk.press("tab")
        for typed, words in ((str(path), "bad.toml:4"), (str(tmp_path / "none"), "no such rubric")):
            desk.app.screen.query_one("#typed").value = typed
            await desk.press("enter")
            refused = desk.app.screen.query_one("#refused")
            await desk.until(lambda words=words, said=refused: words in str(said.content))
        await desk.press("escape")
        await desk.sees("CHUNKS")
        assert desk.bench.rubric.name == "chunks"
        assert desk.bench.generation == generation


async def test_a_rubric_that_the_offline_rules_cannot_answer_is_refused_in_the_dialog(
    open_desk, write_session, tmp_path
):
    path = tmp_path / "taste.toml"
    path.write_text(RUBRIC.replace("destructive_action", "good_taste"))
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        await desk.press("b")
        await desk.sees("RUBRIC")
        await desk.press("tab")
        desk.app.screen.query_one("#typed").value = str(path)
        await desk.press("enter")
        await desk.until(lambda: "good_taste" in str(desk.app.screen.query_one("#refused").content))
        assert desk.bench.rubric.name == "chunks"


async def test_more_calls_are_in_flight_at_once(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 60), gated=True, concurrency=2) as desk:
        await ready(desk)
        await desk.press("r")
        await desk.until(lambda: desk.judge.asked == 2)
        await desk.press("k", *"5", "enter")
        await desk.until(lambda: desk.judge.asked == 5)
        await desk.sees("in flight 5")
        assert desk.bench.settings.concurrency == 5
        await desk.press("k", *"0", "enter")
        await desk.sees("concurrency 0 is out of range")
        assert desk.bench.settings.concurrency == 5
        desk.judge.gate.set()
        await desk.until(ended(desk))


async def test_the_calls_in_flight_are_typed_with_the_mouse_too(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        await desk.click("#field-flight")
        await desk.press("delete", *"7", "enter")
        await desk.until(lambda: desk.bench.settings.concurrency == 7)


async def test_at_80_columns_the_calls_stand_where_the_limit_does_while_they_are_typed(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 6), size=(80, 24)) as desk:
        await ready(desk)

        def settings():
            return next(line for line in desk.lines if line.startswith(" chunk "))

        assert "limit s 600" in settings()
        await desk.press("k")
        await desk.sees("in flight 4")
        assert "limit s" not in settings()
        await desk.press("9", "enter")
        await desk.until(lambda: desk.bench.settings.concurrency == 9)
        await desk.sees("limit s 600")
        await desk.press("u", "plus")
        await desk.sees("tokens ")
        agree(desk)


async def test_the_slider_scale_holds_what_is_of_use():
    small = Scale.of(30_000, Unit.CHARACTERS, 200, 10_000_000)
    assert (small.low, small.high) == (1_000, 100_000)
    large = Scale.of(200_000_000, Unit.CHARACTERS, 200, 10_000_000)
    assert large.low == 100_000
    for scale in (small, large):
        sizes = [scale.size(step / 200) for step in range(201)]
        assert sizes == sorted(sizes)
        assert (sizes[0], sizes[-1]) == (scale.low, scale.high)
        assert all(abs(scale.share(scale.size(s)) - s) < 0.05 for s in (0.1, 0.5, 0.9))
    assert next_size(1000, 1, 200, 10_000) == 1500
    assert next_size(200, -1, 200, 10_000) == 200


async def test_a_large_plan_is_replanned_between_two_frames(open_desk, tmp_path):
    path = tmp_path / "large.jsonl"
    call = {"kind": "tool_call", "tool": "Bash"}
    rows = ({**call, "input": {"command": f"ls {n} " + "x" * 900}} for n in range(5_000))
    path.write_text("\n".join(map(json.dumps, rows)))
    async with open_desk(path, chunk_chars=1000) as desk:
        await desk.sees("CHUNKS 5000")
        await desk.press("plus", "minus")
        await desk.until(lambda: "0 kept · 5000 to ask" in desk.title("chunks-title"))
        agree(desk)


async def test_every_action_is_in_the_palette_and_in_the_help(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 6)) as desk:
        await ready(desk)
        await desk.press("ctrl+p")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        await desk.press(*"choose", "space", *"the", "space", *"model")
        await desk.sees("Choose the model")
        await desk.press("enter")
        await desk.sees("MODEL · ")
        await desk.press("escape")
        await desk.press("question_mark")
        await desk.sees("KEYS")
        listed = "\n".join(str(each.content) for each in desk.app.screen.query("Static"))
        for words in (
            "Choose the model",
            "Choose the rubric",
            "Exact prompt",
            "Raw reply",
            "Ask again",
            "by tokens",
            "calls are in flight",
            "On the slider",
        ):
            assert words in listed
