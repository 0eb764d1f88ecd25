"""Files beside a session of Gemini CLI: its subagents' and what it was before it was resumed."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import discover_sessions, find_sessions, load_session, load_sessions
from longjudge.sessions.companions import HELD_OPEN

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session

PARENT = "11111111-2222-3333-4444-555555555555"


def said(id_: str, type_: str, content: str = "", **more: object) -> dict[str, object]:
    return {
        "id": id_,
        "timestamp": "2026-05-01T10:00:00Z",
        "type": type_,
        "content": content,
    } | more


def call(id_: str, agent: str | None = None) -> dict[str, object]:
    started = {"agentId": agent} if agent else {}
    return {"id": id_, "name": "look", "args": {}, "status": "success", **started}


def meta(id_: str, **more: object) -> dict[str, object]:
    return {"sessionId": id_, "projectHash": "p", "startTime": "2026-05-01T10:00:00Z"} | more


def write(path: Path, *records: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records))
    return path


def parent(folder: Path, *agents: str) -> Path:
    return write(
        folder / "session-2026-05-01T10-00-11111111.jsonl",
        meta(PARENT, kind="main"),
        said("u", "user", "go"),
        said("m", "gemini", toolCalls=[call(f"c-{each}", each) for each in agents]),
        said("e", "gemini", "done", timestamp="2026-05-01T11:00:00Z"),
    )


def subagent(folder: Path, id_: str, *records: dict[str, object]) -> Path:
    records = records or (said("u", "user", f"do {id_}"), said("m", "gemini", f"did {id_}"))
    return write(folder / PARENT / f"{id_}.jsonl", meta(id_, kind="subagent"), *records)


def threads(session: Session) -> list[tuple[str, int | None]]:
    return [(thread.name, thread.call) for thread in session.index.threads]


def reasons(session: Session) -> list[str]:
    return [note.reason for note in session.diagnostics]


def test_a_subagents_file_is_a_thread_linked_to_the_call_that_names_it(tmp_path: Path) -> None:
    path = parent(tmp_path, "a1", "b2")
    subagent(tmp_path, "b2")
    last = subagent(tmp_path, "a1")
    subagent(tmp_path, "c3", said("u", "user", "nobody names me"))
    session = load_session(path)
    assert threads(session) == [("main", None), ("a1", 1), ("b2", 2), ("c3", None)]
    bodies = [session.event(number).body for number in range(len(session.index))]
    assert bodies[:4] == ["go", "", "", "done"]
    assert bodies[4:] == ["do a1", "did a1", "do b2", "did b2", "nobody names me"]
    assert (session.id, session.title, session.ended) == (PARENT, "go", "2026-05-01T11:00:00Z")
    # What is shown raw is the line of the subagent's own file.
    source, record = session.source, session.index.records[5]
    assert json.loads(source.record_bytes(record))["content"] == "did a1"
    assert (source.record_line(record), source.record_file(record)) == (3, str(last))
    assert (source.record_line(0), source.record_file(0)) == (2, str(path))
    assert session.bytes == sum(each.stat().st_size for each in tmp_path.rglob("*.jsonl"))
    session.close()


def test_a_subagent_is_listed_only_where_its_session_is_not(tmp_path: Path) -> None:
    path = parent(tmp_path / "chats", "a1")
    agent = subagent(tmp_path / "chats", "a1")
    other = write(path.parent / "x" / "a1.jsonl", meta("a1", kind="subagent"), said("u", "user"))
    assert {each.path for each in find_sessions([tmp_path])} == {path, other}
    assert [each.path for each in find_sessions([agent.parent])] == [agent]
    path.unlink()
    assert {each.path for each in find_sessions([tmp_path])} == {agent, other}


def test_subagents_are_not_discovered_beside_their_session(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "project" / "chats"
    path = parent(chats, "a1")
    subagent(chats, "a1")
    old = chats / "session-2026-01-01T10-00-22222222.json"
    old.write_text(json.dumps({**meta("s"), "messages": [said("u", "user", "hello")]}, indent=2))
    assert len(discover_sessions("linux", {"HOME": str(tmp_path)})) == 2
    write(old.with_suffix(".jsonl"), meta("s"), said("u", "user", "hello"))
    found = {each.path for each in discover_sessions("linux", {"HOME": str(tmp_path)})}
    assert found == {path, old.with_suffix(".jsonl")}


@pytest.mark.parametrize(
    ("id_", "message", "listed"), [("s", "m2", 1), ("other", "m2", 2), ("s", "m1", 2)]
)
def test_a_session_that_went_on_in_a_new_file_is_listed_once(
    tmp_path: Path, id_: str, message: str, listed: int
) -> None:
    old = tmp_path / "session-2026-01-01T10-00-22222222.json"
    told = [said("m1", "user", "hello"), said("m2", "gemini", "hi")]
    old.write_text(json.dumps({**meta("s"), "messages": told}, indent=2))
    write(old.with_suffix(".jsonl"), meta(id_), said("m1", "user", "hello"), said(message, "info"))
    assert len(find_sessions([tmp_path])) == listed


def test_what_is_wrong_with_a_subagents_file_is_said_with_its_name(tmp_path: Path) -> None:
    path = parent(tmp_path, "a1")
    cut = subagent(tmp_path, "a1")
    cut.write_bytes(cut.read_bytes() + b'{"id":"x","type":"gem\n' + b'{"id":"y"')
    # Named like the main thread, and without a message.
    subagent(tmp_path, "main")
    subagent(tmp_path, "d4", {"$set": {"lastUpdated": "now"}})
    session = load_session(path)
    assert [name for name, _ in threads(session)] == ["main", "a1", "main.jsonl"]
    assert session.skipped_lines == 2
    assert [reason for reason in reasons(session) if "a1.jsonl" in reason]
    assert any("d4.jsonl was left out" in reason for reason in reasons(session))
    session.close()


def test_folders_and_pipes_among_them_are_left_out(tmp_path: Path) -> None:
    path = parent(tmp_path)
    (tmp_path / PARENT / "folder.jsonl").mkdir(parents=True)
    os.mkfifo(tmp_path / PARENT / "pipe.jsonl")
    (session,) = load_sessions(path)
    assert threads(session) == [("main", None)]
    session.close()


def test_more_subagents_than_files_may_be_open_are_read_and_let_go(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    path = parent(tmp_path)
    for number in range(HELD_OPEN + 5):
        subagent(tmp_path, f"a{number:02}")
    session = load_session(path)
    assert len(os.listdir("/proc/self/fd")) <= before + HELD_OPEN + 2
    source = session.source
    for thread in session.index.threads[1:]:
        record = session.index.records[thread.first]
        assert json.loads(source.record_bytes(record))["content"] == f"do {thread.name}"
    session.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_id_leads_to_no_other_folder(tmp_path: Path) -> None:
    write(tmp_path / "outside" / "a.jsonl", meta("a", kind="subagent"), said("u", "user", "no"))
    path = write(tmp_path / "in" / "s.jsonl", meta("../outside"), said("u", "user", "go"))
    session = load_session(path)
    assert threads(session) == [("main", None)]
    session.close()


def test_a_disk_that_fills_up_at_a_subagent_fails_the_session_or_keeps_its_events_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parent(tmp_path)
    subagent(tmp_path, "a1", *[said(f"u{n}", "user", f"{n} " + "x" * 20_000) for n in range(80)])
    subagent(tmp_path, "b2")
    write_, calls = os.write, list[int]()

    def write(descriptor: int, data: memoryview) -> int:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        # A part of what is to be written fits yet.
        return write_(descriptor, data[:1000] if len(calls) == 1 else data)

    monkeypatch.setattr(os, "write", write)
    session = load_session(path)
    for number in range(len(session.index)):
        session.event(number)
    assert any("a1.jsonl: not read to its end" in reason for reason in reasons(session))
    assert [name for name, _ in threads(session)] == ["main", "a1", "b2"]
    session.close()
