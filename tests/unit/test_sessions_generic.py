"""The generic event list: tolerant names, nothing lost, nothing passed off as something else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from claude_code_records import events, jsonl, load, notes
from longjudge.errors import NotASessionError

if TYPE_CHECKING:
    from pathlib import Path

LIST = [
    {"kind": "user_message", "text": "clean up"},
    {"kind": "tool_call", "tool": "Bash", "input": {"command": "rm -rf x"}, "call_id": "1"},
    {"kind": "tool_result", "output": "ok", "call_id": "1"},
    {"kind": "assistant_message", "text": "done"},
]
EVENTS = [
    ("user_message", "clean up"),
    ("tool_call", "command: rm -rf x"),
    ("tool_result", "ok"),
    ("assistant_message", "done"),
]


@pytest.mark.parametrize("wrapper", ["events", "messages", "steps", "trajectory", "data", "items"])
def test_every_wrapping_gives_the_same_session(tmp_path: Path, wrapper: str) -> None:
    wrapped = {"title": "A run", "session_id": "r1", wrapper: LIST}
    forms = [
        jsonl(LIST),
        json.dumps(LIST).encode(),
        json.dumps(LIST, indent=2).encode(),
        json.dumps(wrapped).encode(),
        json.dumps(wrapped, indent=1).encode(),
        b"\xef\xbb\xbf\r\n " + json.dumps(LIST, indent=2).replace("\n", "\r\n").encode(),
    ]
    digests = set()
    for form in forms:
        session = load(tmp_path, form)
        assert events(session) == EVENTS
        assert session.format == "events"
        assert session.index.calls[2] == 1
        assert (session.skipped_lines, session.diagnostics) == (0, ())
        digests.add(bytes(session.index.digests))
    assert len(digests) == 1
    named = load(tmp_path, json.dumps(wrapped).encode())
    assert (named.id, named.title) == ("r1", "A run")
    assert named.line(0) is None
    assert load(tmp_path, jsonl(LIST)).line(3) == 4


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"type": "human", "content": "hi"}, [("user_message", "hi")]),
        ({"role": "model", "text": "hi"}, [("assistant_message", "hi")]),
        ({"event": "Reasoning", "content": "hm"}, [("thinking", "hm")]),
        (
            {"type": "function_call", "name": "run", "arguments": '{"a": "b"}', "call_id": "1"},
            [("tool_call", "a: b")],
        ),
        ({"type": "toolUse", "tool_name": "run", "args": {"a": 1}}, [("tool_call", "a: 1")]),
        ({"type": "function_call_output", "output": "o"}, [("tool_result", "o")]),
        ({"role": "tool", "content": "o", "tool_call_id": "1"}, [("tool_result", "o")]),
        ({"event_type": "observation", "result": {"a": 1}}, [("tool_result", '{"a":1}')]),
        (
            {"kind": "tool", "tool": "run", "input": {"a": 1}, "output": "o"},
            [("tool_call", "a: 1"), ("tool_result", "o")],
        ),
        ({"kind": "tool_call", "tool": "run"}, [("tool_call", "")]),
        ({"kind": "error", "error": "boom"}, [("error", "boom")]),
        ({"kind": "deploy", "text": "v2"}, [("system", "v2\nkind: deploy")]),
        ({"kind": "step", "tool": "run", "input": "x"}, [("tool_call", "x\nkind: step")]),
        ({"type": "message", "role": "user", "content": "hi"}, [("user_message", "hi")]),
        (
            {"kind": "user_message", "text": "hi", "mood": "bad", "n": [1]},
            [("user_message", "hi\nmood: bad\nn: [1]")],
        ),
        (
            {"kind": "user_message", "text": "hi", "id": "7", "timestamp": 5, "agent": "a"},
            [("user_message", "hi")],
        ),
    ],
)
def test_names_are_taken_tolerantly_and_the_rest_stays_in_the_text(
    tmp_path: Path, record: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    session = load(tmp_path, {"kind": "system", "text": "start"}, record)
    assert events(session)[1:] == expected


def test_tools_and_errors_are_named(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        {"type": "function_call", "function": {"name": "run", "arguments": {"a": 1}}},
        {"kind": "tool_result", "tool": "run", "output": "no", "is_error": True},
    )
    assert [session.text(0), session.text(1)] == [
        "tool_call run\na: 1",
        "tool_result run (error)\nno",
    ]
    assert session.index.calls[1] == 0


def test_objects_that_say_nothing_are_skipped_and_counted(tmp_path: Path) -> None:
    session = load(tmp_path, LIST[0], {"kind": "heartbeat"}, {"kind": "heartbeat", "n": 1}, b"x\n")
    assert len(session.index) == 1
    assert session.skipped_lines == 3
    assert sum(notes(session).values()) == 3


@pytest.mark.parametrize(
    "record",
    [
        {"type": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
        {"type": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]},
        {"type": "user", "content": [{"type": "tool_result", "content": "x"}]},
        {"type": "assistant", "content": [{"toolUse": {"name": "f", "input": {}}}]},
    ],
)
def test_model_messages_with_calls_inside_are_refused_wherever_they_come(
    tmp_path: Path, record: dict[str, object]
) -> None:
    plain = [{"type": "user", "content": f"hello {number}"} for number in range(80)]
    with pytest.raises(NotASessionError, match="model messages"):
        load(tmp_path, jsonl([*plain, record]))


def test_plain_role_messages_are_read(tmp_path: Path) -> None:
    session = load(
        tmp_path, jsonl([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    )
    assert events(session) == [("user_message", "a"), ("assistant_message", "b")]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [False, True])
def test_a_cut_document_gives_its_complete_events_and_says_so(
    tmp_path: Path, indent: int | None, wrap: bool
) -> None:
    document: object = {"id": "x", "events": LIST} if wrap else LIST
    whole = json.dumps(document, indent=indent).encode()
    session = load(tmp_path, whole[: whole.index(b"done")])
    assert events(session) == EVENTS[:3]
    assert session.skipped_lines == 1
    assert "cut" in session.diagnostics[0].reason


def test_each_agent_has_a_thread_of_its_own(tmp_path: Path) -> None:
    said = [("plan", "lead"), ("dig", "scout"), ("done", "lead"), ("found", "scout")]
    session = load(
        tmp_path,
        *({"kind": "assistant_message", "text": text, "agent": agent} for text, agent in said),
    )
    assert [(t.name, t.first, t.end) for t in session.index.threads] == [
        ("main", 0, 2),
        ("scout", 2, 4),
    ]
    assert [body for _, body in events(session)] == ["plan", "done", "dig", "found"]


def test_an_agent_named_after_a_nameless_one_has_acted_is_a_subagent(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}},
        {"kind": "assistant_message", "text": "dig", "agent": "scout"},
        {"kind": "assistant_message", "text": "end", "agent": "main"},
    )
    assert [(t.name, t.end - t.first) for t in session.index.threads] == [("main", 2), ("scout", 1)]


def test_events_that_carry_a_session_id_are_no_claude_code_transcript(tmp_path: Path) -> None:
    items = [{"type": "user_message", "sessionId": "s9", "text": "hi"}] * 3
    session = load(tmp_path, jsonl(items))
    assert (session.format, session.id, len(session.index)) == ("events", "s9", 3)
