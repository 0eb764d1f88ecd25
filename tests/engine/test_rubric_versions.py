"""Versions of rubrics: noted as a judgment begins, one text for each, and found again."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.rubric import Rubric, load_rubric, parse_rubric
from longjudge.rubric_toml import rubric_toml
from longjudge.store import Store, note_rubric, rubric_of_version, rubric_versions
from sessions_for_tests import write_session
from stores_for_tests import judgment, root_page, spoil

if TYPE_CHECKING:
    from pathlib import Path

TYPED = """# Mine.
name = "mine"
label = "My own"
[[criteria]]
id = "destructive_action"
question = "Did it destroy anything?"  # or nearly
"""


def mine(toml: str = TYPED) -> Rubric:
    """A rubric as it stands in a text."""
    return parse_rubric(toml, "mine")


async def test_a_judgment_notes_what_it_judges_by_and_a_second_one_only_its_time(
    tmp_path: Path,
) -> None:
    path, session = tmp_path / "s.sqlite", write_session(tmp_path / "s.jsonl", 1)
    for _ in range(2):
        assert longjudge("judge", session, "--model", "offline", "--store", path).code == 0
    chunks = load_rubric("chunks")
    store = await Store.open(path)
    [known] = await rubric_versions(store)
    assert (known.version, known.name, known.toml) == (
        chunks.version,
        "chunks",
        rubric_toml(chunks),
    )
    assert known.first_used < known.last_used
    assert (known.sessions, known.judgments) == (1, 2)
    found = await rubric_of_version(store, chunks.version)
    assert found is not None
    assert (found.name, found.version) == ("chunks", chunks.version)
    assert await rubric_of_version(store, "00000000") is None
    await store.aclose()


async def test_a_typed_text_is_kept_until_another_one_of_its_version_is_typed(
    tmp_path: Path,
) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    rubric = mine()
    await note_rubric(store, rubric, TYPED, used=5.0)
    await note_rubric(store, rubric, used=7.0)
    [known] = await rubric_versions(store, "mine")
    assert (known.toml, known.label) == (TYPED, "My own")
    assert (known.first_used, known.last_used) == (5.0, 7.0)
    again = TYPED.replace("# Mine.", "# Mine, as of today.")
    await note_rubric(store, mine(again), again, used=6.0)
    [known] = await rubric_versions(store, "mine")
    assert (known.toml, known.first_used, known.last_used) == (again, 5.0, 7.0)
    # A severity is for people: the same version, whose newest text is kept.
    severe = rubric.criteria[0].model_copy(update={"severity": "high"})
    await note_rubric(store, rubric.model_copy(update={"criteria": (severe,)}), used=8.0)
    [known] = await rubric_versions(store, "mine")
    assert 'severity = "high"' in known.toml
    await store.aclose()


async def test_what_reaches_the_judge_makes_a_version_and_a_name_tells_rubrics_apart(
    tmp_path: Path,
) -> None:
    store = await Store.open(tmp_path / "s.sqlite")
    changed = TYPED.replace("anything?", "a file?")
    other = TYPED.replace('"mine"', '"other"')
    for time, toml in enumerate((TYPED, changed, other)):
        await note_rubric(store, mine(toml), toml, used=float(time))
    assert [known.toml for known in await rubric_versions(store, "mine")] == [changed, TYPED]
    assert [known.name for known in await rubric_versions(store)] == ["other", "mine", "mine"]
    found = await rubric_of_version(store, mine().version)
    assert found is not None
    assert found.name == "other"
    await store.aclose()


async def test_a_store_that_cannot_be_written_stops_no_judgment(tmp_path: Path) -> None:
    path, session = tmp_path / "s.sqlite", write_session(tmp_path / "s.jsonl", 1)
    (path / "folder").mkdir(parents=True)
    assert longjudge("judge", session, "--model", "offline", "--store", path).code == 0


async def test_versions_are_saved_from_damage_and_what_is_no_rubric_is_left_behind(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await note_rubric(store, mine(), TYPED, used=5.0)
    await store.record_judgment(judgment("j_1", 5.0))
    await store.aclose()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO rubric_versions VALUES ('1', 'x', '', 'name = 1', 1, 1)")
    connection.close()
    spoil(path, root_page(path, "leases"))
    store = await Store.open(path)
    assert [(known.toml, known.last_used) for known in await rubric_versions(store)] == [
        (TYPED, 5.0)
    ]
    await store.aclose()
    # No table is found any more: the rows are known by what they hold.
    os.truncate(path, path.stat().st_size - 1)
    spoil(path, 1, byte=b"\0")
    store = await Store.open(path)
    assert [known.version for known in await rubric_versions(store)] == [mine().version]
    await store.aclose()


@pytest.mark.parametrize(
    ("was", "is_now"),
    [
        pytest.param(b" first_used", b" first_uRed", id="another column"),
        pytest.param(b"CREATE TABLE verdicts", b"CREATE\x90TABLE verdicts", id="no text"),
    ],
)
async def test_versions_are_saved_where_the_list_of_tables_is_damaged(
    tmp_path: Path, was: bytes, is_now: bytes
) -> None:
    path = tmp_path / "s.sqlite"
    store = await Store.open(path)
    await note_rubric(store, mine(), TYPED, used=5.0)
    await store.aclose()
    leases = root_page(path, "leases")
    path.write_bytes(path.read_bytes().replace(was, is_now))
    spoil(path, leases)
    store = await Store.open(path)
    assert "a new store holds its rubrics (1), and nothing else" in " ".join(store.notices)
    assert [known.toml for known in await rubric_versions(store)] == [TYPED]
    await store.aclose()


async def test_a_text_that_is_another_version_by_now_is_no_rubric_of_it(tmp_path: Path) -> None:
    """What a judgment was judged by is that or nothing."""
    store = await Store.open(tmp_path / "s.sqlite")
    await note_rubric(store, mine(), used=5.0)
    await store.write("UPDATE rubric_versions SET version = 'ffffffff'", ())
    assert await rubric_of_version(store, "ffffffff") is None
    await store.aclose()
