"""Several answers to one question: the newest counts, the earlier ones stay as history."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from longjudge.prices import Usage
from longjudge.store import (
    KeptVerdict,
    Provenance,
    Store,
    StoreWriteError,
    earlier_verdicts,
    leases,
)
from longjudge.verdict import Verdict
from stores_for_tests import BY, KEPT, old_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


def answer(reply: str) -> KeptVerdict:
    """An answer that is told by its reply."""
    return KeptVerdict(Verdict(("a",), ()), reply, disagrees=True)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An open store."""
    store = await Store.open(tmp_path / "s.sqlite")
    yield store
    await store.aclose()


async def test_the_newest_answer_counts_and_the_earlier_ones_stay(store: Store) -> None:
    begun = time.time()
    other = Provenance("claude-y", "https://e", "chunks", "12345678", Usage(), None)
    await store.keep("k1", KEPT, BY)
    await store.keep("k1", answer("second"), other)
    await store.keep("k2", answer("else"), BY)
    await store.keep("k1", answer("third"), BY)
    assert (await store.kept(["k1"]))["k1"] == answer("third")
    second, first = await earlier_verdicts(store, "k1")
    assert (first.kept, first.model, first.cost_usd) == (KEPT, "claude-x", 0.5)
    assert (second.kept, second.model, second.cost_usd) == (answer("second"), "claude-y", None)
    assert begun <= first.created <= second.created
    # The database's clock has milliseconds.
    assert begun - 0.01 <= first.replaced <= second.replaced <= time.time() + 0.01
    assert await earlier_verdicts(store, "k2") == []


async def test_a_verdict_that_may_not_replace_another_changes_nothing(store: Store) -> None:
    begun = time.time()
    await store.keep("k1", KEPT, BY)
    await store.keep("k1", answer("other"), BY, replaces_before=begun)
    assert (await store.kept(["k1"]))["k1"] == KEPT
    assert await earlier_verdicts(store, "k1") == []


@pytest.mark.parametrize("again", [False, True])
async def test_a_lease_goes_with_its_verdict_or_not_at_all(store: Store, again: bool) -> None:
    if again:
        await store.keep("k1", KEPT, BY)
    await leases.register(store, "j_1", "judging")
    wanted = [("k1", "part 1"), ("k2", "part 2")]
    assert await leases.take(store, "j_1", wanted, time.time()) == {"k1", "k2"}
    # The disk is full in the middle of the transaction.
    [(pages,)] = await store.read("PRAGMA page_count")
    await store.read(f"PRAGMA max_page_count = {pages:d}")
    with pytest.raises(StoreWriteError, match="full"):
        await store.keep("k1", answer("x" * 100_000), BY)
    assert [lease.key for lease in await leases.leases(store)] == ["k1", "k2"]
    assert await earlier_verdicts(store, "k1") == []
    await store.read("PRAGMA max_page_count = 1000000")
    await store.keep("k1", answer("x" * 100_000), BY)
    assert [lease.key for lease in await leases.leases(store)] == ["k2"]
    assert len(await earlier_verdicts(store, "k1")) == again


@pytest.mark.parametrize(
    "damage",
    ["verdict = '{\"criteria\": [1'", "raw_reply = x'ff'", "created = 'soon'", "model = x'00'"],
)
async def test_an_earlier_answer_that_does_not_read_is_left_out(store: Store, damage: str) -> None:
    for reply in ("first", "second", "third"):
        await store.keep("k1", answer(reply), BY)
    await store.write(f"UPDATE earlier_verdicts SET {damage} WHERE raw_reply = 'first'", ())
    assert [each.kept.raw_reply for each in await earlier_verdicts(store, "k1")] == ["second"]


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_an_older_store_that_is_only_read_has_no_history_and_no_leases(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, version=version)
    store = await Store.open_to_read(path)
    assert await earlier_verdicts(store, "k1") == []
    assert await leases.leases(store) == []
    assert await store.kept(["k1"]) == {"k1": KEPT}
    await store.aclose()
