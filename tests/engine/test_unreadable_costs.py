"""A store may hold anything about costs: nothing of it ends a command, or passes for a price."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from longjudge.store import Store
from stores_for_tests import judgment, old_store

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = 0.25

COST = "INSERT INTO unrecorded_costs (judgment, batch, answers, unpriced, cost_usd, last) VALUES "
ITEM = (
    "INSERT INTO batch_items (batch, key, judgment, part, chunk_digest, disputed, outcome, problem,"
    " reply, usage, cost_usd) VALUES ('b', '{key}', 'j_x', 1, '', 0, 'kept', '', '', '', {cost})"
)


def told(store: Path, *arguments: str) -> dict[str, Any]:
    """The sums; neither they nor a list ends with anything but 0."""
    for others in (("results", "--aggregate"), ("results",), ("results", "--json")):
        assert longjudge(*others, "--store", store).code == 0
    done = longjudge("results", "--aggregate", "--json", *arguments, "--store", store)
    assert done.code == 0, done.err
    return done.objects[0]


def filled(store: Path, *statements: str) -> None:
    async def fill() -> None:
        opened = await Store.open(store)
        await opened.record_judgment(judgment("j_ok", 1e9, cost_usd=KNOWN))
        await opened.aclose()

    asyncio.run(fill())
    with closing(sqlite3.connect(store)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    "statements",
    [
        (f"{COST} ('j_1', '', 1, 0, 'abc', 9e9)",),
        (f"{COST} ('j_1', '', 9e999, 0, 1.0, 9e9)",),
        (f"{COST} ('j_1', '', 1, 0, 9e999, 9e9)", f"{COST} ('j_2', '', 1, 0, -9e999, 9e9)"),
        (f"{COST} ('j_1', '', 1, 0, 1.7e308, 9e9)", f"{COST} ('j_2', '', 1, 0, 1.7e308, 9e9)"),
        (f"{COST} ('j_1', '', 1, 0, -1.0, 9e9)",),
        (ITEM.format(key="k", cost="'abc'"),),
        (ITEM.format(key="k", cost="9e999"),),
        (ITEM.format(key="k", cost="-3.0"),),
    ],
    ids=["text", "count", "infinite", "huge", "less", "item-text", "item-infinite", "item-less"],
)
def test_what_is_no_price_makes_the_sum_unknown(
    store_file: Path, statements: tuple[str, ...]
) -> None:
    filled(store_file, *statements)
    sums = told(store_file)
    assert (sums["cost_usd"], sums["cost_known_usd"]) == (None, KNOWN)
    unrecorded = sums["unrecorded"]
    assert unrecorded["cost_unknown"] == unrecorded["answers"] == len(statements)


def test_a_judgment_whose_cost_is_beyond_all_prices_is_one_of_unknown_price(
    store_file: Path,
) -> None:
    huge = "UPDATE judgments SET summary = json_set(summary, '$.cost_usd', 1.7e308)"
    again = (
        "INSERT INTO judgments SELECT 'j_two', path, session_id, rubric, rubric_version, model,"
        " status, result, created, real_path, digests, summary, asked, asked_seconds FROM judgments"
    )
    filled(store_file, huge, again)
    sums = told(store_file)
    assert (sums["cost_usd"], sums["cost_unknown"]) == (None, 2)


@pytest.mark.parametrize("what", ["summary = '{not'", "created = 'abc'", "id = x'ff00'"])
def test_a_judgment_that_does_not_read_makes_the_sum_unknown(store_file: Path, what: str) -> None:
    filled(store_file, f"UPDATE judgments SET {what}", f"{COST} ('j_1', '', 2, 0, 0.5, 9e9)")
    sums = told(store_file)
    assert (sums["cost_usd"], sums["cost_known_usd"], sums["unread"]) == (None, 0.5, 1)


@pytest.mark.parametrize("version", [1, 3, 5])
def test_an_older_store_has_no_costs_beside_its_judgments(store_file: Path, version: int) -> None:
    old_store(store_file, version=version)
    before = store_file.read_bytes()
    sums = told(store_file)
    assert (sums["judgments"], sums["unrecorded"]["answers"]) == (1, 0)
    assert store_file.read_bytes() == before


def test_questions_of_long_ago_are_added_up_by_their_batch(store_file: Path) -> None:
    keyed = COST.replace("batch,", "batch, key,")
    old = [f"{keyed} ('j_1', 'b', '{key}', 1, 0, 0.5, 1e9)" for key in ("k", "l", "m")]
    new = f"{keyed} ('j_1', 'c', 'k', 1, 0, 0.5, {time.time()})"
    filled(store_file, *old, new, ITEM.format(key="n", cost="0.5"))
    before = told(store_file)
    assert (before["cost_usd"], before["unrecorded"]["answers"]) == (KNOWN + 2.5, 5)
    assert longjudge("holds", "--sweep", "--store", store_file).code == 0
    with closing(sqlite3.connect(store_file)) as connection:
        rows = connection.execute("SELECT batch, key, answers FROM unrecorded_costs").fetchall()
    # The last one is another judgment's.
    assert sorted(rows) == [("b", "", 1), ("b", "", 3), ("c", "k", 1)]
    assert told(store_file) == before


def test_a_time_begins_with_the_end_of_a_batch(store_file: Path) -> None:
    """What came home is as old as the end of its batch, be its questions there or not."""
    now = time.time()
    batch = (
        "INSERT INTO batches VALUES ('b', 'p', '', '', 'm', 'harvested', '', 0, 1, {created}, 0,"
        " {ended}, 0, '', '', '', '', '', '', '', '', '', '')"
    )
    filled(
        store_file,
        batch.format(created=now - 9_000, ended=now - 5_400),
        ITEM.format(key="k", cost="0.5"),
    )
    assert told(store_file, "--since", "1h")["unrecorded"]["answers"] == 0
    assert told(store_file, "--since", "2h")["cost_usd"] == 0.5
    done = longjudge("holds", "--sweep", "--store", store_file)
    assert done.code == 0, done.err
    with closing(sqlite3.connect(store_file)) as connection:
        assert connection.execute("SELECT count(*) FROM batch_items").fetchone() == (0,)
    assert told(store_file, "--since", "1h")["unrecorded"]["answers"] == 0
    assert told(store_file, "--since", "2h")["cost_usd"] == 0.5
