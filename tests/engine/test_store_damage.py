"""A damaged store: put aside, with everything that can be read in a new one; never another's."""

from __future__ import annotations

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
from longjudge.store import (
    DamagedStoreError,
    Store,
    StoreWriteError,
    aside,
    damage,
    earlier_verdicts,
)
from longjudge.store.migrations import SCHEMA_VERSION
from longjudge.store.names import MAGIC
from stores_for_tests import (
    BY,
    KEPT,
    PAGE,
    full_store,
    judgment,
    key_of,
    leaf_pages,
    old_store,
    root_page,
    spoil,
)

COUNT = 60
ON_A_PAGE = 10
"""Verdicts at most on one page; the rest of each overflows into another."""


def set_aside(path: Path) -> Path:
    """The one file that was put aside."""
    [aside] = [
        item
        for item in path.parent.iterdir()
        if ".damaged-" in item.name and not item.name.endswith("-wal")
    ]
    return aside


async def opened(path: Path) -> tuple[set[str], list[str]]:
    """The keys of a store that was opened to be written, and what was said about it."""
    store = await Store.open(path)
    assert store.write_error is None
    await store.keep("new", KEPT, BY)
    keys, notices = await store.all_keys() - {"new"}, store.notices
    [(checked,)] = await store.read("PRAGMA integrity_check")
    assert checked == "ok"
    await store.aclose()
    return keys, notices


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, set[str], list[int], int]:
    """A store in order: its bytes, its keys, its pages of verdicts, the root of them."""
    path = tmp_path_factory.mktemp("sound") / "s.sqlite"
    keys = full_store(path, COUNT)
    return path.read_bytes(), keys, leaf_pages(path), root_page(path, "verdicts")


