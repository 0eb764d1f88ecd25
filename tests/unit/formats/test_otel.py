"""OpenTelemetry spans: one conversation out of many spans, whatever their container is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, Severity, inner_lists, load_sessions
from longjudge.sessions.formats.otel import OtelSpans
from longjudge.sessions.formats.otlp import nested
from longjudge.sessions.formats.traces import COPIES, NO_CONTENT, TWICE
from retold_for_tests import RecordsInMemory, retell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.sessions.formats.retold import Given
    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THOUGHT = EventKind.THINKING
ERROR = EventKind.ERROR

Span = dict[str, Any]
START = 1_700_000_000_000_000_000


def span(
    id_: str, start: int, parent: str = "", name: str = "s", /, trace: str = "t", **more: object
) -> Span:
    """A flat span; `start` counts seconds."""
    return {
        "traceId": trace,
        "spanId": id_,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(START + start * 1_000_000_000),
        "endTimeUnixNano": str(START + start * 1_000_000_000 + 500_000_000),
        "attributes": {},
        **more,
    }


def chat(
    id_: str, start: int, asked: object, said: object, parent: str = "", /, **more: object
) -> Span:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(said),
        **more,
    }
    return span(id_, start, parent, "chat m", attributes=attributes)


def tool(id_: str, start: int, parent: str = "", /, **more: object) -> Span:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "f",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"a": 1}',
        "gen_ai.tool.call.result": "out",
        **more,
    }
    return span(id_, start, parent, "execute_tool f", attributes=attributes)


def part(text: str) -> dict[str, object]:
    return {"type": "text", "content": text}


def message(role: str, *parts: object) -> dict[str, object]:
    return {"role": role, "parts": list(parts)}


ASK = message("user", part("hi"))
CALLS = message("assistant", {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}})
GAVE = message("tool", {"type": "tool_call_response", "id": "c1", "response": "out"})
BYE = message("assistant", part("bye"))
LOOP = [
    span("root", 0, "", "invoke_agent A", attributes={"gen_ai.operation.name": "invoke_agent"}),
    chat("m1", 1, [ASK], [CALLS], "root"),
    tool("x1", 2, "root"),
    chat("m2", 3, [ASK, CALLS, GAVE], [BYE], "root"),
]
LOOP_SHOWN = [(USER, "hi"), (CALL, "a: 1"), (RESULT, "out"), (SAID, "bye")]


def shown(told: Told, session: str = "t", thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session, thread)]


def tell(*spans: Span) -> Told:
    return retell(OtelSpans(), list(spans))


def typed(attributes: dict[str, object]) -> list[dict[str, object]]:
    def value(of: object) -> dict[str, object]:
        if isinstance(of, bool):
            return {"boolValue": of}
        if isinstance(of, int):
            return {"intValue": str(of)}
        if isinstance(of, list):
            return {"arrayValue": {"values": [value(each) for each in of]}}
        return {"stringValue": str(of)}

    return [{"key": key, "value": value(of)} for key, of in attributes.items()]


def otlp(
    spans: list[Span], scope: str = "scopeSpans", spans_: str = "resourceSpans"
) -> dict[str, object]:
    listed = [{**each, "attributes": typed(each["attributes"])} for each in spans]
    return {spans_: [{"resource": {}, scope: [{"scope": {"name": "x"}, "spans": listed}]}]}


def jaeger(spans: list[Span]) -> object:
    return {
        "data": [
            {
                "traceID": "t",
                "spans": [
                    {
                        "traceID": "t",
                        "spanID": each["spanId"],
                        "operationName": each["name"],
                        "references": [
                            {"refType": "CHILD_OF", "traceID": "t", "spanID": each["parentSpanId"]}
                        ]
                        if each["parentSpanId"]
                        else [],
                        "startTime": int(each["startTimeUnixNano"]) // 1000,
                        "tags": [
                            {"key": key, "type": "string", "value": value}
                            for key, value in each["attributes"].items()
                        ],
                        "logs": [],
                    }
                    for each in spans
                ],
                "processes": {},
            }
        ]
    }


def sdk(spans: list[Span]) -> object:
    return [
        {
            "name": each["name"],
            "context": {"trace_id": "t", "span_id": each["spanId"]},
            "parent_id": each["parentSpanId"] or None,
            "start_time": [int(each["startTimeUnixNano"]) // 10**9, 0],
            "attributes": each["attributes"],
        }
        for each in spans
    ]


CONTAINERS: dict[str, Callable[[list[Span]], str]] = {
    "otlp": lambda spans: json.dumps(otlp(spans)),
    "pretty": lambda spans: json.dumps(otlp(spans), indent=1),
    "old": lambda spans: json.dumps(otlp(spans, "instrumentationLibrarySpans"), indent=1),
    "tempo": lambda spans: json.dumps(otlp(spans, spans_="batches")),
    "tempo 2": lambda spans: json.dumps({"trace": otlp(spans)}),
    "lines": lambda spans: "".join(json.dumps(otlp([each])) + "\n" for each in spans[::-1]),
    "documents": lambda spans: "\n".join(json.dumps(otlp([each]), indent=1) for each in spans),
    "jaeger": lambda spans: json.dumps(jaeger(spans), indent=1),
    "spans": lambda spans: json.dumps({"spans": sdk(spans)}),
    "dump": lambda spans: json.dumps(sdk(spans[::-1])),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_session(tmp_path: Path, container: str) -> None:
    path = tmp_path / "spans.json"
    path.write_text(CONTAINERS[container](LOOP), encoding="utf-8")
    (session,) = load_sessions(path)
    events = [session.event(number) for number in range(len(session.index))]
    assert session.format == "otel-genai"
    assert [(event.kind, event.body) for event in events] == LOOP_SHOWN
    assert events[0].timestamp == "2023-11-14T22:13:21Z"
    assert session.diagnostics == ()
    session.close()


def test_spans_in_the_order_of_their_end_are_told_by_their_start() -> None:
    assert shown(tell(*reversed(LOOP))) == LOOP_SHOWN


def test_call_and_result_go_by_the_id_of_the_call() -> None:
    events = tell(*LOOP).events("t")
    assert [event.call_id for event in events if event.call_id] == ["c1", "c1"]
    assert [event.tool for event in events[1:3]] == ["f", "f"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "hi",
                "gen_ai.request.model": "m",
            },
            {
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "bye",
                "gen_ai.completion.0.tool_calls.0.id": "c1",
                "gen_ai.completion.0.tool_calls.0.name": "f",
                "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
            },
        ),
        (
            {
                "openinference.span.kind": "LLM",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.contents.0.message_content.type": "text",
                "llm.input_messages.0.message.contents.0.message_content.text": "hi",
                "input.value": '{"messages": [{"role": "user", "content": "not this"}]}',
            },
            {
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "bye",
                "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": (
                    '{"a": 1}'
                ),
            },
        ),
        (
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": json.dumps(
                    [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
                ),
            },
            {
                "ai.response.text": "bye",
                "ai.response.toolCalls": json.dumps(
                    [{"toolCallId": "c1", "toolName": "f", "input": '{"a": 1}'}]
                ),
            },
        ),
        (
            {
                "gcp.vertex.agent.llm_request": json.dumps(
                    {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
                )
            },
            {
                "gcp.vertex.agent.llm_response": json.dumps(
                    {
                        "content": {
                            "role": "model",
                            "parts": [
                                {"text": "bye"},
                                {"function_call": {"id": "c1", "name": "f", "args": {"a": 1}}},
                            ],
                        }
                    }
                )
            },
        ),
        (
            {
                "openinference.span.kind": "LLM",
                "input.value": json.dumps({"messages": [{"role": "user", "content": "hi"}]}),
            },
            {
                "output.value": json.dumps(
                    {
                        "choices": [
                            {
                                "message": {
                                    "role": "assistant",
                                    "content": "bye",
                                    "tool_calls": [
                                        {
                                            "id": "c1",
                                            "function": {"name": "f", "arguments": '{"a": 1}'},
                                        }
                                    ],
                                }
                            },
                            {"index": 1, "message": {"role": "assistant", "content": "else"}},
                        ]
                    }
                )
            },
        ),
        (
            # Phoenix exports attributes as objects in objects.
            {
                "openinference": {"span": {"kind": "LLM"}},
                "llm": {
                    "input_messages": [{"message": {"role": "user", "content": "hi"}}],
                    "output_messages": [
                        {
                            "message": {
                                "role": "assistant",
                                "content": "bye",
                                "tool_calls": [
                                    {
                                        "tool_call": {
                                            "id": "c1",
                                            "function": {"name": "f", "arguments": '{"a": 1}'},
                                        }
                                    }
                                ],
                            }
                        }
                    ],
                },
            },
            {},
        ),
    ],
    ids=["traceloop", "openinference", "ai-sdk", "adk", "raw", "phoenix"],
)
def test_content_is_found_under_the_names_of_every_convention(
    asked: dict[str, object], said: dict[str, object]
) -> None:
    told = tell(span("m", 0, attributes={**asked, **said}))
    assert shown(told) == [(USER, "hi"), (SAID, "bye"), (CALL, "a: 1")]
    assert told.events("t")[2].tool == "f"


@pytest.mark.parametrize(
    "events",
    [
        [
            {
                "name": "gen_ai.client.inference.operation.details",
                "attributes": {
                    "gen_ai.system_instructions": [part("be brief")],
                    "gen_ai.input.messages": [ASK],
                    "gen_ai.output.messages": [message("assistant", part("bye"))],
                },
            }
        ],
        [
            {"name": "gen_ai.system.message", "attributes": {"content": "be brief"}},
            {"name": "gen_ai.user.message", "attributes": {"content": '[{"text": "hi"}]'}},
            {
                "name": "gen_ai.choice",
                "attributes": {"message": '[{"text": "bye"}]', "finish_reason": "stop"},
            },
            {"name": "gen_ai.choice", "attributes": {"index": 1, "message": '{"content": "no"}'}},
        ],
        [
            {
                "name": "gen_ai.content.prompt",
                "attributes": {
                    "gen_ai.prompt": json.dumps(
                        [
                            {"role": "system", "content": "be brief"},
                            {"role": "user", "content": "hi"},
                        ]
                    )
                },
            },
            {
                "name": "gen_ai.content.completion",
                "attributes": {
                    "gen_ai.completion": json.dumps([{"role": "assistant", "content": "bye"}])
                },
            },
        ],
    ],
    ids=["details", "messages", "content"],
)
def test_content_may_stand_in_a_spans_events(events: list[object]) -> None:
    told = tell(
        span("m", 0, attributes={"gen_ai.operation.name": "chat"}, events=events),
    )
    assert shown(told) == [(SYSTEM, "be brief"), (USER, "hi"), (SAID, "bye")]


def logged(id_: str, name: str, body: object) -> dict[str, object]:
    return {"traceId": "t", "spanId": id_, "eventName": name, "body": body, "attributes": []}


def kv(**entries: object) -> dict[str, object]:
    return {"kvlistValue": {"values": typed(entries)}}


def test_messages_may_stand_in_logs_beside_the_spans(tmp_path: Path) -> None:
    message_ = {"key": "message", "value": kv(role="assistant", content="bye")}
    logs = [
        logged("m", "gen_ai.user.message", kv(content="hi")),
        logged("m", "gen_ai.choice", {"kvlistValue": {"values": [message_]}}),
        logged("other", "gen_ai.user.message", kv(content="no")),
    ]
    spans = otlp([span("m", 0, attributes={"gen_ai.operation.name": "chat"})])
    held = {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}
    path = tmp_path / "both.json"
    for text in (
        json.dumps({**spans, **held}, indent=1),
        json.dumps(held) + "\n" + json.dumps(spans) + "\n",
    ):
        path.write_text(text, encoding="utf-8")
        (session,) = load_sessions(path)
        assert [session.event(n).body for n in range(len(session.index))] == ["hi", "bye"]
        session.close()


def test_only_what_is_new_is_told_of_each_request() -> None:
    first = [ASK, BYE, message("user", part("go on"))]
    told = tell(
        chat("m1", 0, [ASK], [BYE]),
        chat("m2", 1, first, [message("assistant", part("more"))]),
        chat("m3", 2, [*first, message("assistant", part("more")), ASK], [BYE]),
    )
    assert [body for _, body in shown(told)] == ["hi", "bye", "go on", "more", "hi", "bye"]


def test_a_request_that_leaves_out_the_middle_repeats_nothing() -> None:
    told = tell(*LOOP, chat("m3", 4, [ASK, BYE, message("user", part("and?"))], [BYE], "root"))
    assert shown(told) == [*LOOP_SHOWN, (USER, "and?"), (SAID, "bye")]


def test_a_call_that_only_the_tool_recorded_is_told_with_its_result() -> None:
    told = tell(tool("x", 0), tool("y", 1, **{"gen_ai.tool.call.id": "c2"}))
    assert shown(told) == [(CALL, "a: 1"), (RESULT, "out")] * 2


def test_ids_that_are_no_ids_do_not_merge_calls() -> None:
    def call(text: str) -> dict[str, object]:
        entry = {"type": "tool_call", "id": "0", "name": "f", "arguments": {"a": text}}
        return message("assistant", entry)

    def gave(text: str) -> dict[str, object]:
        return message("tool", {"type": "tool_call_response", "id": "0", "response": text})

    told = tell(
        chat("m1", 0, [ASK], [call("1")]),
        chat("m2", 1, [ASK, call("1"), gave("x")], [call("2")]),
        chat("m3", 2, [ASK, call("1"), gave("x"), call("2"), gave("x")], [BYE]),
    )
    assert shown(told) == [
        (USER, "hi"),
        (CALL, "a: 1"),
        (RESULT, "x"),
        (CALL, "a: 2"),
        (RESULT, "x"),
        (SAID, "bye"),
    ]


def test_a_failed_tool_says_what_went_wrong() -> None:
    failed = tool("x", 0, **{"gen_ai.tool.call.result": "", "error.type": "TimeoutError"})
    failed["status"] = {"code": 2}
    raised = tool("y", 1, **{"gen_ai.tool.call.id": "c2", "gen_ai.tool.call.result": ""})
    raised["status"] = {"code": "STATUS_CODE_ERROR"}
    raised["events"] = [
        {"name": "exception", "attributes": typed({"exception.message": "no such file"})}
    ]
    events = tell(failed, raised).events("t")
    assert [(event.body, event.is_error) for event in events if event.kind is RESULT] == [
        ("TimeoutError", True),
        ("no such file", True),
    ]
    assert tell(*LOOP).events("t")[2].is_error is None


def test_a_failure_that_spans_pass_on_is_told_once() -> None:
    model = chat("m", 1, [ASK], [], "root")
    agent = span(
        "root", 0, "", "invoke_agent A", attributes={"gen_ai.operation.name": "invoke_agent"}
    )
    for each in (model, agent):
        each["status"] = {"code": 2, "message": "overloaded"}
    assert shown(tell(agent, model)) == [(USER, "hi"), (ERROR, "overloaded")]


def test_an_agent_inside_a_tool_has_its_own_thread_from_that_call() -> None:
    asks = message("user", part("look"))
    told = tell(
        *LOOP,
        span(
            "sub",
            2,
            "x1",
            "invoke_agent helper",
            attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"},
        ),
        chat("s1", 2, [asks], [message("assistant", part("found"))], "sub"),
    )
    assert shown(told) == LOOP_SHOWN
    assert shown(told, thread="helper") == [(USER, "look"), (SAID, "found")]
    assert told.links == {("t", "helper"): "c1"}


def test_a_step_that_calls_itself_an_agent_stays_in_the_thread() -> None:
    steps = [
        span("n1", 1, "root", "agent", attributes={"openinference.span.kind": "AGENT"}),
        span("n2", 3, "root", "agent", attributes={"openinference.span.kind": "AGENT"}),
    ]
    m1, m2 = chat("m1", 1, [ASK], [CALLS], "n1"), chat("m2", 3, [ASK, CALLS, GAVE], [BYE], "n2")
    root = span(
        "root", 0, "", "graph", attributes={"openinference.span.kind": "AGENT", "input.value": "hi"}
    )
    told = tell(root, *steps, m1, tool("x1", 2, "root"), m2)
    assert shown(told) == LOOP_SHOWN
    assert len(told.by_thread) == 1


def test_an_agents_own_record_counts_where_its_models_have_none() -> None:
    answer = {
        "llm.output_messages.0.message.content": "I look.",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.1.message.role": "assistant",
        "llm.output_messages.1.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.name": "f",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
        "llm.output_messages.2.message.content": "bye",
        "llm.output_messages.2.message.role": "assistant",
    }
    kind = {"openinference.span.kind": "AGENT", "input.value": "hi"}
    told = tell(tool("x1", 2, "root"), span("root", 0, "", "query", attributes={**kind, **answer}))
    assert shown(told) == [
        (USER, "hi"),
        (SAID, "I look."),
        (CALL, "a: 1"),
        (RESULT, "out"),
        (SAID, "bye"),
    ]


def test_a_model_inside_a_model_is_told_once() -> None:
    outer = span(
        "o",
        0,
        attributes={
            "ai.operationId": "ai.generateText",
            "ai.prompt": '{"prompt": "hi"}',
            "ai.response.text": "bye",
        },
    )
    inner = chat("i", 1, [ASK], [BYE], "o")
    assert shown(tell(inner, outer)) == [(USER, "hi"), (SAID, "bye")]


def test_another_conversation_inside_a_models_span_is_told_too() -> None:
    told = tell(chat("o", 0, [ASK], [BYE]), chat("i", 1, [message("user", part("x"))], [BYE], "o"))
    assert [body for _, body in shown(told)] == ["hi", "bye", "x", "bye"]


def test_conversations_of_one_trace_are_sessions_of_their_own() -> None:
    told = tell(
        chat("m1", 0, [ASK], [BYE], **{"gen_ai.conversation.id": "one"}),
        chat("m2", 1, [ASK], [BYE], **{"session.id": "two"}),
    )
    assert sorted(told.sessions) == ["one", "two"]
    assert shown(told, "one") == shown(told, "two") == [(USER, "hi"), (SAID, "bye")]


def test_a_conversation_goes_on_in_the_next_trace() -> None:
    later = chat("m2", 5, [ASK, BYE, message("user", part("and?"))], [CALLS])
    later["traceId"] = "t2"
    told = tell(chat("m1", 0, [ASK], [BYE]), later)
    assert shown(told) == [(USER, "hi"), (SAID, "bye"), (USER, "and?"), (CALL, "a: 1")]
    assert list(told.sessions) == ["t"]


def test_a_trace_that_repeats_another_one_is_left_out_and_counted() -> None:
    again = chat("m2", 5, [ASK], [BYE])
    again["traceId"] = "t2"
    told = tell(chat("m1", 0, [ASK], [BYE]), again)
    assert list(told.sessions) == ["t"]
    assert (COPIES, None, Severity.INFO, 1) in told.notes


def test_a_span_that_stands_in_the_file_twice_counts_once() -> None:
    told = tell(*LOOP, *LOOP)
    assert shown(told) == LOOP_SHOWN
    assert (TWICE, None, Severity.INFO, 4) in told.notes


def test_an_output_that_is_a_message_names_its_call() -> None:
    output = {"content": "out", "tool_call_id": "c1", "status": "error"}
    kind = {"openinference.span.kind": "TOOL", "tool.name": "f"}
    values = {"input.value": '{"a": 1}', "output.value": json.dumps(output)}
    told = tell(chat("m", 0, [ASK], [CALLS]), span("x", 1, attributes={**kind, **values}))
    assert shown(told) == [(USER, "hi"), (CALL, "a: 1"), (RESULT, "out")]
    assert (told.events("t")[2].call_id, told.events("t")[2].is_error) == ("c1", True)


def test_reasoning_and_media_are_what_they_are() -> None:
    answer = message(
        "assistant",
        {"type": "reasoning", "content": "hm"},
        {"type": "blob", "mime_type": "image/png", "content": "A" * 4000},
    )
    told = tell(chat("m", 0, [ASK], [answer]))
    assert shown(told) == [(USER, "hi"), (THOUGHT, "hm"), (SAID, "[image/png, 3 kB]")]


def test_spans_without_messages_are_a_warning_beside_those_that_have_them() -> None:
    told = tell(*LOOP, span("m3", 5, "root", attributes={"gen_ai.operation.name": "chat"}))
    assert shown(told) == LOOP_SHOWN
    assert told.notes == [(NO_CONTENT, None, Severity.WARNING, 1)]


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([span("a", 0, "", "GET /")], "none of a model, a tool or an agent"),
        (
            [span("a", 0, attributes={"gen_ai.operation.name": "chat", "gen_ai.system": "x"})],
            "no content recorded",
        ),
        (
            [
                span(
                    "a",
                    0,
                    attributes={
                        "gcp.vertex.agent.llm_request": "{}",
                        "gcp.vertex.agent.llm_response": "{}",
                    },
                )
            ],
            "no content recorded",
        ),
    ],
)
def test_spans_that_say_nothing_are_refused(spans: list[Span], words: str) -> None:
    with pytest.raises(NotASessionError, match=words):
        tell(*spans)


def test_rings_and_lost_parents_lose_nothing() -> None:
    told = tell(
        chat("a", 0, [ASK], [BYE], "b"),
        chat("b", 1, [message("user", part("x"))], [BYE], "a"),
        chat("c", 2, [message("user", part("y"))], [BYE], "nowhere"),
    )
    bodies = [body for _, body in shown(told)]
    assert sorted(body for body in bodies if body != "bye") == ["hi", "x", "y"]


def test_what_is_nested_too_deeply_is_skipped_and_said() -> None:
    deep: object = "x"
    for _ in range(250):
        deep = {"a": deep}
    told = tell(*LOOP, tool("deep", 9, "root", **{"gen_ai.tool.call.arguments": json.dumps(deep)}))
    assert shown(told) == LOOP_SHOWN
    assert len(told.skipped) == 1


def test_traces_of_a_conversation_that_repeat_no_history_may_ask_the_same_again() -> None:
    named = {"session.id": "s"}
    turns = [chat(f"m{n}", n, [ASK], [message("assistant", part(f"{n}"))], **named) for n in (1, 2)]
    turns[1]["traceId"] = "t2"
    assert shown(tell(*turns), "s") == [(USER, "hi"), (SAID, "1"), (USER, "hi"), (SAID, "2")]


def test_two_runs_of_an_agent_side_by_side_are_two_threads() -> None:
    kind = {"gen_ai.operation.name": "invoke_agent"}
    root = span("root", 0, "", "A", attributes={**kind, "gen_ai.agent.name": "A"})
    helper = {**kind, "gen_ai.agent.name": "helper"}
    runs = [span(f"h{n}", 1, "root", "h", attributes=helper) for n in (1, 2)]
    asked = [message("user", part("look"))]
    models = [
        chat(f"s{n}", 1, asked, [message("assistant", part(f"{n}"))], f"h{n}") for n in (1, 2)
    ]
    told = tell(root, *runs, *models, chat("m", 5, [ASK], [BYE], "root"))
    assert shown(told, thread="helper") == [(USER, "look"), (SAID, "1")]
    assert shown(told, thread="helper#2") == [(USER, "look"), (SAID, "2")]


@pytest.mark.parametrize("container", ["otlp", "pretty", "old", "tempo", "tempo 2", "jaeger"])
def test_spans_of_a_large_element_are_read_one_by_one(
    tmp_path: Path, container: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inner_lists, "LARGE_BYTES", 10)
    path = tmp_path / "spans.json"
    path.write_text(CONTAINERS[container](LOOP), encoding="utf-8")
    (session,) = load_sessions(path)
    events = [session.event(number) for number in range(len(session.index))]
    assert [(event.kind, event.body) for event in events] == LOOP_SHOWN
    assert len(session.raw(1)) < path.stat().st_size / 3
    session.close()


@pytest.mark.parametrize(
    "spans",
    ["[" * 150 + "]" * 150, '[{"spans": 1}, 2, null]', '[{"scopeSpans": []}]', '{"a": 1}'],
)
def test_odd_values_in_a_large_element_are_left_alone(
    tmp_path: Path, spans: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inner_lists, "LARGE_BYTES", 10)
    path = tmp_path / "spans.json"
    sound = json.dumps(otlp(LOOP)["resourceSpans"])
    odd = f'{{"scopeSpans": {spans}, "more": "{{]"}}'
    path.write_text(f'{{"resourceSpans": {sound[:-1]}, {odd}]}}', encoding="utf-8")
    (session,) = load_sessions(path)
    assert len(session.index) == len(LOOP_SHOWN)
    session.close()


def test_a_flattened_conversation_keeps_objects_among_its_names() -> None:
    attributes: dict[str, object] = {"a.0.x": {"k": 1}, "a.0.x.y": 2, "a.1": "z", "b": 1, "ab.0": 3}
    assert nested(attributes, "a") == [{"x": {"k": 1, "y": 2}}, "z"]
    assert nested(attributes, "b") == 1
    assert nested(attributes, "c") is None


@pytest.mark.parametrize(
    ("records", "format_"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "b"}], "openai-chat"),
        ([{"kind": "user_message", "text": "hi"}, {"kind": "system", "text": "x"}], "events"),
    ],
)
def test_records_that_name_the_span_around_them_are_no_spans(
    tmp_path: Path, records: list[dict[str, object]], format_: str
) -> None:
    around = {"trace_id": "t", "span_id": "s", "timestamp": "2026-01-01T00:00:00Z", "name": "x"}
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({**each, **around}) + "\n" for each in records))
    (session,) = load_sessions(path)
    assert session.format == format_
    assert len(session.index) == 2
    session.close()


def test_a_record_of_many_logs_is_read_once_for_all_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 40
    logs = [logged(f"m{n}", "gen_ai.user.message", kv(content=f"hi {n}")) for n in range(count)]
    held: dict[str, object] = {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}
    kind = {"gen_ai.operation.name": "chat"}
    spans = [span(f"m{n}", n, attributes=kind) for n in range(count)]
    read: list[int] = []
    at = RecordsInMemory.at

    def counted(records: RecordsInMemory, number: int) -> list[Given]:
        read.append(number)
        return at(records, number)

    monkeypatch.setattr(RecordsInMemory, "at", counted)
    told = tell(held, *spans)
    assert len(told.events("t")) == count
    assert read.count(0) < 5
