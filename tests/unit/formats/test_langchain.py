"""LangChain's messages in their three shapes, and LangGraph's states."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, Severity, load_sessions
from longjudge.sessions.formats.langchain import COPIES, DROPPED, LangChainMessages
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE

Message = dict[str, object]
CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "tool": "ToolMessage",
    "system": "SystemMessage",
}
USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
TOOL_CALL = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
CHAT: list[tuple[str, Message]] = [
    ("system", {"content": "be brief"}),
    ("human", {"content": "hi"}),
    ("ai", {"content": [{"type": "text", "text": "I look."}, USE], "tool_calls": [TOOL_CALL]}),
    ("tool", {"content": "no", "tool_call_id": "c1", "name": "f", "status": "error"}),
    ("ai", {"content": "bye", "additional_kwargs": {}}),
]
SHOWN = [
    (EventKind.SYSTEM, "be brief"),
    (USER, "hi"),
    (SAID, "I look."),
    (CALL, "a: 1"),
    (RESULT, "no"),
    (SAID, "bye"),
]


def constructor(type_: str, data: Message) -> Message:
    path = ["langchain", "schema", "messages", CLASSES[type_]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {**data, "type": type_}}


SHAPES = {
    "constructor": constructor,
    "data": lambda type_, data: {"type": type_, "data": {**data, "type": type_}},
    "flat": lambda type_, data: {"type": type_, **data},
}


def messages(shape: str = "flat", count: int = len(CHAT)) -> list[Message]:
    return [SHAPES[shape](*each) for each in CHAT[:count]]


def shown(told: Told, session: str = "") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", ["array", "lines", "messages", "values", "checkpoint"])
def test_every_shape_in_every_wrapping_is_the_same_session(
    tmp_path: Path, shape: str, wrap: str
) -> None:
    said = messages(shape)
    state = {"values": {"messages": said, "n": 1}, "next": [], "config": {}}
    texts = {
        "array": json.dumps(said, indent=1),
        "lines": "".join(json.dumps(each) + "\n" for each in said),
        "messages": json.dumps({"messages": said}),
        "values": json.dumps(state, indent=1),
        "checkpoint": json.dumps({"v": 1, "channel_values": {"messages": said}}),
    }
    path = tmp_path / "messages.json"
    path.write_text(texts[wrap], encoding="utf-8")
    (session,) = load_sessions(path)
    events = [session.event(number) for number in range(len(session.index))]
    assert session.format == "langchain-messages"
    assert [(event.kind, event.body) for event in events] == SHOWN
    assert [event.call_id for event in events if event.call_id] == ["c1", "c1"]
    assert events[4].is_error is True
    session.close()


def test_calls_that_stand_only_beside_the_content_are_told_too() -> None:
    old = {"tool_calls": [{"id": "c2", "function": {"name": "g", "arguments": '{"b": 2}'}}]}
    broken = {"name": "h", "args": '{"c": ', "id": "c3", "error": "cut"}
    told = retell(
        LangChainMessages(),
        [
            {"type": "human", "content": "hi"},
            {"type": "ai", "content": "", "additional_kwargs": old},
            {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [broken]},
        ],
    )
    assert shown(told) == [(USER, "hi"), (CALL, "b: 2"), (CALL, '{"c": ')]


def test_of_many_states_the_longest_is_told_and_the_others_counted() -> None:
    states: list[Message] = [{"values": {"messages": messages(count=n)}} for n in (5, 3, 1)]
    told = retell(LangChainMessages(), states)
    (session,) = told.sessions
    assert shown(told, session) == SHOWN
    assert told.notes == [(COPIES, 0, Severity.INFO, 2)]


def test_what_a_later_state_dropped_is_a_warning() -> None:
    first = messages(count=3)
    told = retell(
        LangChainMessages(),
        [{"messages": first}, {"messages": [first[0], *messages(count=5)[3:], first[1]]}],
    )
    assert (DROPPED, 1, Severity.WARNING, 1) in told.notes


def test_states_of_two_threads_are_two_sessions() -> None:
    def state(thread: str, text: str) -> Message:
        return {
            "config": {"configurable": {"thread_id": thread}},
            "values": {"messages": [{"type": "human", "content": text}]},
        }

    told = retell(LangChainMessages(), [state("a", "hi"), state("b", "ho"), state("a", "hi")])
    assert shown(told, "a") == [(USER, "hi")]
    assert shown(told, "b") == [(USER, "ho")]
    assert told.sessions["b"]["id"] == "b"


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "system", "content": "x", "uuid": "u"}],
        [{"type": "tool", "content": "x"}],
        [{"role": "user", "content": "x"}],
        [{"type": "ai", "text": "x"}],
        [{"messages": [{"role": "user", "content": "x"}]}],
    ],
)
def test_other_records_are_not_taken_for_these(records: list[Message]) -> None:
    assert LangChainMessages().recognise(records, None) == 0.0
