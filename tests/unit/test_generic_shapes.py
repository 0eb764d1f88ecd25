"""Events of objects like others read before: the same as by the rules for objects of any shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.generic import GenericEvents

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 9),
    st.sampled_from(["", "text", "user", "tool_call", '{"a": 1}', "arguments"]),
    st.lists(st.sampled_from(["x", 1, None]), max_size=2),
    st.dictionaries(st.sampled_from(["name", "role", "text", "arguments"]), st.just("v")),
)
KEYS = st.sampled_from(
    [
        *("type", "event", "role", "tool", "tool_name", "name", "function", "input", "args"),
        *("arguments", "output", "result", "response", "text", "content", "message", "body"),
        *("prompt", "thinking", "call_id", "tool_call_id", "id", "timestamp", "ts", "agent"),
        *("session_id", "is_error", "isError", "error", "extra", "more", "uuid", "summary"),
    ]
)
KINDS = st.sampled_from(
    [
        *("user", "assistant", "thinking", "tool_call", "tool_result", "system", "error"),
        *("ToolCall", "observation", "unheard", "", None, 3),
    ]
)


@given(KINDS, st.dictionaries(KEYS, VALUES, max_size=7), st.booleans())
def test_a_shape_says_what_the_rules_say(kind, rest, first):
    record = {"kind": kind, **rest} if first else {**rest, "kind": kind}
    try:
        expected = GenericEvents().events_by_rules(dict(record))
    except NotASessionError:
        with pytest.raises(NotASessionError):
            GenericEvents().record_events(record)
        return
    format_ = GenericEvents()
    # Values that fit no shape must not spoil it for those that do.
    format_.record_events(dict.fromkeys(record) | {"kind": kind})
    for _ in range(2):
        assert format_.record_events(record) == expected
