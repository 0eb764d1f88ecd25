"""The store: what is committed stays, what cannot be written is said, nothing is taken over."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from commands_for_tests import longjudge
from longjudge.errors import StoreError
from longjudge.marks import Mark
from longjudge.prices import Usage
from longjudge.store import KeptVerdict, PastJudgment, Provenance, Store, StoreWriteError
from longjudge.store.migrations import MIGRATIONS, SCHEMA_VERSION
from longjudge.store.past import LAST_IDS
from longjudge.verdict import Finding, Verdict
from sessions_for_tests import CHUNK_CHARS, write_session

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


@pytest.mark.parametrize("damage", ["verdict = '{\"criteria\": [1'", "raw_reply = x'ff'"])
async def test_a_row_that_does_not_read_is_not_believed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store._connection.execute(f"UPDATE verdicts SET {damage}")
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


async def test_a_store_on_a_medium_that_cannot_be_written_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store.aclose()
    # Whoever runs the tests may write everywhere; the medium's answer is put in their place.
    monkeypatch.setattr("longjudge.store.file.make_file", lambda path: "read-only file system")
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


OLD_RESULT = {"id": "j_old", "score": 0.5, "findings": [], "parts": [{"part": 1}]}


def old_store(path: Path, session: str = "/sessions/a.jsonl", judgments: int = 1) -> None:
    """A store as the first schema left it, with a verdict under `k1`."""
    connection = sqlite3.connect(path)
    for statement in MIGRATIONS[0]:
        connection.execute(statement)
    connection.execute(
        "INSERT INTO verdicts VALUES ('k1', ?, '{\"raw\": true}', 0, 'claude-x', 'https://e',"
        " 'chunks', '12345678', 10, 2, 0, 0, 0.5, 1.0)",
        (VERDICT.to_json(),),
    )
    for number in range(judgments):
        connection.execute(
            "INSERT INTO judgments VALUES (?, ?, 's1', 'chunks', 'v', 'offline', 'complete', ?, ?)",
            (f"j_old{number}", session, json.dumps(OLD_RESULT), 100.0 + number),
        )
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()


def judgment(
    id: str, created: float, real_path: str = "/a", session_id: str = "s", **members: object
) -> PastJudgment:
    result = {"id": id, "findings": [], "parts": [{"part": 1}]} | members
    return PastJudgment(
        id, "a", real_path, session_id, "chunks", "v", "offline", "complete", created, result, ()
    )


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
    old_store(path, "relative.jsonl", judgments=2)
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


async def test_a_judgment_that_does_not_read_is_left_out(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    await store.record_judgment(judgment("j_1", 1.0))
    await store.record_judgment(judgment("j_2", 2.0))
    await store.write("UPDATE judgments SET summary = '{', result = '{' WHERE id = 'j_2'", ())
    assert [past.id for past in await store.judgments()] == ["j_1"]
    assert await store.judgment("j_2") is None
    await store.aclose()


def _on_a_full_disk(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a process that can make no file longer."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    main = "import sys; from longjudge.cli import main; sys.exit(main())"
    return subprocess.run(
        # Half of a compiled module, which others would import, must not be left behind.
        [sys.executable, "-B", "-c", limit + main, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files there")
def test_on_a_full_disk_kept_verdicts_are_used_and_results_shown(tmp_path: Path) -> None:
    session, store = write_session(tmp_path / "s.jsonl", 4), tmp_path / "s.sqlite"
    options = ("--model", "offline", "--chunk-chars", CHUNK_CHARS, "--store", store)
    assert longjudge("judge", session, *options).code == 0
    again = _on_a_full_disk("judge", session, *options, "--json")
    result = json.loads(again.stdout)
    assert (again.returncode, result["calls"]) == (0, 0)
    assert result["cached_chunks"] == result["chunks"] > 1
    assert result["store_error"]
    assert "nothing is kept" in again.stderr
    listed = _on_a_full_disk("results", "--store", store)
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 1)


def test_a_folder_named_as_the_store_to_read_is_one_message_and_exit_2(tmp_path: Path) -> None:
    for command in (("results",), ("cache", "stats")):
        refused = longjudge(*command, "--store", tmp_path)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == f"longjudge: {tmp_path}: a folder, no store; name the store's file\n"
