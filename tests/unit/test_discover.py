"""Sessions of Claude Code and Codex are found where those programs keep them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from longjudge.cli.main import run
from longjudge.sessions import discover, discover_sessions


def write(path: Path, size: int = 10) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{".ljust(size))
    return path


def home() -> Path:
    return Path(os.environ["HOME"])


def found() -> list[Path]:
    return [file.path for file in discover_sessions()]


def test_both_programs_sessions_are_listed_longest_first() -> None:
    claude = write(home() / ".claude/projects/-srv-shop/5e55.jsonl", 20)
    codex = write(home() / ".codex/sessions/2026/01/02/rollout-2026-01-02.jsonl", 30)
    archived = write(home() / ".codex/archived_sessions/rollout-old.jsonl", 10)
    files = discover_sessions()
    assert [file.path for file in files] == [codex, claude, archived]
    assert [file.bytes for file in files] == [30, 20, 10]
    assert not any(file.named for file in files)
    assert files[0].modified == pytest.approx(codex.stat().st_mtime)


def test_files_of_subagents_and_bookkeeping_are_left_out() -> None:
    session = write(home() / ".claude/projects/-srv-shop/5e55.jsonl")
    for name in (
        "-srv-shop/agent-a1.jsonl",
        "-srv-shop/5e55/subagents/agent-b2.jsonl",
        "-srv-shop/5e55/subagents/other.jsonl",
        "-srv-shop/journal.jsonl",
        "-srv-shop/history.jsonl",
        "-srv-shop/5e55.meta.json",
        "-srv-shop/notes.txt",
    ):
        write(home() / ".claude/projects" / name)
    write(home() / ".claude/history.jsonl")
    write(home() / ".codex/history.jsonl")
    write(home() / ".codex/sessions/2026/01/02/other.jsonl")
    (home() / ".claude/projects/-srv-shop/empty.jsonl").touch()
    assert found() == [session]


def test_the_programs_own_variables_are_followed(tmp_path: Path, monkeypatch) -> None:
    write(home() / ".claude/projects/p/a.jsonl")
    claude = write(tmp_path / "claude/projects/p/b.jsonl", 20)
    codex = write(tmp_path / "codex/sessions/rollout-c.jsonl", 10)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    assert found() == [claude, codex]


def test_a_loop_of_links_and_a_second_name_are_listed_once() -> None:
    projects = home() / ".claude/projects"
    session = write(projects / "p/a.jsonl")
    (projects / "p/round").symlink_to(projects, target_is_directory=True)
    os.link(session, projects / "p/b.jsonl")
    (projects / "p/gone.jsonl").symlink_to(projects / "nowhere.jsonl")
    assert found() == [session]


def test_a_link_to_everything_is_searched_for_so_long_and_no_longer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(discover, "_MOST_LINKED", 4)
    session = write(home() / ".claude/projects/p/a.jsonl")
    for number in range(9):
        write(tmp_path / f"all/{number}/{number}.jsonl", 10)
    (home() / ".claude/projects/link").symlink_to(tmp_path / "all", target_is_directory=True)
    assert len(found()) == 1 + 3
    assert session in found()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_read_is_passed_over() -> None:
    session = write(home() / ".claude/projects/open/a.jsonl")
    closed = write(home() / ".claude/projects/closed/b.jsonl").parent
    closed.chmod(0)
    try:
        assert found() == [session]
    finally:
        closed.chmod(0o700)


def test_a_place_that_is_no_folder_holds_nothing(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(write(tmp_path / "file")))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "nowhere"))
    assert found() == []


def test_the_sessions_command_lists_them_when_no_path_is_named(capsys) -> None:
    path = home() / ".claude/projects/p/a.jsonl"
    path.parent.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "a",
        "sessionId": "5e55",
        "message": {"role": "user", "content": "hello"},
    }
    path.write_text(json.dumps(record) + "\n")
    assert run(["sessions", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == str(path)


def test_the_sessions_command_says_what_to_name_when_there_is_none(capsys) -> None:
    assert run(["sessions"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Claude Code" in said
    assert "name a session file or its folder" in said
