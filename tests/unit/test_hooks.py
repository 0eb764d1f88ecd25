"""What agents hand to their hooks: which session that is, and what is no payload at all."""

from __future__ import annotations

import json
import os
import random
import time
from typing import TYPE_CHECKING

import pytest

import codex_records as codex
from longjudge.cli import hook_calls
from longjudge.cli.background import MOST_BYTES, Turn, hook_log_path, note
from longjudge.errors import SessionError, UsageError
from longjudge.hooks import HookCall, Tool, read_call, session_file
from secrets_for_tests import WORD, chars

if TYPE_CHECKING:
    from pathlib import Path

ID = "0199f3a1-7c2e-7b40-9d11-3c0de5e55a10"


def payload(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def ended(path: object, **fields: object) -> bytes:
    told = {"session_id": ID, "hook_event_name": "SessionEnd", "transcript_path": path}
    return payload(**told, **fields)


def notified(id: object = ID, **fields: object) -> bytes:
    return payload(**{"type": "agent-turn-complete", "thread-id": id}, **fields)


def write_rollout(sessions: Path, id: str = ID, day: str = "2026/08/03") -> Path:
    folder = sessions / day
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-2026-08-03T10-48-56-{id}.jsonl"
    path.write_bytes(codex.jsonl([codex.meta(id), codex.said("user", "Tidy up.")]))
    return path


def test_a_session_that_ended_is_named_by_its_file() -> None:
    call = read_call(ended("/s/a.jsonl", reason="clear", cwd="/s"), Tool.CLAUDE_CODE)
    assert call == HookCall("SessionEnd", ID, "/s/a.jsonl")
    assert call.ends_something
    assert read_call(call.to_json().encode(), None) == call


def test_a_turn_that_ended_is_named_by_its_thread() -> None:
    call = read_call(notified(**{"turn-id": "7", "input-messages": ["x"]}), Tool.CODEX)
    assert call == HookCall("agent-turn-complete", ID)
    assert read_call(call.to_json().encode(), None) == call


def test_a_home_in_a_path_is_the_user_s() -> None:
    assert read_call(ended("~/s.jsonl"), None).path == os.path.expanduser("~/s.jsonl")


@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse", "SubagentStop", "Later"])
def test_an_event_that_ends_nothing_is_only_named(event: str) -> None:
    call = read_call(payload(hook_event_name=event, transcript_path="../x"), None)
    assert call == HookCall(event)
    assert not call.ends_something


@pytest.mark.parametrize(
    ("handed", "said"),
    [
        (b"", "no JSON object"),
        (b"nonsense", "no JSON object"),
        (b"\xff\xfe\x00", "no JSON object"),
        (b'["SessionEnd"]', "no JSON object"),
        (b'{"hook_event_name": "SessionEnd"', "no JSON object"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "no JSON object"),
        (payload(hook_event_name=7), "no JSON object"),
        (ended(["/s/a.jsonl"]), "no JSON object"),
        (payload(session_id=ID), "names no event"),
        (ended(None, session="x").replace(ID.encode(), b"../../x"), "names no session file"),
        (ended("a.jsonl"), "no absolute path"),
        (ended("-rf"), "no absolute path"),
        (notified("*"), "names no session file"),
        (notified("x" * 101), "names no session file"),
        (notified(""), "names no session file"),
        (b'{"type": "' + b"x" * 5_000_000 + b'"}', "4,194,304 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_payload_is_refused_in_one_line(handed: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refusal:
        read_call(handed, None)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_what_another_tool_hands_over_is_refused() -> None:
    with pytest.raises(UsageError, match="no event of Claude Code's"):
        read_call(notified(), Tool.CLAUDE_CODE)
    with pytest.raises(UsageError, match="names no session file"):
        read_call(ended(None), Tool.CLAUDE_CODE)
    assert read_call(ended(None), Tool.CODEX) == HookCall("SessionEnd", ID)


def test_a_rollout_is_found_by_its_thread_wherever_codex_keeps_it(tmp_path: Path) -> None:
    home = {"CODEX_HOME": str(tmp_path)}
    call = HookCall("agent-turn-complete", ID)
    with pytest.raises(SessionError, match=f"{ID}: no rollout"):
        session_file(call, environ=home)
    archived = write_rollout(tmp_path / "archived_sessions")
    assert session_file(call, environ=home) == archived
    path = write_rollout(tmp_path / "sessions")
    write_rollout(tmp_path / "sessions", ID.replace("0199", "0198"), "2026/08/04")
    assert session_file(call, environ=home) == path
    moved = HookCall("SessionEnd", ID, str(tmp_path / "moved.jsonl"))
    assert session_file(moved, environ=home) == path


def test_an_id_that_another_one_ends_with_is_not_taken_for_it(tmp_path: Path) -> None:
    write_rollout(tmp_path / "sessions")
    with pytest.raises(SessionError, match="no rollout"):
        session_file(HookCall("Stop", ID.rpartition("-")[2]), environ={"CODEX_HOME": str(tmp_path)})


def test_a_subagent_s_rollout_is_left_to_its_session(tmp_path: Path) -> None:
    path = write_rollout(tmp_path / "sessions")
    child = path.with_name(path.name.replace("0199", "019a"))
    child.write_bytes(codex.jsonl([codex.meta("019a", parent_thread_id=ID)]))
    with pytest.raises(SessionError, match="a subagent's"):
        session_file(HookCall("Stop", "", str(child)))


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("pipe", "no plain file"), (".", "no plain file"), ("none", "no such file")):
        with pytest.raises(SessionError, match=said):
            session_file(HookCall("Stop", "", str(tmp_path / name)))
    with pytest.raises(SessionError, match="no such file"):
        session_file(HookCall("Stop", "", "/a\0b"))


def test_work_that_is_asked_for_while_it_is_done_is_done_once_more() -> None:
    turn, done = Turn("a"), list[int]()
    assert turn.ask()

    def work() -> bool:
        done.append(1)
        if len(done) < 3:
            # Two callers during one run are one more run.
            assert not turn.ask()
            assert not turn.ask()
        return True

    turn.serve(work)
    assert len(done) == 3
    turn.serve(work)
    assert len(done) == 3


def test_what_is_asked_for_between_the_last_look_and_the_release_is_not_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn, done, late = Turn("a"), list[int](), list[bool]()
    look = Turn._taken

    def look_and_be_late(self: Turn) -> bool:
        found = look(self)
        if not found and not late:
            late.append(turn.ask())
        return found

    monkeypatch.setattr(Turn, "_taken", look_and_be_late)
    turn.ask()
    turn.serve(lambda: not done.append(1))
    # Whoever was late saw the turn taken, and started nobody.
    assert late == [False]
    assert len(done) == 2


def test_a_process_that_comes_second_leaves_the_work_to_the_first() -> None:
    turn, done = Turn("a"), list[str]()
    turn.ask()

    def first() -> bool:
        turn.ask()
        turn.serve(lambda: bool(done.append("second")))
        done.append("first")
        return len(done) < 2

    turn.serve(first)
    assert done == ["first", "first"]


def test_work_that_failed_leaves_the_next_caller_free() -> None:
    turn, other = Turn("a"), Turn("b")
    assert turn.ask()

    def fail() -> bool:
        assert other.ask()
        raise SessionError("gone")

    with pytest.raises(SessionError):
        turn.serve(fail)
    assert turn.ask()


def test_the_log_is_private_without_secrets_and_put_aside_where_it_is_full() -> None:
    key = "ghp_" + chars(random.Random(7), WORD, 36)
    note(f"one {key}\n\x1b[2J")
    path = hook_log_path()
    text = path.read_text()
    assert key not in text
    assert text.endswith("⏎␛[2J\n")
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"x" * (MOST_BYTES + 1))
    note("two")
    assert path.read_text().endswith("] two\n")
    assert path.with_name("hook.log.1").stat().st_size == MOST_BYTES + 1


def test_what_is_still_written_after_the_call_is_waited_for(tmp_path: Path) -> None:
    path = write_rollout(tmp_path)
    written = time.time() - hook_calls.QUIET_SECONDS + 0.2
    os.utime(path, (written, written))
    hook_calls._wait_until_written(path)
    assert time.time() - written >= hook_calls.QUIET_SECONDS


def test_a_file_that_never_rests_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_calls, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(hook_calls, "QUIET_SECONDS", 1e9)
    hook_calls._wait_until_written(write_rollout(tmp_path))
