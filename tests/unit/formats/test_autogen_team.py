"""Runs of AutoGen's teams: who says what, calls and their results, and nothing twice."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.autogen_team import REPEATED, AutoGenTeam
from retold_for_tests import retell

Record = dict[str, object]


def message(type_: str, source: str, content: object) -> Record:
    return {"type": type_, "source": source, "content": content, "models_usage": None}


def test_a_run_is_told_once_and_names_its_speakers() -> None:
    call = {"id": "c1", "name": "search", "arguments": '{"q": "x"}'}
    result = {"call_id": "c1", "name": "search", "content": "found", "is_error": False}
    told = retell(
        AutoGenTeam(),
        [
            message("TextMessage", "user", "Find x."),
            message("ThoughtEvent", "Web", "Search it."),
            message("ToolCallRequestEvent", "Web", [call]),
            message("ToolCallExecutionEvent", "Web", [result]),
            message("ToolCallSummaryMessage", "Web", "found"),
            message("MultiModalMessage", "Web", ["See.", {"data": "data:image/png;base64,AAAA"}]),
            message("StopMessage", "Boss", "TERMINATE"),
        ],
    )
    assert [(each.kind, each.body, each.call_id, each.is_error) for each in told.events()] == [
        (EventKind.USER_MESSAGE, "Find x.", None, None),
        (EventKind.THINKING, "Web: Search it.", None, None),
        (EventKind.TOOL_CALL, "q: x", "c1", None),
        (EventKind.TOOL_RESULT, "found", "c1", False),
        (EventKind.ASSISTANT_MESSAGE, 'Web: See.\n{"data":"[image/png, 3 B]"}', None, None),
        (EventKind.ASSISTANT_MESSAGE, "Boss: TERMINATE", None, None),
    ]
    assert [note[0] for note in told.notes] == [REPEATED]


def test_other_messages_with_a_source_are_not_taken() -> None:
    assert AutoGenTeam().recognise([{"type": "message", "source": "x", "content": "y"}], None) == 0
    assert AutoGenTeam().recognise([message("TextMessage", "user", "x")], None) == 1
