"""OpenCode's database is read as its sessions, and never written to."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import LoadCancelledError, NotASessionError, SessionError
from longjudge.sessions import EventKind, Severity, load_sessions
from longjudge.sessions.formats import opencode_database
from longjudge.sessions.formats.opencode_database import OpenCodeDatabase
from longjudge.sessions.lines import open_regular
from longjudge.sessions.unpack import Unpacking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from longjudge.sessions import Session
    from longjudge.sessions.unpack import Plain

    Load = Callable[[Path], list[Session]]

SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
    title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
    data TEXT);
"""
LATER = """
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
    time_created INTEGER, data TEXT);
"""
EARLIEST = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT,
    created_at INTEGER);
"""


@pytest.fixture
def load() -> Iterator[Load]:
    loaded: list[Session] = []

    def load(path: Path) -> list[Session]:
        found = load_sessions(path)
        loaded.extend(found)
        return found

    yield load
    for each in loaded:
        each.close()


def create(path: Path, schema: str = SCHEMA, *, log: bool = False) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    if log:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
    database.executescript(schema)
    return database


def add_session(
    database: sqlite3.Connection, id_: str, parent: str | None = None, created: int = 1
) -> None:
    row = (id_, "p", parent, "/", f"About {id_}", "1.2", None, created, created)
    database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def add(
    database: sqlite3.Connection,
    session: str,
    id_: str,
    role: str,
    *parts: object,
    created: int = 1,
) -> None:
    message = (id_, session, created, json.dumps({"role": role, "time": {"created": created}}))
    database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
    for number, part in enumerate(parts):
        data = {"type": "text", "text": part} if isinstance(part, str) else part
        row = (f"prt_{id_}_{number}", id_, session, created, json.dumps(data))
        database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)


def call(id_: str, output: str, **state: object) -> dict[str, object]:
    whole: dict[str, object] = {"status": "completed", "input": {"x": id_}, "output": output}
    return {"type": "tool", "callID": id_, "tool": "task", "state": whole | state}


def bodies(session: Session) -> list[str]:
    return [session.event(number).body for number in range(len(session.index))]


def reasons(session: Session) -> list[str]:
    return [each.reason for each in session.diagnostics if each.severity is Severity.WARNING]


def test_a_database_is_its_sessions_in_the_order_of_their_time(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "any name"
    with closing(create(path)) as database, database:
        add_session(database, "ses_b", created=2)
        add_session(database, "ses_a", created=1)
        add(database, "ses_b", "msg_3", "user", "other")
        add(database, "ses_a", "msg_2", "assistant", "hi", call("c", "out"), created=20)
        add(database, "ses_a", "msg_9", "user", "go", created=10)
    first, other = load(path)
    assert (first.id, first.title, first.format) == ("ses_a", "About ses_a", "opencode")
    assert bodies(first) == ["go", "hi", "x: c", "out"]
    assert (other.id, bodies(other)) == ("ses_b", ["other"])
    assert first.bytes == path.stat().st_size
    assert json.loads(first.raw(0))["data"] == {"type": "text", "text": "go"}


def test_the_session_of_a_subagent_is_a_thread_linked_to_its_call(
    tmp_path: Path, load: Load
) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path)) as database, database:
        add_session(database, "ses_a")
        add_session(database, "ses_b", "ses_a")
        started = call("c", "found", metadata={"sessionId": "ses_b"})
        add(database, "ses_a", "msg_1", "assistant", "delegating", started)
        add(database, "ses_b", "msg_2", "user", "find it")
    (found,) = load(path)
    main, child = found.index.threads
    assert (main.name, child.name) == ("main", "ses_b")
    assert child.call is not None
    assert found.index.kind(child.call) is EventKind.TOOL_CALL


@pytest.mark.parametrize("in_use", [True, False])
def test_rows_that_still_stand_in_the_log_beside_it_are_read(
    tmp_path: Path, load: Load, in_use: bool
) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path, log=True)) as database:
        with database:
            add_session(database, "ses_a")
            add(database, "ses_a", "msg_1", "user", "recent")
        folder = tmp_path
        if not in_use:
            folder = tmp_path / "copied"
            folder.mkdir()
            for name in ("opencode.db", "opencode.db-wal"):
                shutil.copy(tmp_path / name, folder)
        before = sorted(each.name for each in folder.iterdir())
        (found,) = load(folder / "opencode.db")
        assert bodies(found) == ["recent"]
        assert sorted(each.name for each in folder.iterdir()) == before


def test_a_change_that_was_broken_off_is_undone_in_a_copy(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path)) as database:
        with database:
            add_session(database, "ses_a")
            add(database, "ses_a", "msg_1", "user", "go", "x" * 100_000)
        database.execute("PRAGMA cache_size = 2")
        database.execute("UPDATE part SET data = ? || data", ("lost",))
        broken = tmp_path / "broken"
        broken.mkdir()
        for name in ("opencode.db", "opencode.db-journal"):
            shutil.copy(tmp_path / name, broken)
        database.rollback()
    before = {each.name: each.read_bytes() for each in broken.iterdir()}
    (found,) = load(broken / "opencode.db")
    assert bodies(found) == ["go", "x" * 100_000]
    assert {each.name: each.read_bytes() for each in broken.iterdir()} == before


def test_nothing_is_written_beside_a_database(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path, log=True)) as database, database:
        add_session(database, "ses_a")
        add(database, "ses_a", "msg_1", "user", "go")
    content = path.read_bytes()
    load(path)
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["opencode.db"]


def test_a_schema_with_fewer_columns_is_read(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    schema = """
    CREATE TABLE session (id TEXT, title TEXT);
    CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    """
    with closing(create(path, schema)) as database, database:
        database.execute("INSERT INTO session VALUES ('ses_a', 'Short')")
        database.execute("""INSERT INTO message VALUES ('m', 'ses_a', '{"role": "user"}')""")
        database.execute("""INSERT INTO part VALUES ('p', 'm', '{"type": "text", "text": "go"}')""")
    (found,) = load(path)
    assert (found.id, found.title, bodies(found)) == ("ses_a", "Short", ["go"])


def test_the_later_schema_adds_what_the_earlier_one_does_not_hold(
    tmp_path: Path, load: Load
) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path, SCHEMA + LATER)) as database, database:
        add_session(database, "ses_a", created=1)
        add_session(database, "ses_b", created=2)
        add(database, "ses_a", "msg_1", "user", "go", created=5)
        for row in (
            ("msg_1", "ses_a", "user", 1, 5, '{"text": "go"}'),
            ("msg_2", "ses_a", "user", 2, 6, '{"text": "and on"}'),
            ("msg_3", "ses_b", "user", 2, 4, '{"text": "second"}'),
            ("msg_4", "ses_b", "user", 1, 9, '{"text": "first"}'),
        ):
            database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", row)
    first, later = load(path)
    assert bodies(first) == ["go", "and on"]
    assert bodies(later) == ["first", "second"]


def test_the_database_of_the_first_program_of_that_name_is_read(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    asked = [{"type": "text", "data": {"text": "go"}}]
    answered = [
        {"type": "reasoning", "data": {"thinking": "hm"}},
        {"type": "text", "data": {"text": "ok"}},
        {"type": "tool_call", "data": {"id": "c", "name": "bash", "input": '{"command": "ls"}'}},
        {"type": "finish", "data": {"reason": "tool_use"}},
    ]
    result = {"tool_call_id": "c", "name": "bash", "content": "a", "is_error": False}
    with closing(create(path, EARLIEST)) as database, database:
        database.execute("INSERT INTO sessions VALUES ('s', NULL, 'Old', 1750000000)")
        for row in (
            ("1", "s", "user", json.dumps(asked), 1_750_000_000),
            ("2", "s", "assistant", json.dumps(answered), 1_750_000_001),
            (
                "3",
                "s",
                "tool",
                json.dumps([{"type": "tool_result", "data": result}]),
                1_750_000_002,
            ),
        ):
            database.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", row)
    (found,) = load(path)
    assert bodies(found) == ["go", "hm", "ok", "command: ls", "a"]
    assert list(found.index.calls) == [0, 1, 2, 3, 3]
    assert found.event(0).timestamp == "2025-06-15T15:06:40Z"


def test_rows_of_any_content_end_in_diagnostics(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    schema = SCHEMA.replace("TEXT PRIMARY KEY", "").replace(" TEXT", "").replace(" INTEGER", "")
    with closing(create(path, schema)) as database, database:
        add_session(database, "ses_a")
        add(database, "ses_a", "msg_1", "user", "go")
        for odd in (
            None,
            1,
            1.5,
            b"\xff\x00",
            "x",
            "[1]",
            '{"a":',
            "[" * 5000,
            "'; DROP TABLE part",
        ):
            database.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)", (odd,) * 9)
            database.execute("INSERT INTO message VALUES (?,?,?,?)", (odd,) * 4)
            database.execute("INSERT INTO part VALUES (?,?,?,?,?)", (odd, "msg_1", odd, odd, odd))
            database.execute("INSERT INTO part VALUES (?,?,?,?,?)", (odd,) * 5)
    found = load(path)
    assert ["go"] in [bodies(each) for each in found]
    assert any("no sound JSON" in reason for reason in reasons(found[0]))


def test_views_and_virtual_tables_are_never_asked(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x"
    with closing(create(path, "CREATE TABLE other (x)")) as database, database:
        database.execute(f"CREATE VIEW session AS {endless} AS id FROM n")
        database.execute(
            f"CREATE VIEW message AS {endless} AS id, x AS session_id, x AS data FROM n"
        )
    with pytest.raises(NotASessionError, match=r"without sessions of OpenCode \(tables: other\)"):
        load(path)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("cursorDiskKV", "export the chat from Cursor first"),
        ("ItemTable", "export the chat from VS Code first"),
        ("spans", "export the traces as OTLP JSON first"),
        ("session", "without sessions of OpenCode"),
        ("\x1b[31m" + "x" * 500, "without sessions of OpenCode"),
    ],
)
def test_other_databases_are_refused_by_what_they_are(
    tmp_path: Path, load: Load, table: str, words: str
) -> None:
    path = tmp_path / "x.db"
    create(path, f'CREATE TABLE "{table}" (id)').close()
    with pytest.raises(NotASessionError, match=words) as refused:
        load(path)
    assert "\x1b" not in str(refused.value)
    assert len(str(refused.value)) < 500 + len(str(path))


@pytest.mark.parametrize("content", [b"", b"xxxx", b"\x10\x00" + b"\x00" * 500, b"\xff" * 5000])
def test_a_file_that_only_begins_like_a_database_is_refused(
    tmp_path: Path, load: Load, content: bytes
) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\x00" + content)
    with pytest.raises(NotASessionError, match="SQLite database"):
        load(path)


def test_damage_costs_what_is_damaged_or_is_one_line(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path)) as database, database:
        add_session(database, "ses_a")
        for number in range(40):
            add(database, "ses_a", f"msg_{number:02}", "user", "word " * 300, created=number)
    sound = path.read_bytes()
    page = 4096
    outcomes: set[str] = set()
    for start in range(0, len(sound), page):
        path.write_bytes(sound[:start] + b"\xa5" * page + sound[start + page :])
        try:
            found = load(path)
        except SessionError as error:
            outcomes.add("refused" if "\n" not in str(error) else "lines")
            continue
        whole = len(found[0].index) == 40
        outcomes.add("whole" if whole else "less")
        assert whole or reasons(found[0])
    assert {"refused", "less"} <= outcomes <= {"refused", "less", "whole"}


def test_a_schema_that_is_no_text_is_one_line(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    create(path).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE part", b"CREATE TABLE \xb8\xfert"))
    with pytest.raises(NotASessionError, match="SQLite database that cannot be read"):
        load(path)


def test_a_cut_database_is_never_a_whole_one(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path)) as database, database:
        add_session(database, "ses_a")
        for number in range(40):
            add(database, "ses_a", f"msg_{number:02}", "user", "word " * 300, created=number)
    sound = path.read_bytes()
    for size in (len(sound) // 2, len(sound) - 4096, 5000, 150):
        path.write_bytes(sound[:size])
        try:
            found = load(path)
        except SessionError:
            continue
        assert reasons(found[0])


def test_loading_can_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(create(path)) as database, database:
        add_session(database, "ses_a")
        add(database, "ses_a", "msg_1", "user", *["x" * 200_000 for _ in range(12)])
    with pytest.raises(LoadCancelledError):
        load_sessions(path, lambda done, size: False)


def test_a_log_that_may_not_be_shared_is_read_from_a_copy(
    tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "opencode.db"
    connect = sqlite3.connect

    def refuse(address: str, *, uri: bool, timeout: float) -> sqlite3.Connection:
        if address.endswith("?mode=ro"):
            raise sqlite3.OperationalError("unable to open database file")
        return connect(address, uri=uri, timeout=timeout)

    with closing(create(path, log=True)) as database:
        with database:
            add_session(database, "ses_a")
            add(database, "ses_a", "msg_1", "user", "recent")
        monkeypatch.setattr(sqlite3, "connect", refuse)
        (found,) = load(path)
    assert bodies(found) == ["recent"]


def test_a_name_with_signs_of_an_address_is_read(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "a?mode=rwc#b %41.db"
    with closing(create(path)) as database, database:
        add_session(database, "ses_a")
        add(database, "ses_a", "msg_1", "user", "go")
    (found,) = load(path)
    assert bodies(found) == ["go"]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def _filled(path: Path, *, log: bool = False) -> sqlite3.Connection:
    database = create(path, log=log)
    with database:
        add_session(database, "ses_a")
        for number in range(3):
            add(database, "ses_a", f"msg_{number}", "user", f"go {number}", created=number + 1)
    return database


def _unpack(path: Path, tell: Callable[[], None]) -> Plain:
    into = Unpacking(1, 1, tell)
    descriptor, _ = open_regular(path)
    try:
        OpenCodeDatabase().unpack(path, descriptor, into)
        return into.finish()
    finally:
        into.close()
        os.close(descriptor)


def test_who_writes_to_a_database_without_a_log_waits_until_it_was_read(
    tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opencode_database, "_STEPS", 1)
    path = tmp_path / "opencode.db"
    waited: list[str] = []
    with closing(_filled(path)) as database:
        database.execute("PRAGMA busy_timeout = 0")

        def write() -> None:
            try:
                with database:
                    database.execute("UPDATE session SET title = title")
            except sqlite3.OperationalError as error:
                waited.append(str(error))

        os.close(_unpack(path, write).descriptor)
        assert waited
        # A change in the making is nothing that was broken off.
        database.execute("UPDATE part SET data = 'no'")
        (found,) = load(path)
        assert (bodies(found), reasons(found)) == (["go 0", "go 1", "go 2"], [])


def test_a_database_that_is_written_to_while_it_is_read_alone_is_to_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opencode_database, "_STEPS", 1)
    path = tmp_path / "opencode.db"
    _filled(path, log=True).close()

    def write() -> None:
        with path.open("ab") as file:
            file.write(b"\0" * 4096)

    with pytest.raises(SessionError, match="changed while it was read"):
        _unpack(path, write)


def test_a_copy_is_of_one_moment_and_has_no_name_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(opencode_database, "_STEPS", 1)
    path = tmp_path / "opencode.db"
    alone = tmp_path / "alone.db"
    with closing(_filled(path, log=True)):
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{alone}{ending}")
    seen: list[int] = []
    changes = [b"one", b"more"]

    def watch() -> None:
        seen.append(sum(each.is_file() for each in scratch.rglob("*")))
        if changes:
            with open(f"{alone}-wal", "ab") as file:
                file.write(changes.pop())

    os.close(_unpack(alone, watch).descriptor)
    assert not changes
    assert seen[-1] == 0
    assert list(scratch.iterdir()) == []


def test_rows_without_an_object_are_counted(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    with closing(_filled(path)) as database, database:
        for number, data in enumerate((None, 5, "7", "[]", b"\xff")):
            row = (f"odd_{number}", "msg_1", "ses_a", 1, data)
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    (found,) = load(path)
    assert bodies(found) == ["go 0", "go 1", "go 2"]
    (note,) = found.diagnostics
    assert (note.reason, note.count) == ("rows whose data is nothing that OpenCode writes", 5)


def test_parts_that_cannot_be_read_at_all_are_the_reason_of_the_refusal(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.create_collation("own", lambda one, other: (one > other) - (one < other))
        database.executescript(SCHEMA.replace("message_id TEXT", "message_id TEXT COLLATE own"))
        add_session(database, "ses_a")
        add(database, "ses_a", "msg_1", "user", "go")
    with pytest.raises(NotASessionError, match="no such collation sequence: own"):
        load_sessions(path)


def test_messages_whose_parts_are_missing_and_forks_are_said(tmp_path: Path, load: Load) -> None:
    path = tmp_path / "opencode.db"
    with closing(_filled(path)) as database, database:
        add_session(database, "ses_fork", created=9)
        for number in range(2):
            add(database, "ses_fork", f"copy_{number}", "user", f"go {number}", created=number + 1)
        add(database, "ses_fork", "msg_9", "user", created=9)
    found, _ = load(path)
    assert [(each.reason, each.count) for each in found.diagnostics] == [
        ("messages of the user without a part of theirs", 1),
        ("sessions that begin with the messages of another", 1),
    ]
