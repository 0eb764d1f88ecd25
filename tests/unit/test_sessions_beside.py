"""A session's subagents lie among many other files, whose heads are read once for all sessions."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import claude_code_records as claude
import codex_records as codex
from longjudge.sessions import find_sessions, load_session
from longjudge.sessions.beside import FilesBySession

if TYPE_CHECKING:
    from pathlib import Path

LONG_AGO = time.time() - 3600


def rollout(folder: Path, number: int, id: str, **fields: object) -> Path:
    path = folder / f"rollout-2026-01-01T00-{number:06d}-{id}.jsonl"
    records = [codex.meta(id, **fields), codex.said("user", f"do {id}")]
    path.write_bytes(claude.jsonl(records))
    return path


def threads(path: Path) -> list[str]:
    session = load_session(path)
    session.close()
    return [thread.name for thread in session.index.threads]


def test_a_subagent_is_found_behind_any_number_of_other_rollouts(tmp_path: Path) -> None:
    first = rollout(tmp_path, 0, "p000")
    for number in range(1, 500):
        rollout(tmp_path, number, f"s{number:03d}")
    rollout(tmp_path, 500, "c500", parent_thread_id="p000")
    assert threads(first) == ["main", "agent-c500"]
    # It is a thread there, and so no session of its own.
    assert len(find_sessions([tmp_path])) == 500


def test_a_subagent_that_comes_later_is_found_then(tmp_path: Path) -> None:
    first = rollout(tmp_path, 0, "p000")
    os.utime(tmp_path, (LONG_AGO, LONG_AGO))
    assert threads(first) == ["main"]
    rollout(tmp_path, 1, "c001", parent_thread_id="p000")
    assert threads(first) == ["main", "agent-c001"]


def test_a_file_that_says_whose_it_is_after_it_was_made_is_found_then(tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    session.write_bytes(claude.jsonl([claude.user("go", sessionId="s")]))
    agent = tmp_path / "agent-a1.jsonl"
    agent.touch()
    os.utime(tmp_path, (LONG_AGO, LONG_AGO))
    assert threads(session) == ["main"]
    said = claude.user("look", sessionId="s", isSidechain=True, agentId="a1")
    agent.write_bytes(claude.jsonl([said]))
    assert threads(session) == ["main", "agent-a1"]


def test_a_folder_is_looked_through_once_for_all_of_its_sessions(tmp_path: Path) -> None:
    read: list[str] = []

    def session_and_name(path: Path) -> tuple[str, str]:
        read.append(path.name)
        return path.name[0], path.name

    for name in ("a1", "a2", "b1"):
        (tmp_path / name).touch()
    os.utime(tmp_path, (LONG_AGO, LONG_AGO))
    files = FilesBySession(lambda name: True, session_and_name)
    assert files.of(tmp_path, "a") == [("a1", tmp_path / "a1"), ("a2", tmp_path / "a2")]
    assert files.of(tmp_path, "b") == [("b1", tmp_path / "b1")]
    assert list(files.of(tmp_path, "c")) == []
    assert read == ["a1", "a2", "b1"]
    assert list(files.of(tmp_path / "none", "a")) == []
