"""A session that takes long to read, on a real terminal: seen at once, left at once."""

from __future__ import annotations

import json
import time

import pytest

RECORDS = 60_000
CALL = {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls " + "x" * 500}}


@pytest.fixture
def long_session(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_text((json.dumps(CALL) + "\n") * RECORDS)
    return path


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["\x11", "\x1b"], ids=["quit", "library"])
def test_a_session_that_is_being_read_is_left_at_once(open_terminal, long_session, key):
    terminal = open_terminal(long_session, "--model", "offline")
    terminal.sees("first events only")
    terminal.sees("▸ Bash ls xxx")
    began = time.monotonic()
    terminal.send(key)
    if key == "\x1b":
        terminal.sees("SESSIONS 1")
        terminal.send("\x11")
    assert terminal.ended() == 0
    assert time.monotonic() - began < 5
    terminal.assert_restored()
