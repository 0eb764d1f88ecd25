"""Copilot CLI's earlier sessions, one document each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_session
from longjudge.sessions.formats.copilot_history import CopilotHistory
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES: list[dict[str, object]] = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": "ok",
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"x": 1}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c", "content": "out"},
]
DOCUMENT: dict[str, object] = {
    "sessionId": "s",
    "startTime": "2025-10-08T21:10:16.398Z",
    "chatMessages": MESSAGES,
    "timeline": [{"type": "user", "text": "go"}],
}


def test_the_messages_of_a_file_are_its_session(tmp_path: Path) -> None:
    path = tmp_path / "session_s_1.json"
    path.write_text(json.dumps(DOCUMENT, indent=2))
    session = load_session(path)
    bodies = [session.event(number).body for number in range(len(session.index))]
    session.close()
    assert bodies == ["go", "ok", "x: 1", "out"]
    assert (session.id, session.format) == ("s", "copilot-cli")
    assert session.started == "2025-10-08T21:10:16.398Z"


def test_the_messages_may_be_given_as_the_records() -> None:
    told = retell(CopilotHistory(), {"chatMessages": MESSAGES}, {"sessionId": "s"})
    assert told.events()[0].kind is EventKind.USER_MESSAGE
    assert told.records == [0, 1, 1, 2]


def test_only_documents_with_messages_of_that_name_are_taken_for_one() -> None:
    assert CopilotHistory().recognise([DOCUMENT], None) == 1.0
    assert CopilotHistory().recognise(MESSAGES, {"messages": "list", "sessionId": "s"}) == 0.0
    assert CopilotHistory().recognise([{"chatMessages": []}], None) == 0.0
    empty: list[object] = []
    with pytest.raises(NotASessionError, match="without a message"):
        retell(CopilotHistory(), [DOCUMENT | {"chatMessages": empty}])
