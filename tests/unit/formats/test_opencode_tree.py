"""OpenCode's storage folder is read as the sessions in it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.opencode_tree import storage_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from longjudge.sessions import Session

    Load = Callable[[Path], list[Session]]


def write(root: Path, name: str, value: object) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))


def message(root: Path, session: str, id_: str, role: str, text: str, created: int) -> None:
    info = {"id": id_, "sessionID": session, "role": role, "time": {"created": created}}
    write(root, f"message/{session}/{id_}.json", info)
    part = {
        "id": f"prt_{id_}",
        "sessionID": session,
        "messageID": id_,
        "type": "text",
        "text": text,
    }
    write(root, f"part/{id_}/prt_{id_}.json", part)


def session(root: Path, id_: str, created: int = 1, **more: object) -> None:
    info = {"id": id_, "projectID": "p", "title": f"About {id_}", "time": {"created": created}}
    write(root, f"session/p/{id_}.json", info | more)


@pytest.fixture
def load() -> Iterator[Callable[[Path], list[Session]]]:
    loaded: list[Session] = []

    def load(path: Path) -> list[Session]:
        found = load_sessions(path)
        loaded.extend(found)
        return found

    yield load
    for each in loaded:
        each.close()


def bodies(found: Session) -> list[str]:
    return [found.event(number).body for number in range(len(found.index))]


def test_a_folder_is_its_sessions_with_messages_ordered_by_time(tmp_path: Path, load: Load) -> None:
    session(tmp_path, "ses_b", 2)
    session(tmp_path, "ses_a", 1)
    message(tmp_path, "ses_a", "msg_9", "user", "first", 10)
    message(tmp_path, "ses_a", "msg_1", "assistant", "second", 20)
    message(tmp_path, "ses_b", "msg_5", "user", "other", 5)
    first, other = load(tmp_path)
    assert (first.id, first.title, bodies(first)) == ("ses_a", "About ses_a", ["first", "second"])
    assert (other.id, bodies(other)) == ("ses_b", ["other"])
    assert json.loads(first.raw(0))["text"] == "first"


def test_the_folder_around_it_is_read_too(tmp_path: Path, load: Load) -> None:
    message(tmp_path / "storage", "ses_a", "msg_1", "user", "go", 1)
    (found,) = load(tmp_path)
    assert bodies(found) == ["go"]


def test_a_child_session_is_a_thread(tmp_path: Path, load: Load) -> None:
    session(tmp_path, "ses_a")
    session(tmp_path, "ses_b", parentID="ses_a")
    message(tmp_path, "ses_a", "msg_1", "user", "go", 1)
    message(tmp_path, "ses_b", "msg_2", "user", "find", 2)
    (found,) = load(tmp_path)
    assert [each.name for each in found.index.threads] == ["main", "ses_b"]


def test_the_earlier_layout_below_session_is_read(tmp_path: Path, load: Load) -> None:
    old = tmp_path / "storage" / "session"
    info = {"id": "ses_a", "version": "0.3", "title": "Old", "time": {"created": 1}}
    write(old, "info/ses_a.json", info)
    told = {"id": "msg_1", "sessionID": "ses_a", "role": "user", "time": {"created": 1}}
    write(old, "message/ses_a/msg_1.json", told)
    part = {"id": "p", "sessionID": "ses_a", "messageID": "msg_1", "type": "text", "text": "go"}
    write(old, "part/ses_a/msg_1/p.json", part)
    (found,) = load(tmp_path)
    assert (found.title, bodies(found)) == ("Old", ["go"])


def test_cut_files_are_counted_and_the_rest_is_read(tmp_path: Path, load: Load) -> None:
    message(tmp_path, "ses_a", "msg_1", "user", "go", 1)
    write(tmp_path, "part/msg_1/prt_2.json", '{"id": "prt_2", "messageID": "msg_1", "te')
    write(tmp_path, "message/ses_a/todo.json", [1, 2])
    (found,) = load(tmp_path)
    assert bodies(found) == ["go"]
    assert found.skipped_lines == 2


def test_links_are_not_followed(tmp_path: Path, load: Load) -> None:
    root = tmp_path / "storage"
    message(root, "ses_a", "msg_1", "user", "go", 1)
    write(tmp_path, "secret.json", {"id": "x", "messageID": "msg_1", "type": "text", "text": "no"})
    (root / "part" / "msg_1" / "link.json").symlink_to(tmp_path / "secret.json")
    (root / "part" / "loop").symlink_to(root)
    (found,) = load(root)
    assert bodies(found) == ["go"]
    (note,) = found.diagnostics
    assert (note.reason, note.count) == ("links, which are not followed", 2)


def test_what_is_no_folder_or_may_not_be_read_is_said(
    tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    message(tmp_path, "ses_a", "msg_1", "user", "go", 1)
    message(tmp_path, "ses_a", "msg_2", "user", "on", 2)
    closed = tmp_path / "part" / "msg_2"
    scan = os.scandir

    def scandir(folder: Path) -> Iterator[os.DirEntry[str]]:
        if folder == closed:
            raise PermissionError
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    (found,) = load(tmp_path)
    assert bodies(found) == ["go"]
    assert [(note.reason, note.count) for note in found.diagnostics] == [
        ("folders that cannot be read", 1),
        ("messages of the user without a part of theirs", 1),
    ]


def test_ids_in_the_files_lead_nowhere(tmp_path: Path, load: Load) -> None:
    root = tmp_path / "storage"
    message(root, "ses_a", "msg_1", "user", "go", 1)
    evil = {"id": "../../..", "sessionID": "ses_a", "role": "user", "time": {"created": 1}}
    write(root, "message/ses_a/msg_2.json", evil)
    (found,) = load(root)
    assert found.index.kind(0) is EventKind.USER_MESSAGE


def test_a_folder_without_a_message_is_refused(tmp_path: Path, load: Load) -> None:
    session(tmp_path, "ses_a")
    for name in ("message", "part"):
        (tmp_path / name).mkdir()
    with pytest.raises(NotASessionError, match="without a message"):
        load(tmp_path)


def test_a_folder_whose_database_took_over_is_no_storage_folder(tmp_path: Path, load: Load) -> None:
    message(tmp_path / "storage", "ses_a", "msg_1", "user", "go", 1)
    assert storage_folder(tmp_path) == tmp_path / "storage"
    (tmp_path / "opencode-local.db").write_bytes(b"")
    assert storage_folder(tmp_path) is None
    assert storage_folder(tmp_path / "storage") == tmp_path / "storage"
