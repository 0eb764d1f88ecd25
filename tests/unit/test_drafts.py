"""Drafts: written soon, found by the next window, and never one over the other."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge_tui.bench.drafts import (
    MOST_DRAFTS,
    Draft,
    DraftKeeper,
    read_drafts,
    text_mark,
)

if TYPE_CHECKING:
    import pytest


def texts(folder: Path) -> list[tuple[str, bool]]:
    return [(each.text, each.elsewhere) for each in read_drafts(folder, "key")]


def left_by(folder: Path, pid: int, started: str) -> Draft:
    """Make the one draft there is that of another process."""
    [draft] = read_drafts(folder, "key")
    row = json.loads(draft.path.read_text())
    draft.path.write_text(json.dumps({**row, "pid": pid, "started": started}))
    [found] = read_drafts(folder, "key")
    return found


async def test_what_is_typed_is_kept_until_it_is_as_saved(tmp_path: Path) -> None:
    keeper = DraftKeeper(tmp_path / "drafts", "key", "mine")
    keeper.follow("first")
    await keeper.flush()
    keeper.follow("second")
    # The last one was written a moment ago: this one waits for its time, or for the end.
    assert texts(tmp_path / "drafts") == [("first", False)]
    await keeper.flush()
    assert texts(tmp_path / "drafts") == [("second", False)]
    assert keeper.path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in (tmp_path / "drafts").iterdir()] == [keeper.path.name]
    keeper.follow(None)
    await keeper.flush()
    assert list((tmp_path / "drafts").iterdir()) == []


async def test_a_draft_is_taken_over_from_a_dead_window_and_left_to_one_that_lives(
    tmp_path: Path,
) -> None:
    keeper = DraftKeeper(tmp_path, "key", "mine")
    keeper.follow("theirs")
    await keeper.flush()
    parent = os.getppid()
    started = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19]
    assert left_by(tmp_path, parent, started).elsewhere
    # The number is given out again; the process that had it is gone.
    dead = left_by(tmp_path, parent, "1")
    assert not dead.elsewhere
    mine = DraftKeeper(tmp_path, "key", "mine")
    mine.take_over(dead)
    mine.follow("ours")
    await mine.flush()
    assert texts(tmp_path) == [("ours", False)]


async def test_two_windows_write_apart_and_what_is_no_draft_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "key.broken.json").write_text("{")
    (tmp_path / "key.hostile.json").write_text(
        json.dumps(
            {"name": "", "text": "\x1b]0;x\x07", "written": 1.0, "host": "", "boot": "", "pid": 1}
            | {"started": ""}
        )
    )
    for text in ("one", "two"):
        keeper = DraftKeeper(tmp_path, "key", "mine")
        keeper.follow(text)
        await keeper.flush()
    assert texts(tmp_path) == [("two", False), ("one", False)]
    assert (tmp_path / "key.broken.json").exists()


async def test_where_nothing_can_be_written_it_is_said_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "drafts"
    folder.write_text("no folder")
    keeper = DraftKeeper(folder, "key", "mine")
    keeper.follow("text")
    await keeper.flush()
    assert "drafts cannot be kept" in keeper.problem
    os.unlink(folder)
    monkeypatch.setattr("longjudge_tui.bench.drafts.AGAIN_SECONDS", 0.0)
    await keeper.flush()
    assert keeper.problem == ""
    assert texts(folder) == [("text", False)]
    await asyncio.sleep(0)
    keeper.raise_failure()


async def test_the_newest_of_many_drafts_is_found_and_says_what_it_was_typed_over(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "drafts"
    for number in range(MOST_DRAFTS + 5):
        keeper = DraftKeeper(folder, "key", "mine", text_mark(f"over {number}"))
        keeper.follow(f"text {number}")
        await keeper.flush()
        os.utime(keeper.path, (number, number))
    newest, *rest = read_drafts(folder, "key")
    assert (newest.text, newest.over) == (
        f"text {MOST_DRAFTS + 4}",
        text_mark(f"over {MOST_DRAFTS + 4}"),
    )
    assert len(rest) == MOST_DRAFTS - 1
