"""Aider's chat history: each start is a session, and Markdown is not taken for aider's lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.aider import IDLE, Aider
from longjudge.sessions.formats.aider_text import AiderText, Blocks
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session
    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
START = "\n# aider chat started at 2026-06-09 14:01:00\n\n"
HISTORY = (
    START + "> Aider v0.86.1  \n> Main model: sonnet  \n\n"
    "#### add a retry  \n#### and a test  \n\n"
    "I will:\n\n#### Step 1\nwrap it\n\n> a quote of mine\n\n"
    "```py\n> not aider\n#### nor a user\n```\n\n"
    "> Applied edit to src/a.py  \n> Commit 1a2b3c add a retry  \n"
)


def records(text: str) -> list[dict[str, object]]:
    blocks = Blocks()
    found: list[dict[str, object]] = []
    for number, line in enumerate(text.split("\n"), 1):
        found += [record for record, _ in blocks.take(line, number)]
    return found + [record for record, _ in blocks.finish()]


def read(text: str) -> Told:
    return retell(Aider(), records(text))


def shown(told: Told, session: str = "1") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session)]


def test_markdown_that_looks_like_aiders_lines_stays_in_the_answer() -> None:
    told = shown(read(HISTORY))
    assert told == [
        (SYSTEM, "Aider v0.86.1\nMain model: sonnet"),
        (USER, "add a retry\nand a test"),
        (
            SAID,
            "I will:\n\n#### Step 1\nwrap it\n\n> a quote of mine\n\n"
            "```py\n> not aider\n#### nor a user\n```",
        ),
        (CALL, "path: src/a.py"),
        (SYSTEM, "Commit 1a2b3c add a retry"),
    ]


def test_without_its_marks_a_line_counts_behind_a_blank_one() -> None:
    told = shown(read(START + "#### ask\nanswer\n> no turn\n\n> Applied edit to a.py\n"))
    assert told == [(USER, "ask"), (SAID, "answer\n> no turn"), (CALL, "path: a.py")]


def test_what_aider_runs_is_a_call_and_what_follows_its_output() -> None:
    told = read(START + "#### test it  \n\nok\n\n> Running pytest -q  \n> 2 passed  \n")
    assert [(each.kind, each.tool, each.body) for each in told.events("1")[2:]] == [
        (CALL, "run", "command: pytest -q"),
        (RESULT, None, "2 passed"),
    ]


def test_edits_that_were_not_made_are_no_calls() -> None:
    text = "> Applied edit to a  \n> Creating empty file b  \n> Did not apply edit to c  \n"
    told = read(START + "#### go  \n" + text)
    assert [event.tool for event in told.events("1") if event.kind is CALL] == ["edit", "create"]


def test_an_answer_whose_fence_never_ends_does_not_swallow_the_next_turn() -> None:
    told = shown(read(START + "#### a  \n\n```py\nx = 1\n\n#### b  \n\nno\n"))
    assert [kind for kind, _ in told] == [USER, SAID, USER, SAID]


def test_each_start_is_a_session_and_one_without_a_conversation_is_counted() -> None:
    later = START.replace("14:01", "15:30")
    told = read(HISTORY + START + "> Aider v0.86.1  \n" + later + "#### hi  \n")
    assert [facts["id"] for facts in told.sessions.values()] == [
        "2026-06-09T14:01:00",
        "2026-06-09T15:30:00",
    ]
    assert [(reason, count) for reason, _, _, count in told.notes] == [(IDLE, 1)]


def load(folder: Path, data: bytes, name: str = "history.txt") -> list[Session]:
    path = folder / name
    path.write_bytes(data)
    return load_sessions(path)


def test_a_file_with_windows_line_ends_reads_the_same_and_knows_its_lines(tmp_path: Path) -> None:
    plain = load(tmp_path, HISTORY.encode())[0]
    windows = load(tmp_path, HISTORY.replace("\n", "\r\n").encode())[0]
    assert plain.format == windows.format == "aider"
    assert [windows.text(n) for n in range(len(windows.index))] == [
        plain.text(n) for n in range(len(plain.index))
    ]
    assert windows.line(1) == 7
    plain.close()
    windows.close()


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    session = load(tmp_path, START.encode() + b"#### caf\xe9  \n\nok\n")[0]
    assert session.event(0).body == "caf\ufffd"
    session.close()


@pytest.mark.parametrize(
    ("start", "fits"),
    [
        (b"\n# aider chat started at 2026", True),
        (b"\xef\xbb\xbf# aider chat started at 2026", True),
        (b"the end of an older chat\n\n# aider chat started at 2026", True),
        (b'{"text": "\\n# aider chat started at 2026"}', False),
        (b"# Notes on aider chat started at noon", False),
        (b"", False),
    ],
)
def test_only_a_line_that_says_that_a_chat_started_makes_a_history(
    tmp_path: Path, start: bytes, fits: bool
) -> None:
    assert AiderText().fits(start, tmp_path / "notes.md") is fits
