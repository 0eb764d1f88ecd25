"""Amp's threads: a result holds how the tool's run went."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.amp import Amp
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE


def text(value: str) -> dict[str, object]:
    return {"type": "text", "text": value}


def use(id_: str | None = None) -> dict[str, object]:
    named = {"id": id_} if id_ else {}
    return {"type": "tool_use", **named, "name": "Shell", "input": {"command": "ls"}}


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def test_amps_results_say_how_the_run_went() -> None:
    def result(id_: str, **run: object) -> dict[str, object]:
        return {"type": "tool_result", "toolUseID": id_, "run": run}

    messages: list[dict[str, object]] = [
        {"role": "user", "content": [text("go")], "meta": {"sentAt": 1772241201792}},
        {"role": "assistant", "content": [text("ok"), use("c1"), use("c2")]},
        {
            "role": "user",
            "content": [
                result("c1", status="done", result={"content": "a"}),
                result("c2", status="error", error={"message": "no"}),
            ],
        },
    ]
    around: dict[str, object] = {"v": 2, "id": "T-1", "created": 1772241173221, "title": "T"}
    told = retell(Amp(), {"messages": messages}, around)
    assert shown(told) == [
        (USER, "go"),
        (SAID, "ok"),
        *[(CALL, "command: ls")] * 2,
        (RESULT, "content: a"),
        (RESULT, "no"),
    ]
    assert [event.is_error for event in told.events()][-2:] == [None, True]
    assert told.sessions[""] == {"id": "T-1", "title": "T", "started": "2026-02-28T01:12:53.221Z"}
    assert Amp().recognise(messages, around) == 1.0
    assert Amp().recognise(messages, {"id": "1"}) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    records: list[dict[str, object]] = [
        {},
        {
            "role": "user",
            "content": [{"run": {"result": 1}, "toolUseID": []}],
            "meta": {"sentAt": {}},
        },
        {"role": 5, "content": 7},
    ]
    assert retell(Amp(), records).skipped == []
    assert Amp().recognise(records, None) < 0.8