@pytest.fixture
def path(tmp_path: Path, sound: tuple[bytes, set[str], list[int], int]) -> Path:
    """The same store, to be spoiled."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(sound[0])
    return path


@pytest.fixture
def keys(sound: tuple[bytes, set[str], list[int], int]) -> set[str]:
    """What it holds."""
    return sound[1]


@pytest.fixture
def leaves(sound: tuple[bytes, set[str], list[int], int]) -> list[int]:
    """Its pages of verdicts."""
    return sound[2]


@pytest.mark.parametrize("begin", [b"\0" * 16, b"\0" * 100, b"\0" * PAGE, b"\xaa\xfe" * 50])
async def test_a_store_whose_head_is_gone_is_put_aside_and_loses_no_verdict(
    path: Path, keys: set[str], begin: bytes
) -> None:
    data = path.read_bytes()
    path.write_bytes(begin + data[len(begin) :])
    damaged = path.read_bytes()
    found, [notice] = await opened(path)
    assert found == keys
    aside = set_aside(path)
    assert aside.read_bytes() == damaged
    assert f"{path}: the store was damaged (file is not a database)" in notice
    assert f"put aside as {aside.name}; a new store holds its {COUNT} verdicts" in notice
    for file in (path, aside):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert await opened(path) == (keys, [])


async def test_damaged_pages_cost_only_what_stood_on_them(
    path: Path, keys: set[str], leaves: list[int]
) -> None:
    spoil(path, leaves[2], leaves[5])
    found, [notice] = await opened(path)
    lost = len(keys - found)
    assert found < keys
    assert 1 <= lost <= 2 * ON_A_PAGE
    assert f"{COUNT - lost} verdicts, 0 judgments and 0 marks that could still be read" in notice


async def test_where_the_way_to_the_verdicts_is_lost_they_are_found_all_the_same(
    path: Path, keys: set[str], sound: tuple[bytes, set[str], list[int], int]
) -> None:
    spoil(path, sound[3])
    found, _ = await opened(path)
    # In a table of this kind a node holds rows of its own.
    assert len(keys - found) <= ON_A_PAGE


async def test_a_store_that_was_cut_off_keeps_its_beginning(path: Path, keys: set[str]) -> None:
    os.truncate(path, path.stat().st_size // 2)
    found, _ = await opened(path)
    assert 0 < len(found) < len(keys)
    assert found < keys


async def test_everything_else_in_a_damaged_store_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    await store.keep("k1", KEPT, BY)
    await store.record_judgment(judgment("j_1", 5.0))
    await store.set_mark(b"\x01", "a", Mark.RIGHT)
    await store.aclose()
    spoil(path, root_page(path, "leases"))
    store = await Store.open(path)
    [notice] = store.notices
    assert notice.endswith("1 verdict, 1 judgment and 1 mark, which is all of it")
    assert await store.kept(["k1"]) == {"k1": KEPT}
    assert len(await earlier_verdicts(store, "k1")) == 1
    assert [past.id for past in await store.last_judgments()] == ["j_1"]
    assert await store.marks() == {(b"\x01", "a"): Mark.RIGHT}
    await store.aclose()


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
@pytest.mark.parametrize("wiped", [True, False])
async def test_an_older_store_is_saved_from_damage_into_one_of_today(
    tmp_path: Path, wiped: bool, version: int
) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, judgments=4, version=version)
    if wiped:
        spoil(path, 1, byte=b"\0")
    else:
        os.truncate(path, path.stat().st_size - 1)
    store = await Store.open(path)
    assert store.write_error is None
    assert await store.kept(["k1"]) == {"k1": KEPT}
    assert [past.id for past in await store.judgments()] == [f"j_old{n}" for n in (3, 2, 1, 0)]
    await store.aclose()


@pytest.mark.parametrize("whole", [True, False])
async def test_what_only_the_log_holds_is_saved_with_it(tmp_path: Path, whole: bool) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    log = tmp_path / "s.sqlite-wal"
    file, written = path.read_bytes(), log.read_bytes()
    await store.aclose()
    path.write_bytes(b"\0" * len(file))
    written = written if whole else written[:500] + b"\xaa" + written[501:]
    log.write_bytes(written)
    found, _ = await opened(path)
    assert found == {"k1"}
    assert Path(f"{set_aside(path)}-wal").read_bytes() == written


async def test_a_store_whose_log_is_only_half_in_its_file_is_in_order(tmp_path: Path) -> None:
    path, log = tmp_path / "s.sqlite", tmp_path / "s.sqlite-wal"
    store = await Store.open(path)
    for number in range(COUNT):
        await store.keep(key_of(number), KEPT, BY)
    before, written = path.read_bytes(), log.read_bytes()
    await store.aclose()
    after = path.read_bytes()
    assert len(before) == PAGE < len(after)
    path.write_bytes(after[:PAGE])
    log.write_bytes(written)
    assert await opened(path) == ({key_of(number) for number in range(COUNT)}, [])


async def test_a_row_that_is_malformed_is_no_damage(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    with pytest.raises(StoreError, match="malformed JSON") as refused:
        await store.read("SELECT json_extract('{', '$.parts')")
    assert not isinstance(refused.value, DamagedStoreError)
    assert not store.stale
    await store.aclose()
    assert not damage.is_noted(store.path)


WRITER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
connection.execute("SELECT count(*) FROM marks").fetchall()
print("open", flush=True)
sys.stdin.readline()
try:
    connection.execute("INSERT INTO marks VALUES ('01', 'a', 'wrong', 1.0)")
    print("written", flush=True)
except sqlite3.OperationalError as error:
    print(error, flush=True)
"""


