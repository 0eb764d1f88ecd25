"""Events handed over from Python: any value, the same text in every process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from claude_code_records import events
from longjudge.errors import NotASessionError
from longjudge.sessions import load_session, session_from_events


@dataclass
class Point:
    x: int
    y: object


class Opaque:
    pass


def test_values_that_are_no_json_are_rendered_without_addresses_or_order() -> None:
    loop: list[object] = []
    loop += [loop, loop]
    inputs = {
        "set": {"b", "a", "c"},
        "bytes": b"hi\xff",
        "path": PurePosixPath("/tmp/x"),
        "point": Point(1, None),
        "thing": Opaque(),
        "tuple": (1, 2.5, float("nan")),
        "loop": loop,
        "lone": "\ud83d",
        "long": 1 << 20_000,
    }
    session = session_from_events([{"kind": "tool_call", "tool": "T", "input": inputs}])
    body = events(session)[0][1].splitlines()
    assert body[:8] == [
        'set: ["a","b","c"]',
        "bytes: hi\ufffd",
        "path: /tmp/x",
        'point: {"x":1,"y":null}',
        "thing: <Opaque>",
        'tuple: [1,2.5,"nan"]',
        'loop: ["<list>","<list>"]',
        "lone: \ufffd",
    ]
    assert body[8].startswith("long: 0x1000")


def test_the_id_is_made_of_the_texts_and_the_session_of_nothing_else(tmp_path) -> None:
    one = session_from_events([{"kind": "user_message", "text": "a", "timestamp": 1}])
    same = session_from_events([{"kind": "user", "content": "a", "id": "9"}])
    other = session_from_events([{"kind": "user_message", "text": "b"}])
    assert one.id == same.id != other.id
    assert one.id.startswith("events-")
    assert len(one.id) == len("events-") + 12
    assert (one.path, one.format, one.line(0)) == (None, "events", None)


def test_the_id_is_the_same_in_every_process() -> None:
    program = (
        "from longjudge.sessions import session_from_events as s;"
        "print(s([{'kind': 'tool_call', 'tool': 'T', 'input': {'x': set('qwertyuiop')}}]).id)"
    )
    ids = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(ids) == 1


def test_memory_and_file_give_the_same_digests(tmp_path) -> None:
    items = [
        {"kind": "user_message", "text": "ünï"},
        {"kind": "tool_call", "tool": "T", "input": {}},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"kind":"user_message","text":"ünï"}\n{"kind":"tool_call","tool":"T","input":{}}'
    )
    loaded = load_session(path)
    assert loaded.index.digests == session_from_events(items).index.digests


def test_no_events_is_an_empty_session_but_objects_without_events_are_refused() -> None:
    assert len(session_from_events([]).index) == 0
    with pytest.raises(NotASessionError, match="no event among 2"):
        session_from_events([{"a": 1}, {"b": 2}])


def test_a_conversation_among_messages_is_refused_and_not_left_out() -> None:
    said = {"type": "message", "role": "assistant", "content": "there"}
    with pytest.raises(NotASessionError, match="judge each of them by itself"):
        session_from_events(
            [{"role": "user", "content": "hi"}, {"type": "response", "output": [said]}]
        )


@pytest.mark.parametrize("item", [0, None, "role", ["role"], 1.5])
def test_an_item_that_is_no_object_is_skipped_and_counted(item: object) -> None:
    session = session_from_events([{"kind": "user_message", "text": "go"}, item])  # type: ignore[list-item]
    assert len(session.index) == 1
    assert session.skipped_lines == 1
