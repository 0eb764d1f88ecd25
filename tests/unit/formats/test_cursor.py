"""Cursor's transcripts: the query is the user's, calls are told without results."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.cursor import NO_RESULTS, Cursor
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
ERROR = EventKind.ERROR


def text(value: str) -> dict[str, object]:
    return {"type": "text", "text": value}


def use(id_: str | None = None) -> dict[str, object]:
    named = {"id": id_} if id_ else {}
    return {"type": "tool_use", **named, "name": "Shell", "input": {"command": "ls"}}


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def cursor(role: str, *blocks: dict[str, object]) -> dict[str, object]:
    return {"role": role, "message": {"content": list(blocks)}}


def test_cursors_query_is_the_users_and_what_the_editor_adds_is_not() -> None:
    asked = "<timestamp>Tuesday</timestamp>\n<user_query>\nrun ls\n</user_query>"
    told = retell(
        Cursor(),
        [
            cursor("user", text(asked)),
            cursor("assistant", text("Running."), use(), use()),
            {"type": "turn_ended", "status": "error", "error": "User aborted request"},
        ],
    )
    assert shown(told) == [
        (SYSTEM, "<timestamp>Tuesday</timestamp>"),
        (USER, "run ls"),
        (SAID, "Running."),
        (CALL, "command: ls"),
        (CALL, "command: ls"),
        (ERROR, "User aborted request"),
    ]
    assert [reason for reason, _, _, _ in told.notes] == [NO_RESULTS]


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {"role": 5, "message": {"content": 7}},
        {"role": "user", "message": {"content": [None, {"type": 3}]}},
        {"type": "turn_ended", "error": [1]},
        {"role": "user", "content": "x"},
    ]
    assert retell(Cursor(), records).skipped == []
    assert Cursor().recognise(records, None) < 0.8
