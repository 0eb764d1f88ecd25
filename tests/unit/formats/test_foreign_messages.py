"""Messages of other interfaces become the events that they stand for."""

from __future__ import annotations

import json

import pytest

from longjudge.sessions import EventKind
from longjudge.sessions.formats.foreign_messages import foreign_message
from longjudge.sessions.formats.held_messages import held_messages
from longjudge.sessions.formats.streamed_answers import answer_messages
from longjudge.sessions.formats.told_once import events_of

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THOUGHT = EventKind.THINKING

Message = dict[str, object]
Shown = list[tuple[EventKind, str, bool | None]]


def shown(messages: list[Message]) -> Shown:
    return [(event.kind, event.body, event.is_error) for event in events_of(messages)]


SAYS: Shown = [(THOUGHT, "hm", None), (SAID, "ok", None), (CALL, "a: 1", None)]


@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "ok"},
                {"functionCall": {"name": "f", "args": {"a": 1}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x"}}},
                {"text": "ok"},
                {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}},
            ],
        },
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "text", "content": "ok"},
                {"type": "tool_call", "id": "c", "name": "f", "arguments": '{"a": 1}'},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "hm"},
                {"type": "text", "text": "ok"},
                {"type": "tool-call", "toolCallId": "c", "toolName": "f", "args": {"a": 1}},
            ],
        },
        {
            "type": "ai",
            "data": {
                "content": "ok",
                "additional_kwargs": {"reasoning_content": "hm"},
                "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}],
            },
        },
        {
            "message.role": "assistant",
            "message.content": "ok",
            "message.reasoning_content": "hm",
            "message.tool_calls": [
                {"tool_call.function.name": "f", "tool_call.function.arguments": '{"a": 1}'}
            ],
        },
    ],
    ids=["gemini", "bedrock", "otel", "ai sdk", "langchain", "openinference"],
)
def test_a_thought_a_text_and_a_call_in_every_interface(message: Message) -> None:
    read = foreign_message(message)
    assert read is not None
    assert shown([read]) == SAYS


@pytest.mark.parametrize(
    ("block", "result"),
    [
        (
            {"toolResult": {"toolUseId": "c", "content": [{"text": "a"}, {"json": {"b": 2}}]}},
            ('a\n{"b":2}', None),
        ),
        (
            {"toolResult": {"toolUseId": "c", "status": "error", "content": [{"text": "a"}]}},
            ("a", True),
        ),
        ({"functionResponse": {"name": "f", "response": {"error": "a"}}}, ("a", True)),
        (
            {"function_response": {"name": "f", "response": {"b": 2, "c": 3}}},
            ('{"b":2,"c":3}', None),
        ),
        ({"type": "tool_call_response", "id": "c", "response": "a"}, ("a", None)),
        (
            {
                "type": "tool-result",
                "toolCallId": "c",
                "output": {"type": "json", "value": {"b": 2}},
            },
            ('{"b":2}', None),
        ),
        ({"type": "tool-result", "toolCallId": "c", "result": [1, 2]}, ("[1,2]", None)),
        ({"type": "tool-error", "toolCallId": "c", "error": "a"}, ("a", True)),
    ],
)
def test_a_result_is_taken_out_of_what_wraps_it(
    block: Message, result: tuple[str, bool | None]
) -> None:
    read = foreign_message({"role": "tool", "content": [block]})
    assert read is not None
    assert shown([read]) == [(RESULT, *result)]


@pytest.mark.parametrize(
    ("value", "role", "events"),
    [
        ("hi", "user", [(USER, "hi")]),
        ({"messages": [[{"type": "human", "content": "hi"}]]}, "user", [(USER, "hi")]),
        ({"messages": [{"kwargs": {"type": "human", "content": "hi"}}]}, "user", [(USER, "hi")]),
        (
            {"system": "s", "messages": [{"role": "user", "content": "hi"}]},
            "user",
            [(SYSTEM, "s"), (USER, "hi")],
        ),
        (
            {
                "config": {"system_instruction": "s"},
                "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            },
            "user",
            [(SYSTEM, "s"), (USER, "hi")],
        ),
        (
            {"inputs": {"messages": [{"role": "user", "content": "hi"}]}, "kwargs": {}},
            "user",
            [(USER, "hi")],
        ),
        ([{"type": "text", "text": "hi"}], "user", [(USER, "hi")]),
        ({"temperature": 1, "subject": "x"}, "user", []),
        (
            {
                "choices": [
                    {"message": {"role": "assistant", "content": "a"}},
                    {"message": {"role": "assistant", "content": "b"}},
                ]
            },
            "assistant",
            [(SAID, "a")],
        ),
        ({"generations": [[{"text": "a"}, {"text": "b"}]]}, "assistant", [(SAID, "a")]),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": [], "content": None},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "a"}],
                    },
                ]
            },
            "assistant",
            [(SAID, "a")],
        ),
        (
            {"text": "a", "toolCalls": [{"toolCallId": "c", "toolName": "f", "args": {"a": 1}}]},
            "assistant",
            [(SAID, "a"), (CALL, "a: 1")],
        ),
        (None, "assistant", []),
    ],
)
def test_messages_are_found_in_what_was_recorded(
    value: object, role: str, events: list[tuple[EventKind, str]]
) -> None:
    for given in (value, json.dumps(value) if not isinstance(value, str) else value):
        found = events_of(held_messages(given, role))
        assert [(event.kind, event.body) for event in found] == events


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(
            [
                {"candidates": [{"content": {"parts": [{"text": "o"}]}}]},
                {"candidates": [{"content": {"parts": [{"text": "k"}]}}]},
            ]
        ),
        'data: {"type": "response.output_item.done", "item": {"type": "message", "role":'
        ' "assistant", "content": [{"type": "output_text", "text": "ok"}]}}\n',
        'data: {"choices": [{"delta": {"content": "o"}}, {"index": 1, "delta": {"content": "x"}}]}'
        '\n\ndata: {"choices": [{"delta": {"content": "k"}}]}\n\ndata: [DONE]\n',
    ],
    ids=["gemini", "responses", "chat"],
)
def test_an_answer_is_joined_from_its_pieces(text: str) -> None:
    assert [event.body for event in events_of(answer_messages(text))] == ["ok"]


def test_a_call_that_was_printed_into_the_text_is_a_call() -> None:
    text = """ResponseFunctionToolCall(arguments='{"a": 1}', call_id='c', name='f', type='x')"""
    read = foreign_message({"role": "assistant", "parts": [{"type": "text", "content": text}]})
    assert read is not None
    (event,) = events_of([read])
    assert (event.kind, event.body, event.tool, event.call_id) == (CALL, "a: 1", "f", "c")
