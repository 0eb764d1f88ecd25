"""Values in strings: JSON once or twice over, and what Python printed."""

from __future__ import annotations

import json

import pytest

from longjudge.sessions.formats.unpacked import unpacked

VALUE = {"a": [1, None, True], "b": "it's\n\u00e9 \\d"}


@pytest.mark.parametrize(
    "text",
    [json.dumps(VALUE), json.dumps(json.dumps(VALUE)), f"  {VALUE!r}\n", ascii(VALUE)],
    ids=["once", "twice", "printed", "escaped"],
)
def test_a_value_in_a_string_is_taken_out(text: str) -> None:
    assert unpacked(text) == VALUE


def test_three_layers_are_left_at_the_third() -> None:
    assert unpacked(json.dumps(json.dumps(json.dumps({})))) == "{}"


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "12",
        "true",
        "{not json}",
        "['x', f(1)]",
        "['x'" + ", -" * 40_000 + "1]",
        "[" * 100_000,
        "['x'," + "[" * 100_000,
        "{'a': 1, ",
        "['unclosed",
        '{"a": 1} and more',
    ],
    ids=lambda text: str(text)[:12],
)
def test_a_text_that_only_looks_like_a_value_stays_one(text: str) -> None:
    assert unpacked(text) == text
