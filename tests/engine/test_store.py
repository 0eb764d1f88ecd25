"""The store: what is committed stays, what cannot be written is said, nothing is taken over."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from longjudge.errors import StoreError
from longjudge.judges.base import Usage
from longjudge.store import KeptVerdict, Provenance, Store, StoreWriteError
from longjudge.store.migrations import SCHEMA_VERSION
from longjudge.verdict import Finding, Verdict

VERDICT = Verdict(("a", "b"), (Finding("a", "note \ufffd", 2, 'quote "x"\n'),))
KEPT = KeptVerdict(VERDICT, '{"raw": true}', disagrees=False)
BY = Provenance("claude-x", "https://e", "chunks", "12345678", Usage(10, 2), 0.5)


async def test_a_kept_verdict_is_found_by_its_key_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store.aclose()
    again = await Store.open(path)
    assert await again.kept(["k0", "k1"]) == {"k1": KEPT}
    assert await again.kept_keys(["k0", "k1"]) == {"k1"}
    assert await again.all_keys() == {"k1"}
    await again.aclose()


async def test_many_keys_are_looked_up_at_once(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    await store.keep("k12345", KEPT, BY)
    assert await store.kept_keys([f"k{n}" for n in range(20_000)]) == {"k12345"}
    await store.aclose()


async def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    await (await Store.open(path)).aclose()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_cancelled_caller_does_not_undo_a_write(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    write = asyncio.ensure_future(store.keep("k1", KEPT, BY))
    await asyncio.sleep(0)
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    await store.aclose()
    again = await Store.open(tmp_path / "s.sqlite")
    assert await again.all_keys() == {"k1"}
    await again.aclose()


async def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    await (await Store.open(path)).aclose()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    for opening in (Store.open, Store.open_to_read):
        with pytest.raises(StoreError, match=r"newer longjudge.*--store"):
            await opening(path)


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"my diary, not a database\n" * 100)
    for opening in (Store.open, Store.open_to_read):
        with pytest.raises(StoreError, match="not a longjudge store"):
            await opening(path)
    assert path.read_bytes().startswith(b"my diary")


async def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()
    with pytest.raises(StoreError, match="not a longjudge store"):
        await Store.open(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]
    connection.close()


async def test_a_place_that_cannot_be_written_gives_a_store_that_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    store = await Store.open(blocked / "s.sqlite")
    assert store.write_error
    assert await store.kept(["k1"]) == {}
    with pytest.raises(StoreWriteError):
        await store.keep("k1", KEPT, BY)
    await store.aclose()


async def test_a_full_disk_is_a_write_error_and_the_store_stays_usable(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store._connection.execute("PRAGMA max_page_count = 1")
    big = KeptVerdict(VERDICT, "x" * 1_000_000, disagrees=False)
    with pytest.raises(StoreWriteError, match="full"):
        await store.keep("k2", big, BY)
    assert await store.kept_keys(["k1", "k2"]) == {"k1"}
    await store.aclose()


async def test_reading_creates_nothing(tmp_path: Path) -> None:
    store = await Store.open_to_read(tmp_path / "none" / "s.sqlite")
    assert await store.kept_keys(["k"]) == set()
    await store.aclose()
    assert list(tmp_path.iterdir()) == []


async def test_a_row_that_does_not_read_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store._connection.execute("UPDATE verdicts SET verdict = '{\"criteria\": [1'")
    assert await store.kept(["k1"]) == {}
    await store.aclose()


def test_processes_that_start_at_once_share_a_new_store(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from longjudge.store import *\n"
        "from longjudge.verdict import Verdict\n"
        "from longjudge.judges.base import Usage\n"
        "async def main():\n"
        "    store = await Store.open(Path(sys.argv[1]))\n"
        "    assert store.write_error is None, store.write_error\n"
        "    for n in range(20):\n"
        "        await store.keep(f'{sys.argv[2]}-{n}',"
        " KeptVerdict(Verdict((), ()), '', False), Provenance('m','e','r','v',Usage(),None))\n"
        "    await store.aclose()\n"
        "asyncio.run(main())\n"
    )
    path = tmp_path / "s.sqlite"
    processes = [
        subprocess.Popen([sys.executable, "-c", script, os.fspath(path), str(number)])
        for number in range(6)
    ]
    assert [process.wait() for process in processes] == [0] * 6
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM verdicts").fetchone() == (120,)
    connection.close()


async def test_a_store_that_another_process_holds_is_opened_to_read_and_says_so(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    first = await Store.open(path)
    await first.keep("k1", KEPT, BY)
    await first.aclose()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 0")
    connection.close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    asked = iter([False, True])
    store = await Store.open(path, give_up=lambda: next(asked, True))
    assert store.write_error is not None
    assert "locked" in store.write_error
    await store.aclose()
    holder.execute("ROLLBACK")
    holder.close()


@pytest.mark.parametrize("name", ["a?b#c%20d.sqlite", "new\nline.sqlite", "sp ace.sqlite"])
async def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    store = await Store.open(path)
    assert store.write_error is None
    await store.keep("k1", KEPT, BY)
    await store.aclose()
    assert path.exists()
    reader = await Store.open_to_read(path)
    assert await reader.all_keys() == {"k1"}
    await reader.aclose()


async def test_a_path_with_two_slashes_or_bytes_that_are_no_text_will_do(tmp_path: Path) -> None:
    for path in (Path(f"/{tmp_path}/two.sqlite"), tmp_path / os.fsdecode(b"n\xff.sqlite")):
        store = await Store.open(path)
        assert store.write_error is None
        await store.aclose()


async def test_reading_leaves_nothing_beside_the_store(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    await (await Store.open(path)).aclose()
    before = path.read_bytes()
    reader = await Store.open_to_read(path)
    await reader.all_keys()
    await reader.aclose()
    assert [item.name for item in tmp_path.iterdir()] == ["s.sqlite"]
    assert path.read_bytes() == before


async def test_a_store_on_a_medium_that_cannot_be_written_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store.aclose()
    # Whoever runs the tests may write everywhere; the medium's answer is put in their place.
    monkeypatch.setattr("longjudge.store.store.make_file", lambda path: "read-only file system")
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    store = await Store.open(path)
    assert store.write_error == "read-only file system"
    assert await store.all_keys() == {"k1"}
    await store.aclose()


async def test_a_damaged_store_is_one_message_and_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    for number in range(200):
        await store.keep(f"k{number}", KEPT, BY)
    await store.aclose()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    path.write_bytes(data)
    damaged = await Store.open_to_read(path)
    with pytest.raises(StoreError, match="cannot be read"):
        await damaged.kept_keys(["k1"])
    await damaged.aclose()


async def test_a_store_removed_while_it_is_open_is_a_write_error(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    path.unlink()
    with pytest.raises(StoreWriteError, match="removed or replaced"):
        await store.keep("k2", KEPT, BY)
    await store.aclose()


async def test_a_verdict_that_stands_already_can_be_left_standing(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    other = KeptVerdict(Verdict(("a",), ()), "other", disagrees=True)
    await store.keep("k1", KEPT, BY)
    await store.keep("k1", other, BY, replace=False)
    assert (await store.kept(["k1"]))["k1"] == KEPT
    await store.keep("k1", other, BY)
    assert (await store.kept(["k1"]))["k1"] == other
    await store.aclose()
