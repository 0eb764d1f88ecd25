"""A store that does not take verdicts for a while: none is lost, none is asked again."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from longjudge.store import StoreWriteError
from longjudge.store.file import StoreFile
from longjudge_tui.bench import owing


class Disk:
    """Takes nothing that is written while it is full."""

    def __init__(self, monkeypatch):
        self.full = False
        commit = StoreFile._commit

        async def commit_or_fail(store, step):
            if self.full:
                raise StoreWriteError("store.sqlite: database or disk is full")
            return await commit(store, step)

        monkeypatch.setattr(StoreFile, "_commit", commit_or_fail)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


def counts(path):
    with closing(sqlite3.connect(path)) as store:
        tables = ("verdicts", "leases", "judgments")
        return tuple(store.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)


async def judge_on_a_full_disk(desk, disk):
    """Judge 6 chunks of which the store takes none; it has given leases on four before."""
    await desk.sees("0 kept · 6 to ask")
    await desk.press("r")
    await desk.until(lambda: desk.judge.asked == 4)
    await desk.until(lambda: desk.bench.run.held == 4)
    disk.full = True
    desk.judge.gate.set()
    await desk.sees("judged 6 of 6")
    await desk.sees("IS KEPT: store.sqlite: database or disk is full")
    await desk.until(lambda: not desk.bench.running)
    assert desk.judge.asked == 6


async def test_what_a_full_disk_refused_is_never_asked_again_and_kept_once_it_is_wanted(
    open_desk, write_session, tmp_path, disk, monkeypatch
):
    monkeypatch.setattr(owing, "FIRST_SECONDS", 600.0)
    store = tmp_path / "store.sqlite"
    async with open_desk(write_session("a.jsonl", 12, (3,)), gated=True) as desk:
        await judge_on_a_full_disk(desk, disk)
        await desk.press("ctrl+q")
        await desk.sees("Not everything is kept")
        await desk.sees("6 verdicts are not kept, and lost if you quit now:")
        await desk.press("escape", "r")
        await desk.until(lambda: desk.bench.run.result and desk.bench.run.result.calls == 0)
        await desk.sees("judged 6 of 6")
        await desk.sees("IS KEPT: store.sqlite: database or disk is full")
        await desk.press("W")
        await desk.sees("6 verdicts are still not kept")
        assert counts(store) == (0, 4, 0)
        disk.full = False
        await desk.press("W")
        await desk.sees("kept 6 verdicts that the store had")
        await desk.sees("released 4 leases of a judgment")
        await desk.sees("6 kept · 0 to ask")
        await desk.until(lambda: "IS KEPT" not in desk.text)
        assert desk.judge.asked == 6
        assert counts(store)[:2] == (6, 0)
        await desk.press("ctrl+q")
        await desk.until(lambda: not desk.app.is_running)


async def test_what_a_full_disk_refused_is_kept_by_itself_once_there_is_room(
    open_desk, write_session, tmp_path, disk, monkeypatch
):
    monkeypatch.setattr(owing, "FIRST_SECONDS", 0.05)
    async with open_desk(write_session("a.jsonl", 12, (3,)), gated=True) as desk:
        await judge_on_a_full_disk(desk, disk)
        disk.full = False
        await desk.sees("6 kept · 0 to ask")
        await desk.until(lambda: "IS KEPT" not in desk.text)
        assert counts(tmp_path / "store.sqlite") == (6, 0, 1)


async def test_quitting_keeps_what_a_full_disk_refused_without_a_question(
    open_desk, write_session, tmp_path, disk, monkeypatch
):
    monkeypatch.setattr(owing, "FIRST_SECONDS", 600.0)
    async with open_desk(write_session("a.jsonl", 12, (3,)), gated=True) as desk:
        await judge_on_a_full_disk(desk, disk)
        disk.full = False
        await desk.press("ctrl+q")
        await desk.until(lambda: not desk.app.is_running)
        assert counts(tmp_path / "store.sqlite") == (6, 0, 1)
