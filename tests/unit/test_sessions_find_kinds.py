"""What a folder is searched for: files called like sessions, packed ones, what begins like one."""

from __future__ import annotations

import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.sessions import find_sessions
from opencode_storage_for_tests import opencode_storage

if TYPE_CHECKING:
    from pathlib import Path

STORAGE = ("session/p/ses_1.json", "message/ses_1/msg_1.json", "part/msg_1/prt_1.json")


def write(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def storage(folder: Path) -> Path:
    for name in STORAGE:
        write(folder / name, "{ }")
    return folder


def database(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("create table session (id text)")
    connection.close()
    return path


def found(*paths: Path) -> list[Path]:
    return [file.path for file in find_sessions(paths)]


@pytest.mark.parametrize(
    "name",
    [
        "django__django-11138.traj",
        "2026-01-02_task.eval",
        "a.jsonl.gz",
        "a.JSONL.ZST",
        "a.json.bz2",
        "a.ndjson.xz",
        "a.traj.gz",
        "a.json.zip",
    ],
)
def test_a_file_that_is_called_like_a_session_is_listed(tmp_path: Path, name: str) -> None:
    assert found(tmp_path) == []
    file = write(tmp_path / "runs" / name)
    assert found(tmp_path) == [file]


@pytest.mark.parametrize(
    "name", ["a.tar.gz", "photos.zip", "core.zst", "a.txt.gz", "a.py", "README.md", "app.db"]
)
def test_other_packed_files_and_texts_are_left_out(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    assert found(tmp_path) == []


def test_a_packed_copy_of_a_file_beside_it_is_left_out(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.jsonl")
    packed = write(tmp_path / "a.jsonl.gz")
    assert found(tmp_path) == [plain]
    assert found(packed) == [packed]


def test_a_database_is_listed_and_what_is_only_called_like_one_is_not(tmp_path: Path) -> None:
    file = database(tmp_path / "opencode.db")
    write(tmp_path / "Thumbs.db", "words")
    assert found(tmp_path) == [file]


def test_aider_s_history_is_listed_among_other_markdown(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "# shop\n\nThe web shop.\n")
    chat = "\n# aider chat started at 2026-01-02 10:00:00\n\n#### split the checkout\n"
    history = write(tmp_path / ".aider.chat.history.md", chat)
    renamed = write(tmp_path / "notes" / "chat.md", chat)
    assert sorted(found(tmp_path)) == sorted([history, renamed])


def test_a_storage_of_fragments_is_one_file_wherever_it_is_met(tmp_path: Path) -> None:
    folder = storage(tmp_path / "opencode" / "storage")
    write(folder / "session_diff" / "ses_1.json")
    for named in (tmp_path, tmp_path / "opencode", folder):
        (file,) = find_sessions([named])
        assert (file.path, file.bytes) == (folder, 9)
        assert file.named is (named == folder)
        assert file.modified > 0


def test_a_storage_is_listed_once_however_often_it_is_named(tmp_path: Path) -> None:
    folder = storage(tmp_path / "storage")
    (tmp_path / "again").symlink_to(folder, target_is_directory=True)
    assert found(folder, tmp_path, folder / "session" / "..") == [folder]


def test_a_storage_that_a_database_took_over_is_listed_only_where_it_is_named(
    tmp_path: Path,
) -> None:
    folder = storage(tmp_path / "storage")
    taken_over = database(tmp_path / "opencode.db")
    assert found(tmp_path) == [taken_over]
    assert found(folder) == [folder]


def test_a_storage_of_an_early_release_is_one_file_too(tmp_path: Path) -> None:
    for name in ("info/ses_1.json", "message/ses_1/msg_1.json", "part/ses_1/msg_1/prt_1.json"):
        write(tmp_path / "project" / "storage" / "session" / name)
    assert found(tmp_path) == [tmp_path / "project" / "storage"]


def test_a_storage_opens_as_its_session_and_is_judged(tmp_path: Path) -> None:
    folder = opencode_storage(tmp_path / "storage")
    (row,) = longjudge("sessions", folder, "--json").objects
    assert (row["format"], row["id"], row["title"]) == ("opencode", "ses_1", "Tidy up")
    store = tmp_path / "store.sqlite"
    (judged,) = longjudge(
        "judge", tmp_path, "--model", "offline", "--json", "--store", store
    ).objects
    assert judged["session"]["path"] == str(folder)
    assert [each["quote"] for each in judged["findings"]] == ["rm -rf /srv/shop/uploads"]


def test_a_folder_with_only_some_of_the_fragments_is_searched_like_any_other(
    tmp_path: Path,
) -> None:
    folder = storage(tmp_path / "storage")
    shutil.rmtree(folder / "part")
    assert sorted(path.name for path in found(tmp_path)) == ["msg_1.json", "ses_1.json"]
