"""Judgments of the past come newest first, a page at a time, whatever the store holds."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from longjudge.store import PastJudgment, Store, past_pages
from longjudge.store.past_pages import count_judgments, pages, pages_of_session, whole_judgment

if TYPE_CHECKING:
    from pathlib import Path

FIRST = PastJudgment("j_0", "a", "/a", "s", "r", "v", "m", "complete", 100.0, {"parts": [1]}, ())


@pytest.fixture
def store_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(past_pages, "FIRST_PAGE", 2)
    monkeypatch.setattr(past_pages, "PAGE", 3)
    return tmp_path / "store.sqlite"


async def test_every_judgment_comes_once_and_the_newest_first(store_file: Path) -> None:
    store = await Store.open(store_file)
    # Several of one moment: no page may repeat or lose one of them.
    for number in range(9):
        each = replace(FIRST, id=f"j_{number}", created=100.0 + number // 4)
        await store.record_judgment(each)
    found = [[each.id for each in page] async for page in pages(store)]
    assert found == [["j_8", "j_7"], ["j_6", "j_5", "j_4"], ["j_3", "j_2", "j_1"], ["j_0"]]
    assert await count_judgments(store) == 9
    async for page in pages(store):
        assert all("parts" not in each.result for each in page)
    whole = await whole_judgment(store, "j_3")
    assert whole is not None
    assert whole.result == {"parts": [1]}
    assert await whole_judgment(store, "j_99") is None
    await store.aclose()


async def test_those_of_a_session_come_from_wherever_it_was(store_file: Path) -> None:
    store = await Store.open(store_file)
    await store.record_judgment(FIRST)
    await store.record_judgment(replace(FIRST, id="j_1", real_path="/moved", created=101.0))
    await store.record_judgment(replace(FIRST, id="j_2", session_id="t", created=102.0))

    async def found(path: str, session: str | None) -> list[str]:
        return [each.id async for page in pages_of_session(store, path, session) for each in page]

    assert await found("/a", "s") == ["j_1", "j_0"]
    assert await found("/a", None) == ["j_2", "j_0"]
    assert await found("/b", "x") == []
    await store.aclose()


async def test_rows_that_do_not_read_are_passed_over(store_file: Path) -> None:
    store = await Store.open(store_file)
    for number in range(5):
        await store.record_judgment(replace(FIRST, id=f"j_{number}", created=100.0 + number))
    await store.aclose()
    with sqlite3.connect(store_file) as file:
        file.execute("UPDATE judgments SET summary = 'no json' WHERE id = 'j_4'")
        file.execute("UPDATE judgments SET created = 'soon' WHERE id = 'j_3'")
        file.execute("UPDATE judgments SET status = x'ff' WHERE id = 'j_1'")
    file.close()
    store = await Store.open_to_read(store_file)
    assert [each.id async for page in pages(store) for each in page] == ["j_2", "j_0"]
    await store.aclose()
