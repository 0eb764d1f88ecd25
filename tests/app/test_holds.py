"""What is held outside, as it is shown: taken, given back, left by the dead, and swept."""

from __future__ import annotations

import re
import time

import pytest

from longjudge.holds import list_holds
from longjudge.owner import this_process
from longjudge.store import Store
from longjudge_tui.bench import holding
from longjudge_tui.bench.holding import Holding

HOSTILE = "part 1 of /x/[/] [@click=app.quit]\x1b]0;owned\x07.jsonl"


@pytest.fixture(autouse=True)
def _released_rows_stay(monkeypatch):
    """However long a busy machine takes to look at them."""
    monkeypatch.setattr(holding, "LINGER_SECONDS", 600.0)


async def hold(store, count, *, alive=False, holder="j_other", detail="part 1 of /s/other.jsonl"):
    """Leases of another process, which is dead unless it is to be alive."""
    process, now = this_process(), time.time()
    started = process.started if alive else "1"
    pid = process.pid
    await store.write(
        "INSERT INTO owners (id, host, boot, pid, started, since, beat, beat_monotonic, doing)"
        " VALUES (?,?,?,?,?,?,?,?,?)",
        (holder, process.host, process.boot, pid, started, now, now, time.monotonic(), "test"),
    )
    keys = [f"{number:012x}{0:052x}" for number in range(count)]
    rows = [(key, holder, now + place / 1e6, detail) for place, key in enumerate(keys)]
    await store.write_together(
        ("INSERT INTO leases (key, owner, taken, detail) VALUES (?,?,?,?)", rows)
    )


async def planned(desk):
    await desk.until(lambda: desk.rows("chunks"))


async def test_a_run_shows_what_it_holds_and_a_cancel_shows_it_go(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12), gated=True) as desk:
        await planned(desk)
        await desk.press("H")
        await desk.sees("nothing is held outside")
        await desk.press("r")
        await desk.sees("HOLDS 4 leases")
        await desk.until(lambda: "◆ held" in desk.rows("holds")[0])
        await desk.until(lambda: "4 held" in desk.title("live"))
        await desk.until(
            lambda: any("this window" in row and "part 1 of a" in row for row in desk.rows("holds"))
        )
        # Enter leads to the chunk that is asked about.
        part = int(re.search(r"part (\d)", desk.rows("holds")[1])[1])
        await desk.press("down", "enter")
        await desk.until(lambda: desk.rows("chunks")[part - 1].startswith("▶"))
        await desk.press("H", "H", "x")
        desk.judge.gate.set()
        await desk.until(lambda: all("✓ released" in row for row in desk.rows("holds")[:4]))
        await desk.sees("HOLDS none")
        await desk.press("H")
        await desk.sees("FINDINGS")
        await desk.until(lambda: "HOLDS none" not in desk.text)


async def test_escape_leads_from_the_holds_to_the_chunks_and_then_to_the_library(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 12), size=(400, 30)) as desk:
        await planned(desk)
        await desk.until(lambda: "escape Library" in desk.lines[-1])
        await desk.press("H")
        await desk.until(lambda: desk.app.focused.id == "holds")
        await desk.until(lambda: "escape Library" not in desk.lines[-1])
        await desk.press("M")
        await desk.until(lambda: "[all panels M]" in desk.text)
        await desk.press("escape")
        await desk.until(lambda: "[all panels M]" not in desk.text)
        assert desk.app.focused.id == "holds"
        await desk.press("escape")
        await desk.until(lambda: desk.app.focused.id == "chunks")
        assert "HOLDS none" in desk.text
        await desk.press("escape")
        await desk.sees("SESSIONS 1")


async def test_what_the_dead_left_is_released_at_start_and_said_once(
    open_desk, write_session, tmp_path
):
    path = tmp_path / "store.sqlite"
    store = await Store.open(path)
    await hold(store, 3)
    await store.aclose()
    async with open_desk(write_session("a.jsonl", 3), store=path) as desk:
        await desk.sees("released 3 leases that a dead process left")
        assert not await list_holds(desk.bench.store)


async def test_what_the_dead_left_meanwhile_is_swept_by_a_key(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3), size=(80, 24)) as desk:
        await planned(desk)
        await hold(desk.bench.store, 2, detail=HOSTILE)
        await desk.press("H")
        await desk.sees("HOLDS 2 leases")
        rows = desk.rows("holds")
        assert "✗ abandoned" in rows[0]
        assert "dead" in rows[0]
        await desk.until(lambda: "\x1b" not in desk.text)
        await desk.press("W")
        await desk.until(lambda: "✓ released" in desk.rows("holds")[1])
        await desk.sees("HOLDS none")
        assert not await list_holds(desk.bench.store)


async def test_the_library_shows_a_thousand_of_them(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3), write_session("b.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("sessions"))
        await hold(desk.bench.store, 1000, alive=True)
        await desk.press("H")
        await desk.sees("HOLDS 1,000 leases")
        await desk.press("end")
        holds = desk.app.screen.query_one("#holds")
        await desk.until(lambda: holds.cursor == 999)
        await desk.sees("part 1 of other.jsonl")
        await desk.press("escape")
        await desk.sees("SESSIONS 2")


async def test_a_store_that_takes_nothing_stops_nobody(open_desk, write_session, monkeypatch):
    async def refuse(*_):
        raise holding.StoreError("store.sqlite: the disk is full")

    monkeypatch.setattr(holding, "sweep", refuse)
    monkeypatch.setattr(holding, "list_holds", refuse)
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await planned(desk)
        await desk.press("H")
        await desk.sees("✗ store.sqlite: the disk is full")
        await desk.press("W")
        await desk.sees("not released: store.sqlite: the disk is full")


async def test_a_sweep_releases_what_it_can_and_says_what_it_could_not(tmp_path):
    store, said = await Store.open(tmp_path / "store.sqlite"), []
    await hold(store, 3)
    await store.write(
        "CREATE TRIGGER stuck BEFORE DELETE ON leases WHEN OLD.key LIKE '000000000001%'"
        " BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END",
        (),
    )
    held = Holding(store, said.append)
    held.sweep()
    await held.aclose()
    assert [each.partition(":")[0] for each in said] == [
        "1 lease could not be released",
        "released 2 leases that a dead process left",
    ]
    assert len(await list_holds(store)) == 1
    await store.aclose()


async def test_nothing_is_read_where_nobody_looks(tmp_path, clock, monkeypatch):
    reads = []

    async def count(store):
        reads.append(store)
        return []

    monkeypatch.setattr(holding, "list_holds", count)
    store = await Store.open(tmp_path / "store.sqlite")
    held = Holding(store, pytest.fail)

    async def pass_by(seconds, *, shown):
        before = len(reads)
        for _ in range(seconds * 10):
            held.follow(shown=shown)
            await held._chores.finish()
            clock.forward(0.1)
        return len(reads) - before

    assert await pass_by(5, shown=False) == 0
    assert 4 <= await pass_by(5, shown=True) <= 6
    assert await pass_by(5, shown=False) == 0
    await held.aclose()
    await store.aclose()
