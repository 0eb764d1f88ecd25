"""Langfuse traces: what every framework records in strings becomes one conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.langfuse import Langfuse
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM

Observation = dict[str, Any]
USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
SHOWN = [(USER, "hi"), (CALL, "a: 1"), (RESULT, "out"), (SAID, "bye")]


def seen(
    type_: str, id_: str, second: int, given: object, output: object, /, **more: object
) -> Observation:
    return {
        "id": id_,
        "traceId": "t",
        "parentObservationId": "root",
        "type": type_,
        "name": "f" if type_ == "TOOL" else type_.lower(),
        "startTime": f"2026-01-01T00:00:{second:02}.000Z",
        "endTime": f"2026-01-01T00:00:{second:02}.500Z",
        "input": given if given is None or isinstance(given, str) else json.dumps(given),
        "output": output if output is None or isinstance(output, str) else json.dumps(output),
        "level": "DEFAULT",
        **more,
    }


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events("t")]


def tell(*observations: Observation) -> Told:
    return retell(Langfuse(), {"observations": observations})


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def says(content: object, **more: object) -> dict[str, object]:
    return {"role": "assistant", "content": content, **more}


FRAMEWORKS: dict[str, list[Observation]] = {
    "anthropic blocks": [
        seen("GENERATION", "m1", 1, [user("hi")], says([USE])),
        seen("TOOL", "x", 2, {"input": {"a": 1}}, {"content": [{"type": "text", "text": "out"}]}),
        seen("GENERATION", "m2", 3, {"content": "role"}, says([{"type": "text", "text": "bye"}])),
    ],
    "chat completions": [
        seen(
            "GENERATION",
            "m1",
            1,
            {"messages": [user("hi")], "model": "m"},
            {"choices": [{"message": says(None, tool_calls=[CHAT_CALL])}]},
        ),
        seen("SPAN", "x", 2, {"a": 1}, "out", name="f"),
        seen(
            "GENERATION",
            "m2",
            3,
            [user("hi"), says(None, tool_calls=[CHAT_CALL]), {"role": "tool", "content": "out"}],
            "bye",
        ),
    ],
    "langchain": [
        seen("SPAN", "root", 0, {"messages": [{"type": "human", "content": "hi"}]}, None)
        | {"parentObservationId": None},
        seen(
            "GENERATION",
            "m1",
            1,
            [user("hi"), {"role": "tool", "content": {"type": "function", "function": {}}}],
            says("", additional_kwargs={"tool_calls": [CHAT_CALL]}),
        ),
        seen(
            "SPAN",
            "x",
            2,
            "{'a': 1}",
            {"type": "tool", "content": "out", "tool_call_id": "c1", "name": "f"},
            name="f",
        ),
        seen("GENERATION", "m2", 3, [user("hi")], says("bye")),
    ],
    "ai sdk": [
        seen(
            "GENERATION",
            "root",
            0,
            {"prompt": "hi"},
            [{"toolCallId": "c1", "toolName": "f", "input": '{"a": 1}'}],
            parentObservationId=None,
        ),
        seen(
            "GENERATION",
            "m1",
            1,
            [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
            [{"toolCallId": "c1", "toolName": "f", "input": '{"a": 1}'}],
        ),
        seen("TOOL", "x", 2, {"a": 1}, "out"),
        seen("GENERATION", "m2", 3, [user("hi")], "bye"),
    ],
    "gemini parts": [
        seen(
            "GENERATION",
            "m1",
            1,
            {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
            {
                "candidates": [
                    {
                        "content": {
                            "role": "model",
                            "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}],
                        }
                    }
                ]
            },
        ),
        seen(
            "GENERATION",
            "m2",
            3,
            {
                "contents": [
                    {"role": "user", "parts": [{"text": "hi"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
                    {
                        "role": "user",
                        "parts": [
                            {"functionResponse": {"name": "f", "response": {"result": "out"}}}
                        ],
                    },
                ]
            },
            {"content": {"role": "model", "parts": [{"text": "bye"}]}},
        ),
    ],
    "printed messages": [
        seen(
            "GENERATION",
            "m1",
            1,
            {"messages": ["role='user' content='hi' name=None tool_call_id=None"]},
            {"choices": [{"message": says(None, tool_calls=[CHAT_CALL])}]},
        ),
        seen("GENERATION", "i1", 1, "user: hi", None, parentObservationId="m1"),
        seen("SPAN", "x", 2, {"a": 1}, "out", name="f"),
        seen(
            "GENERATION",
            "m2",
            3,
            {
                "messages": [
                    "role='user' content='hi' name=None tool_call_id=None",
                    "role='assistant' content=None name=None tool_call_id=None",
                    "role='tool' content='out' name=None tool_call_id='c1'",
                ]
            },
            {"choices": [{"message": says("bye")}]},
        ),
        seen("GENERATION", "i2", 3, "user: hi", "bye", parentObservationId="m2"),
    ],
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_framework_gives_the_same_conversation(framework: str) -> None:
    told = tell(*reversed(FRAMEWORKS[framework]))
    assert shown(told) == SHOWN
    calls = [event.call_id for event in told.events("t") if event.kind in (CALL, RESULT)]
    assert calls[0] == calls[1]
    assert calls[0] == ("c1" if framework != "gemini parts" else calls[0])


def test_strings_may_be_encoded_twice() -> None:
    twice = json.dumps(json.dumps([user("hi")]))
    assert shown(tell(seen("GENERATION", "m", 1, twice, json.dumps(json.dumps(says("bye")))))) == [
        (USER, "hi"),
        (SAID, "bye"),
    ]


def test_errors_are_errors() -> None:
    told = tell(
        seen("GENERATION", "m1", 1, [user("hi")], says([USE])),
        seen("TOOL", "x", 2, {"a": 1}, None, level="ERROR", statusMessage="no such file"),
        seen("GENERATION", "m2", 3, [user("hi")], None, level="ERROR", statusMessage="overloaded"),
    )
    assert shown(told)[2:] == [(RESULT, "no such file"), (EventKind.ERROR, "overloaded")]
    assert told.events("t")[2].is_error is True


def test_the_outcome_of_a_trace_whose_models_answered_nothing_is_told() -> None:
    root = seen("SPAN", "root", 0, "hi", "{'role': 'assistant', 'text': 'bye'}")
    told = tell(
        root | {"parentObservationId": None}, seen("GENERATION", "m", 1, [user("hi")], None)
    )
    assert shown(told) == [(USER, "hi"), (SAID, "bye")]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("wrap", ["trace", "api", "lines", "list"])
def test_a_trace_is_known_in_every_wrapping(tmp_path: Path, wrap: str, indent: int | None) -> None:
    observations = FRAMEWORKS["anthropic blocks"]
    documents: dict[str, object] = {
        "trace": {"trace": {"id": "t", "name": "n"}, "observations": observations},
        "api": {"id": "t", "sessionId": None, "observations": observations},
        "list": {"data": observations, "meta": {"page": 1}},
    }
    path = tmp_path / "trace.json"
    if wrap == "lines":
        path.write_text("".join(json.dumps(each) + "\n" for each in observations))
    else:
        path.write_text(json.dumps(documents[wrap], indent=indent))
    (session,) = load_sessions(path)
    assert session.format == "langfuse"
    assert [session.event(n).body for n in range(len(session.index))] == [body for _, body in SHOWN]
    session.close()


def test_traces_of_one_session_are_one_session_in_order() -> None:
    turns = [
        {
            "id": "t1",
            "sessionId": "s",
            "observations": [
                seen("GENERATION", "m2", 5, [user("hi"), says("bye"), user("and?")], says("yes"))
                | {"traceId": "t2"}
            ],
        },
        {
            "id": "t0",
            "sessionId": "s",
            "observations": [seen("GENERATION", "m1", 1, [user("hi")], says("bye"))],
        },
    ]
    told = retell(Langfuse(), turns)
    assert [event.body for event in told.events("s")] == ["hi", "bye", "and?", "yes"]


def test_observations_without_inputs_are_refused() -> None:
    with pytest.raises(NotASessionError, match="no content recorded"):
        tell(seen("GENERATION", "m", 1, None, None))


def test_a_trace_names_the_session_of_its_observations(tmp_path: Path) -> None:
    model = seen("GENERATION", "m", 0, [user("hi")], "bye")
    path = tmp_path / "trace.json"
    for named in ({"trace": {"id": "t", "sessionId": "s"}}, {"id": "t", "sessionId": "s"}):
        path.write_text(json.dumps({**named, "observations": [model]}), encoding="utf-8")
        (session,) = load_sessions(path)
        assert session.id == "s"
        session.close()


def test_messages_beside_an_empty_list_of_observations_are_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    said = [user("hi"), {"role": "assistant", "content": "bye"}]
    path.write_text(json.dumps({"messages": said, "observations": []}), encoding="utf-8")
    (session,) = load_sessions(path)
    assert session.format == "openai-chat"
    session.close()
