"""Copilot CLI sessions: each answer, call and result is told once, in its agent's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind
from longjudge.sessions.formats.copilot_cli import CopilotCli
from retold_for_tests import retell

if TYPE_CHECKING:
    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THINKING = EventKind.THINKING
ERROR = EventKind.ERROR
ODD: tuple[object, ...] = (None, 1, "x", [], {}, [1], [None], {"a": {"b": []}}, [{"x": 1}])


def record(type_: str, agent: object = None, **data: object) -> dict[str, object]:
    made: dict[str, object] = {
        "type": type_,
        "data": data,
        "id": "e",
        "timestamp": "2026-03-01T10:00:00Z",
    }
    return made | ({"agentId": agent} if agent else {})


def answer(content: str = "", calls: tuple[str, ...] = (), **data: object) -> dict[str, object]:
    requests = [
        {"toolCallId": id_, "name": "bash", "arguments": f'{{"command": "{id_}"}}'} for id_ in calls
    ]
    agent = data.pop("agent", None)
    made = record("assistant.message", content=content, toolRequests=requests, **data)
    return made | ({"agentId": agent} if agent else {})


def started(id_: str, **data: object) -> dict[str, object]:
    arguments = {"command": id_}
    return record(
        "tool.execution_start", toolCallId=id_, toolName="bash", arguments=arguments, **data
    )


def completed(id_: str, **data: object) -> dict[str, object]:
    return record("tool.execution_complete", **({"toolCallId": id_, "success": True} | data))


def read(*records: dict[str, object]) -> Told:
    return retell(CopilotCli(), list(records))


def shown(told: Told, thread: str = "main", session: str = "") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session, thread)]


def test_what_is_asked_for_and_what_is_run_is_one_call() -> None:
    told = read(
        record("session.start", sessionId="s", startTime="2026-03-01T09:00:00Z"),
        record("user.message", content="go", transformedContent="<time>now</time> go"),
        answer("I will", ("a", "b")),
        started("a"),
        started("b"),
        completed("b", result={"content": "two", "detailedContent": "two, longer"}),
        completed("a", result={"content": "one"}),
    )
    assert shown(told) == [
        (USER, "go"),
        (SAID, "I will"),
        (CALL, "command: a"),
        (CALL, "command: b"),
        (RESULT, "two"),
        (RESULT, "one"),
    ]
    assert [event.call_id for event in told.events()[2:]] == ["a", "b", "b", "a"]
    assert told.sessions[""] == {"id": "s", "started": "2026-03-01T09:00:00Z"}


def test_a_call_that_nobody_asked_for_in_the_log_is_told_when_it_runs() -> None:
    told = read(started("a"), completed("a", result={"content": "x"}))
    assert [kind for kind, _ in shown(told)] == [CALL, RESULT]


def test_arguments_that_stand_only_where_the_call_is_run_are_told() -> None:
    requests = [{"toolCallId": id_, "name": "view"} for id_ in ("a", "b", "c")]
    told = read(
        record("assistant.message", content="", toolRequests=requests),
        record("tool.execution_start", toolCallId="a", arguments={"path": "/x"}),
        completed("b", result={"content": "2"}),
        completed("a", result={"content": "1"}),
    )
    assert [(each.kind, each.body, each.tool) for each in told.events()] == [
        (CALL, "path: /x", "view"),
        (CALL, "", "view"),
        (RESULT, "2", None),
        (RESULT, "1", None),
        (CALL, "", "view"),
    ]
    assert [each.call_id for each in told.events()] == ["a", "b", "b", "a", "c"]


def test_the_last_line_of_a_printed_run_names_the_session() -> None:
    last: dict[str, object] = {"type": "result", "sessionId": "s", "usage": {"premiumRequests": 1}}
    told = read(record("user.message", content="go"), last)
    assert told.sessions[""] == {"id": "s"}
    assert not told.notes


def test_a_call_of_the_user_is_told_once() -> None:
    asked = record(
        "tool.user_requested", toolCallId="a", toolName="bash", arguments={"command": "a"}
    )
    told = read(asked, started("a"), completed("a", result={"content": "x"}))
    assert [kind for kind, _ in shown(told)] == [CALL, RESULT]


def test_one_id_for_every_call_loses_none() -> None:
    told = read(
        answer("", ("0", "0")), started("0"), started("0"), answer("x", ("0",)), started("0")
    )
    assert [kind for kind, _ in shown(told)].count(CALL) == 3


def test_pieces_of_an_answer_are_told_only_where_it_never_came_whole() -> None:
    told = read(
        record("assistant.reasoning_delta", deltaContent="I ", reasoningId="r"),
        record("assistant.reasoning_delta", deltaContent="think", reasoningId="r"),
        record("assistant.message_delta", deltaContent="Wor"),
        record("system.notification", content="a shell ended"),
        answer("Working", messageId="m1", reasoningText="I think"),
        record("assistant.message_delta", deltaContent="cut "),
        record("assistant.message_delta", deltaContent="off"),
        record("abort", reason="user initiated"),
    )
    assert shown(told) == [
        (SYSTEM, "a shell ended"),
        (THINKING, "I think"),
        (SAID, "Working"),
        (SAID, "cut off"),
        (SYSTEM, "aborted: user initiated"),
    ]
    assert told.records[3] == 5


def test_pieces_at_the_end_of_a_running_session_are_told() -> None:
    told = read(record("assistant.message_delta", deltaContent="so far"))
    assert shown(told) == [(SAID, "so far")]


def test_pieces_are_not_lost_to_an_answer_without_text() -> None:
    told = read(
        record("assistant.reasoning_delta", deltaContent="hm"),
        record("assistant.message_delta", deltaContent="let me see"),
        answer("", ("a",)),
    )
    assert [kind for kind, _ in shown(told)] == [THINKING, SAID, CALL]


def test_reasoning_that_the_answer_repeats_is_told_once() -> None:
    told = read(
        record("assistant.reasoning", content="hm", reasoningId="r"),
        answer("yes", messageId="m", reasoningText="hm"),
        record("assistant.reasoning", content="hm", reasoningId="r"),
        record("assistant.turn_end"),
        answer("again", messageId="n", reasoningText="hm"),
    )
    assert [kind for kind, _ in shown(told)] == [THINKING, SAID, THINKING, SAID]


def test_an_answer_written_twice_under_its_id_is_told_once() -> None:
    told = read(answer("yes", ("a",), messageId="m"), answer("yes", ("a",), messageId="m"))
    assert [kind for kind, _ in shown(told)] == [SAID, CALL]


@pytest.mark.parametrize("marked", ["envelope", "data"])
def test_subagents_have_their_own_threads_linked_to_their_calls(marked: str) -> None:
    agent = "agent-1" if marked == "envelope" else None
    parent: dict[str, object] = {} if agent else {"parentToolCallId": "task"}
    told = read(
        answer("delegating", ("task",)),
        started("task"),
        record("subagent.started", agent, toolCallId="task", agentName="explore"),
        answer("found it", ("a",), agent=agent, **parent),
        answer("meanwhile", ("b",)),
        completed("a", **parent, result={"content": "1"}),
        completed("b", result={"content": "2"}),
        completed("task", result={"content": "found it"}),
    )
    thread = agent or "task"
    assert shown(told, thread) == [(SAID, "found it"), (CALL, "command: a"), (RESULT, "1")]
    assert [kind for kind, _ in shown(told)] == [SAID, CALL, SAID, CALL, RESULT, RESULT]
    assert told.links == {("", thread): "task"}


@pytest.mark.parametrize(
    ("data", "body", "failed"),
    [
        ({"success": False, "error": {"message": "denied", "code": "x"}}, "denied", True),
        ({"success": False, "result": {"content": "no"}, "error": {"message": "no"}}, "no", True),
        (
            {"result": {"result_type": "success", "text_result_for_llm": "made"}, "success": None},
            "made",
            False,
        ),
        (
            {"result": {"result_type": "failure", "text_result_for_llm": "x"}, "success": None},
            "x",
            True,
        ),
        ({"result": {"detailedContent": "diff"}, "success": None}, "diff", None),
        ({"result": "plain"}, "plain", False),
        (
            {"result": {"contents": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]}},
            "[image/png, 3 B]",
            False,
        ),
    ],
)
def test_a_result_is_what_the_model_was_sent(
    data: dict[str, object], body: str, failed: bool | None
) -> None:
    (event,) = read(completed("a", **data)).events()
    assert (event.kind, event.body, event.is_error) == (RESULT, body, failed)


def test_a_result_names_its_tool_where_the_record_does() -> None:
    (event,) = read(completed("a", toolName="bash", result={"content": "x"})).events()
    assert event.tool == "bash"


def test_only_what_a_person_said_is_the_users() -> None:
    told = read(
        record("user.message", content="hi", attachments=[{"type": "file", "path": "/a.ts"}]),
        record("user.message", content="the skill's text", source="skill-pdf"),
        record("system.message", content="You are", role="system"),
        record("skill.invoked", content="do it so", name="pdf"),
    )
    assert [kind for kind, _ in shown(told)] == [USER, SYSTEM, SYSTEM, SYSTEM, SYSTEM]
    assert shown(told)[1][1] == "attached type: file\npath: /a.ts"


def test_compaction_and_errors_are_seen_and_bookkeeping_is_not() -> None:
    told = read(
        record("session.compaction_start", conversationTokens=9),
        record("session.compaction_complete", success=True, summaryContent="so far"),
        record("session.compaction_complete", success=False, error="too long"),
        record("session.truncation", messagesRemovedDuringTruncation=4),
        record("session.error", message="model error", errorType="query"),
        record("subagent.failed", error="it broke", toolCallId="t"),
        record("hook.start", hookType="postToolUse", input={"toolResult": "x"}),
        record("hook.end", hookType="postToolUse", success=False, error={"message": "exit 1"}),
        record("session.shutdown", shutdownType="routine", modelMetrics={"m": {"requests": 2}}),
        record("permission.requested", permissionRequest={"kind": "shell"}),
    )
    assert shown(told) == [
        (SYSTEM, "The conversation was compacted:\nso far"),
        (SYSTEM, "The conversation could not be compacted: too long"),
        (SYSTEM, "The oldest messages were left out of the context: 4"),
        (ERROR, "model error"),
        (ERROR, "it broke"),
        (SYSTEM, "hook postToolUse: exit 1"),
    ]
    assert not told.notes


def test_a_record_of_an_unknown_type_is_noted_and_its_text_kept() -> None:
    told = read(record("oracle.spoke", content="beware"), record("oracle.slept"))
    assert shown(told) == [(SYSTEM, "beware")]
    assert [note[0] for note in told.notes] == [
        "records of type oracle.spoke",
        "records of type oracle.slept",
    ]


def test_another_session_in_the_same_file_is_another_session() -> None:
    told = read(
        record("session.start", sessionId="one"),
        record("user.message", content="1"),
        record("session.start", sessionId="two"),
        record("user.message", content="2"),
        record("session.start", sessionId="one"),
        record("user.message", content="3"),
    )
    assert shown(told) == [(USER, "1"), (USER, "3")]
    assert shown(told, session="two") == [(USER, "2")]


def test_a_session_without_a_message_is_refused() -> None:
    with pytest.raises(NotASessionError, match="Copilot CLI session without a message"):
        read(record("session.start", sessionId="s"), record("session.shutdown"))


@pytest.mark.parametrize(
    ("head", "fits"),
    [
        ([record("session.start", sessionId="s")], True),
        ([record("user.message", content="x"), record("abort")], True),
        (
            [
                {"type": "session.skills_loaded", "data": {"skills": "x"}},
                {"type": "tool.execution_start", "data": {"toolName": "bash"}},
                {"type": "result", "usage": {"premiumRequests": 1}},
            ],
            True,
        ),
        ([record("session.created")], False),
        ([record("user.message") | {"properties": 1}], False),
        ([record("user")], False),
        ([], False),
    ],
)
def test_only_sessions_of_copilot_are_taken_for_one(
    head: list[dict[str, object]], fits: bool
) -> None:
    assert (CopilotCli().recognise(head, None) >= 0.8) is fits


@pytest.mark.parametrize(
    "type_",
    [
        *("user.message", "assistant.message", "tool.execution_start", "tool.execution_complete"),
        *("session.start", "session.error", "subagent.started", "assistant.reasoning_delta"),
        *("hook.end", "abort", "session.truncation", "new.type"),
    ],
)
def test_any_value_in_any_place_is_told_or_left_out(type_: str) -> None:
    for odd in ODD:
        names = ("content", "toolRequests", "toolCallId", "arguments", "result", "error", "message")
        more = (
            "sessionId",
            "parentToolCallId",
            "attachments",
            "source",
            "deltaContent",
            "messageId",
        )
        whole: dict[str, object] = dict.fromkeys((*names, *more), odd)
        sound = record("user.message", content="go")
        read(sound, record(type_, **whole), record(type_, **whole), {"type": type_, "data": odd})
        read(
            sound,
            {"type": odd, "data": whole, "agentId": odd, "timestamp": odd},
            answer("x") | {"data": odd},
        )
