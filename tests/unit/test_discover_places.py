"""Where each program keeps its sessions on Linux, macOS and Windows, and what moves them."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import discover_sessions, load_session
from longjudge.sessions.places import DESCRIBED, PLACES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SYSTEMS = ("linux", "darwin", "win32")

USUAL = (
    ".claude/projects/-srv-shop/5e55.jsonl",
    ".config/claude/projects/-srv-shop/5e55.jsonl",
    ".codex/sessions/2026/01/02/rollout-2026-01-02T10-00-00-aa.jsonl",
    ".codex/sessions/2026/01/02/rollout-2025-01-02T10-00-00-bb.jsonl.zst",
    ".codex/archived_sessions/rollout-2024-01-02T10-00-00-cc.jsonl",
    ".gemini/tmp/1f2e/chats/session-2026-01-02T10-00-aa.json",
    ".gemini/tmp/shop/chats/session-2026-01-02T10-00-bb.jsonl",
    ".gemini/tmp/shop/chats/0a1b2c/agent.jsonl",
    ".local/share/opencode/opencode.db",
    ".local/share/opencode/opencode-beta.db",
    ".copilot/session-state/0a1b/events.jsonl",
    ".copilot/session-state/0a1b2c.jsonl",
    ".copilot/history-session-state/session_0a1b_1760000000.json",
    ".pi/agent/sessions/--srv-shop--/2026-01-02T10-00-00_0a1b.jsonl",
)
NO_SESSIONS = (
    ".claude/history.jsonl",
    ".claude/projects/-srv-shop/agent-a1.jsonl",
    ".claude/projects/-srv-shop/5e55/subagents/agent-a1.jsonl",
    ".codex/history.jsonl",
    ".codex/config.json",
    ".gemini/settings.json",
    ".gemini/tmp/shop/logs.json",
    ".gemini/tmp/shop/checkpoint-one.json",
    ".local/share/opencode/auth.json",
    ".local/share/opencode/log/2026.jsonl",
    ".local/share/opencode/opencode.db-wal",
    ".copilot/config.json",
    ".copilot/session-state/0a1b/workspace.yaml",
    ".copilot/session-state/0a1b/files/rows.jsonl",
    ".pi/agent/models.json",
)


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def home(platform: str, folder: Path) -> dict[str, str]:
    return {"USERPROFILE" if platform == "win32" else "HOME": str(folder)}


def found(platform: str, environ: Mapping[str, str]) -> set[Path]:
    return {file.path for file in discover_sessions(platform, environ)}


@pytest.mark.parametrize("platform", SYSTEMS)
def test_every_program_s_sessions_are_found_and_nothing_else(tmp_path: Path, platform: str) -> None:
    for name in NO_SESSIONS:
        write(tmp_path / name)
    usual = {write(tmp_path / name) for name in USUAL}
    assert found(platform, home(platform, tmp_path)) == usual


@pytest.mark.parametrize("platform", SYSTEMS)
@pytest.mark.parametrize(
    ("variable", "inside", "usual"),
    [
        ("CLAUDE_CONFIG_DIR", "projects/p/a.jsonl", ".claude/projects/p/a.jsonl"),
        ("CODEX_HOME", "sessions/rollout-a.jsonl", ".codex/sessions/rollout-a.jsonl"),
        ("GEMINI_CLI_HOME", ".gemini/tmp/p/chats/a.json", ".gemini/tmp/p/chats/a.json"),
        ("XDG_DATA_HOME", "opencode/opencode.db", ".local/share/opencode/opencode.db"),
        ("COPILOT_HOME", "session-state/a/events.jsonl", ".copilot/session-state/a/events.jsonl"),
        ("PI_CODING_AGENT_DIR", "sessions/p/a.jsonl", ".pi/agent/sessions/p/a.jsonl"),
        ("PI_CODING_AGENT_SESSION_DIR", "p/a.jsonl", ".pi/agent/sessions/p/a.jsonl"),
    ],
)
def test_a_program_s_variable_moves_its_place(
    tmp_path: Path, platform: str, variable: str, inside: str, usual: str
) -> None:
    moved = write(tmp_path / "moved" / inside)
    write(tmp_path / "home" / usual)
    environ = home(platform, tmp_path / "home")
    assert found(platform, environ) == {tmp_path / "home" / usual}
    assert found(platform, {**environ, variable: str(tmp_path / "moved")}) == {moved}


def test_a_place_of_windows_is_looked_for_on_windows_only(tmp_path: Path) -> None:
    local = write(tmp_path / "local/opencode/opencode.db")
    roaming = write(tmp_path / "roaming/opencode/opencode.db")
    environ = {
        "HOME": str(tmp_path),
        "UserProfile": str(tmp_path),
        "LocalAppData": str(tmp_path / "local"),
        "AppData": str(tmp_path / "roaming"),
    }
    assert found("win32", environ) == {local, roaming}
    assert found("linux", environ) == found("darwin", environ) == set()


def test_the_variable_of_a_database_names_the_file(tmp_path: Path) -> None:
    database = write(tmp_path / "mine.sqlite")
    environ = home("linux", tmp_path / "home")
    assert found("linux", {**environ, "OPENCODE_DB": str(database)}) == {database}
    assert found("linux", {**environ, "OPENCODE_DB": ":memory:"}) == set()


def test_names_may_come_in_any_case(tmp_path: Path) -> None:
    shouted = write(tmp_path / ".codex/sessions/2026/Rollout-A.JSONL")
    assert found("win32", home("win32", tmp_path)) == {shouted}


def test_a_rollout_that_lies_there_unpacked_as_well_is_listed_once(tmp_path: Path) -> None:
    plain = write(tmp_path / ".codex/sessions/rollout-a.jsonl")
    write(tmp_path / ".codex/sessions/rollout-a.jsonl.zst")
    assert found("linux", home("linux", tmp_path)) == {plain}


def test_a_storage_of_fragments_is_one_session_file_of_their_size(tmp_path: Path) -> None:
    storage = tmp_path / ".local/share/opencode/storage"
    for name in ("session/p/ses_1.json", "message/ses_1/msg_1.json", "part/msg_1/prt_1.json"):
        write(storage / name)
    write(storage / "todo/ses_1.json")
    (file,) = discover_sessions("linux", home("linux", tmp_path))
    assert (file.path, file.bytes, file.named) == (storage, 6, False)
    assert file.modified > 0


def test_a_storage_that_a_database_took_over_is_not_listed_again(tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/opencode"
    for name in ("session", "message", "part"):
        write(folder / "storage" / name / "a.json")
    database = folder / "opencode.db"
    with sqlite3.connect(database) as connection:
        connection.execute("create table session (id text)")
    connection.close()
    assert found("linux", home("linux", tmp_path)) == {database}


def test_without_a_home_nothing_fails() -> None:
    for platform in SYSTEMS:
        discover_sessions(platform, {"HOME": "/nowhere\x00", "USERPROFILE": "/nowhere\x00"})


def test_the_places_are_described_in_one_line() -> None:
    assert all(place.program in DESCRIBED for place in PLACES)
    assert "Gemini CLI (~/.gemini/tmp)" in DESCRIBED
    assert DESCRIBED.endswith(" and Pi (~/.pi/agent/sessions)")
    assert "\n" not in DESCRIBED


def test_an_early_session_of_copilot_cli_is_read_as_its_messages(tmp_path: Path) -> None:
    call = {"name": "bash", "arguments": '{"command": "ls"}'}
    session = {
        "sessionId": "0a1b",
        "startTime": "2025-09-26T10:00:00Z",
        "chatMessages": [
            {"role": "user", "content": "What is here?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        ],
        "timeline": [],
    }
    path = write(tmp_path / ".copilot/history-session-state/session_0a1b.json")
    path.write_text(json.dumps(session))
    (file,) = discover_sessions("darwin", home("darwin", tmp_path))
    loaded = load_session(file.path)
    assert (loaded.id, loaded.title, loaded.index.tool_calls) == ("0a1b", "What is here?", 1)
    loaded.close()
