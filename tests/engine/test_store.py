"""The store: what is committed stays, what cannot be written is said, nothing is taken over."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.errors import StoreError
from longjudge.marks import Mark
from longjudge.store import Store, StoreWriteError, earlier_verdicts
from longjudge.store.migrations import SCHEMA_VERSION
from longjudge.store.past import LAST_IDS
from stores_for_tests import BY, KEPT, judgment, old_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


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


@pytest.mark.skipif(sys.platform == "win32", reason="files have other rights there")
@pytest.mark.parametrize("copied", [False, True])
async def test_the_files_are_for_their_owner_only(tmp_path: Path, copied: bool) -> None:
    path = tmp_path / "s.sqlite"
    if copied:
        old_store(path)
        path.chmod(0o644)
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    modes = {item.name: stat.S_IMODE(item.stat().st_mode) for item in tmp_path.iterdir()}
    assert {"s.sqlite", "s.sqlite-wal", "s.sqlite-shm"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    await store.aclose()


async def test_bytes_that_are_no_text_in_a_row_do_not_hide_the_others(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    for key in ("k1", "k2", "k3"):
        await store.keep(key, KEPT, BY)
    spoiled = "cast(x'41ff42' as text)"
    await store.write(f"UPDATE verdicts SET raw_reply = {spoiled} WHERE key = 'k1'", ())
    await store.write(f"UPDATE verdicts SET key = {spoiled} WHERE key = 'k3'", ())
    assert (await store.kept(["k1", "k2", "k3"]))["k2"] == KEPT
    assert {"k1", "k2"} <= await store.all_keys()
    await store.aclose()


COUNT_AND_CLOSE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(*connection.execute("SELECT count(*) FROM verdicts").fetchone())
connection.close()
"""


