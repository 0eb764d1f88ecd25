"""Continue's sessions: results stand beside the messages of their calls."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.continue_dev import ContinueDev
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def continued(role: str, content: str, **more: object) -> dict[str, object]:
    return {"message": {"role": role, "content": content}, "contextItems": [], **more}


def state(id_: str, status: str, *outputs: str) -> dict[str, object]:
    call = {"id": id_, "function": {"name": "Read", "arguments": "{}"}}
    parts = [{"name": "Tool Result", "content": output} for output in outputs]
    return {"toolCallId": id_, "toolCall": call, "status": status, "output": parts}


def test_continues_results_stand_beside_the_message_and_count_once() -> None:
    calls = [{"id": c, "function": {"name": "Read", "arguments": '{"p": 1}'}} for c in "abc"]
    answer: dict[str, object] = {
        "message": {"role": "assistant", "content": "ok", "toolCalls": calls}
    }
    answer["toolCallStates"] = [
        state("a", "done", "one"),
        state("b", "errored", "no"),
        state("c", "done", "x"),
    ]
    tool: dict[str, object] = {
        "message": {"role": "tool", "content": "x", "toolCallId": "c"},
        "contextItems": [],
    }
    item = {"name": "a.py", "content": "print()"}
    records: list[dict[str, object]] = [
        continued("user", "go", contextItems=[item]),
        answer,
        tool,
    ]
    around: dict[str, object] = {"sessionId": "s1", "title": "T"}
    told = retell(ContinueDev(), {"history": records}, around)
    assert shown(told) == [
        (SYSTEM, "a.py\nprint()"),
        (USER, "go"),
        (SAID, "ok"),
        *[(CALL, "p: 1")] * 3,
        (RESULT, "one"),
        (RESULT, "no"),
        (RESULT, "x"),
    ]
    assert [event.is_error for event in told.events()][-3:] == [None, True, None]
    assert told.sessions[""] == {"id": "s1", "title": "T"}
    assert ContinueDev().recognise(records, around) == 1.0
    assert ContinueDev().recognise(records, None) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {"message": {"role": "assistant", "toolCalls": [1]}, "toolCallStates": [{"output": 3}]},
        {"message": 5},
        {"message": {"role": [1]}, "contextItems": [{"content": {"a": 1}}]},
    ]
    assert retell(ContinueDev(), records).skipped == []
    assert ContinueDev().recognise(records, None) < 0.8
