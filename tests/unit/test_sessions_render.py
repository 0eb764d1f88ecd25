"""Rendering: what the judge reads, without encodings, the same every time."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.sessions.render import render_content, render_input

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_an_input_is_one_line_per_entry_with_strings_as_they_are() -> None:
    value = {"command": 'echo "a\\b"\nls', "timeout": 5, "deep": {"注文": [1, None, True]}}
    assert render_input(value) == (
        'command: echo "a\\b"\nls\ntimeout: 5\ndeep: {"注文":[1,null,true]}'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain\nwords", "plain\nwords"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        (
            [{"type": "tool_reference", "tool_name": "Grep"}],
            '{"type":"tool_reference","tool_name":"Grep"}',
        ),
        ([{"type": "thing", "id": "x1", "n": 1}], '{"type":"thing","n":1}'),
        (
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "words"},
            },
            "words",
        ),
        (12, "12"),
    ],
)
def test_content_is_its_text_or_compact_json(value: object, text: str) -> None:
    assert render_content(value) == text


@pytest.mark.parametrize(
    ("encoded", "placeholder"),
    [
        ("A" * 400, "[image/png, 300 B]"),
        ("A" * 630_000, "[image/png, 473 kB]"),
        ("A" * 1_999_999, "[image/png, 1.5 MB]"),
    ],
)
def test_encoded_media_become_a_placeholder_with_type_and_size(
    encoded: str, placeholder: str
) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": encoded}
    block = {"type": "image", "source": source}
    assert render_content([block]) == placeholder
    assert (
        render_content(f"see data:image/png;base64,{encoded}) here") == f"see {placeholder}) here"
    )
    assert render_input({"shot": [block]}) == f'shot: ["{placeholder}"]'
    assert render_input({"shot": {"x": {"mimeType": "image/png", "data": encoded}}}) == (
        f'shot: {{"x":"{placeholder}"}}'
    )


@pytest.mark.parametrize(
    "words",
    ["A" * 5000, "deadbeef" * 300, "YWJj" * 200 + "==", "data:text/html,<b>", ";base64,AAAA"],
)
def test_other_long_runs_of_letters_stay(words: str) -> None:
    assert render_content(words) == words
    assert render_input({"x": {"data": words}}) == f'x: {{"data":{json.dumps(words)}}}'


@given(JSON_VALUES)
def test_rendering_never_fails_and_never_differs(value: object) -> None:
    assert render_content(value) == render_content(value)
    assert render_input({"key": value}) == render_input({"key": value})
    render_input({"key": [value, float("nan"), float("-inf")]})