@pytest.mark.parametrize("moved", [(), ("-shm",), ("-shm", "-wal")])
async def test_who_has_the_old_store_open_cannot_write_while_what_was_begun_is_finished(
    path: Path, keys: set[str], moved: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", WRITER, os.fspath(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    # Killed between two of its steps.
    begun = Path(f"{path}.damaged-20260101-000000")
    os.link(path, begun)
    for ending in moved:
        Path(f"{path}{ending}").rename(f"{begun}{ending}")
    damage.note_damage(path)
    spoil(path, root_page(begun, "leases") if moved else root_page(path, "leases"))
    said: list[str] = []
    sync, its_words = aside.sync, writer.stdout

    def write_meanwhile(file: Path) -> None:
        if not said and file.is_file():
            print(file=writer.stdin, flush=True)
            said.append(its_words.readline())
        sync(file)

    monkeypatch.setattr(aside, "sync", write_meanwhile)
    found, [_] = await opened(path)
    writer.communicate()
    assert found == keys
    assert said == ["database is locked\n"]
    assert {item.name for item in path.parent.iterdir()} <= {
        path.name,
        begun.name,
        f"{begun.name}-wal",
    }


async def test_whoever_is_killed_while_the_new_store_takes_its_place_has_it_looked_at_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(path, 1, byte=b"\0")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(aside, "_move_log", killed)
    with pytest.raises(KeyboardInterrupt):
        aside.put_aside(path, damage.file_id(path), "gone", lambda: False)
    assert damage.is_noted(path)
    assert not Path(f"{path}.rescued.part").exists()


async def test_where_nothing_can_be_locked_a_store_that_another_makes_is_not_taken_for_ones_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(path, 1, byte=b"\0")
    damaged, part = path.read_bytes(), Path(f"{path}.rescued.part")

    def made_anew(*_: object) -> None:
        part.unlink()
        part.write_bytes(b"half of it")

    monkeypatch.setattr(aside, "sync", made_anew)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        aside.put_aside(path, damage.file_id(path), "gone", lambda: False)
    assert (path.read_bytes(), part.read_bytes()) == (damaged, b"half of it")


async def test_a_row_that_is_no_verdict_is_left_behind(path: Path, keys: set[str]) -> None:
    data = bytearray(path.read_bytes())
    at = data.index(b'"criteria"')
    data[at : at + 10] = b'"cr\x00\xff\xaa\xaa\xaa\xaa"'
    data[:16] = b"\0" * 16
    path.write_bytes(data)
    found, _ = await opened(path)
    assert len(found) == len(keys) - 1


FOREIGN = {
    "notes.txt": b"notes\n" * 1_000,
    "diary.sqlite": "caf\u00e9, and no database\n".encode() * 500,
    "certificates.db": b"\x00\x06\x15\x61\x00\x00\x00\x02" + b"\x10" * 4_000,
    "wiped": b"\0" * 8_192,
    "picture.png": b"\x89PNG\r\n\x1a\n" + b"\xff" * 4_000,
    "archive.tar": b"s.sqlite".ljust(512, b"\0") + MAGIC + b"raw_reply TEXT NOT NULL".ljust(4_096),
}


@pytest.mark.parametrize("name", FOREIGN)
async def test_the_file_of_somebody_else_is_refused_and_never_moved(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(FOREIGN[name])
    for opening in (Store.open, Store.open_to_read):
        with pytest.raises(StoreError, match="not a longjudge store"):
            await opening(path)
    assert [item.name for item in tmp_path.iterdir()] == [name]
    assert path.read_bytes() == FOREIGN[name]


async def test_a_damaged_database_of_another_program_is_never_moved(tmp_path: Path) -> None:
    path = tmp_path / "songs.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (title)")
    connection.executemany("INSERT INTO songs VALUES (?)", [("x" * 900,)] * 30)
    connection.commit()
    connection.close()
    data = path.read_bytes()
    for damaged in (data[: PAGE * 3], data[:100] + b"\xaa" * 20 + data[120:]):
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match="not a longjudge store"):
            await Store.open(path)
        assert path.read_bytes() == damaged
    assert [item.name for item in tmp_path.iterdir()] == ["songs.sqlite"]


async def test_a_damaged_store_that_is_read_stays_where_it_is_and_says_the_way_out(
    path: Path,
) -> None:
    spoil(path, 1, byte=b"\0")
    with pytest.raises(DamagedStoreError, match=r"damaged.*`longjudge judge`.*--store"):
        await Store.open_to_read(path)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_command_that_reads_a_damaged_store_ends_with_one_line_and_exit_2(path: Path) -> None:
    spoil(path, 1, byte=b"\0")
    refused = longjudge("results", "--store", path)
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)


