"""Droid's sessions and its stream: messages of blocks, or calls of their own."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.droid import Droid
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM


START: dict[str, object] = {
    "type": "session_start",
    "id": "d1",
    "sessionTitle": "New Session",
    "title": "t",
}


def text(value: str) -> dict[str, object]:
    return {"type": "text", "text": value}


def use(id_: str | None = None) -> dict[str, object]:
    named = {"id": id_} if id_ else {}
    return {"type": "tool_use", **named, "name": "Shell", "input": {"command": "ls"}}


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def droid(role: str, *blocks: dict[str, object]) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": list(blocks)}}


def test_droids_messages_are_read_and_reminders_are_no_users() -> None:
    result: dict[str, object] = {"type": "tool_result", "tool_use_id": "c1", "content": "a"}
    told = retell(
        Droid(),
        [
            START,
            droid("user", text("<system-reminder>be brief</system-reminder>"), text("go")),
            droid("assistant", use("c1")),
            droid("user", result),
            {"type": "todo_state", "todos": {}},
        ],
    )
    assert shown(told) == [
        (SYSTEM, "<system-reminder>be brief</system-reminder>"),
        (USER, "go"),
        (CALL, "command: ls"),
        (RESULT, "a"),
    ]
    assert told.sessions[""] == {"id": "d1", "title": "t"}


def test_droids_stream_is_read() -> None:
    told = retell(
        Droid(),
        [
            {"type": "system", "subtype": "init", "session_id": "d2"},
            {"type": "message", "role": "user", "text": "go", "timestamp": 1769619421391},
            {"type": "tool_call", "toolCallId": "c1", "toolName": "LS", "parameters": {"p": "."}},
            {"type": "tool_result", "toolCallId": "c1", "isError": False, "value": "a"},
            {"type": "message", "role": "assistant", "text": "done"},
            {"type": "completion", "finalText": "done"},
        ],
    )
    assert shown(told) == [(USER, "go"), (CALL, "p: ."), (RESULT, "a"), (SAID, "done")]
    assert told.events()[0].timestamp == "2026-01-28T16:57:01.391Z"


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {"type": "message", "message": {"role": [1], "content": {"a": 1}}},
        {"type": "tool_result", "value": {"a": [1]}},
        {"type": "tool_call", "parameters": "{"},
        {"type": 5},
    ]
    assert retell(Droid(), records).skipped == []
    assert Droid().recognise(records, None) < 0.8
