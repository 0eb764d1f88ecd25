"""Grok's history: messages under types of their own, and tools behind the interface."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.grok import Grok
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THOUGHT = EventKind.THINKING


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def test_groks_messages_and_tools_behind_the_interface_are_told() -> None:
    call = {"id": "c1", "name": "read", "arguments": '{"path": "a"}'}
    records: list[dict[str, object]] = [
        {"type": "system", "content": "rules"},
        {"type": "user", "content": "<user_info>", "synthetic_reason": "environment_context"},
        {"type": "user", "content": [{"type": "text", "text": "go"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "assistant", "content": "ok", "tool_calls": [call], "model_id": "m"},
        {"type": "tool_result", "tool_call_id": "c1", "content": "a"},
        {
            "type": "backend_tool_call",
            "kind": {"tool_type": "web_search", "action": {"query": "x"}},
        },
    ]
    told = retell(Grok(), records)
    assert shown(told) == [
        (SYSTEM, "rules"),
        (SYSTEM, "<user_info>"),
        (USER, "go"),
        (THOUGHT, "hm"),
        (SAID, "ok"),
        (CALL, "path: a"),
        (RESULT, "a"),
        (CALL, "query: x"),
    ]
    assert told.events()[-1].tool == "web_search"
    assert Grok().recognise(records, None) == 1.0
    assert Grok().recognise(records[:3], None) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {"type": "backend_tool_call", "kind": {"action": 4, "result": [1]}},
        {"type": "assistant", "content": [None], "tool_calls": [5]},
        {"type": "user", "message": 5},
    ]
    assert retell(Grok(), records).skipped == []
    assert Grok().recognise(records, None) < 0.8
