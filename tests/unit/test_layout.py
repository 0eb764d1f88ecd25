"""How the workbench's panels share the screen, and how that is kept across starts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge_tui.bench.kept_layout import KeptLayout
from longjudge_tui.bench.layout import (
    LEAST,
    Breadth,
    Layout,
    Layouts,
    Panel,
    Share,
    Split,
    Tab,
    read_layouts,
    share_of,
    write_layouts,
)

if TYPE_CHECKING:
    from pathlib import Path

CHOSEN = Layouts(
    narrow=Layout(chunks=Share(30, 49), maximised=Panel.TEXT),
    wide=Layout(top=Share(12, 20), below=Share(40, 79), settings=30, folded=True),
    tab=Tab.GAPS,
)


@given(
    st.sampled_from([Split.CHUNKS, Split.TOP, Split.BELOW]),
    st.integers(0, 500),
    st.integers(-100, 600),
)
def test_a_border_leaves_both_neighbours_usable_or_does_not_move(split, total, first):
    share = share_of(split, total, first)
    if share is None:
        assert total < sum(LEAST[split])
        return
    assert share.first + share.second == total
    assert share.first >= LEAST[split][0]
    assert share.second >= LEAST[split][1]
    if LEAST[split][0] <= first <= total - LEAST[split][1]:
        assert share.first == first


def test_every_border_can_be_moved_at_80_by_24():
    assert share_of(Split.CHUNKS, 79, 40) == Share(40, 39)
    assert share_of(Split.TOP, 16, 8) == Share(8, 8)
    assert share_of(Split.BELOW, 79, 40) == Share(40, 39)
    assert share_of(Split.SETTINGS, 115, 0) == Share(75, 40)
    assert share_of(Split.SETTINGS, 90, 0) == Share(54, 36)
    assert share_of(Split.SETTINGS, 115, 115) == Share(97, 18)


@pytest.mark.parametrize(
    ("columns", "breadth"),
    [(1, "narrow"), (114, "narrow"), (115, "wide"), (149, "wide"), (150, "very-wide")],
)
def test_each_breadth_begins_where_the_stylesheet_has_it_begin(columns, breadth):
    assert Breadth.of(columns) == breadth


def test_a_layout_is_read_as_it_was_written():
    assert read_layouts(write_layouts(CHOSEN)) == CHOSEN


async def test_what_was_chosen_is_there_at_the_next_start(tmp_path: Path):
    path = tmp_path / "deep" / "layout.json"
    kept = KeptLayout(path)
    await kept.read()
    assert kept.layouts == Layouts()
    kept.change(CHOSEN)
    kept.follow()
    kept.change(Layouts(tab=Tab.LOG))
    kept.follow()
    await kept.aclose()
    again = KeptLayout(path)
    await again.read()
    assert again.layouts == Layouts(tab=Tab.LOG)
    assert not again.notices
    assert os.listdir(path.parent) == ["layout.json"]


async def test_it_is_written_at_most_every_second(tmp_path: Path, monkeypatch):
    writes = []
    monkeypatch.setattr(
        "longjudge_tui.bench.kept_layout._replace", lambda _, text: writes.append(text)
    )
    kept = KeptLayout(tmp_path / "layout.json")
    for rows in range(5, 50):
        kept.change(Layouts(wide=Layout(top=Share(rows, 50))))
        kept.follow()
        await kept._chores.finish()
    assert len(writes) == 1
    await kept.aclose()
    assert json.loads(writes[-1])["wide"]["top"] == {"first": 49, "second": 50}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\x00\xff\xfe",
        b"[]",
        b'{"version": 2}',
        b'{"wide": {"chunks": {"first": 0, "second": 5}}}',
        b'{"wide": {"chunks": {"first": 1e400, "second": 5}}}',
        b'{"tab": "[/]\\u001b]0;x"}',
        b"[" * 50_000,
        b" " * 70_000,
    ],
)
async def test_a_damaged_file_is_said_once_and_replaced_by_the_next_choice(tmp_path: Path, text):
    path = tmp_path / "layout.json"
    path.write_bytes(text)
    kept = KeptLayout(path)
    await kept.read()
    assert kept.layouts == Layouts()
    (said,) = kept.notices
    assert "layout.json" in said
    assert "\x1b" not in said
    kept.change(CHOSEN)
    await kept.aclose()
    assert read_layouts(path.read_bytes()) == CHOSEN
    assert len(kept.notices) == 1


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
async def test_what_is_no_file_is_neither_read_nor_waited_for(tmp_path: Path, make):
    path = tmp_path / "layout.json"
    make(path)
    kept = KeptLayout(path)
    await kept.read()
    assert kept.layouts == Layouts()
    assert "no plain file" in kept.notices[0]
    kept.change(CHOSEN)
    await kept.aclose()


async def test_a_folder_that_takes_nothing_is_said_once(tmp_path: Path):
    folder = tmp_path / "state"
    folder.write_text("a file where the folder should be")
    kept = KeptLayout(folder / "layout.json")
    await kept.read()
    kept.notices.clear()
    for tab in (Tab.GAPS, Tab.LOG):
        kept.change(Layouts(tab=tab))
        kept.follow()
        await kept._chores.finish()
    await kept.aclose()
    assert len(kept.notices) == 1
    assert "cannot be kept" in kept.notices[0]
    assert kept.layouts.tab is Tab.LOG
