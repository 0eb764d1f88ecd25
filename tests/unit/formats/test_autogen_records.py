"""What AutoGen's recorder keeps: requests that continue each other are one session."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.autogen_records import AutoGenRecords
from retold_for_tests import retell

Record = dict[str, object]


def message(type_: str, content: object, **more: object) -> Record:
    return {"type": type_, "content": content, "source": "User", **more}


def request(messages: list[Record], response: object, **more: object) -> Record:
    said = {"content": response, "finish_reason": "stop", "thought": None, **more}
    return {"mode": "create", "messages": messages, "response": said, "stream": []}


ASKED = [message("SystemMessage", "Be brief."), message("UserMessage", "Hi.")]


def test_a_request_that_goes_on_is_told_from_where_it_goes_on() -> None:
    later = [*ASKED, message("AssistantMessage", "Hello."), message("UserMessage", "Bye.")]
    told = retell(AutoGenRecords(), [request(ASKED, "Hello."), request(later, "Bye!")])
    assert [event.body for event in told.events("0")] == [
        "Be brief.",
        "Hi.",
        "Hello.",
        "Bye.",
        "Bye!",
    ]
    assert list(told.by_thread) == [("0", "main")]


def test_another_request_begins_a_session() -> None:
    other = [message("UserMessage", "Who?")]
    told = retell(AutoGenRecords(), [request(ASKED, "Hello."), request(other, "Me.")])
    assert [event.body for event in told.events("1")] == ["Who?", "Me."]


def test_calls_and_their_results_are_read() -> None:
    calls = [{"id": "c1", "name": "get", "arguments": '{"id": 7}'}]
    results = [{"call_id": "c1", "name": "get", "content": "no", "is_error": True}]
    said = message("AssistantMessage", calls, thought="Look.")
    later = [*ASKED, said, message("FunctionExecutionResultMessage", results)]
    told = retell(
        AutoGenRecords(), [request(ASKED, calls, thought="Look."), request(later, "None.")]
    )
    assert [(each.kind, each.body, each.call_id, each.is_error) for each in told.events("0")][
        2:
    ] == [
        (EventKind.THINKING, "Look.", None, None),
        (EventKind.TOOL_CALL, "id: 7", "c1", None),
        (EventKind.TOOL_RESULT, "no", "c1", True),
        (EventKind.ASSISTANT_MESSAGE, "None.", None, None),
    ]


def test_other_logs_of_requests_are_not_taken() -> None:
    chat: Record = {"mode": "x", "messages": [{"role": "user", "content": "x"}], "response": {}}
    assert AutoGenRecords().recognise([chat], None) == 0
    assert AutoGenRecords().recognise([request(ASKED, "x")], None) == 1
