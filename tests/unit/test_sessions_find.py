"""Finding files: named ones always, folders to the bottom, longest first, each once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import SessionError
from longjudge.sessions import find_sessions, load_session

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, size: int, start: str = "{") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(start.ljust(size))
    return path


def test_folders_are_searched_and_the_longest_comes_first(tmp_path: Path) -> None:
    small = write(tmp_path / "a" / "small.jsonl", 10)
    large = write(tmp_path / "a" / "b" / "large.json", 500)
    other = write(tmp_path / "c.ndjson", 10)
    bare = write(tmp_path / "export", 50, " [")
    write(tmp_path / "notes.txt", 900)
    write(tmp_path / "words", 900, "words")
    write(tmp_path / "node_modules" / "package.json", 900)
    found = find_sessions([tmp_path])
    assert [file.path for file in found] == [large, bare, small, other]
    assert [file.bytes for file in found] == [500, 50, 10, 10]
    assert not any(file.named for file in found)


def test_a_named_file_is_listed_whatever_it_is_called_and_only_once(tmp_path: Path) -> None:
    named = write(tmp_path / "notes.txt", 30)
    inside = write(tmp_path / "s.jsonl", 20)
    found = find_sessions([tmp_path, inside, named, inside])
    assert [(file.path, file.named) for file in found] == [(named, True), (inside, True)]


def test_links_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "s.jsonl", 20)
    os.symlink(tmp_path, tmp_path / "a" / "up", target_is_directory=True)
    os.symlink(file, tmp_path / "a" / "twin.jsonl")
    os.symlink(tmp_path / "nowhere", tmp_path / "a" / "dead.jsonl")
    assert [found.bytes for found in find_sessions([tmp_path])] == [20]


def test_a_missing_path_is_listed_so_that_loading_reports_it(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", 20)
    found = find_sessions([tmp_path / "gone", file])
    assert [(item.path, item.named) for item in found] == [(file, True), (tmp_path / "gone", True)]
    with pytest.raises(SessionError, match="gone: cannot be read"):
        load_session(found[1].path)


def test_names_that_are_too_long_are_listed_and_never_raised(tmp_path: Path) -> None:
    named = tmp_path / ("a" * 300)
    # What stands for a byte that is no text takes more room than the byte.
    agent = write(tmp_path / "agent-1.jsonl", 20)
    agent.write_bytes(b'{"isSidechain":true,"sessionId":"' + b"\xff" * 200 + b'"}\n')
    found = find_sessions([named, tmp_path])
    assert {file.path for file in found} == {named, agent}
    with pytest.raises(SessionError, match="cannot be read: File name too long"):
        load_session(named)


def test_a_subagent_whose_session_holds_nothing_is_listed_itself(tmp_path: Path) -> None:
    agent = write(tmp_path / "5e55" / "subagents" / "agent-a1.jsonl", 20)
    session = write(tmp_path / "5e55.jsonl", 30)
    assert [file.path for file in find_sessions([tmp_path])] == [session]
    session.write_bytes(b"")
    assert [file.path for file in find_sessions([tmp_path])] == [agent, session]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert find_sessions([tmp_path]) == []
