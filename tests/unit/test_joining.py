"""A raw newline inside a string splits no record, and costs no other one its line."""

from __future__ import annotations

import json
from time import process_time
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, call, events, jsonl, load, notes, result, text, user
from longjudge.sessions import Severity, load_sessions
from longjudge.sessions.joining import JOINED

if TYPE_CHECKING:
    from pathlib import Path

TURN = [
    user("go"),
    assistant(text("I look at"), call("Read", "t1", path="a")),
    user([result("onetwo", "t1")]),
    assistant(text("the end")),
]


def test_a_record_on_several_lines_is_one_and_keeps_its_line(tmp_path: Path) -> None:
    data = jsonl(TURN).replace(b"onetwo", b"one\n\n} two\n{")
    session = load(tmp_path, data)
    assert events(session)[3] == ("tool_result", "one\n\n} two\n{")
    assert [session.line(n) for n in range(5)] == [1, 2, 2, 3, 7]
    assert json.loads(session.raw(3).decode(), strict=False) == json.loads(
        json.dumps(TURN[2]).replace("onetwo", "one\\n\\n} two\\n{")
    )
    assert session.skipped_lines == 0
    (note,) = session.diagnostics
    assert (note.reason, note.count, note.line, note.severity) == (JOINED, 1, 3, Severity.INFO)


def test_several_split_records_are_each_put_together(tmp_path: Path) -> None:
    data = jsonl(TURN * 1).replace(b"I look at", b"I\nlook\nat").replace(b"the end", b"the\nend")
    session = load(tmp_path, data)
    assert [body for _, body in events(session)][1::3] == ["I\nlook\nat", "the\nend"]
    assert notes(session) == {JOINED: 2}


@pytest.mark.parametrize("noise", [b'npm "WARN\n', b'{"type": "us\n', b'{"cut": "a\nb\nc\n'])
def test_what_no_line_completes_is_skipped_as_before(tmp_path: Path, noise: bytes) -> None:
    session = load(tmp_path, TURN[0], noise, *TURN[1:])
    assert [body for _, body in events(session)] == [
        *("go", "I look at", "path: a", "onetwo", "the end")
    ]
    assert session.skipped_lines == noise.count(b"\n")
    assert JOINED not in notes(session)


def test_a_subagents_record_on_several_lines_is_one_too(tmp_path: Path) -> None:
    beside = tmp_path / "s" / "subagents"
    beside.mkdir(parents=True)
    side = [
        user("look", isSidechain=True, agentId="a1"),
        assistant(text("onetwo"), isSidechain=True, agentId="a1"),
        assistant(text("end"), isSidechain=True, agentId="a1"),
    ]
    data = jsonl(side).replace(b"onetwo", b"one\n} two\n")
    (beside / "agent-a1.jsonl").write_bytes(data + b'{"type": "us')
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(TURN))
    (session,) = load_sessions(path)
    assert [body for _, body in events(session)][-3:] == ["look", "one\n} two\n", "end"]
    assert notes(session)[JOINED] == 1
    assert session.skipped_lines == 1
    session.close()


def test_formats_that_retell_have_them_put_together_too(tmp_path: Path) -> None:
    records = [
        {"type": "session", "id": "s", "cwd": "/"},
        {"type": "message", "id": "1", "message": {"role": "user", "content": "onetwo"}},
        {"type": "message", "id": "2", "message": {"role": "user", "content": "end"}},
    ]
    path = tmp_path / "pi.jsonl"
    path.write_bytes(jsonl(records).replace(b"onetwo", b"one\ntwo"))
    (session,) = load_sessions(path)
    assert session.format == "pi"
    assert [body for _, body in events(session)] == ["one\ntwo", "end"]
    assert [session.line(n) for n in range(2)] == [2, 4]
    assert notes(session)[JOINED] == 1
    assert session.skipped_lines == 0
    session.close()


@pytest.mark.parametrize(
    "line", [b'{"type": "user", "text": "cut\n', b'{"type": "x", "text": "a}\n']
)
def test_a_long_file_of_torn_lines_takes_no_long_time(tmp_path: Path, line: bytes) -> None:
    began = process_time()
    session = load(tmp_path, user("go"), line * 3000)
    assert session.skipped_lines == 3000
    assert process_time() - began < 5
