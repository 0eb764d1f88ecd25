"""Conversations that OpenHands keeps as folders: one session, in the order of its events."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import find_sessions, load_session, load_sessions
from longjudge.sessions.formats.openhands_folder import MISSING, UNREADABLE

if TYPE_CHECKING:
    from pathlib import Path


def event(number: int, said: str) -> dict[str, object]:
    args = {"content": said}
    return {"id": number, "source": "user", "action": "message", "message": "", "args": args}


def conversation(folder: Path, names: list[str]) -> Path:
    events = folder / "abc123" / "events"
    events.mkdir(parents=True)
    for number, name in enumerate(names):
        (events / name).write_text(json.dumps(event(number, name), indent=2))
    (folder / "abc123" / "base_state.json").write_text("{}")
    return folder / "abc123"


@pytest.mark.parametrize(
    "names",
    [
        ["2.json", "10.json", "lock.json"],
        ["event-00002-a1-b2.json", "event-00010-c3.json", ".eventlog.lock"],
    ],
)
def test_a_folder_is_one_session_in_the_order_of_its_numbers(
    tmp_path: Path, names: list[str]
) -> None:
    folder = conversation(tmp_path, names)
    session = load_session(folder)
    assert (session.id, session.format) == ("abc123", "openhands")
    texts = [session.text(number) for number in range(len(session.index))]
    assert texts == [f"user_message\n{name}" for name in names[:2]]
    session.close()


def test_the_folder_is_listed_and_not_its_events(tmp_path: Path) -> None:
    folder = conversation(tmp_path, ["0.json", "1.json"])
    assert [file.path for file in find_sessions([tmp_path])] == [folder]
    assert find_sessions([tmp_path])[0].bytes > 100


def test_what_cannot_be_read_of_it_is_told(tmp_path: Path) -> None:
    folder = conversation(tmp_path, ["0.json", "1.json"])
    (folder / "events" / "2.json").write_text('{"id": 2, "source": "ag')
    session = load_session(folder)
    assert (len(session.index), session.skipped_lines) == (2, 1)
    session.close()


def test_folders_of_other_events_are_no_conversation(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "1.json").write_text('{"kind": "user_message", "text": "x"}')
    with pytest.raises(NotASessionError):
        load_sessions(tmp_path)


def test_events_that_are_missing_or_empty_are_told(tmp_path: Path) -> None:
    folder = conversation(tmp_path, ["1.json", "2.json", "5.json"])
    (folder / "events" / "2.json").write_text("")
    session = load_session(folder)
    assert len(session.index) == 2
    told = {(note.reason, note.count) for note in session.diagnostics}
    assert told == {(UNREADABLE, 1), (MISSING, 3)}
    session.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_among_the_events_is_not_waited_for(tmp_path: Path) -> None:
    folder = conversation(tmp_path, [])
    os.mkfifo(folder / "events" / "0.json")
    assert [file.path for file in find_sessions([tmp_path])] != [folder]
