"""A deprecated or unknown model is named before a run; nobody is asked about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge import judge_session, models
from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer

COUNT = 3
SIZE = ("--chunk-chars", CHUNK_CHARS)
TYPO = "claude-hiku-5-5"
UNKNOWN = (
    f"longjudge: {TYPO}: no model of that name is known (did you mean claude-haiku-5-5?);"
    " asking anyway"
)


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sessions, of which none answers the other's questions."""
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    for name in ("one", "two"):
        path = write_session(sessions / f"{name}.jsonl", COUNT)
        path.write_text(path.read_text().replace("next file", f"file of {name}"))
    return sessions


@pytest.mark.parametrize("command", ["judge", "estimate", "chunks"])
def test_an_unknown_model_is_said_once_and_asked_all_the_same(
    served: MessagesServer, folder: Path, command: str
) -> None:
    finished = longjudge(command, folder, "--json", "--model", TYPO, *SIZE)
    assert finished.code == 0
    lines = finished.err.splitlines()
    said = UNKNOWN if command == "judge" else UNKNOWN.removesuffix("; asking anyway")
    assert lines.count(said) == 1
    if command == "judge":
        assert lines[0] == UNKNOWN
    # No look-up of any kind: what was sent are the questions alone.
    assert {request.path for request in served.requests} <= {"/v1/messages"}
    assert len(served.requests) == (2 * COUNT if command == "judge" else 0)


def test_a_deprecated_model_is_said_with_its_date(
    served: MessagesServer, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk = tmp_path / "sdk"
    (sdk / "_data").mkdir(parents=True)
    (sdk / "_data" / "deprecated_models.py").write_text(
        'DEPRECATED_MODELS = {\n    "claude-opus-4-5": "January 22nd, 2001",\n}\n'
    )
    monkeypatch.setattr(models, "_sdk_folder", lambda: sdk)
    finished = longjudge("judge", folder, "--model", "claude-opus-4-5", *SIZE)
    assert finished.code == 0
    said = "longjudge: claude-opus-4-5 is deprecated and retired on 2001-01-22; asking anyway"
    assert finished.err.count(said) == 1


def test_nothing_is_said_where_nothing_is_asked(served: MessagesServer, folder: Path) -> None:
    assert longjudge("judge", folder, "--model", TYPO, *SIZE).code == 0
    for command in ("judge", "estimate", "chunks"):
        assert TYPO not in longjudge(command, folder, "--model", TYPO, *SIZE).err.replace(
            f"; {TYPO}", ""
        )


def test_neither_known_models_nor_those_with_their_own_names_are_spoken_of(
    served: MessagesServer, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f"[profiles.local]\nmodel = '{TYPO}'\nbase_url = 'http://127.0.0.1:9'\n")
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(config))
    for model in ("claude-haiku-5-5", "local", "offline"):
        assert longjudge("estimate", folder, "--model", model, *SIZE).err == ""


async def test_the_library_says_it_in_its_log(
    served: MessagesServer, caplog: pytest.LogCaptureFixture
) -> None:
    call = {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}}
    for model, said in ((TYPO, [UNKNOWN.removeprefix("longjudge: ")]), ("claude-haiku-5-5", [])):
        caplog.clear()
        assert await judge_session([call], model=model)
        assert [r.getMessage() for r in caplog.records if r.name == "longjudge"] == said
