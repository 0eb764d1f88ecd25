"""Google's ADK: calls without ids find their results by name and order."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.google_adk import GoogleAdk
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
ERROR = EventKind.ERROR


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def adk(author: str, *parts: dict[str, object], **more: object) -> dict[str, object]:
    return {"author": author, "invocation_id": "i", "content": {"parts": list(parts)}, **more}


def test_calls_without_ids_are_answered_in_the_order_of_their_names() -> None:
    def call(name: str) -> dict[str, object]:
        return {"function_call": {"name": name, "args": {}}}

    def response(name: str, text: str) -> dict[str, object]:
        return {"function_response": {"name": name, "response": {"result": text}}}

    records: list[dict[str, object]] = [
        adk("user", {"text": "go"}, timestamp=1734292270.5),
        adk("agent", call("a"), call("b"), call("a")),
        adk("agent", response("b", "2"), response("a", "1"), response("a", "3")),
        adk("agent", {"text": "do"}, partial=True),
        adk("agent", {"text": "done"}),
        {"author": "agent", "invocation_id": "i", "error_message": "quota"},
    ]
    told = retell(GoogleAdk(), {"events": records}, {"id": "s1"})
    assert shown(told)[0] == (USER, "go")
    assert shown(told)[-2:] == [(SAID, "done"), (EventKind.ERROR, "quota")]
    ids = {event.body: event.call_id for event in told.events() if event.kind is RESULT}
    calls = [event.call_id for event in told.events() if event.kind is CALL]
    assert [ids["1"], ids["2"], ids["3"]] == calls
    assert told.events()[0].timestamp == "2024-12-15T19:51:10.500Z"
    assert told.sessions[""]["id"] == "s1"
    assert GoogleAdk().recognise(records, {"id": "s1"}) == 1.0


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {"author": "user", "invocation_id": 5, "content": {"parts": [1, None]}},
        {"author": "a", "content": {"parts": [{"function_response": {"response": [1]}}]}},
        {"author": 5, "invocation_id": "i", "content": [1]},
    ]
    assert retell(GoogleAdk(), records).skipped == []
    assert GoogleAdk().recognise(records, None) < 0.8
