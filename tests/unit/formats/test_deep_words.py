"""What is nested very deep where a format has a word costs that record, and no more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import load_sessions

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, object]
_DEEP = '"@"'

MESSAGE: Record = {
    "timestamp": "2026-01-01T00:00:00Z",
    "type": "response_item",
    "payload": {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "hi"}],
    },
}
EVENT: Record = {
    "timestamp": 1_760_000_000_000,
    "session_id": "s",
    "agent_id": "a",
    "environment": "p",
    "type": "human_input",
    "response": "hi",
}


@pytest.mark.parametrize("record", [MESSAGE, EVENT], ids=["codex", "failproof"])
@pytest.mark.parametrize("key", ["timestamp", "type", "session_id", "payload", "role", "events"])
@pytest.mark.parametrize("levels", [180, 600, 960])
def test_a_deep_value_in_place_of_a_word_is_no_fault(
    tmp_path: Path, record: Record, key: str, levels: int
) -> None:
    path = tmp_path / "f.jsonl"
    deep = json.dumps({**record, key: "@"}).replace(_DEEP, "[" * levels + "]" * levels)
    path.write_text("\n".join([*[json.dumps(record)] * 9, deep]) + "\n")
    try:
        sessions = load_sessions(path)
    except NotASessionError:
        return
    assert sum(len(each.index) for each in sessions)
    for each in sessions:
        each.close()


@pytest.mark.parametrize("record", [MESSAGE, EVENT], ids=["codex", "failproof"])
def test_a_number_too_large_for_a_time_is_no_fault(tmp_path: Path, record: Record) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(json.dumps({**record, "timestamp": 10**400}) + "\n")
    (session,) = load_sessions(path)
    assert (len(session.index), session.event(0).timestamp) == (1, None)
    session.close()