@pytest.mark.parametrize("opening", [Store.open, Store.open_to_read])
def test_a_store_that_is_opened_twice_in_a_process_stays_one_that_others_see(
    tmp_path: Path, opening: Callable[[Path], Awaitable[Store]]
) -> None:
    path = tmp_path / "s.sqlite"

    def seen_elsewhere() -> str:
        # The last one to close a store takes its log away, and must not think that it is the last.
        return subprocess.run(
            [sys.executable, "-c", COUNT_AND_CLOSE, os.fspath(path)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    async def keep_between() -> None:
        store = await Store.open(path)
        await store.keep("k1", KEPT, BY)
        await (await opening(path)).aclose()
        assert await asyncio.to_thread(seen_elsewhere) == "1"
        await store.keep("k2", KEPT, BY)
        assert await asyncio.to_thread(seen_elsewhere) == "2"
        await store.aclose()

    asyncio.run(keep_between())


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
async def test_what_is_no_plain_file_keeps_nothing_and_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    os.mkfifo(path)
    store = await Store.open(path)
    assert store.write_error == f"{path}: no file that could hold anything"
    await store.aclose()


async def test_a_verdict_that_is_offered_again_is_no_second_answer(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    for _ in range(2):
        await store.keep("k1", KEPT, BY, created=5.0)
    assert await earlier_verdicts(store, "k1") == []
    await store.keep("k1", KEPT, BY, created=6.0)
    assert len(await earlier_verdicts(store, "k1")) == 1
    await store.aclose()


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


async def test_a_file_of_one_byte_is_no_empty_database(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"h")
    with pytest.raises(StoreError, match="not a longjudge store"):
        await Store.open(path)
    assert path.read_bytes() == b"h"


@pytest.mark.parametrize("version", range(SCHEMA_VERSION + 1))
@pytest.mark.parametrize(
    "its_own",
    [
        "CREATE TABLE songs (title)",
        "CREATE TABLE verdicts (key, criteria, model, created)",
        "CREATE VIEW verdicts AS SELECT 1 key, 2 verdict, 3 raw_reply, 4 rubric_version",
    ],
)
async def test_the_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, version: int, its_own: str
) -> None:
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(its_own)
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    for opening in (Store.open, Store.open_to_read):
        with pytest.raises(StoreError, match=r"not a longjudge store.*another program"):
            await opening(path)
    assert path.read_bytes() == before


async def test_a_store_that_was_left_before_it_had_tables_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert path.stat().st_size
    reader = await Store.open_to_read(path)
    assert await reader.judgments() == []
    await reader.aclose()
    store = await Store.open(path)
    assert store.write_error is None
    await store.aclose()


async def test_a_path_that_cannot_be_looked_at_is_said_in_one_message(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    store = await Store.open(path)
    assert store.write_error is not None
    assert store.write_error.endswith("File name too long")
    assert await store.kept(["k1"]) == {}
    await store.aclose()
    with pytest.raises(StoreError, match=r"File name too long.*--store"):
        await Store.open_to_read(path)


async def test_reading_creates_nothing(tmp_path: Path) -> None:
    store = await Store.open_to_read(tmp_path / "none" / "s.sqlite")
    assert await store.kept_keys(["k"]) == set()
    await store.aclose()
    assert list(tmp_path.iterdir()) == []


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "damage",
    [
        "verdict = '{\"criteria\": [1'",
        f"verdict = '{{\"deep\": {DEEP}'",
        "verdict = x'00'",
        "raw_reply = x'ff'",
    ],
)
async def test_a_row_that_does_not_read_is_not_believed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store._connection.execute(f"UPDATE verdicts SET {damage}")
    assert await store.kept(["k1"]) == {}
    assert await store.kept(["k1"], with_replies=False) == {}
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
    old_store(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA journal_mode = WAL")
    holder.execute("BEGIN EXCLUSIVE")
    asked = iter([False, True])
    store = await Store.open(path, give_up=lambda: next(asked, True))
    assert store.write_error is not None
    assert "locked" in store.write_error
    assert await store.kept(["k1"]) == {"k1": KEPT}
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


async def test_a_store_removed_while_it_is_open_is_a_write_error(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    path.unlink()
    with pytest.raises(StoreWriteError, match="removed or replaced"):
        await store.keep("k2", KEPT, BY)
    await store.aclose()


async def test_a_mark_is_set_changed_and_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.set_mark(b"\x01\x02", "a", Mark.RIGHT)
    await store.set_mark(b"\x01\x02", "b", Mark.WRONG)
    await store.set_mark(b"\x01\x02", "a", Mark.WRONG)
    await store.aclose()
    store = await Store.open(path)
    assert await store.marks() == {
        (b"\x01\x02", "a"): Mark.WRONG,
        (b"\x01\x02", "b"): Mark.WRONG,
    }
    await store.set_mark(b"\x01\x02", "a", None)
    assert await store.marks() == {(b"\x01\x02", "b"): Mark.WRONG}
    await store.aclose()


async def test_the_last_judgment_of_each_session_is_the_newest(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    for number in range(3):
        await store.record_judgment(judgment(f"j_a{number}", 10.0 + number))
    await store.record_judgment(judgment("j_other", 5.0, session_id="t"))
    await store.record_judgment(judgment("j_b", 20.0, real_path="/b"))
    await store.record_judgment(judgment("j_memory", 30.0, real_path=""))
    last = await store.last_judgments()
    assert [past.id for past in last] == ["j_b", "j_a2", "j_other"]
    assert "parts" not in last[0].result
    whole = await store.judgment("j_b")
    assert whole is not None
    assert whole.result["parts"] == [{"part": 1}]
    assert await store.judgment("j_none") is None
    assert [past.id for past in await store.judgments(12.0)] == ["j_memory", "j_b", "j_a2"]
    await store.aclose()


async def test_many_judgments_are_all_listed_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, judgments=450)
    store = await Store.open(path)
    listed = [past.id for past in await store.judgments()]
    assert listed == [f"j_old{number}" for number in reversed(range(450))]
    await store.aclose()


async def test_the_newest_judgment_of_a_session_is_found_in_an_index_alone(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    steps = [row[3] for row in await store.read(f"EXPLAIN QUERY PLAN {LAST_IDS}")]
    assert any("COVERING INDEX judgments_by_session" in step for step in steps)
    steps = [row[3] for row in await store.read("EXPLAIN QUERY PLAN SELECT key FROM verdicts")]
    assert any("COVERING INDEX" in step for step in steps)
    await store.aclose()


@pytest.mark.parametrize("result", ["{", f'{{"deep": {DEEP}'])
async def test_a_judgment_that_does_not_read_is_left_out(tmp_path: Path, result: str) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    await store.record_judgment(judgment("j_1", 1.0))
    await store.record_judgment(judgment("j_2", 2.0))
    await store.write("UPDATE judgments SET summary = ?1, result = ?1 WHERE id = 'j_2'", (result,))
    assert [past.id for past in await store.judgments()] == ["j_1"]
    assert await store.judgment("j_2") is None
    await store.aclose()


def test_a_folder_named_as_the_store_to_read_is_one_message_and_exit_2(tmp_path: Path) -> None:
    for command in (("results",), ("cache", "stats")):
        refused = longjudge(*command, "--store", tmp_path)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == f"longjudge: {tmp_path}: a folder, no store; name the store's file\n"
