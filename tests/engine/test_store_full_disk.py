"""Where nothing can be written: judging goes on, what is said is true, what is kept is used."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands_for_tests import longjudge
from longjudge.api import open_session
from longjudge.cli.present import result_text
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.losses import how_much
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.store import KeptVerdict, Store, StoreWriteError
from longjudge.store.file import StoreFile
from longjudge.store.names import copy_apart
from longjudge.store.times_asked import times_asked
from longjudge.updates import StoreFailed, StoreTakes
from sessions_for_tests import CHUNK_CHARS, write_session
from stores_for_tests import BY, KEPT, VERDICT, full_store, old_store, spoil

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="no limits on the size of files there"
)
OPTIONS = ("--model", "offline", "--chunk-chars", CHUNK_CHARS, "--json")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of four chunks."""
    return write_session(tmp_path / "s.jsonl", 4)


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Alone in a folder, where what is left beside it is seen."""
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder / "s.sqlite"


def on_a_full_disk(most: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a process that can make no file longer than `most` bytes."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
    main = "import sys; from longjudge.cli import main; sys.exit(main())"
    finished = subprocess.run(
        # Half of a compiled module, which others would import, must not be left behind.
        [sys.executable, "-B", "-c", limit + main, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in finished.stderr
    return finished


def judged(finished: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one result of a command that ended well."""
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


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


def test_on_a_full_disk_kept_verdicts_are_used_and_results_shown(
    session: Path, store_path: Path
) -> None:
    assert longjudge("judge", session, *OPTIONS, "--store", store_path).code == 0
    again = on_a_full_disk(4096, "judge", session, *OPTIONS, "--store", store_path)
    result = judged(again)
    assert result["calls"] == 0
    assert result["cached_chunks"] == result["chunks"] > 1
    assert result["store_error"]
    assert "nothing is kept" in again.stderr
    listed = on_a_full_disk(4096, "results", "--store", store_path)
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 1)


async def test_a_log_that_was_left_on_a_medium_that_cannot_be_written_is_read(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = await Store.open(tmp_path / "w.sqlite")
    await writer.keep("k1", KEPT, BY)
    shutil.copyfile(tmp_path / "w.sqlite", store_path)
    shutil.copyfile(tmp_path / "w.sqlite-wal", store_path.with_name("s.sqlite-wal"))
    await writer.aclose()
    # No index of the log can be made where a folder has its name.
    store_path.with_name("s.sqlite-shm").mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", os.fspath(temporary))
    store = await Store.open_to_read(store_path)
    assert await store.kept(["k1"]) == {"k1": KEPT}
    await store.aclose()
    assert list(temporary.iterdir()) == []
    assert {item.name for item in store_path.parent.iterdir()} == {
        "s.sqlite",
        "s.sqlite-shm",
        "s.sqlite-wal",
    }


def test_a_copy_that_is_read_instead_is_for_its_owner_only(store_path: Path) -> None:
    for file in (store_path, store_path.with_name("s.sqlite-wal")):
        file.write_bytes(b"words")
        file.chmod(0o644)
    with copy_apart(store_path) as folder:
        copies = {file.name: file for file in Path(folder).iterdir()}
        assert copies.keys() == {"s.sqlite", "s.sqlite-wal"}
        for copy in copies.values():
            assert (copy.read_bytes(), stat.S_IMODE(copy.stat().st_mode)) == (b"words", 0o600)


def test_verdicts_of_a_killed_process_are_read_on_a_full_disk(
    session: Path, store_path: Path
) -> None:
    """They stand in the log alone, and nothing can be made beside it."""
    script = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from longjudge import judge_session\n"
        "async def main():\n"
        "    await judge_session(sys.argv[1], model='offline', chunk_chars=int(sys.argv[2]),"
        " store=sys.argv[3])\n"
        "import longjudge.store.file as file\n"
        "async def die(self): os.kill(os.getpid(), signal.SIGKILL)\n"
        "file.StoreFile.aclose = die\n"
        "asyncio.run(main())\n"
    )
    words = [os.fspath(session), str(CHUNK_CHARS), os.fspath(store_path)]
    killed = subprocess.run([sys.executable, "-c", script, *words], check=False)
    assert killed.returncode == -signal.SIGKILL
    log = store_path.with_name("s.sqlite-wal")
    assert log.stat().st_size > store_path.stat().st_size
    store_path.with_name("s.sqlite-shm").unlink()
    before = log.read_bytes()
    result = judged(on_a_full_disk(4096, "judge", session, *OPTIONS, "--store", store_path))
    assert (result["calls"], result["cached_chunks"]) == (0, 4)
    assert result["store_error"]
    listed = on_a_full_disk(4096, "results", "--store", store_path)
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 1)
    assert log.read_bytes() == before
    # With room again everything is there.
    again = longjudge("judge", session, *OPTIONS, "--store", store_path).objects[0]
    assert (again["calls"], again["store_error"]) == (0, None)


