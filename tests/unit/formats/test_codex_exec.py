"""`codex exec --json`: an item is one text or one call with its result, told once."""

from __future__ import annotations

import pytest

from longjudge.sessions import EventKind
from longjudge.sessions.formats.codex_exec import CodexExec
from retold_for_tests import retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
SAID = EventKind.ASSISTANT_MESSAGE
START: dict[str, object] = {"type": "thread.started", "thread_id": "t1"}


def item(state: str, id_: str, type_: str, **more: object) -> dict[str, object]:
    return {"type": f"item.{state}", "item": {"id": id_, "type": type_, **more}}


def shell(state: str, id_: str, **more: object) -> dict[str, object]:
    return item(state, id_, "command_execution", command="ls", **more)


def read(*records: dict[str, object]) -> list[tuple[EventKind, str, bool | None]]:
    told = retell(CodexExec(), records)
    return [(event.kind, event.body, event.is_error) for event in told.events()]


def test_an_item_that_starts_and_is_completed_is_told_once_with_its_result() -> None:
    started = shell("started", "i1", status="in_progress", exit_code=None, aggregated_output="")
    done = shell("completed", "i1", status="completed", exit_code=0, aggregated_output="a.txt")
    failed = shell("completed", "i2", status="failed", exit_code=2, aggregated_output="no")
    assert read(
        START, started, done, failed, item("completed", "i3", "agent_message", text="ok")
    ) == [
        (CALL, "command: ls", None),
        (RESULT, "a.txt", False),
        (CALL, "command: ls", None),
        (RESULT, "no\nexit code 2", True),
        (SAID, "ok", None),
    ]


def test_a_call_that_was_cut_off_is_told_without_a_result() -> None:
    started = shell("started", "i1", status="in_progress")
    assert read(START, started, {**started, "type": "item.updated"}) == [
        (CALL, "command: ls", None)
    ]


def test_ids_begin_anew_with_each_run() -> None:
    done = shell("completed", "i1", status="completed", exit_code=0, aggregated_output="a")
    cut = shell("started", "i1", status="in_progress")
    assert [kind for kind, _, _ in read(START, done, START, cut)] == [CALL, RESULT, CALL]


def test_tools_of_servers_thoughts_errors_and_failed_turns_are_told() -> None:
    result = {"content": [{"type": "text", "text": "found"}]}
    call = {"server": "docs", "tool": "search", "arguments": {"q": "x"}, "result": result}
    told = retell(
        CodexExec(),
        [
            item("completed", "1", "reasoning", text="hm"),
            item("completed", "2", "mcp_tool_call", status="completed", **call),
            item(
                "completed",
                "3",
                "mcp_tool_call",
                status="failed",
                tool="x",
                error={"message": "no"},
            ),
            item("completed", "4", "file_change", status="completed", changes=[{"path": "a"}]),
            {"type": "turn.failed", "error": {"message": "quota"}},
            {"type": "error", "message": "stream lost"},
        ],
    )
    assert [(event.kind, event.tool, event.body, event.is_error) for event in told.events()] == [
        (EventKind.THINKING, None, "hm", None),
        (CALL, "search", "q: x", None),
        (RESULT, "search", "found", None),
        (CALL, "x", "tool: x", None),
        (RESULT, "x", "no", True),
        (CALL, "file_change", 'changes: [{"path":"a"}]', None),
        (RESULT, "file_change", "", None),
        (EventKind.ERROR, None, "quota", None),
        (EventKind.ERROR, None, "stream lost", None),
    ]


def test_a_document_around_the_events_is_read_too() -> None:
    said = item("completed", "1", "assistant_message", text="hi")
    assert read({"events": [START, said]}) == [(SAID, "hi", None)]
    assert retell(CodexExec(), {"events": [said]}).events()[0].body == "hi"


@pytest.mark.parametrize(
    "record", [{"type": "item.completed"}, {"type": "session.start", "item": {}}, {"item": 1}]
)
def test_records_of_other_formats_are_not_taken(record: dict[str, object]) -> None:
    assert CodexExec().recognise([record], None) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    told = retell(
        CodexExec(),
        [
            item("completed", "1", "mcp_tool_call", arguments="{", result=[1], error=5),
            {"type": "item.completed", "item": {"id": [1], "type": 3, "text": {"a": 1}}},
            {"type": "turn.failed", "error": 3},
        ],
    )
    assert told.skipped == []
