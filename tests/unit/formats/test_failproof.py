"""Failproof AI: whatever the container, each event of each session is told once, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, Severity
from longjudge.sessions.formats.failproof import (
    MISSING,
    NO_PAYLOADS,
    REPEATED,
    SHORTENED,
    Failproof,
)
from retold_for_tests import retell

if TYPE_CHECKING:
    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
ERROR = EventKind.ERROR
_BASE = {"session_id": "s1", "agent_id": "main", "environment": "test"}


def line(second: int, type_: str, /, **more: object) -> dict[str, object]:
    stamp = f"2026-08-28T11:59:{second:02d}.000001Z"
    return {"timestamp": stamp, **_BASE, "type": type_, **more}


def exported(second: int, type_: str, payload: object, /, **more: object) -> dict[str, object]:
    stamp = f"2026-08-28T11:59:{second:02d}Z"
    return {"id": second, "ts": stamp, "event_type": type_, "payload": payload, **more}


def shown(told: Told, session: str = "s1", thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session, thread)]


def read(*records: dict[str, object]) -> list[tuple[EventKind, str]]:
    return shown(retell(Failproof(), records))


def test_an_export_is_told_in_its_order_with_its_id_and_beginning() -> None:
    around: dict[str, object] = {
        "schema_version": "2",
        "session_id": "s1",
        "agent_id": "main",
        "started_at": "2026-08-28T11:58:00Z",
    }
    events = [
        exported(1, "tool_use", {"tool_name": "search", "tool_call_id": "c1", "input": {"q": "x"}}),
        exported(2, "tool_result", {"tool_name": "search", "tool_call_id": "c1", "output": "y"}),
        exported(3, "agent_end", {"summary": "Done"}),
    ]
    told = retell(Failproof(), {"events": events}, around)
    assert shown(told) == [(CALL, "q: x"), (RESULT, "y"), (SYSTEM, "agent_end\nsummary: Done")]
    assert [event.tool for event in told.events("s1")][:2] == ["search", "search"]
    assert told.sessions["s1"] == {"id": "s1", "started": "2026-08-28T11:58:00Z"}
    alone = retell(Failproof(), [{**around, "events": events}])
    assert shown(alone) == shown(told)
    assert alone.sessions == told.sessions


def test_a_spool_holds_many_sessions_and_lines_of_a_retry_count_once() -> None:
    first, other = line(1, "human_input", response="hi"), line(2, "human_input", response="ho")
    other = {**other, "session_id": "s2"}
    told = retell(Failproof(), [first, other, first, other])
    assert shown(told) == [(USER, "hi")]
    assert shown(told, "s2") == [(USER, "ho")]
    assert (REPEATED, 2) in [(reason, count) for reason, _, _, count in told.notes]


def test_two_events_that_differ_only_in_time_are_both_told() -> None:
    assert (
        len(read(line(1, "human_input", response="go"), line(2, "human_input", response="go"))) == 2
    )


def test_a_feed_that_stands_newest_first_is_put_in_order() -> None:
    feed = [
        exported(3, "error", {"error_type": "Boom", "message": "it broke"}, **_BASE),
        exported(2, "tool_use", {"tool_name": "b"}, **_BASE),
        exported(2, "tool_use", {"tool_name": "a"}, **_BASE),
        exported(1, "human_input", {"response": "go"}, **_BASE),
    ]
    told = retell(Failproof(), {"events": feed}, {"next_cursor": None})
    assert [(event.kind, event.tool or event.body) for event in told.events("s1")] == [
        (USER, "go"),
        (CALL, "a"),
        (CALL, "b"),
        (ERROR, "Boom: it broke"),
    ]
    assert told.records == [3, 2, 1, 0]


@pytest.mark.parametrize("payload", [None, {}])
def test_a_feed_without_payloads_tells_its_summaries_and_warns(payload: object) -> None:
    light = {**exported(1, "tool_use", payload, **_BASE), "summary": "search(x)", "is_error": False}
    told = retell(Failproof(), {"events": [light]})
    assert shown(told) == [(CALL, "search(x)")]
    assert [(why, how) for why, _, how, _ in told.notes] == [(NO_PAYLOADS, Severity.WARNING)]
    lost = retell(Failproof(), {"events": [exported(1, "tool_use", None, **_BASE)]})
    assert len(lost.skipped) == 1


def test_what_a_document_says_is_not_in_it_is_a_warning() -> None:
    events = {"events": [exported(1, "human_input", {"response": "go"}, **_BASE)]}
    for around, note in (
        ({"next_cursor": "2026|7"}, (SHORTENED, 1)),
        ({"event_count": 42}, (MISSING, 41)),
    ):
        told = retell(Failproof(), events, around)
        warned = [(why, n) for why, _, how, n in told.notes if how is Severity.WARNING]
        assert warned == [note]
    assert retell(Failproof(), events, {"next_cursor": None, "event_count": 1}).notes == []


def test_what_a_model_is_given_again_and_again_is_told_once() -> None:
    ask, follow = {"role": "user", "content": "count"}, {"role": "user", "content": "count"}
    answer = {"role": "assistant", "content": "3"}
    assert read(
        line(1, "model_request", system="rules", messages=[ask]),
        line(2, "model_request", system="rules", messages=[ask]),
        line(3, "model_response", content="3"),
        line(4, "model_request", system="rules", messages=[ask, answer, follow]),
        line(5, "model_response", content=[{"type": "text", "text": "still 3"}]),
    ) == [(SYSTEM, "rules"), (USER, "count"), (SAID, "3"), (USER, "count"), (SAID, "still 3")]


def test_a_goal_and_an_input_are_not_told_again_from_the_models_input() -> None:
    assert read(
        line(1, "agent_start", goal="fix it"),
        line(2, "model_request", messages=[{"role": "user", "content": "fix it"}]),
        line(3, "model_response", content="how?"),
        line(4, "human_input", response="well"),
        line(5, "model_request", messages=[{"role": "ai"}, {"role": "human", "content": "well"}]),
    ) == [(USER, "fix it"), (SAID, "how?"), (USER, "well")]


def test_a_prompt_that_grows_with_the_work_is_told_as_it_began() -> None:
    assert read(
        line(1, "model_request", messages=[{"role": "user", "content": "Q: 1?"}]),
        line(2, "model_request", messages=[{"role": "user", "content": "Q: 1?\nThought: hm"}]),
    ) == [(USER, "Q: 1?")]


def test_calls_in_an_answer_are_left_to_their_own_events() -> None:
    blocks: list[dict[str, object]] = [
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "c1", "name": "ls", "input": {}},
        {"type": "tool_use", "id": "c2", "name": "pwd", "input": {}},
    ]
    told = retell(
        Failproof(),
        [
            line(1, "model_response", content=blocks),
            line(2, "tool_use", tool_name="ls", tool_call_id="c1"),
        ],
    )
    assert [(each.kind, each.tool) for each in told.events("s1")] == [
        (SAID, None),
        (CALL, "pwd"),
        (CALL, "ls"),
    ]


def test_the_parts_of_a_framework_are_read() -> None:
    parts = [
        {"part_kind": "thinking", "content": "hm"},
        {"part_kind": "text", "content": "ok"},
        {"part_kind": "tool-call", "tool_name": "ls", "tool_call_id": "c9", "content": {"p": 1}},
    ]
    request = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "go"}]}
    assert read(
        line(1, "model_request", messages=[request]), line(2, "model_response", content=parts)
    ) == [(USER, "go"), (EventKind.THINKING, "hm"), (SAID, "ok"), (CALL, "p: 1")]


def test_an_agent_that_another_started_is_a_thread_behind_the_open_call() -> None:
    child = {"agent_id": "helper"}
    told = retell(
        Failproof(),
        [
            line(1, "agent_start", goal="all of it"),
            line(2, "tool_use", tool_name="delegate", tool_call_id="c1"),
            line(3, "agent_start", **child, parent_id="main", goal="a part"),
            line(4, "tool_use", **child, tool_name="ls", tool_call_id="c2"),
            line(5, "agent_end", **child, outcome="failed"),
            line(6, "tool_result", tool_name="delegate", tool_call_id="c1", error="no luck"),
        ],
    )
    assert shown(told) == [(USER, "all of it"), (CALL, ""), (RESULT, "no luck")]
    assert told.events("s1")[-1].is_error is True
    assert shown(told, thread="agent-helper") == [
        (SYSTEM, "a part"),
        (CALL, ""),
        (ERROR, "agent_end\noutcome: failed"),
    ]
    assert told.links == {("s1", "agent-helper"): "c1"}


def test_hooks_and_the_hooks_log_are_system_notes() -> None:
    assert read(
        line(1, "hook_completed", hook_name="guard", hook_id="h", outcome="ok"),
        line(2, "hook_completed", hook_name="guard", hook_id="h", outcome="rejected"),
    ) == [
        (SYSTEM, "hook_completed\nhook_name: guard\noutcome: ok"),
        (ERROR, "hook_completed\nhook_name: guard\noutcome: rejected"),
    ]
    log: dict[str, object] = {
        "timestamp": 1785612803281,
        "eventType": "PreToolUse",
        "toolName": "Bash",
        "policyName": "no-force-push",
        "decision": "deny",
        "reason": "rewrites history",
        "sessionId": "s1",
    }
    assert Failproof().recognise([log], None) == 1.0
    kind, body = read(log)[0]
    assert kind is SYSTEM
    assert "policyName: no-force-push" in body
    assert "decision: deny" in body


@pytest.mark.parametrize(
    "record",
    [
        {"type": "tool_use", "tool": "x"},
        {"event_type": "tool_call", "payload": {"tool": "x"}},
        {"samples": {"transcript": {"events": []}}},
        {"type": "user", "session_id": "s"},
        {"schema_version": "1", "session_id": "s", "events": [{"kind": "tool_call"}]},
    ],
)
def test_records_of_other_formats_are_not_taken(record: dict[str, object]) -> None:
    assert Failproof().recognise([record], None) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    told = retell(
        Failproof(),
        [
            line(1, "tool_use", tool_name=5, tool_call_id=[], input=deep),
            line(2, "model_request", messages=[{"role": 5, "content": {"a": 1}}], system=[1]),
            line(3, "model_response", content=5, error=[1]),
            line(4, "error", message=4),
            {**line(5, "agent_start", parent_id=7, goal=3), "timestamp": [1]},
        ],
    )
    assert [number for _, number in told.skipped] == [0]
