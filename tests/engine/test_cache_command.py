"""`longjudge cache`: what is kept is counted, pruned, and explained chunk by chunk."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.prices import Usage
from longjudge.store import KeptVerdict, Provenance, Store, upkeep
from longjudge.verdict import Verdict
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, events, write_events, write_session
from stores_for_tests import root_page, spoil

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 6
SIZE = ("--chunk-chars", CHUNK_CHARS)
KEPT = KeptVerdict(Verdict(("a",), ()), "x" * 4_000, disagrees=False)


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    return path


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def fill(store_file: Path, count: int = 400) -> None:
    """Verdicts of two models by two versions of a rubric, half of them kept 40 days ago."""

    async def write() -> None:
        store = await Store.open(store_file)
        for number in range(count):
            model = "claude-a" if number % 4 else "claude-b"
            by = Provenance(model, "e", "chunks", f"version{number % 2}", Usage(), None)
            await store.keep(f"k{number}", KEPT, by)
        await store.write(
            "UPDATE verdicts SET created = ? WHERE CAST(substr(key, 2) AS INTEGER) < ?",
            (time.time() - 40 * 86_400, count // 2),
        )
        # A row that is written anew is one that a newer answer has replaced.
        await store.write("DELETE FROM earlier_verdicts", ())
        await store.aclose()

    asyncio.run(write())


def answer_again(store_file: Path, keys: range) -> None:
    """A newer answer by `claude-b` to questions that were answered."""

    async def write() -> None:
        store = await Store.open(store_file)
        for number in keys:
            by = Provenance("claude-b", "e", "chunks", "version1", Usage(), None)
            await store.keep(f"k{number}", KEPT, by)
        await store.aclose()

    asyncio.run(write())


def verdicts(store_file: Path) -> int:
    with sqlite3.connect(store_file) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM verdicts").fetchall()
    connection.close()
    return count


def test_a_damaged_store_is_put_aside_before_it_is_pruned(store_file: Path) -> None:
    fill(store_file)
    spoil(store_file, root_page(store_file, "marks"))
    pruned = longjudge("cache", "prune", "--older-than", "30d")
    assert pruned.code == 0
    assert "put aside as store.sqlite.damaged-" in pruned.err
    assert "deleted 200 verdicts, freed" in pruned.out
    assert verdicts(store_file) == 200


def test_a_store_that_turns_out_to_be_damaged_keeps_its_size(store_file: Path) -> None:
    fill(store_file, 40)
    spoil(store_file, root_page(store_file, "marks"))
    assert "database disk image is" in (upkeep.shrink(store_file) or "")


def test_stats_counts_verdicts_by_model_and_rubric(store_file: Path) -> None:
    fill(store_file)
    [stats] = longjudge("cache", "stats", "--json").objects
    assert stats == {
        "verdicts": 400,
        "earlier": 0,
        "bytes": store_file.stat().st_size,
        "by_model": {"claude-a": 300, "claude-b": 100},
        "by_rubric": [
            {"rubric": "chunks", "version": "version0", "verdicts": 200},
            {"rubric": "chunks", "version": "version1", "verdicts": 200},
        ],
    }
    text = longjudge("cache", "stats").out
    assert "400 verdicts, 0 judgments, 0 marks" in text
    assert "300 verdicts by claude-a" in text
    assert str(store_file) in text
    assert "earlier" not in text
    answer_again(store_file, range(3))
    [stats] = longjudge("cache", "stats", "--json").objects
    assert (stats["verdicts"], stats["earlier"]) == (400, 3)
    assert "3 earlier answers that newer ones have replaced" in longjudge("cache", "stats").out


def test_without_a_store_stats_are_zero_and_nothing_is_made(store_file: Path) -> None:
    [stats] = longjudge("cache", "stats", "--json").objects
    assert stats == {"verdicts": 0, "earlier": 0, "bytes": 0, "by_model": {}, "by_rubric": []}
    assert longjudge("cache", "prune", "--all").out == "deleted 0 verdicts, freed 0.0 kB\n"
    dry = longjudge("cache", "prune", "--all", "--dry-run").out
    assert dry == "would delete 0 verdicts\n"
    assert not store_file.exists()


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--older-than", "30d"], 200),
        (["--model", "claude-b"], 300),
        (["--rubric", "version1"], 200),
        (["--older-than", "30d", "--model", "claude-b"], 350),
        (["--all"], 0),
    ],
)
def test_prune_deletes_what_meets_every_condition(
    store_file: Path, arguments: list[str], left: int
) -> None:
    fill(store_file)
    pruned = longjudge("cache", "prune", *arguments)
    assert (pruned.code, pruned.err) == (0, "")
    assert f"deleted {400 - left} verdicts, freed" in pruned.out
    assert verdicts(store_file) == left


def test_a_dry_run_deletes_nothing(store_file: Path) -> None:
    fill(store_file)
    dry = longjudge("cache", "prune", "--dry-run", "--older-than", "30d", "--model", "claude-b")
    assert (dry.code, dry.out) == (0, "would delete 50 verdicts\n")
    assert verdicts(store_file) == 400


def test_prune_deletes_earlier_answers_by_the_same_conditions(store_file: Path) -> None:
    fill(store_file, 8)
    answer_again(store_file, range(6))
    # What was answered long ago is now history, and what counts is new.
    arguments = ("--older-than", "30d", "--model", "claude-a")
    dry = longjudge("cache", "prune", "--dry-run", *arguments)
    assert dry.out == "would delete 0 verdicts and 3 earlier answers\n"
    [dry] = longjudge("cache", "prune", "--dry-run", "--json", *arguments).objects
    assert (dry["deleted_earlier"], dry["would_delete_earlier"]) == (0, 3)
    pruned = longjudge("cache", "prune", *arguments)
    assert pruned.out.startswith("deleted 0 verdicts and 3 earlier answers, freed")
    assert verdicts(store_file) == 8
    [pruned] = longjudge("cache", "prune", "--all", "--json").objects
    assert (pruned["deleted"], pruned["deleted_earlier"]) == (8, 3)


def test_prune_takes_a_profile_for_its_model_at_its_address(
    store_file: Path, tmp_path: Path
) -> None:
    fill(store_file, 8)
    profile = '[profiles.mine]\nmodel = "claude-b"\nbase_url = "http://127.0.0.1:9"\n'
    (tmp_path / "config.toml").write_text(profile, encoding="utf-8")
    config = {"LONGJUDGE_CONFIG": str(tmp_path / "config.toml")}
    assert longjudge("cache", "prune", "--model", "mine", **config).out.startswith("deleted 0 ")
    connection = sqlite3.connect(store_file)
    connection.execute("UPDATE verdicts SET endpoint = 'http://127.0.0.1:9' WHERE key = 'k4'")
    connection.execute("DELETE FROM earlier_verdicts")
    connection.commit()
    connection.close()
    pruned = longjudge("cache", "prune", "--model", "mine", **config)
    assert pruned.out.startswith("deleted 1 verdict, freed")
    assert verdicts(store_file) == 7


def test_prune_gives_the_space_back(store_file: Path) -> None:
    fill(store_file)
    before = store_file.stat().st_size
    [pruned] = longjudge("cache", "prune", "--all", "--json").objects
    assert pruned["deleted"] == 400
    assert pruned["not_freed"] is None
    assert pruned["freed_bytes"] == before - store_file.stat().st_size
    assert store_file.stat().st_size < before / 4


def test_prune_leaves_the_size_while_another_process_has_the_store_open(store_file: Path) -> None:
    fill(store_file)
    other = sqlite3.connect(store_file)
    other.execute("SELECT count(*) FROM verdicts").fetchall()
    pruned = longjudge("cache", "prune", "--model", "claude-b")
    assert pruned.code == 0
    assert "deleted 100 verdicts; the file keeps its size (another process has the store" in (
        pruned.out
    )
    # Nobody was kept from the store, and nothing of it was lost.
    assert other.execute("SELECT count(*) FROM verdicts").fetchone() == (300,)
    other.close()


def test_prune_says_so_when_another_process_does_not_stop_writing(store_file: Path) -> None:
    fill(store_file, 4)
    other = sqlite3.connect(store_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    pruned = longjudge("cache", "prune", "--all")
    assert (pruned.code, pruned.out, len(pruned.err.splitlines())) == (2, "", 1)
    assert "locked" in pruned.err
    other.execute("ROLLBACK")
    other.close()
    assert verdicts(store_file) == 4


def test_giving_space_back_is_bounded(store_file: Path) -> None:
    fill(store_file)
    assert "longer than" in (upkeep.shrink(store_file, seconds=-1) or "")
    assert verdicts(store_file) == 400


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["prune"], "needs to know what to delete"),
        (["prune", "--all", "--model", "x"], "two things"),
        (["prune", "--older-than", "30"], "no age"),
        (["why"], "PATH"),
        (["why", "none.jsonl"], "none.jsonl"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_exit_2(
    store_file: Path, arguments: list[str], said: str
) -> None:
    fill(store_file, 1)
    finished = longjudge("cache", *arguments)
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err
    assert verdicts(store_file) == 1


def test_why_names_what_is_new_in_each_chunk(session_file: Path, tmp_path: Path) -> None:
    rubric = tmp_path / "mine.toml"
    rubric.write_text(
        'name = "mine"\n[[criteria]]\nid = "a"\nquestion = "Is it?"\n', encoding="utf-8"
    )
    options = ["--json", *SIZE]
    with MessagesServer() as server:
        environment = {"ANTHROPIC_BASE_URL": server.base_url}
        assert longjudge("judge", session_file, *SIZE, **environment).code == 0
        asked = len(server.requests)

        def why(*arguments: object, **others: str) -> list[list[str]]:
            lines = longjudge("cache", "why", session_file, *options, *arguments, **others)
            assert [line["part"] for line in lines.objects] == [*range(1, len(lines.objects) + 1)]
            assert all(line["kept"] != bool(line["differs"]) for line in lines.objects)
            return [line["differs"] for line in lines.objects]

        assert why(**environment) == [[]] * COUNT
        assert why("--rubric", rubric, **environment) == [["rubric"]] * COUNT
        assert why("--model", "claude-haiku-4-5", **environment) == [["model"]] * COUNT
        assert why(ANTHROPIC_BASE_URL="http://127.0.0.1:9") == [["endpoint"]] * COUNT
        assert why("--chunk-chars", "5000", **environment) == [["text"]]
        grown = [*events(COUNT), {"kind": "user_message", "text": "and now?" * 40}]
        write_events(session_file, grown)
        assert why(**environment) == [*[[]] * COUNT, ["text"]]
        assert len(server.requests) == asked
        said = longjudge("cache", "why", session_file, *SIZE, "--rubric", rubric, **environment)
    assert said.out.splitlines()[0].split() == ["1", "new", "rubric"]
    assert said.out.splitlines()[-1] == "7 to ask: 6 new rubric, 1 new text; 0 kept"


def test_why_compares_with_the_nearest_verdict(session_file: Path, tmp_path: Path) -> None:
    rubric = tmp_path / "mine.toml"
    shown = longjudge("cache", "why", session_file, *SIZE, "--json", "--model", "offline")
    assert {tuple(line["differs"]) for line in shown.objects} == {("text",)}
    rubric.write_text(
        'name = "mine"\n[[criteria]]\nid = "destructive_action"\nquestion = "Is it?"\n',
        encoding="utf-8",
    )
    assert longjudge("judge", session_file, *SIZE, "--model", "offline").code == 0
    with MessagesServer() as server:
        environment = {"ANTHROPIC_BASE_URL": server.base_url}
        judged = longjudge("judge", session_file, *SIZE, "--rubric", rubric, **environment)
        assert judged.code == 0
        # One verdict differs in the rubric alone, the other in all that a judge is.
        shown = longjudge("cache", "why", session_file, *SIZE, "--json", **environment)
    assert {tuple(line["differs"]) for line in shown.objects} == {("rubric",)}


def test_why_says_when_older_verdicts_do_not_name_their_text(
    store_file: Path, session_file: Path
) -> None:
    fill(store_file, 3)
    shown = longjudge("cache", "why", session_file, *SIZE, "--model", "offline")
    assert shown.code == 0
    assert "3 verdicts of an earlier version" in shown.err


def test_judging_afresh_renews_the_verdicts_and_the_earlier_ones_stay_as_history(
    session_file: Path, store_file: Path
) -> None:
    for times in (0, 1, 2):
        done = longjudge("judge", session_file, *SIZE, "--model", "offline", "--fresh", "--json")
        assert [(each["calls"], each["cached_chunks"]) for each in done.objects] == [(COUNT, 0)]
        with contextlib.closing(sqlite3.connect(store_file)) as store:
            kept, earlier = (
                store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("verdicts", "earlier_verdicts")
            )
        assert (kept, earlier) == (COUNT, COUNT * times)


def change(store_file: Path, what: str) -> None:
    """Write over every verdict, as no longjudge would."""
    connection = sqlite3.connect(store_file)
    connection.execute(f"UPDATE verdicts SET {what}")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("name", ["model", "rubric", "rubric_version"])
def test_names_that_are_no_text_are_counted_all_the_same(
    session_file: Path, store_file: Path, name: str
) -> None:
    longjudge("judge", session_file, "--model", "offline", *SIZE)
    change(store_file, f"{name} = x'00ff'")
    counted = longjudge("cache", "stats")
    assert (counted.code, counted.err) == (0, "")
    assert f"{COUNT} verdicts" in counted.out


@pytest.mark.parametrize("moment", ["'soon'", "9e12"])
def test_a_verdict_from_no_moment_or_from_the_future_is_asked_anew_all_the_same(
    session_file: Path, store_file: Path, moment: str
) -> None:
    options = ("--model", "offline", "--json", *SIZE)
    longjudge("judge", session_file, *options)
    change(store_file, f"created = {moment}, key = substr(key, 1, 8)")
    why = longjudge("cache", "why", session_file, "--model", "offline", *SIZE)
    assert (why.code, why.out.count("new text")) == (0, COUNT + 1)
    longjudge("judge", session_file, *options)
    change(store_file, f"created = {moment}")
    assert longjudge("judge", session_file, *options).objects[0]["calls"] == 0
    assert longjudge("judge", "--fresh", session_file, *options).objects[0]["calls"] == COUNT
