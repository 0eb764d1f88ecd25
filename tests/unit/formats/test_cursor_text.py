"""Cursor's transcripts of text: marks become calls, results and thoughts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.cursor_text import CursorText

if TYPE_CHECKING:
    from pathlib import Path

TRANSCRIPT = """user:
<user_query>
run ls
</user_query>

assistant:
[Thinking]I will look.
  And then say it.
[Tool call] Shell
  command: ls
  timeout: 5
[Tool result] Shell
  a.txt
    b.txt
Two files.
[Tool call] Glob
  {"pattern": "*.py"}
[Tool call] ApplyPatch
  *** Begin Patch
  +x
user:
thanks
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_transcript_is_its_queries_thoughts_calls_and_results(tmp_path: Path, end: str) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(TRANSCRIPT.replace("\n", end).encode())
    session = load_sessions(path)[0]
    events = [session.event(number) for number in range(len(session.index))]
    assert session.format == "cursor"
    assert [(event.kind, event.tool, event.body) for event in events] == [
        (EventKind.USER_MESSAGE, None, "run ls"),
        (EventKind.THINKING, None, "I will look.\nAnd then say it."),
        (EventKind.TOOL_CALL, "Shell", "command: ls\ntimeout: 5"),
        (EventKind.TOOL_RESULT, "Shell", "a.txt\n  b.txt"),
        (EventKind.ASSISTANT_MESSAGE, None, "Two files."),
        (EventKind.TOOL_CALL, "Glob", "pattern: *.py"),
        (EventKind.TOOL_CALL, "ApplyPatch", "input: *** Begin Patch\n+x"),
        (EventKind.USER_MESSAGE, None, "thanks"),
    ]
    assert session.line(1) == 6
    assert session.diagnostics == ()
    session.close()


@pytest.mark.parametrize(
    ("start", "fits"),
    [
        (b"user:\nhi\nassistant:\nyo", True),
        (b"\nuser:\n<user_query>\nhi", True),
        (b"user:\njust a list of names\n", False),
        (b"user: hi\nassistant: yo\n", False),
        (b'{"user": "\\nassistant:\\n"}', False),
    ],
)
def test_only_a_user_that_is_heard_makes_a_transcript(
    tmp_path: Path, start: bytes, fits: bool
) -> None:
    assert CursorText().fits(start, tmp_path) is fits
