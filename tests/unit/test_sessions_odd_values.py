"""Values of the wrong type, anywhere in a record, lose that value at most and raise nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, call, events, load, load_or_refusal, result, text, user
from longjudge.sessions import load_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ODD: tuple[object, ...] = (
    *(None, True, -1, 10**400, 1e300, "", "\ud800\x1b", [], {}, [None], [[]], [{}]),
    *({"type": {}}, [{"type": []}], [{"type": {}, "text": "t"}], {"name": []}),
)


def places(value: object, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value inside of a record."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inside:
        yield (*before, key)
        yield from places(each, (*before, key))


def with_value(record: object, place: tuple[str | int, ...], value: object) -> object:
    copy = json.loads(json.dumps(record))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return copy


def claude_code() -> list[object]:
    hook = {"type": "hook_additional_context", "content": ["x"]}
    return [
        user([{"type": "text", "text": "go"}]),
        assistant(call("Task", "toolu_1", prompt="find"), text("so")),
        user([result([{"type": "text", "text": "ok"}], "toolu_1")], toolUseResult={"agentId": "a"}),
        user("side", isSidechain=True, agentId="a"),
        {"type": "attachment", "attachment": hook, "uuid": "u1", "sessionId": "s"},
        {"type": "system", "subtype": "error", "content": "bad", "sessionId": "s"},
    ]


def codex() -> list[object]:
    def item(**payload: object) -> dict[str, object]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}

    meta = {"id": "c1", "timestamp": "2026-01-01T00:00:00Z", "source": "cli"}
    notice = {"type": "collab_agent_spawn_end", "call_id": "c", "new_thread_id": "n"}
    return [
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": meta},
        item(type="message", role="user", content=[{"type": "input_text", "text": "go"}]),
        item(type="function_call", name="shell", arguments='{"a": 1}', call_id="c"),
        item(type="function_call_output", call_id="c", output="ok"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        {"timestamp": "2026-01-01T00:00:01Z", "type": "event_msg", "payload": notice},
    ]


def messages() -> list[object]:
    function = {"name": "ls", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    blocks = [
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}},
    ]
    return [
        {"role": "user", "content": "go", "created_at": 1765843200},
        {"role": "assistant", "content": "so", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "ok"}]},
        {"role": "assistant", "content": blocks},
    ]


@pytest.mark.parametrize("records", [claude_code(), codex(), messages()])
def test_an_odd_value_anywhere_is_read_around(records: list[object], tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    for number, record in enumerate(records):
        for place in places(record):
            for value in ODD:
                odd = [*records]
                odd[number] = with_value(record, place, value)
                path.write_text("".join(json.dumps(each) + "\n" for each in odd))
                if isinstance(session := load_or_refusal(path), str):
                    continue
                # What was indexed is found again, whatever it was.
                events(session)
                session.close()


def test_calls_beside_a_content_that_holds_calls_may_have_any_id(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t", "name": "ls", "input": {}}
    beside = [{"id": ["odd"], "type": "function", "function": {"name": "rm", "arguments": "{}"}}]
    message = {"role": "assistant", "content": [block], "tool_calls": beside}
    session = load(tmp_path, {"role": "user", "content": "go"}, message)
    assert [session.event(number).tool for number in range(3)] == [None, "ls", "rm"]


def test_many_conversations_of_one_id_are_told_apart_at_once(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for number in range(20_000):
            said = [{"role": "user", "content": f"q {number}"}]
            file.write(json.dumps({"id": "same", "messages": said}) + "\n")
    sessions = load_sessions(path)
    assert [each.id for each in sessions[:3]] == ["same", "same#2", "same#3"]
    assert len({each.id for each in sessions}) == 20_000
    for each in sessions:
        each.close()
