"""Values of the wrong type, anywhere in a record, lose that value at most and raise nothing."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, call, events, load, load_or_refusal, result, text, user
from codex_records import reasoning, said
from longjudge.sessions import load_sessions
from longjudge.sessions.formats import CLAUDE_CODE, CODEX, MESSAGE_LISTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from longjudge.sessions.formats.base import SessionFormat

ODD: tuple[object, ...] = (
    *(None, True, -1, 10**400, -(10**400), 1e300, "", "\ud800\x1b", [], {}, [None], [[]], [{}]),
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
        for number in range(4_000):
            said = [{"role": "user", "content": f"q {number}"}]
            file.write(json.dumps({"id": "same", "messages": said}) + "\n")
    sessions = load_sessions(path)
    assert [each.id for each in sessions[:3]] == ["same", "same#2", "same#3"]
    assert len({each.id for each in sessions}) == 4_000
    for each in sessions:
        each.close()


def _blocks(count: int) -> list[dict[str, object]]:
    return [text("some words " * 8 + str(number)) for number in range(count)]


@pytest.mark.parametrize(
    ("format_", "make"),
    [
        (CLAUDE_CODE, lambda count: user(_blocks(count))),
        (MESSAGE_LISTS[-1], lambda count: {"role": "user", "content": _blocks(count)}),
        (CODEX, lambda count: said("user", *[str(number) * 20 for number in range(count)])),
        (CODEX, lambda count: said("user", "<skill></skill>" * count)),
        (CODEX, lambda count: reasoning(*[str(number) for number in range(count)])),
    ],
    ids=["claude-code", "messages", "codex", "codex-injected", "codex-reasoning"],
)
def test_a_record_of_very_many_parts_takes_no_longer_than_it_is_long(
    format_: SessionFormat, make: Callable[[int], object]
) -> None:
    def seconds(count: int) -> float:
        line = json.dumps(make(count)).encode()
        begun = time.process_time()
        assert len(format_.line_events(line)) == 1
        return time.process_time() - begun

    seconds(100)
    # Sixteen times as long; were it to grow with the square, 256 times.
    assert seconds(80_000) < 60 * seconds(5_000)
