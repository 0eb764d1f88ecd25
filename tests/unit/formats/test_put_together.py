"""Files that were put together, and logs of several runs: each session for itself.

Lists of events in general, whose types have the same names, are taken by none of these formats.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import load_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Record = dict[str, object]


def pi(name: str) -> list[Record]:
    said = {"role": "user", "content": f"hello {name}"}
    return [
        {"type": "session", "version": 3, "id": name, "cwd": "/"},
        {"type": "message", "id": "e1", "parentId": None, "message": said},
    ]


def droid(name: str) -> list[Record]:
    said = {"role": "user", "content": f"hello {name}"}
    return [{"type": "session_start", "id": name}, {"type": "message", "id": "m", "message": said}]


def qwen(name: str) -> list[Record]:
    said = {"role": "user", "parts": [{"text": f"hello {name}"}]}
    return [{"type": "user", "uuid": "u1", "sessionId": name, "message": said}]


def codex_exec(name: str) -> list[Record]:
    item = {"id": "item_0", "type": "agent_message", "text": f"hello {name}"}
    return [
        {"type": "thread.started", "thread_id": name},
        {"type": "item.completed", "item": item},
    ]


def stream(name: str) -> list[Record]:
    said = {"role": "user", "content": f"hello {name}"}
    return [{"type": "user", "session_id": name, "message": said}]


def managed(name: str) -> list[list[object]]:
    said = [{"type": "text", "text": f"hello {name}"}]
    event = {"id": f"e-{name}", "processed_at": "2026-01-01T00:00:00Z"}
    return [
        ["client.beta.sessions.create", {"type": "session", "id": name}],
        [
            "client.beta.sessions.events.stream",
            {**event, "type": "user.message", "content": said},
        ],
    ]


def write(path: Path, records: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


@pytest.mark.parametrize("run", [pi, droid, qwen, codex_exec, stream, managed])
def test_each_run_of_a_file_is_a_session(
    tmp_path: Path, run: Callable[[str], list[object]]
) -> None:
    path = write(tmp_path / "f.jsonl", [*run("one"), *run("two"), *run("one")[:1]])
    sessions = load_sessions(path)
    assert [each.id for each in sessions] == ["one", "two"]
    for each in sessions:
        assert [thread.name for thread in each.index.threads] == ["main"]
        assert {each.event(n).body for n in range(len(each.index))} == {f"hello {each.id}"}
        each.close()


def test_pieces_of_answers_of_two_runs_are_not_mixed(tmp_path: Path) -> None:
    def piece(name: str, event: Record) -> Record:
        return {"type": "stream_event", "session_id": name, "event": event}

    records: list[Record] = [*stream("one"), *stream("two")]
    begun: list[Record] = [
        {"type": "message_start", "message": {"id": "msg_1"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
    ]
    for event in begun:
        records += [piece("one", event), piece("two", event)]
    for name in ("one", "two", "one"):
        delta = {"type": "text_delta", "text": f"{name} "}
        records.append(piece(name, {"type": "content_block_delta", "index": 0, "delta": delta}))
    one, two = load_sessions(write(tmp_path / "f.jsonl", records))
    assert (one.event(1).body, two.event(1).body) == ("one one ", "two ")
    one.close()
    two.close()


EVENTS: list[Record] = [
    {"type": "system", "session_id": "s", "text": "Be brief."},
    {"type": "thinking", "session_id": "s", "text": "hm"},
    {"type": "tool_call", "session_id": "s", "tool": "bash", "input": {"command": "ls"}},
]
STEPS: list[Record] = [
    {"type": "tool_call", "status": "ok", "tool_call": {}, "tool": "bash", "input": {"a": 1}},
    {"type": "message", "status": "ok", "message": {}, "text": "done"},
]


@pytest.mark.parametrize("records", [EVENTS, STEPS])
def test_events_in_general_are_not_taken_for_a_stream(
    tmp_path: Path, records: list[Record]
) -> None:
    (session,) = load_sessions(write(tmp_path / "f.jsonl", records))
    assert (session.format, len(session.index)) == ("events", len(records))
    session.close()
