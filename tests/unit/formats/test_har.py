"""HTTP archives: the conversation that the requests to a model repeat."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, Severity, load_sessions
from longjudge.sessions.formats.har import NO_ANSWER, HttpArchive
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM

Entry = dict[str, Any]
SHOWN = [(SYSTEM, "be brief"), (USER, "hi"), (CALL, "a: 1"), (RESULT, "out"), (SAID, "bye")]


def entry(asked: object, answered: object, status: int = 200) -> Entry:
    text = answered if isinstance(answered, str) else json.dumps(answered)
    return {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": {
            "method": "POST",
            "url": "https://x.test",
            "postData": {"text": json.dumps({"model": "m", **dict(asked)})},  # type: ignore[call-overload]
        },
        "response": {"status": status, "content": {"text": text}},
    }


def stream(*chunks: object) -> str:
    return "".join(f"event: x\ndata: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n"


def block(index: int, start: object, *deltas: object) -> list[object]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def user(content: object) -> Entry:
    return {"role": "user", "content": content}


USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
USED = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
GAVE = {"type": "tool_result", "tool_use_id": "c1", "content": "out"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
ITEM = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}


def delta(**more: object) -> object:
    return {"choices": [{"index": 0, "delta": more}]}


APIS: dict[str, list[Entry]] = {
    "messages": [
        entry(
            {"system": "be brief", "messages": [user("hi")]},
            stream(
                {"type": "message_start", "message": {}},
                *block(
                    0,
                    USE,
                    {"type": "input_json_delta", "partial_json": '{"a"'},
                    {"type": "input_json_delta", "partial_json": ": 1}"},
                ),
            ),
        ),
        entry(
            {
                "system": "be brief",
                "messages": [user("hi"), {"role": "assistant", "content": [USED]}, user([GAVE])],
            },
            stream(
                *block(
                    0,
                    {"type": "text", "text": ""},
                    {"type": "text_delta", "text": "by"},
                    {"type": "text_delta", "text": "e"},
                )
            ),
        ),
    ],
    "chat": [
        entry(
            {"messages": [{"role": "system", "content": "be brief"}, user("hi")]},
            stream(
                delta(role="assistant", content=""),
                delta(tool_calls=[{"index": 0, **CHAT_CALL, "function": {"name": "f"}}]),
                delta(tool_calls=[{"index": 0, "function": {"arguments": '{"a": 1}'}}]),
            ),
        ),
        entry(
            {
                "messages": [
                    {"role": "system", "content": "be brief"},
                    user("hi"),
                    {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
                    {"role": "tool", "tool_call_id": "c1", "content": "out"},
                ]
            },
            {"choices": [{"message": {"role": "assistant", "content": "bye"}}]},
        ),
    ],
    "responses": [
        entry(
            {"instructions": "be brief", "input": "hi"},
            stream({"type": "response.completed", "response": {"output": [ITEM]}}),
        ),
        entry(
            {
                "instructions": "be brief",
                "input": [
                    user("hi"),
                    ITEM,
                    {"type": "function_call_output", "call_id": "c1", "output": "out"},
                ],
            },
            {
                "output": [
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "bye"}],
                    }
                ]
            },
        ),
    ],
}


def shown(told: Told, session: str = "conversation 1") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session)]


@pytest.mark.parametrize("api", APIS)
def test_requests_and_streamed_answers_are_one_conversation(api: str) -> None:
    assert shown(retell(HttpArchive(), {"log.entries": APIS[api]})) == SHOWN


def test_an_archive_is_known_and_other_requests_are_passed_over(tmp_path: Path) -> None:
    other = {"request": {"method": "GET", "url": "https://x.test"}, "response": {"status": 200}}
    path = tmp_path / "x.har"
    path.write_text(
        json.dumps({"log": {"version": "1.2", "entries": [other, *APIS["chat"], other]}}, indent=1)
    )
    (session,) = load_sessions(path)
    assert (session.format, len(session.index)) == ("har", len(SHOWN))
    session.close()


def test_another_conversation_is_another_session() -> None:
    told = retell(
        HttpArchive(),
        [
            entry({"messages": [user("hi")]}, {"role": "assistant", "content": "a"}),
            entry({"messages": [user("ho")]}, {"role": "assistant", "content": "b"}),
        ],
    )
    assert shown(told) == [(USER, "hi"), (SAID, "a")]
    assert shown(told, "conversation 2") == [(USER, "ho"), (SAID, "b")]


def test_answers_that_failed_or_cannot_be_read_are_said() -> None:
    encoded = entry({"messages": [user("hi")]}, "")
    encoded["response"]["content"] = {
        "encoding": "base64",
        "text": base64.b64encode(b'{"role": "assistant", "content": "ok"}').decode(),
    }
    told = retell(
        HttpArchive(),
        [
            entry({"messages": [user("hi")]}, {"error": {"message": "overloaded"}}, 529),
            encoded,
            entry({"messages": [user("hi")]}, "\x1f garbage"),
        ],
    )
    assert shown(told)[1][0] is EventKind.ERROR
    assert shown(told)[2] == (SAID, "ok")
    assert len(told.skipped) == 1


@pytest.mark.parametrize("entries", [[], [{"request": {"url": "u"}, "response": {}}]])
def test_an_archive_without_a_request_to_a_model_is_refused(
    tmp_path: Path, entries: list[object]
) -> None:
    path = tmp_path / "x.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    with pytest.raises(NotASessionError, match=r"HAR.*none of them to a model"):
        load_sessions(path)


@pytest.mark.parametrize("body", ["content", "body"])
def test_a_recording_of_requests_is_read_like_an_archive(tmp_path: Path, body: str) -> None:
    asked = {"model": "m", "messages": [user("hi")]}
    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "bye"}}]})
    encoded = {"encoding": "base64", "data": base64.b64encode(answer.encode()).decode()}
    recorded = {
        "request": {
            "url": "https://x.test",
            body: asked if body == "content" else json.dumps(asked),
        },
        "response": {
            "status_code": 200,
            body: encoded if body == "content" else {"string": answer},
        },
    }
    path = tmp_path / "recording.json"
    path.write_text(json.dumps({"interactions": [recorded]}, indent=1))
    (session,) = load_sessions(path)
    assert [session.event(n).body for n in range(len(session.index))] == ["hi", "bye"]
    session.close()


def test_the_same_request_after_its_answer_asks_again() -> None:
    answers = [{"choices": [{"message": {"role": "assistant", "content": t}}]} for t in "ab"]
    told = retell(HttpArchive(), [entry({"messages": [user("hi")]}, each) for each in answers])
    bodies = [event.body for event in told.all_events]
    assert bodies == ["hi", "a", "hi", "b"]


@pytest.mark.parametrize("response", [None, {"status": 0}, {"status": 200, "content": {}}])
def test_an_answer_that_was_not_recorded_is_said_to_be_missing(response: object) -> None:
    asked = {**entry({"messages": [user("hi")]}, ""), "response": response}
    told = retell(HttpArchive(), [asked])
    assert [event.body for event in told.all_events] == ["hi"]
    assert told.notes == [(NO_ANSWER, 0, Severity.WARNING, 1)]
