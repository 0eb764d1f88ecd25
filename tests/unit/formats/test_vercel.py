"""The AI SDK: messages with parts, messages for models, and the stream to a screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.vercel import VercelMessages
from longjudge.sessions.formats.vercel_stream import VercelStream
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THOUGHT = EventKind.THINKING

Message = dict[str, object]
INPUT = {"toolCallId": "c1", "input": {"a": 1}}


def ui(role: str, *parts: Message, **more: object) -> Message:
    return {"id": "m", "role": role, "parts": list(parts), **more}


def text(said: str) -> Message:
    return {"type": "text", "text": said}


def shown(told: Told, session: str = "") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session)]


def tell(*messages: Message) -> list[tuple[EventKind, str]]:
    return shown(retell(VercelMessages(), list(messages)))


@pytest.mark.parametrize(
    ("part", "events"),
    [
        (
            {"type": "tool-f", **INPUT, "state": "output-available", "output": {"b": 2}},
            [(CALL, "a: 1"), (RESULT, '{"b":2}')],
        ),
        (
            {"type": "dynamic-tool", "toolName": "f", **INPUT, "state": "input-available"},
            [(CALL, "a: 1")],
        ),
        (
            {"type": "tool-f", **INPUT, "state": "output-error", "errorText": "boom"},
            [(CALL, "a: 1"), (RESULT, "boom")],
        ),
        (
            {"type": "tool-f", **INPUT, "state": "approval-requested", "approval": {"id": "x"}},
            [(CALL, "a: 1"), (SYSTEM, "approval requested: f")],
        ),
        (
            {
                "type": "tool-f",
                **INPUT,
                "state": "output-denied",
                "approval": {"id": "x", "approved": False, "reason": "no"},
            },
            [(CALL, "a: 1"), (SYSTEM, "denied: f\nno"), (RESULT, "denied")],
        ),
        (
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "result",
                    "toolCallId": "c1",
                    "toolName": "f",
                    "args": {"a": 1},
                    "result": "out",
                },
            },
            [(CALL, "a: 1"), (RESULT, "out")],
        ),
    ],
    ids=["output", "pending", "error", "asked", "denied", "old"],
)
def test_one_part_is_a_call_and_what_became_of_it(
    part: Message, events: list[tuple[EventKind, str]]
) -> None:
    told = retell(
        VercelMessages(),
        [ui("user", text("hi")), ui("assistant", {"type": "step-start"}, part, text("bye"))],
    )
    assert shown(told) == [(USER, "hi"), *events, (SAID, "bye")]
    results = [event for event in told.events() if event.kind is RESULT]
    assert all(event.call_id == "c1" and event.tool == "f" for event in results)
    assert [event.is_error for event in results] == [
        True if body in ("boom", "denied") else None for kind, body in events if kind is RESULT
    ]


def test_texts_files_and_thoughts_of_a_message() -> None:
    file = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + "A" * 4000}
    link = {"type": "file", "mediaType": "text/plain", "url": "https://x.test/a.txt"}
    source = {"type": "source-url", "url": "https://x.test"}
    assert tell(
        ui("user", text("see"), file, link),
        ui("assistant", {"type": "reasoning", "text": "hm"}, text("one"), source, text("two")),
    ) == [
        (USER, "see\n[image/png, 3 kB]\nhttps://x.test/a.txt"),
        (THOUGHT, "hm"),
        (SAID, "one\ntwo"),
    ]


def test_messages_for_models_hold_calls_and_results_in_their_content() -> None:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {"a": 1}}
    gave = {
        "type": "tool-result",
        "toolCallId": "c1",
        "toolName": "f",
        "output": {"type": "error-text", "value": "boom"},
    }
    told = retell(
        VercelMessages(),
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}, call]},
            {"role": "tool", "content": [gave]},
            {"role": "assistant", "content": [text("bye")]},
        ],
    )
    assert shown(told) == [
        (USER, "hi"),
        (THOUGHT, "hm"),
        (CALL, "a: 1"),
        (RESULT, "boom"),
        (SAID, "bye"),
    ]
    assert told.events()[3].is_error is True


@pytest.mark.parametrize("wrap", ["array", "lines", "messages", "chats"])
def test_messages_are_known_in_every_wrapping(tmp_path: Path, wrap: str) -> None:
    messages = [ui("user", text("hi")), ui("assistant", text("bye"))]
    texts = {
        "array": json.dumps(messages),
        "lines": "".join(json.dumps(each) + "\n" for each in messages),
        "messages": json.dumps({"id": "chat", "messages": messages}, indent=1),
        "chats": json.dumps({"id": "a", "messages": messages[:1]})
        + "\n"
        + json.dumps({"id": "a", "messages": messages})
        + "\n",
    }
    path = tmp_path / "chat.json"
    path.write_text(texts[wrap], encoding="utf-8")
    (session,) = load_sessions(path)
    assert session.format == "vercel-ai"
    assert [session.event(n).body for n in range(len(session.index))] == ["hi", "bye"]
    session.close()


def test_a_stream_is_joined_in_the_order_in_which_its_pieces_began() -> None:
    told = retell(
        VercelStream(),
        [
            {"type": "start"},
            {"type": "reasoning-start", "id": "r"},
            {"type": "reasoning-delta", "id": "r", "delta": "h"},
            {"type": "tool-input-start", "toolCallId": "c1", "toolName": "f"},
            {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a"'},
            {"type": "reasoning-delta", "id": "r", "delta": "m"},
            {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": ": 1}"},
            {"type": "reasoning-end", "id": "r"},
            {
                "type": "tool-input-available",
                "toolCallId": "c1",
                "toolName": "f",
                "input": {"a": 1},
            },
            {"type": "tool-approval-request", "toolCallId": "c1", "approvalId": "x"},
            {
                "type": "tool-output-available",
                "toolCallId": "c1",
                "output": "o",
                "preliminary": True,
            },
            {"type": "tool-output-available", "toolCallId": "c1", "output": "out"},
            {"type": "text-start", "id": "1"},
            {"type": "text-delta", "id": "1", "delta": "by"},
            {"type": "text-delta", "id": "1", "delta": "e"},
            {"type": "error", "errorText": "cut"},
        ],
    )
    assert shown(told) == [
        (THOUGHT, "hm"),
        (CALL, "a: 1"),
        (SYSTEM, "approval requested: f"),
        (RESULT, "out"),
        (SAID, "bye"),
        (EventKind.ERROR, "cut"),
    ]
    assert told.events()[3].call_id == "c1"
    assert told.events()[3].tool == "f"


def test_a_stream_that_ends_early_keeps_what_came() -> None:
    told = retell(
        VercelStream(),
        [
            {"type": "tool-input-start", "toolCallId": "c1", "toolName": "f"},
            {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a": '},
            {"type": "text-delta", "id": "1", "delta": "by"},
        ],
    )
    assert shown(told) == [(CALL, '{"a": '), (SAID, "by")]


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "content": "x"},
        {"role": "user", "parts": [{"text": "gemini"}]},
        {"role": "user", "parts": [{"type": "text", "content": "otel"}]},
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "x"}]},
        {"type": "text-delta", "id": "1", "delta": "x"},
    ],
)
def test_other_records_are_not_taken_for_messages(record: Message) -> None:
    assert VercelMessages().recognise([record], None) == 0.0


@pytest.mark.parametrize(
    "record",
    [{"type": "start"}, {"type": "error", "message": "x"}, {"type": "text", "text": "x"}],
)
def test_other_records_are_not_taken_for_a_stream(record: Message) -> None:
    assert VercelStream().recognise([record], None) == 0.0
