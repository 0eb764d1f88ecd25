"""Qwen Code's chats: Gemini's parts in the envelope of Claude Code."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats import CLAUDE_CODE
from longjudge.sessions.formats.qwen import QwenCode
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
THOUGHT = EventKind.THINKING


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def qwen(type_: str, *parts: dict[str, object], **more: object) -> dict[str, object]:
    envelope = {
        "uuid": "u",
        "parentUuid": None,
        "sessionId": "q1",
        "timestamp": "2026-01-01T00:00:00Z",
    }
    return {**envelope, "type": type_, "message": {"role": "model", "parts": list(parts)}, **more}


def test_qwens_parts_are_thoughts_texts_calls_and_results() -> None:
    call = {"id": "c1", "name": "ls", "args": {"p": "."}}
    response = {"id": "c1", "name": "ls", "response": {"output": "a"}}
    note: dict[str, object] = {
        "type": "system",
        "sessionId": "q1",
        "subtype": "ui_telemetry",
        "systemPayload": {},
    }
    records = [
        qwen("user", {"text": "go"}),
        note,
        qwen("assistant", {"text": "hm", "thought": True}, {"text": "ok"}, {"functionCall": call}),
        qwen("tool_result", {"functionResponse": response}, toolCallResult={"status": "error"}),
    ]
    told = retell(QwenCode(), records)
    assert shown(told) == [
        (USER, "go"),
        (THOUGHT, "hm"),
        (SAID, "ok"),
        (CALL, "p: ."),
        (RESULT, "a"),
    ]
    assert told.events()[-1].is_error is True
    assert told.events()[-1].call_id == "c1"
    assert told.sessions[""]["id"] == "q1"
    assert QwenCode().recognise(records, None) == 1.0
    assert CLAUDE_CODE.recognise(records, None) == 0.0


def test_what_claude_code_writes_is_not_qwens() -> None:
    record: dict[str, object] = {
        "type": "user",
        "sessionId": "s",
        "message": {"role": "user", "content": "x"},
    }
    assert QwenCode().recognise([record], None) == 0.0
    assert CLAUDE_CODE.recognise([record], None) == 1.0


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {
            "type": "assistant",
            "sessionId": "s",
            "message": {"parts": [{"functionCall": 5}, {"text": 4}, 1]},
        },
        {"type": "system", "sessionId": 5, "systemPayload": [1], "subtype": "chat_compression"},
        {"type": "user", "message": 5},
    ]
    assert retell(QwenCode(), records).skipped == []
    assert QwenCode().recognise(records, None) < 0.8
