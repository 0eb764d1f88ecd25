"""The two fields: what is typed is used or taken back, and the keys come back to the chunks."""

from __future__ import annotations

import pytest


def field(desk, name):
    return desk.app.screen.query_one(f"#field-{name}")


def in_chunks(desk):
    return lambda: desk.app.focused is not None and desk.app.focused.id == "chunks"


async def ready(desk):
    await desk.until(lambda: desk.rows("chunks"))


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_the_largest_values_are_shown_in_full(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 3), size=size) as desk:
        await ready(desk)
        await desk.press("s", *"10000000", "enter")
        await desk.press("l", *"2592000", "enter")
        await desk.until(in_chunks(desk))
        await desk.pilot.pause()
        for words in ("chunk   10000000", "limit s 2592000"):
            await desk.sees(words)


async def test_a_limit_is_kept_and_shown_to_the_last_digit(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await ready(desk)
        for typed in ("0.5", "600", "86400", "1234567", "123456.125"):
            await desk.press("l", *typed, "enter")
            await desk.until(in_chunks(desk))
            assert desk.bench.settings.time_limit == float(typed)
            assert field(desk, "limit").value == typed


async def test_a_limit_out_of_range_is_refused_in_plain_numbers(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await ready(desk)
        await desk.press("l", *"9999999", "enter")
        await desk.sees("time limit 9999999 is out of range")
        await desk.sees("2592000 seconds")
        await desk.until(lambda: "e+" not in desk.text)
        await desk.until(in_chunks(desk))
        await desk.until(lambda: field(desk, "limit").value == "600")


@pytest.mark.parametrize(("key", "typed"), [("l", "."), ("l", ""), ("s", "")])
async def test_no_number_is_refused_in_plain_words(open_desk, write_session, key, typed):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await ready(desk)
        await desk.press(key, "backspace", *typed, "enter")
        await desk.sees("was typed; type")
        await desk.until(in_chunks(desk))
        await desk.until(
            lambda: (field(desk, "size").value, field(desk, "limit").value) == ("1000", "600")
        )


async def test_the_run_button_takes_what_is_typed(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("s", *"2000")
        await desk.click("#button-run")
        await desk.sees("◐ running")
        assert desk.bench.run.settings.chunk_chars == 2000
        assert in_chunks(desk)()


async def test_the_run_button_does_not_run_with_a_refused_value(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("s", *"7")
        await desk.click("#button-run")
        await desk.sees("chunk size 7 is out of range")
        assert not desk.bench.running
        await desk.until(lambda: field(desk, "size").value == "1000")
        assert in_chunks(desk)()


async def test_a_click_on_a_row_takes_what_is_typed(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await ready(desk)
        await desk.press("s", *"2000")
        await desk.pilot.click("#events", offset=(5, 1))
        await desk.until(lambda: desk.bench.settings.chunk_chars == 2000)
        await desk.sees(f"CHUNKS {len(desk.bench.outlook.plan)} ")


async def test_a_size_typed_during_a_run_is_refused_and_taken_back(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("s", *"2000", "enter")
        await desk.sees("cancel it (x) first")
        await desk.until(in_chunks(desk))
        await desk.until(lambda: field(desk, "size").value == "1000")


async def test_a_command_key_in_a_field_takes_the_value_and_acts(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("s", *"2000", "r")
        await desk.sees("◐ running")
        assert desk.bench.run.settings.chunk_chars == 2000
        await desk.press("l", "x")
        await desk.sees("cancelling: ")
        assert in_chunks(desk)()


async def test_a_run_key_after_a_refused_value_runs_nothing_but_a_cancel_cancels(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("s", "7", "r")
        await desk.sees("chunk size 7 is out of range")
        assert not desk.bench.running
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("s", "7", "x")
        await desk.sees("cancelling: ")


async def test_other_letters_are_not_typed(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await ready(desk)
        await desk.press("s", "5", "h", "q", "0", "0", "0", "space", "enter")
        await desk.until(lambda: desk.bench.settings.chunk_chars == 5000)


async def test_a_terminal_that_loses_the_keys_leaves_the_field_as_it_is(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await ready(desk)
        await desk.press("s", "5")
        desk.app.app_focus = False
        await desk.pilot.pause()
        await desk.pilot.pause()
        await desk.until(lambda: field(desk, "size").value == "5")
        await desk.until(lambda: "out of range" not in desk.text)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_while_a_field_has_the_keys_the_status_says_what_they_do(
    open_desk, write_session, size
):
    fields = {"s": "a size", "k": "how many calls are in flight", "l": "a limit in seconds"}
    async with open_desk(write_session("a.jsonl", 3), size=size) as desk:
        await ready(desk)
        await desk.sees("enter opens")
        for key, typed in fields.items():
            for leave in ("enter", "escape"):
                await desk.press(key)
                await desk.sees(f"type {typed} · enter takes it · esc leaves it")
                await desk.until(lambda: "enter opens" not in desk.text)
                await desk.press(leave)
                await desk.sees("enter opens")


async def test_a_field_says_its_keys_during_a_run_too(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await ready(desk)
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("l")
        await desk.sees("type a limit in seconds · enter takes it · esc leaves it · judging")


async def test_a_field_says_its_keys_before_what_comes_after_a_run(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True, size=(80, 24)) as desk:
        await ready(desk)
        await desk.press("t")
        await desk.sees(
            "timed_out: not judged within 0.5 seconds; 0 of 15 parts judged · r goes on"
        )
        await desk.press("s")
        await desk.sees("\n type a size · enter takes it · esc leaves it · timed_out")


async def test_what_was_typed_is_taken_where_the_screen_is_painted_first(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await ready(desk)
        await desk.until(in_chunks(desk))
        # As it stands when the field has left the keys, and its message is still on its way.
        field(desk, "size").value = "5000"
        desk.app.screen.tick()
        await desk.until(lambda: desk.bench.settings.chunk_chars == 5000)
        await desk.press("]")
        await desk.until(lambda: desk.bench.settings.chunk_chars > 5000)
        await desk.until(lambda: field(desk, "size").value == str(desk.bench.settings.chunk_chars))
