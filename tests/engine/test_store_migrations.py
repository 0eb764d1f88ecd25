"""A store of an older schema: copied first, brought up to date whole, or only read."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.marks import Mark
from longjudge.store import Store, StoreWriteError, earlier_verdicts
from longjudge.store.migrations import SCHEMA_VERSION
from sessions_for_tests import write_session
from stores_for_tests import BY, KEPT, OLD_RESULT, old_store

if TYPE_CHECKING:
    from pathlib import Path

OLD_VERSIONS = range(1, SCHEMA_VERSION)


def held(path: Path) -> tuple[int, int, int]:
    """Schema, verdicts and judgments of a file, as SQLite finds them."""
    connection = sqlite3.connect(path)
    [found] = connection.execute(
        "SELECT user_version, (SELECT count(*) FROM verdicts), (SELECT count(*) FROM judgments)"
        " FROM pragma_user_version"
    ).fetchall()
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return found


def names(folder: Path) -> set[str]:
    """What stands in a folder."""
    return {item.name for item in folder.iterdir()}


@pytest.mark.parametrize("version", OLD_VERSIONS)
async def test_a_store_of_any_older_schema_is_copied_and_brought_up_to_date(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, judgments=3, version=version)
    backup = tmp_path / f"s.sqlite.schema-{version}.backup"
    backup.write_bytes(b"a copy that was cut off")
    store = await Store.open(path)
    assert store.write_error is None
    [notice] = store.notices
    assert notice.endswith(f"as it was before it stands beside it as {backup.name}")
    assert await store.kept(["k1"]) == {"k1": KEPT}
    assert await earlier_verdicts(store, "k1") == []
    await store.keep("k2", KEPT, BY)
    await store.aclose()
    assert held(path) == (SCHEMA_VERSION, 2, 3)
    assert held(backup) == (version, 1, 3)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert names(tmp_path) == {"s.sqlite", backup.name}
    again = await Store.open(path)
    assert again.notices == []
    await again.aclose()


async def test_a_new_store_needs_no_copy(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    assert store.notices == []
    await store.aclose()
    assert names(tmp_path) == {"s.sqlite"}


async def test_a_copy_holds_what_stands_in_the_log_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, version=3)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("DELETE FROM judgments")
    writer.commit()
    store = await Store.open(path)
    await store.aclose()
    writer.close()
    assert held(tmp_path / "s.sqlite.schema-3.backup") == (3, 1, 0)


@pytest.mark.parametrize(
    "in_the_way", ["s.sqlite.schema-2.backup", "s.sqlite.schema-2.backup.part"]
)
async def test_where_no_copy_can_be_made_nothing_is_changed_and_the_store_is_read(
    tmp_path: Path, in_the_way: str
) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, version=2)
    (tmp_path / in_the_way / "folder").mkdir(parents=True)
    store = await Store.open(path)
    assert store.write_error is not None
    assert "no copy of it can be made" in store.write_error
    assert "start again" in store.write_error
    assert await store.kept(["k1"]) == {"k1": KEPT}
    with pytest.raises(StoreWriteError):
        await store.keep("k2", KEPT, BY)
    await store.aclose()
    assert held(path) == (2, 1, 1)


async def test_whoever_stops_while_the_copy_is_made_leaves_the_store_as_it_was(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, version=3)
    store = await Store.open(path, give_up=lambda: True)
    assert store.write_error is not None
    await store.aclose()
    assert held(path) == (3, 1, 1)
    assert names(tmp_path) == {"s.sqlite"}


def test_the_command_says_where_the_copy_is(tmp_path: Path) -> None:
    path, session = tmp_path / "s.sqlite", write_session(tmp_path / "s.jsonl", 1)
    old_store(path, version=3)
    judged = longjudge("judge", session, "--model", "offline", "--store", path)
    assert judged.code == 0
    assert f"longjudge: {path}: brought from schema 3 to {SCHEMA_VERSION}" in judged.err
    assert "s.sqlite.schema-3.backup" in judged.err


async def test_an_older_store_is_brought_up_to_date_with_all_that_it_holds(tmp_path: Path) -> None:
    path, session = tmp_path / "s.sqlite", tmp_path / "a.jsonl"
    link = tmp_path / "link.jsonl"
    link.symlink_to(session)
    old_store(path, str(link))
    store = await Store.open(path)
    assert store.write_error is None
    assert await store.kept(["k1"]) == {"k1": KEPT}
    [past] = await store.last_judgments()
    assert (past.id, past.real_path, past.digests) == ("j_old0", str(session), ())
    assert past.result == {"id": "j_old", "score": 0.5, "findings": []}
    await store.set_mark(b"\x01", "a", Mark.RIGHT)
    await store.keep("k2", KEPT, BY)
    await store.aclose()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


async def test_an_older_store_that_is_only_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, "relative.jsonl", judgments=2, version=1)
    before = path.read_bytes()
    store = await Store.open_to_read(path)
    assert await store.kept(["k1"]) == {"k1": KEPT}
    assert await store.marks() == {}
    # Nobody noted in which folder the relative path was meant.
    assert await store.last_judgments() == []
    assert [past.id for past in await store.judgments()] == ["j_old1", "j_old0"]
    past = await store.judgment("j_old0")
    assert past is not None
    assert past.result == OLD_RESULT
    await store.aclose()
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["s.sqlite"]


async def test_an_older_store_on_a_medium_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path)
    monkeypatch.setattr("longjudge.store.file.make_file", lambda path: "read-only file system")
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    store = await Store.open(path)
    assert store.write_error == "read-only file system"
    assert await store.kept(["k1"]) == {"k1": KEPT}
    assert [past.real_path for past in await store.last_judgments()] == ["/sessions/a.jsonl"]
    with pytest.raises(StoreWriteError):
        await store.set_mark(b"\x01", "a", Mark.RIGHT)
    await store.aclose()


async def test_an_older_store_that_is_held_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")

    def let_go() -> bool:
        # Called after the first try, which met the lock.
        if holder.in_transaction:
            holder.execute("ROLLBACK")
        return False

    store = await Store.open(path, give_up=let_go)
    holder.close()
    assert store.write_error is None
    await store.set_mark(b"\x01", "a", Mark.RIGHT)
    await store.aclose()


def test_processes_that_meet_an_older_store_at_once_all_write_to_it(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, judgments=500)
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from longjudge.marks import Mark\n"
        "from longjudge.store import Store\n"
        "async def main():\n"
        "    store = await Store.open(Path(sys.argv[1]))\n"
        "    assert store.write_error is None, store.write_error\n"
        "    await store.set_mark(sys.argv[2].encode(), 'a', Mark.WRONG)\n"
        "    await store.aclose()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script, os.fspath(path), str(number)])
        for number in range(5)
    ]
    assert [process.wait() for process in processes] == [0] * 5
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM marks").fetchone() == (5,)
        assert connection.execute("SELECT count(*) FROM judgments").fetchone() == (500,)
    connection.close()
