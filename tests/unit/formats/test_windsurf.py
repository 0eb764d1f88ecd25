"""Windsurf's steps: a call and its result stand in one record."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.windsurf import Windsurf
from retold_for_tests import retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE


def test_a_step_of_windsurf_is_a_call_and_its_result() -> None:
    def step(type_: str, status: str = "done", **more: object) -> dict[str, object]:
        return {"type": type_, "status": status, type_: more}

    told = retell(
        Windsurf(),
        [
            step("user_input", user_response="go"),
            step("planner_response", response="ok"),
            step("view_file", path="a", content="text"),
            step("run_command", command="false", exit_code=1, output="no"),
            step("code_action", status="running", path="a"),
            step("list_resources", status="error", server_name="m"),
        ],
    )
    assert [(event.kind, event.tool, event.is_error) for event in told.events()] == [
        (USER, None, None),
        (SAID, None, None),
        (CALL, "view_file", None),
        (RESULT, "view_file", None),
        (CALL, "run_command", None),
        (RESULT, "run_command", True),
        (CALL, "code_action", None),
        (CALL, "list_resources", None),
        (RESULT, "list_resources", True),
    ]
    assert [event.body for event in told.events()][2:6] == [
        "path: a",
        "text",
        "command: false",
        "output: no\nexit_code: 1",
    ]


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {"type": "x", "status": 1, "x": {"output": [1], "exit_code": "z"}},
        {"type": "x", "x": 5},
        {"type": [1]},
    ]
    assert retell(Windsurf(), records).skipped == []
    assert Windsurf().recognise(records, None) < 0.8
