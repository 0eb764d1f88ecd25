"""A session that was resumed repeats the old file; read together, each event counts once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, call, result, text, user
from longjudge.errors import CopiedSessionError
from longjudge.sessions import load_session, load_sessions
from longjudge.sessions.copies import Copies

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session


def write(path: Path, records: list[dict]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def bodies(session: Session) -> list[str]:
    return [session.event(number).body for number in range(len(session.index))]


def conversation(*words: str) -> list[dict]:
    return [
        user(word) if place % 2 == 0 else assistant(text(word)) for place, word in enumerate(words)
    ]


def resumed(records: list[dict], session_id: str) -> list[dict]:
    return [{**each, "sessionId": session_id} for each in records]


def test_events_of_a_resumed_session_count_in_the_file_read_first(tmp_path: Path) -> None:
    begun = conversation("go", "working", "more", "stopped")
    old = write(tmp_path / "old.jsonl", begun)
    new = write(tmp_path / "new.jsonl", resumed(begun[:3], "new") + conversation("again", "done"))
    copies = Copies([new, old])
    (first,) = load_sessions(new, read_before=copies.read_before(new))
    (second,) = load_sessions(old, read_before=copies.read_before(old))
    assert bodies(first) == ["go", "working", "more", "again", "done"]
    assert bodies(second) == ["stopped"]
    (note,) = second.diagnostics
    assert (note.count, note.severity.value) == (3, "info")
    assert "counted there" in note.reason


def test_a_file_that_holds_nothing_of_its_own_is_said_to_be_a_copy(tmp_path: Path) -> None:
    begun = conversation("go", "working")
    old = write(tmp_path / "old.jsonl", begun)
    new = write(tmp_path / "new.jsonl", resumed(begun, "new") + conversation("again", "done"))
    copies = Copies([old, new])
    load_sessions(new, read_before=copies.read_before(new))
    with pytest.raises(CopiedSessionError, match=r"old\.jsonl: all of it stands in another file"):
        load_sessions(old, read_before=copies.read_before(old))


def test_a_file_opened_by_itself_is_whole(tmp_path: Path) -> None:
    begun = conversation("go", "working")
    write(tmp_path / "old.jsonl", begun)
    new = write(tmp_path / "new.jsonl", resumed(begun, "new") + conversation("again"))
    assert bodies(load_session(new)) == ["go", "working", "again"]


def test_files_that_begin_differently_share_nothing(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", conversation("go"))
    two = write(tmp_path / "two.jsonl", conversation("go"))
    (tmp_path / "three.jsonl").write_bytes(b"")
    copies = Copies([one, two, tmp_path / "three.jsonl", tmp_path / "missing.jsonl"])
    assert copies.read_before(one) is None
    assert copies.read_before(tmp_path / "missing.jsonl") is None


def test_equal_words_under_other_ids_are_no_copies(tmp_path: Path) -> None:
    begun = conversation("go")
    old = write(tmp_path / "old.jsonl", begun + conversation("x", "same words"))
    new = write(tmp_path / "new.jsonl", resumed(begun, "n") + conversation("x", "same words"))
    copies = Copies([old, new])
    load_sessions(old, read_before=copies.read_before(old))
    (second,) = load_sessions(new, read_before=copies.read_before(new))
    assert bodies(second) == ["x", "same words"]


def _with_subagent(folder: Path) -> tuple[Path, Path]:
    """A session with a subagent, and the one that continues it."""
    started = user([result("ok", "toolu_1")], toolUseResult={"agentId": "a1"})
    begun = [user("go"), assistant(call("Task", "toolu_1", prompt="look")), started]
    begun = resumed(begun, "old")
    old = write(folder / "old.jsonl", begun)
    new = write(folder / "new.jsonl", resumed(begun, "new") + resumed([user("more")], "new"))
    side = [user("look"), assistant(text("found"))]
    agent = [{**each, "sessionId": "old", "isSidechain": True, "agentId": "a1"} for each in side]
    write(folder / "agent-a1.jsonl", agent)
    return old, new


def test_a_subagent_of_a_session_that_another_continues_is_not_lost(tmp_path: Path) -> None:
    old, new = _with_subagent(tmp_path)
    copies = Copies([new, old])
    (first,) = load_sessions(new, read_before=copies.read_before(new))
    assert bodies(first)[-1] == "more"
    (second,) = load_sessions(old, read_before=copies.read_before(old))
    assert (second.id, bodies(second)) == ("old", ["look", "found"])
    assert [thread.name for thread in second.index.threads] == ["agent-a1"]


def test_a_subagents_file_that_was_copied_too_counts_once(tmp_path: Path) -> None:
    old, new = _with_subagent(tmp_path)
    beside = tmp_path / "new" / "subagents"
    beside.mkdir(parents=True)
    told = (tmp_path / "agent-a1.jsonl").read_text()
    (beside / "agent-a1.jsonl").write_text(told.replace('"old"', '"new"'))
    copies = Copies([new, old])
    (first,) = load_sessions(new, read_before=copies.read_before(new))
    assert bodies(first)[-2:] == ["look", "found"]
    with pytest.raises(CopiedSessionError):
        load_sessions(old, read_before=copies.read_before(old))
