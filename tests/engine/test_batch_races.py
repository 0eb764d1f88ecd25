"""Two processes with one batch: one that was taken for dead, and goes on; one that takes over."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from batch_server import ACCEPT_AND_DROP, Accepted
from longjudge.batch_pace import Pace
from longjudge.batches import following
from longjudge.batches.batching import Batching
from longjudge.batches.sending import Ready
from longjudge.judges.batch_api import BatchRequest
from longjudge.judges.make import batch_api, make_judge
from longjudge.rubric import load_rubric
from longjudge.rubric_toml import rubric_toml
from longjudge.store import KeyParts, Store
from longjudge.store import batches as rows
from longjudge.store.batch_rows import Batch, BatchItem, BatchState, CancelCause
from server import FOREVER, MessagesServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

KEYS = [f"{number:064x}" for number in range(3)]
PACE = Pace(first_look=0.01, longest_look=0.05, listed_after=0.0, end=5.0)
SCHEMA = {name: {} for name in ("destructive_action", "invented_reference", "broken_promise")}


def ready(key: str) -> Ready:
    schema = {"properties": {"criteria": {"properties": SCHEMA}}}
    body = {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": key}],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }
    return Ready(BatchItem(key, "j_1", 1, "", False), BatchRequest(key, body, 100))


@asynccontextmanager
async def process(path: Path, pace: Pace = PACE) -> AsyncIterator[tuple[Batching, Store]]:
    """What a process does with batches, on a connection of its own."""
    store, judge = await Store.open(path), make_judge("m")
    api = batch_api(judge)
    await api.prepare()
    batching = Batching(store, api, pace, lambda news: None, "at work")
    try:
        async with asyncio.timeout(30), batching.at_work():
            yield batching, store
            await batching.leave()
    finally:
        await judge.aclose()
        await store.aclose()


def plain(batching: Batching) -> Batch:
    rubric = load_rubric("chunks")
    return Batch(
        id="",
        endpoint=batching.api.endpoint,
        model="m",
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_toml=rubric_toml(rubric),
        parts=KeyParts(),
        count=0,
        created=0.0,
        owner=batching.holder,
    )


def sent(batching: Batching) -> asyncio.Task[Any]:
    return asyncio.ensure_future(
        batching.send(plain(batching), [ready(key) for key in KEYS], since=0.0)
    )


async def took_for_dead(store: Store, batching: Batching) -> None:
    """Another process finds that this one has said nothing for long."""
    await store.write("DELETE FROM owners WHERE id = ?", (batching.holder,))


async def known(store: Store) -> list[tuple[str, str]]:
    return [tuple(row) for row in await store.read("SELECT provider_id, state FROM batches")]


async def test_a_batch_that_is_accepted_after_it_was_given_up_is_in_the_ledger_again(
    served: MessagesServer, store_file: Path
) -> None:
    batches = served.batches
    batches.create_script = lambda _: Accepted(delay=FOREVER)
    batches.listed_after = FOREVER
    batches.latency = FOREVER
    async with process(store_file) as (one, store), process(store_file) as (other, seen):
        sending = sent(one)
        await served.until(lambda: len(batches.own) == 1)
        await took_for_dead(store, one)
        [taken] = await other.adopt()
        await other.until_none([taken.id])
        assert await known(seen) == []
        served.release()
        result = await sending
        assert [batch.provider_id for batch in result.batches] == [batches.own[0].id]
        assert await known(seen) == [(batches.own[0].id, "submitted")]
        assert len(await rows.open_items(seen, result.batches[0].id)) == len(KEYS)
        batches.finish()
        await one.until_none()
        assert len(await store.kept(KEYS)) == len(KEYS)
    assert batches.own[0].cancels == 0


async def test_one_whose_questions_others_ask_by_then_is_cancelled(
    served: MessagesServer, store_file: Path
) -> None:
    batches = served.batches
    batches.create_script = lambda number: Accepted(delay=FOREVER) if number == 1 else None
    batches.listed_after = batches.latency = FOREVER
    async with process(store_file) as (one, store), process(store_file) as (other, seen):
        sending = sent(one)
        await served.until(lambda: len(batches.own) == 1)
        await took_for_dead(store, one)
        await other.adopt()
        await other.until_none()
        await sent(other)
        served.release()
        await sending
        await served.until(lambda: batches.own[0].cancels == 1)
        await one.until_none()
        assert batches.own[1].cancels == 0
        batches.finish()
        await other.until_none()
        assert len(await seen.kept(KEYS)) == len(KEYS)


async def test_whoever_took_a_batch_over_hears_its_name_from_the_one_that_sent_it(
    served: MessagesServer, store_file: Path
) -> None:
    batches = served.batches
    batches.create_script = lambda _: Accepted(delay=FOREVER)
    batches.listed_after = batches.latency = FOREVER
    patient = replace(PACE, listed_after=60.0)
    async with process(store_file) as (one, store), process(store_file, patient) as (other, seen):
        sending = sent(one)
        await served.until(lambda: len(batches.own) == 1)
        await took_for_dead(store, one)
        await other.adopt()
        await served.until(lambda: batches.called["list"] > 1)
        served.release()
        await sending
        looks = batches.own[0].retrieves
        await served.until(lambda: batches.own[0].retrieves > looks + 4)
        assert await known(seen) == [(batches.own[0].id, "submitted")]
        batches.finish()
        # Both bring it home, and it is there once.
        await asyncio.gather(one.until_none(), other.until_none())
        assert await known(seen) == [(batches.own[0].id, "harvested")]
        assert len(await seen.read("SELECT key FROM verdicts")) == len(KEYS)
        assert await seen.read("SELECT key FROM earlier_verdicts") == []


async def test_only_one_of_two_takes_a_batch_over(served: MessagesServer, store_file: Path) -> None:
    served.batches.latency = FOREVER
    async with process(store_file) as (dead, _):
        await sent(dead)
    async with process(store_file) as (one, store), process(store_file) as (other, _):
        taken = await asyncio.gather(one.adopt(), other.adopt())
        assert sum(map(len, taken)) == 1
        [batch] = await rows.live_batches(store)
        assert batch.owner in (one.holder, other.holder)


async def test_an_intent_that_was_let_go_of_is_not_given_up_at_once(
    served: MessagesServer, store_file: Path
) -> None:
    """Its call may have taken long, and what it has sent may arrive yet."""
    batches = served.batches
    batches.create_script = lambda _: ACCEPT_AND_DROP
    batches.listed_after = FOREVER
    async with process(store_file, replace(PACE, listed_after=60.0)) as (one, store):
        await sent(one)
        await store.write("UPDATE batches SET created = created - 3600", ())
    async with process(store_file, replace(PACE, listed_after=60.0)) as (other, store):
        [taken] = await other.adopt()
        assert time.time() - taken.submitted < 60
        await served.until(lambda: batches.called["list"] > 3)
        assert [batch.state for batch in other.live] == [BatchState.INTENT]


async def test_an_error_that_nobody_foresaw_ends_the_waiting_and_strands_no_batch(
    served: MessagesServer, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(following, "harvest", broken)
    async with process(store_file) as (one, store):
        await sent(one)
        await one.until_none()
        assert one.fatal is not None
        assert "ZeroDivisionError" in one.fatal
        [batch] = await rows.live_batches(store)
        assert batch.state is BatchState.ENDED
    monkeypatch.undo()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", served.base_url)
    async with process(store_file) as (other, store):
        assert len(await other.adopt()) == 1
        await other.until_none()
        assert len(await store.kept(KEYS)) == len(KEYS)


async def test_a_cancel_that_could_not_be_noted_at_once_is_noted_before_the_end(
    served: MessagesServer, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.batches.latency = served.batches.cancel_latency = FOREVER
    async with process(store_file) as (one, store):
        await sent(one)
        monkeypatch.setattr(store, "write_now", lambda sql, values: False)
        one.cancel(CancelCause.CANCEL)
    async with process(store_file) as (_, store):
        [batch] = await rows.live_batches(store)
        assert (batch.cancel, bool(batch.owner)) == (CancelCause.CANCEL, True)


async def test_an_error_inside_is_told_as_itself(served: MessagesServer, store_file: Path) -> None:
    from longjudge.errors import CredentialError

    with pytest.raises(CredentialError):
        async with process(store_file):
            raise CredentialError("none")


async def test_a_cancel_that_did_not_take_is_sent_again(
    served: MessagesServer, store_file: Path
) -> None:
    served.batches.latency = FOREVER
    async with process(store_file) as (one, store):
        await sent(one)
        # The store says that it was sent; the provider has never heard of it.
        await store.write(
            "UPDATE batches SET cancel_sent = 1, cancel = 'cancelled', owner = ''", ()
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0):
                await one.until_none()
        await one.leave()
    async with process(store_file) as (other, _):
        await other.adopt()
        await other.until_none()
    assert served.batches.own[0].cancels >= 1