@pytest.mark.parametrize("most", [0, 20_000])
def test_a_disk_that_is_full_from_the_start_costs_no_verdict(
    session: Path, store_path: Path, most: int
) -> None:
    finished = on_a_full_disk(most, "judge", session, *OPTIONS, "--store", store_path)
    result = judged(finished)
    assert (result["status"], result["judged_chunks"]) == ("complete", 4)
    assert result["store_error"]
    assert finished.stderr.count("nothing is kept") == 1
    again = longjudge("judge", session, *OPTIONS, "--store", store_path).objects[0]
    assert (again["status"], again["store_error"]) == ("complete", None)


def test_an_older_store_is_only_read_where_its_copy_has_no_room(
    session: Path, store_path: Path
) -> None:
    old_store(store_path, judgments=40, version=3)
    before = store_path.read_bytes()
    most = store_path.stat().st_size - 1
    finished = on_a_full_disk(most, "judge", session, *OPTIONS, "--store", store_path)
    assert judged(finished)["store_error"]
    assert "no copy of it can be made" in finished.stderr
    assert store_path.read_bytes()[100:] == before[100:]
    assert [item.name for item in store_path.parent.iterdir()] == ["s.sqlite"]
    again = longjudge("judge", session, *OPTIONS, "--store", store_path)
    assert again.objects[0]["store_error"] is None
    assert "s.sqlite.schema-3.backup" in again.err


def test_a_damaged_store_stays_where_a_new_one_has_no_room(session: Path, store_path: Path) -> None:
    full_store(store_path, 40)
    spoil(store_path, 1, byte=b"\0")
    damaged = store_path.read_bytes()
    finished = on_a_full_disk(40_000, "judge", session, *OPTIONS, "--store", store_path)
    assert judged(finished)["judged_chunks"] == 4
    assert "cannot be put aside" in finished.stderr
    assert [item.name for item in store_path.parent.iterdir()] == ["s.sqlite"]
    assert store_path.read_bytes() == damaged


class Disk:
    """Fills up, and has room again, in the middle of a judgment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, full: set[int]) -> None:
        self.writes = 0
        keep = Store.keep

        async def keep_or_fail(store: Store, *args: Any, **others: Any) -> None:
            self.writes += 1
            if self.writes in full:
                raise StoreWriteError("s.sqlite: database or disk is full")
            await keep(store, *args, **others)

        monkeypatch.setattr(Store, "keep", keep_or_fail)


async def judge(session: Path, store_path: Path) -> tuple[Any, list[object]]:
    """Judge it, one question at a time; the result, and what was said about the store."""
    said: list[object] = []
    store, opened = await Store.open(store_path), await open_session(session)
    judgment = Judgment(
        opened,
        rubric=load_rubric("chunks"),
        judge=OfflineJudge(),
        store=store,
        settings=Settings(chunk_chars=int(CHUNK_CHARS), concurrency=1),
        listener=lambda update: (
            said.append(update) if isinstance(update, StoreFailed | StoreTakes) else None
        ),
    )
    result = await judgment.run()
    opened.close()
    await store.aclose()
    return result, said


async def test_what_a_full_disk_refused_is_kept_once_there_is_room(
    session: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(monkeypatch, {2, 3})
    result, said = await judge(session, store_path)
    assert result.store_error is None
    assert [type(update) for update in said] == [StoreFailed, StoreTakes]
    again, _ = await judge(session, store_path)
    assert (again.calls, again.cached_chunks) == (0, 4)


async def test_what_was_kept_though_the_store_said_otherwise_is_no_second_answer(
    session: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, kept = Store.keep, list[object]()

    async def keep_and_fail_once(store: Store, *args: Any, **others: Any) -> None:
        await keep(store, *args, **others)
        kept.append(args)
        if len(kept) == 2:
            raise StoreWriteError("s.sqlite: the file was removed or replaced")

    monkeypatch.setattr(Store, "keep", keep_and_fail_once)
    result, _ = await judge(session, store_path)
    assert (result.store_error, len(kept)) == (None, 5)
    store = await Store.open_to_read(store_path)
    assert await times_asked(store) == {}
    await store.aclose()


async def test_what_was_refused_to_the_end_is_counted(
    session: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(monkeypatch, set(range(3, 100)))
    result, said = await judge(session, store_path)
    assert result.store_error.endswith("disk is full; 2 of 4 verdicts were not kept")
    assert how_much(result.store_error) == "not all"
    assert [type(update) for update in said] == [StoreFailed]
    shown = result_text(result.to_dict())
    assert "NOT ALL WAS KEPT: s.sqlite: database or disk is full; 2 of 4" in shown


class FullDisk:
    """Takes nothing that is written while it is `full`; fills up after so many verdicts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
        self.most = most
        commit, keep = StoreFile._commit, Store.keep

        async def commit_or_fail(store: StoreFile, step: Any) -> int:
            if self.most <= 0:
                raise StoreWriteError("s.sqlite: database or disk is full")
            return await commit(store, step)

        async def keep_and_count(store: Store, *args: Any, **others: Any) -> None:
            await keep(store, *args, **others)
            self.most -= 1

        monkeypatch.setattr(StoreFile, "_commit", commit_or_fail)
        monkeypatch.setattr(Store, "keep", keep_and_count)


