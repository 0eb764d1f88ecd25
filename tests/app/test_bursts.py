"""Keys that come in one burst act in the order they were typed."""

from __future__ import annotations

from textual import events
from textual.widgets import Input


def burst(desk, *keys: str) -> None:
    """Hand keys over at once, as a slow line delivers them."""
    named = {"\x7f": "backspace", "\r": "enter", "\t": "tab"}
    for key in keys:
        event = events.Key(named.get(key, key), key)
        event.set_sender(desk.app)
        desk.app.post_message(event)


async def test_a_letter_does_not_overtake_a_backspace_in_the_filter(open_desk, write_session):
    write_session("a.jsonl", 3)
    async with open_desk(write_session("b.jsonl", 3).parent) as desk:
        await desk.press("slash")
        burst(desk, *"abc", "\x7f", *"def")
        field = desk.app.screen.query_one("#filter", Input)
        await desk.until(lambda: field.value.endswith("def"))
        assert field.value == "abdef"


async def test_a_typed_number_is_edited_in_order(open_desk, write_session):
    async with open_desk(write_session("s.jsonl", 3)) as desk:
        await desk.press("s")
        burst(desk, *"1239", "\x7f", *"4", "\r")
        await desk.until(lambda: desk.bench.settings.chunk_chars == 1234)


async def test_a_name_typed_over_the_list_of_models_is_taken(open_desk, write_session):
    async with open_desk(write_session("s.jsonl", 3)) as desk:
        await desk.press("m")
        await desk.sees("MODEL")
        burst(desk, *"claude-x", "\r")
        await desk.until(lambda: desk.bench.judge.model == "claude-x")
