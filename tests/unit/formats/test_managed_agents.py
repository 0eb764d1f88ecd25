"""Claude's managed agents: what was sent and came back counts once, and agents are not mixed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from longjudge.sessions import EventKind, Severity, load_sessions
from longjudge.sessions.formats.managed_agents import ManagedAgents
from longjudge.sessions.records import NOT_JSON, UNFINISHED
from retold_for_tests import Told, retell

if TYPE_CHECKING:
    from pathlib import Path

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
_TIME = "2026-07-06T16:26:35.886686Z"


def event(id_: str, type_: str, **more: object) -> dict[str, object]:
    return {"id": id_, "type": type_, "processed_at": _TIME, **more}


def text(value: str) -> list[dict[str, object]]:
    return [{"text": value, "type": "text"}]


def shown(told: Told, thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(each.kind, each.body) for each in told.events(thread=thread)]


EVENTS = [
    event("1", "user.message", content=text("the date?")),
    event("2", "span.model_request_start"),
    event("3", "agent.tool_use", name="bash", input={"command": "date"}),
    event("4", "agent.mcp_tool_use", name="search", input={"q": "x"}),
    event("5", "agent.mcp_tool_result", mcp_tool_use_id="4", is_error=True, content=text("denied")),
    event("6", "agent.tool_result", tool_use_id="3", is_error=False, content=text("Mon")),
    event("7", "agent.message", content=text("Monday")),
]


def test_events_are_told_and_results_paired_by_their_ids() -> None:
    told = retell(ManagedAgents(), EVENTS)
    assert shown(told) == [
        (USER, "the date?"),
        (CALL, "command: date"),
        (CALL, "q: x"),
        (RESULT, "denied"),
        (RESULT, "Mon"),
        (SAID, "Monday"),
    ]
    results = [each for each in told.events() if each.kind is RESULT]
    assert [(each.call_id, each.is_error) for each in results] == [("4", True), ("3", False)]


def test_what_a_client_sent_counts_once_whether_it_came_back_or_not() -> None:
    sent: dict[str, object] = {
        "method": "send",
        "body": {"events": [{"type": "user.message", "content": text("the date?")}]},
    }
    said = {"type": "user.message", "content": text("not answered")}
    lost: dict[str, object] = {"body": {"events": [said]}}
    told = retell(ManagedAgents(), [sent, *EVENTS, lost])
    assert [body for kind, body in shown(told) if kind is USER] == ["the date?", "not answered"]


def test_an_event_that_was_streamed_and_listed_counts_once() -> None:
    assert len(retell(ManagedAgents(), [*EVENTS, *EVENTS]).events()) == 6


def test_each_agent_of_a_session_has_its_thread() -> None:
    told = retell(
        ManagedAgents(),
        [
            event("1", "agent.message", content=text("a"), session_thread_id="t1"),
            event("2", "agent.message", content=text("b"), session_thread_id="t2"),
            event("3", "agent.message", content=text("c"), session_thread_id="t1"),
        ],
    )
    assert shown(told) == [(SAID, "a"), (SAID, "c")]
    assert shown(told, "agent-t2") == [(SAID, "b")]


def test_a_confirmation_is_a_system_note_and_a_failed_session_an_error() -> None:
    told = retell(
        ManagedAgents(),
        [
            event("1", "user.tool_confirmation", tool_use_id="4", result="deny"),
            event("2", "session.error", error={"message": "overloaded"}),
        ],
    )
    assert [kind for kind, _ in shown(told)] == [SYSTEM, EventKind.ERROR]


def test_lines_of_pairs_are_a_session_with_its_title_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    session = {"type": "session", "id": "sesn_1", "title": "Dates"}
    sent = ["sesn_1", {"events": [{"type": "user.message", "content": text("the date?")}]}]
    pairs = [
        ["client.beta.sessions.create", session],
        ["client.beta.sessions.events.send", sent],
        *(["client.beta.sessions.events.stream", each] for each in EVENTS),
    ]
    lines = [json.dumps(pair) for pair in pairs]
    lines.insert(3, '["client.damaged", {]')
    path.write_text("\n".join(["", *lines, '["client.cut']))
    loaded = load_sessions(path)[0]
    assert (loaded.format, loaded.id, loaded.title) == ("claude-managed-agents", "sesn_1", "Dates")
    assert (len(loaded.index), loaded.line(0)) == (6, 4)
    assert loaded.skipped_lines == 2
    damaged, *others = loaded.diagnostics
    assert (damaged.reason, damaged.line, damaged.severity) == (NOT_JSON, 5, Severity.WARNING)
    (cut,) = [each for each in others if each.reason == UNFINISHED]
    assert (cut.line, cut.severity) == (len(lines) + 2, Severity.INFO)
    loaded.close()


def test_other_records_are_not_taken() -> None:
    assert ManagedAgents().recognise([{"type": "session.start", "data": {}}], None) == 0.0
    assert ManagedAgents().recognise([{"type": "user", "message": {}}], None) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    told = retell(
        ManagedAgents(),
        [
            event("1", "user.message", content=5),
            event("2", "agent.tool_use", name=[1], input="x"),
            event("3", "agent.tool_result", tool_use_id=5),
            {"body": [1]},
            {"raw": {"type": 4}},
        ],
    )
    assert told.skipped == []