async def test_what_was_refused_to_the_end_is_asked_by_no_later_judgment_of_the_process(
    session: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch, 2)
    store, opened = await Store.open(store_path), await open_session(session)

    async def judge_again() -> Any:
        settings = Settings(chunk_chars=int(CHUNK_CHARS), concurrency=1)
        rubric, judge = load_rubric("chunks"), OfflineJudge()
        return await Judgment(
            opened, rubric=rubric, judge=judge, store=store, settings=settings
        ).run()

    first = await judge_again()
    assert (first.calls, how_much(first.store_error)) == (4, "not all")
    # There is no room yet: what is paid for is used all the same, and said not to be kept.
    again = await judge_again()
    assert (again.calls, again.judged_chunks) == (0, 4)
    assert again.store_error.endswith("; 2 verdicts are not kept")
    assert store.owed.words == again.store_error
    disk.most = 100
    last = await judge_again()
    assert (last.calls, last.cached_chunks, last.store_error) == (0, 4, None)
    assert not store.owed
    assert await store.read("SELECT * FROM leases") == []
    # What was recorded late says what is kept by now.
    assert [each.result["store_error"] for each in await store.judgments()] == [None] * 3
    assert await times_asked(store) == {}
    opened.close()
    await store.aclose()


async def test_what_was_refused_to_the_end_is_kept_when_the_store_is_closed(
    session: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch, 1)
    open_store = Store.aclose

    async def make_room(store: Store) -> None:
        disk.most = 100
        await open_store(store)

    monkeypatch.setattr(Store, "aclose", make_room)
    result, _ = await judge(session, store_path)
    assert result.store_error
    store = await Store.open_to_read(store_path)
    assert len(await store.all_keys()) == 4
    assert await store.read("SELECT * FROM leases") == []
    await open_store(store)


@pytest.mark.parametrize(
    ("room", "said"),
    [
        (False, "NOT ALL IS KEPT: s.sqlite: database or disk is full; "),
        (True, "what the store did not take at first is kept by now"),
    ],
)
def test_the_command_says_at_its_end_what_is_not_kept(
    session: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch, room: bool, said: str
) -> None:
    disk, aclose = FullDisk(monkeypatch, 2), Store.aclose

    async def make_room(store: Store) -> None:
        disk.most = 100 if room else 0
        await aclose(store)

    monkeypatch.setattr(Store, "aclose", make_room)
    other = write_session(session.with_name("t.jsonl"), 6)
    finished = longjudge("judge", session, other, *OPTIONS, "--store", store_path)
    assert sorted(each["judged_chunks"] for each in finished.objects) == [4, 6]
    # The chunks that both have are paid for once.
    assert sum(each["calls"] for each in finished.objects) == 6
    assert said in finished.err
