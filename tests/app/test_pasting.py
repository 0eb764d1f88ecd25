"""A paste presses no key, whatever is in it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from textual import events

from longjudge_tui.pasting import PasteParser

START, END = "\x1b[200~", "\x1b[201~"
NASTY = st.lists(
    st.sampled_from(["r", "x", "\x1b", "\x1b[", "\x1b[200", "\x1b]0;r\x07", "\x1bOP", "\x11", "\r"])
).map("".join)


def parsed(parts):
    parser = PasteParser()
    return [message for part in parts for message in parser.feed(part)]


def keys(messages):
    return [message.key for message in messages if isinstance(message, events.Key)]


@given(NASTY, st.lists(st.integers(0, 60), max_size=4))
def test_only_the_keys_around_a_paste_are_pressed(text, cuts):
    data = f"a{START}{text}{END}b"
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parts = [data[a:b] for a, b in pairwise(bounds) if a < b]
    messages = parsed(parts)
    assert keys(messages) == ["a", "b"]
    pastes = [message.text for message in messages if isinstance(message, events.Paste)]
    assert pastes == [text.replace("\x1b", "␛")]


def test_keys_without_a_paste_are_what_they_were():
    assert keys(parsed(["\x1b[A", "r", "\x1b[", "B", "\x11"])) == ["up", "r", "down", "ctrl+q"]