async def test_where_it_cannot_be_put_aside_judging_goes_on_and_nothing_is_kept(
    path: Path, keys: set[str]
) -> None:
    spoil(path, 1, byte=b"\0")
    (path.parent / "s.sqlite.rescued.part" / "folder").mkdir(parents=True)
    store = await Store.open(path)
    assert store.write_error is not None
    assert "is damaged" in store.write_error
    assert "cannot be put aside" in store.write_error
    with pytest.raises(StoreWriteError):
        await store.keep("k", KEPT, BY)
    await store.aclose()
    (path.parent / "s.sqlite.rescued.part" / "folder").rmdir()
    (path.parent / "s.sqlite.rescued.part").rmdir()
    assert (await opened(path))[0] == keys


async def test_damage_that_is_met_in_a_run_is_told_and_dealt_with_by_the_next_start(
    path: Path, keys: set[str], leaves: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a large store is: looked at only in part when it is opened.
    monkeypatch.setattr("longjudge.store.connect.CHECKED_BYTES", 0)
    spoil(path, leaves[len(leaves) // 2])
    store = await Store.open(path)
    assert (store.write_error, store.notices) == (None, [])
    found = set(await store.kept([key_of(number) for number in range(COUNT)]))
    assert 0 < len(keys - found) <= ON_A_PAGE
    with pytest.raises(StoreWriteError, match=r"damaged.*the next start puts it aside"):
        await store.keep("k", KEPT, BY)
    await store.aclose()
    again, [notice] = await opened(path)
    assert again >= found
    assert set_aside(path).name in notice
    assert not (path.parent / "s.sqlite.look").exists()


async def test_a_store_that_turns_out_to_be_in_order_stays_where_it_is(
    path: Path, keys: set[str]
) -> None:
    damage.note_damage(path)
    assert await opened(path) == (keys, [])
    assert not damage.is_noted(path)


async def test_a_store_that_was_open_is_not_written_to_once_it_was_put_aside(
    path: Path, keys: set[str]
) -> None:
    store = await Store.open(path)
    spoil(path, root_page(path, "leases"))
    assert (await opened(path))[0] == keys
    with pytest.raises(StoreWriteError, match="removed or replaced"):
        await store.keep("k", KEPT, BY)
    await store.aclose()
    assert (await opened(path))[0] == keys


async def test_what_a_killed_process_had_begun_to_put_aside_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await store.keep("k1", KEPT, BY)
    log = Path(f"{path}-wal")
    written, file = log.read_bytes(), path.read_bytes()
    await store.aclose()
    path.write_bytes(file[:100] + b"\xaa" * 100 + file[200:])
    begun = tmp_path / "s.sqlite.damaged-20260101-000000"
    os.link(path, begun)
    Path(f"{begun}-wal").write_bytes(written)
    Path(f"{path}.rescued.part").write_bytes(b"half")
    found, [notice] = await opened(path)
    assert found == {"k1"}
    assert begun.name in notice
    assert set_aside(path) == begun


async def test_a_link_to_a_damaged_store_stays_one(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "folder" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    spoil(path, 1, byte=b"\0")
    assert len((await opened(link))[0]) == COUNT
    assert link.is_symlink()
    assert [item.name for item in link.parent.iterdir()] == ["link.sqlite"]


def test_processes_that_meet_a_damaged_store_at_once_put_it_aside_once(
    path: Path, keys: set[str]
) -> None:
    spoil(path, 1, byte=b"\0")
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from longjudge.marks import Mark\n"
        "from longjudge.store import Store\n"
        "async def main():\n"
        "    store = await Store.open(Path(sys.argv[1]))\n"
        "    assert store.write_error is None, store.write_error\n"
        "    await store.set_mark(sys.argv[2].encode(), 'a', Mark.WRONG)\n"
        "    print(len(await store.all_keys()), *store.notices)\n"
        "    await store.aclose()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, os.fspath(path), str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert [words.split()[0] for words in said] == [str(COUNT)] * 4
    assert sum("put aside" in words for words in said) == 1
    assert set_aside(path).exists()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM marks").fetchone() == (4,)
    connection.close()
