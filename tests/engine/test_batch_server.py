"""The local server's Message Batches API, as the real SDK meets it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from batch_server import (
    ACCEPT_AND_529,
    ACCEPT_AND_DROP,
    ACCEPT_AND_HANG,
    CANCELED,
    EXPIRED,
    HANG,
    Accepted,
    Cut,
    result_line,
)
from server import FOREVER, MessagesServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

PROGRAM = Path(__file__).parents[1] / "batch_server.py"
SCHEMA = {"properties": {"criteria": {"properties": {"destructive_action": {}}}}}


def item(custom_id: str, **members: Any) -> dict[str, Any]:
    """A request of a batch, as the judge asks it."""
    params: dict[str, Any] = {
        "model": "claude-haiku-5-5",
        "max_tokens": 2048,
        "messages": [{"role": "user", "content": f"the chunk of {custom_id}"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    return {"custom_id": custom_id, "params": params | members}


def items(count: int) -> list[dict[str, Any]]:
    return [item(f"item-{number}") for number in range(count)]


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as server:
        yield server


@pytest.fixture
async def client(server: MessagesServer) -> AsyncIterator[AsyncAnthropic]:
    client = connect(server.base_url)
    yield client
    await client.close()


def connect(base_url: str) -> AsyncAnthropic:
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(api_key="sk-ant-test", base_url=base_url, max_retries=0)


async def create(client: AsyncAnthropic, requests: list[dict[str, Any]]) -> MessageBatch:
    return await client.messages.batches.create(requests=requests)  # pyright: ignore


async def results_of(client: AsyncAnthropic, batch_id: str) -> list[MessageBatchIndividualResponse]:
    return [line async for line in await client.messages.batches.results(batch_id)]


async def kinds_of(client: AsyncAnthropic, batch_id: str) -> dict[str, str]:
    return {line.custom_id: line.result.type for line in await results_of(client, batch_id)}


async def refused(call: Any) -> tuple[int, str]:
    """The status and type of the error that a call ends with."""
    from anthropic import APIStatusError

    with pytest.raises(APIStatusError) as caught:
        await call
    return caught.value.status_code, str(caught.value.type)


async def unheard(call: Any) -> None:
    """The call ends without an answer."""
    from anthropic import APIConnectionError

    with pytest.raises(APIConnectionError):
        await call


async def test_a_batch_shows_no_progress_until_it_has_ended(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.latency = FOREVER
    created = await create(client, items(3))
    shown = await client.messages.batches.retrieve(created.id)
    assert created == shown
    assert (shown.processing_status, shown.request_counts.processing) == ("in_progress", 3)
    assert (shown.ended_at, shown.results_url) == (None, None)
    assert shown.expires_at - shown.created_at == timedelta(hours=24)

    server.batches.finish()
    shown = await client.messages.batches.retrieve(created.id)
    assert (shown.processing_status, shown.request_counts.succeeded) == ("ended", 3)
    assert shown.request_counts.processing == 0
    assert shown.ended_at is not None
    assert shown.ended_at >= shown.created_at
    assert server.batches.own[0].retrieves == 2


async def test_a_batch_ends_by_itself_and_who_waits_is_told(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.latency = 0.1
    created = await create(client, items(1))
    async with asyncio.timeout(15):
        await server.until(lambda: server.batches.all[0].status == "ended")
    shown = await client.messages.batches.retrieve(created.id)
    assert shown.processing_status == "ended"


async def test_the_script_answers_each_item_once_whoever_asks_again(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    asked: list[tuple[str, int]] = []

    def script(request: api.Request, attempt: int) -> api.Reply:
        asked.append((request.custom_id, attempt))
        replies = {
            "clean": api.clean(request),
            "overloaded": api.error(529, "too much", kind="overloaded_error"),
            "late": EXPIRED,
            "stopped": CANCELED,
            "refused": api.refusal(),
        }
        return replies[request.custom_id]

    server.script = script
    ids = ["clean", "overloaded", "late", "stopped", "refused"]
    created = await create(client, [item(custom_id) for custom_id in ids])
    lines = {line.custom_id: line.result for line in await results_of(client, created.id)}
    assert {custom_id: result.type for custom_id, result in lines.items()} == {
        "clean": "succeeded",
        "overloaded": "errored",
        "late": "expired",
        "stopped": "canceled",
        "refused": "succeeded",
    }
    clean, overloaded, refusal = lines["clean"], lines["overloaded"], lines["refused"]
    assert clean.type == "succeeded"
    verdict = json.loads(clean.message.content[-1].text)  # pyright: ignore
    assert verdict["criteria"]["destructive_action"] == {"findings": [], "problem": False}
    assert clean.message.usage.service_tier == "batch"
    assert overloaded.type == "errored"
    assert (overloaded.error.error.type, overloaded.error.error.message) == (
        "overloaded_error",
        "too much",
    )
    assert refusal.type == "succeeded"
    assert refusal.message.stop_reason == "refusal"

    shown = await client.messages.batches.retrieve(created.id)
    await results_of(client, created.id)
    assert asked == [(custom_id, 1) for custom_id in ids]
    counts = shown.request_counts
    assert (counts.succeeded, counts.errored, counts.expired, counts.canceled) == (2, 1, 1, 1)

    server.script = api.clean
    await kinds_of(client, (await create(client, [item("clean")])).id)
    assert server.next_attempt(api.Request("", "", {}, item("clean")["params"], 0)) == 3


async def test_an_item_that_asks_for_what_no_batch_does_fails_alone(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    requests = [item("good"), item("capless", max_tokens=0), item("streamed", stream=True)]
    created = await create(client, requests)
    # However soon it ends, a new batch is in progress.
    assert (created.processing_status, created.request_counts.processing) == ("in_progress", 3)
    kinds = await kinds_of(client, created.id)
    assert kinds == {"good": "succeeded", "capless": "errored", "streamed": "errored"}


async def test_a_test_sees_what_was_asked_and_single_calls_are_counted_apart(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    await create(client, items(2))
    batch = server.batches.all[0]
    assert batch.custom_ids == ["item-0", "item-1"]
    assert batch.params("item-1") == batch.requests["item-1"] == items(2)[1]["params"]
    assert abs(server.batches.now() - batch.created_at) < timedelta(minutes=1)
    await client.messages.create(**items(1)[0]["params"])
    assert [request.path for request in server.requests] == ["/v1/messages"]
    (call,) = server.batches.calls
    assert (call.method, call.path, call.answered) == ("POST", "/v1/messages/batches", True)
    assert call.headers["authorization"] == "Bearer sk-ant-test"


async def test_results_come_in_another_order_each_time(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    created = await create(client, items(200))
    sent = [f"item-{number}" for number in range(200)]
    first, second = [
        [line.custom_id for line in await results_of(client, created.id)] for _ in range(2)
    ]
    assert len({tuple(sent), tuple(first), tuple(second)}) == 3
    assert sorted(sent) == sorted(first) == sorted(second)
    server.batches.seed = None
    assert [line.custom_id for line in await results_of(client, created.id)] == sent


async def test_lines_come_twice_and_strange_ones_stand_between_them(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.duplicates = 1
    server.batches.extra_lines = [result_line("strange", api.text("hello"))]
    created = await create(client, items(2))
    lines = Counter(line.custom_id for line in await results_of(client, created.id))
    assert lines == {"item-0": 2, "item-1": 1, "strange": 1}
    server.batches.extra_lines = [b"<html>"]
    with pytest.raises(json.JSONDecodeError):
        await results_of(client, created.id)


@pytest.mark.parametrize(
    ("cut", "came", "error"),
    [
        (Cut(2), 2, "RemoteProtocolError"),
        (Cut(2, ending="end"), 2, "JSONDecodeError"),
        # The SDK reads 64 bytes at a time, and loses the last ones together with the line's end.
        (Cut(2, half=False), 1, "RemoteProtocolError"),
        (Cut(2, ending="hang"), 2, "ReadTimeout"),
        (Cut(2, half=False, ending="end"), 2, None),
    ],
)
async def test_results_break_off_once(
    server: MessagesServer, client: AsyncAnthropic, cut: Cut, came: int, error: str | None
) -> None:
    server.batches.results_script = lambda number: cut if number == 1 else None
    created = await create(client, items(5))
    lines, failure = 0, None
    try:
        async for _ in await client.messages.batches.results(created.id, timeout=0.3):
            lines += 1
    except Exception as caught:  # noqa: BLE001
        failure = type(caught).__name__
    assert (lines, failure) == (came, error)
    assert len(await kinds_of(client, created.id)) == 5


async def test_a_new_batch_is_not_found_at_first(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.hidden_retrieves = 2
    created = await create(client, items(1))
    for _ in range(2):
        call = client.messages.batches.retrieve(created.id)
        assert await refused(call) == (404, "not_found_error")
    assert (await client.messages.batches.retrieve(created.id)).id == created.id

    server.batches.hidden_retrieves, server.batches.hidden_for = 0, FOREVER
    second = await create(client, items(1))
    for call in (client.messages.batches.retrieve, client.messages.batches.cancel):
        assert await refused(call(second.id)) == (404, "not_found_error")
    server.batches.get(second.id).hidden_until = 0.0
    assert (await client.messages.batches.retrieve(second.id)).id == second.id


async def test_the_list_has_the_newest_first_and_goes_both_ways(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    created = [(await create(client, items(1))).id for _ in range(5)]
    newest = created[::-1]
    page = await client.messages.batches.list(limit=2)
    assert [batch.id for batch in page.data] == newest[:2]
    assert (page.first_id, page.last_id, page.has_more) == (newest[0], newest[1], True)
    assert [batch.id async for batch in client.messages.batches.list(limit=2)] == newest
    before = await client.messages.batches.list(limit=2, before_id=newest[3])
    assert ([batch.id for batch in before.data], before.has_more) == (newest[1:3], True)
    last = await client.messages.batches.list(limit=2, after_id=newest[2])
    assert ([batch.id for batch in last.data], last.has_more) == (newest[3:], False)
    for query in ({"limit": 0}, {"after_id": "nobody"}):
        call = client.messages.batches.list(**query)  # pyright: ignore
        assert await refused(call) == (400, "invalid_request_error")


async def test_foreign_batches_are_listed_and_a_new_one_may_not_be_yet(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.listed_after = FOREVER
    old = datetime.now(UTC) - timedelta(hours=3)
    running = server.batches.add_foreign(3, created_at=old, status="in_progress")
    ended = server.batches.add_foreign(custom_ids=["one", "two"])
    own = await create(client, items(3))
    page = await client.messages.batches.list()
    assert [batch.id for batch in page.data] == [ended.id, running.id]
    assert (page.data[1].created_at, page.data[1].request_counts.processing) == (old, 3)
    assert await kinds_of(client, ended.id) == {"one": "succeeded", "two": "succeeded"}
    assert [batch.id for batch in server.batches.own] == [own.id]
    server.batches.get(own.id).listed = 0.0
    page = await client.messages.batches.list()
    assert [batch.id for batch in page.data] == [own.id, ended.id, running.id]


async def test_a_cancel_takes_its_time_and_keeps_what_was_done(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.latency = server.batches.cancel_latency = FOREVER
    server.batches.done_at_cancel = 0.5
    created = await create(client, items(4))
    batch = server.batches.all[0]
    first, second = [await client.messages.batches.cancel(created.id) for _ in range(2)]
    assert (first.processing_status, first.request_counts.processing) == ("canceling", 4)
    assert first == second
    assert first.cancel_initiated_at == batch.cancel_requested_at is not None
    assert (batch.status, batch.cancels) == ("canceling", 2)
    server.batches.finish(created.id)
    shown = await client.messages.batches.retrieve(created.id)
    assert (shown.request_counts.succeeded, shown.request_counts.canceled) == (2, 2)
    assert await kinds_of(client, created.id) == {
        "item-0": "succeeded",
        "item-1": "succeeded",
        "item-2": "canceled",
        "item-3": "canceled",
    }
    call = client.messages.batches.cancel(created.id)
    assert await refused(call) == (400, "invalid_request_error")


async def test_which_items_are_done_may_depend_on_what_they_ask(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.latency, server.batches.cancel_latency = FOREVER, 0.05
    server.batches.done_at_cancel = lambda request: request.prompt.endswith("item-2")
    created = await create(client, items(3))
    await client.messages.batches.cancel(created.id)
    async with asyncio.timeout(15):
        await server.until(lambda: server.batches.all[0].status == "ended")
    kinds = await kinds_of(client, created.id)
    assert kinds == {"item-0": "canceled", "item-1": "canceled", "item-2": "succeeded"}


async def test_a_batch_may_end_just_before_its_cancel_is_seen(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.latency, server.batches.ends_before_cancel = FOREVER, True
    created = await create(client, items(2))
    call = client.messages.batches.cancel(created.id)
    assert await refused(call) == (400, "invalid_request_error")
    assert server.batches.all[0].cancel_requested_at is None
    assert set((await kinds_of(client, created.id)).values()) == {"succeeded"}


async def test_a_cancel_is_slow_or_fails(server: MessagesServer, client: AsyncAnthropic) -> None:
    server.batches.latency = server.batches.cancel_latency = FOREVER
    failing = api.error(529, kind="overloaded_error")
    answers = {1: failing, 2: Accepted(delay=FOREVER)}
    server.batches.cancel_script = answers.get
    created = await create(client, items(1))
    batch = server.batches.all[0]
    assert await refused(client.messages.batches.cancel(created.id)) == (529, "overloaded_error")
    assert (batch.status, batch.cancels) == ("in_progress", 1)
    async with asyncio.TaskGroup() as group:
        slow = group.create_task(client.messages.batches.cancel(created.id))
        await server.until(lambda: batch.status == "canceling")
        assert not slow.done()
        server.release()
    assert slow.result().processing_status == "canceling"


async def test_a_batch_expires_with_what_was_done(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.latency = FOREVER
    created = await create(client, items(4))
    server.batches.expire(done=0.25)
    assert Counter((await kinds_of(client, created.id)).values()) == {"succeeded": 1, "expired": 3}
    server.batches.archive(created.id)
    shown = await client.messages.batches.retrieve(created.id)
    assert shown.archived_at is not None
    assert (shown.request_counts.expired, shown.results_url) == (3, None)


async def test_a_create_may_be_accepted_though_nobody_is_told(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    answers = {1: ACCEPT_AND_DROP, 2: ACCEPT_AND_529, 3: ACCEPT_AND_HANG}
    server.batches.create_script = answers.get
    await unheard(create(client, items(1)))
    assert len(server.batches.own) == 1
    assert await refused(create(client, items(2))) == (529, "overloaded_error")
    assert len(server.batches.own) == 2
    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(create(client, items(3)))
        await server.until(lambda: len(server.batches.own) == 3)
        hanging.cancel()
    await server.until(lambda: server.batches.calls[2].client_closed)
    listed = [batch async for batch in client.messages.batches.list()]
    assert [len(batch.custom_ids) for batch in server.batches.own] == [1, 2, 3]
    assert [batch.id for batch in listed] == [batch.id for batch in server.batches.own[::-1]]


async def test_a_create_may_fail_and_then_nothing_was_accepted(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    answers = {
        1: api.DROP,
        2: api.rate_limited(7),
        3: api.error(401, kind="authentication_error"),
        4: HANG,
    }
    server.batches.create_script = answers.get
    await unheard(create(client, items(1)))
    assert await refused(create(client, items(1))) == (429, "rate_limit_error")
    assert await refused(create(client, items(1))) == (401, "authentication_error")
    hanging = asyncio.create_task(create(client, items(1)))
    await server.until(lambda: server.batches.called["create"] == 4)
    server.release()
    await unheard(hanging)
    assert server.batches.all == []


@pytest.mark.parametrize("custom_id", ["", "a.b", "ä", "x" * 65, "line\n"])
async def test_a_custom_id_out_of_the_pattern_refuses_the_whole_batch(
    server: MessagesServer, client: AsyncAnthropic, custom_id: str
) -> None:
    call = create(client, [item("good"), item(custom_id)])
    assert await refused(call) == (400, "invalid_request_error")
    assert server.batches.all == []


async def test_a_batch_that_is_too_large_or_empty_or_ambiguous_is_refused(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.max_requests, server.batches.max_bytes = 3, 10_000
    invalid = (400, "invalid_request_error")
    assert await refused(create(client, [])) == invalid
    assert await refused(create(client, items(4))) == invalid
    assert await refused(create(client, [item("same"), item("same")])) == invalid
    big = item("big", system="x" * 10_000)
    assert await refused(create(client, [big])) == (413, "request_too_large")
    assert server.batches.all == []
    await create(client, [item("x" * 64), *items(2)])
    assert len(server.batches.all) == 1


async def test_an_endpoint_may_have_no_batches_at_all(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.available = False
    assert (await refused(create(client, items(1))))[0] == 404
    assert (await refused(client.messages.batches.list()))[0] == 404


async def test_results_may_be_said_to_lie_elsewhere(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    with MessagesServer() as other:
        server.batches.results_origin = other.base_url
        created = await create(client, items(1))
        assert await refused(client.messages.batches.results(created.id)) == (
            404,
            "not_found_error",
        )
        # The SDK follows, with the key; whoever uses it has to look first.
        assert other.batches.calls[0].headers["authorization"] == "Bearer sk-ant-test"
        assert server.batches.all[0].results == 0


async def test_every_answer_has_the_time_by_the_providers_clock(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    server.batches.skew = 3600.0
    raw = await client.messages.batches.with_raw_response.create(requests=items(1))  # pyright: ignore
    told = parsedate_to_datetime(raw.headers["date"])
    created = (await raw.parse()).created_at
    assert abs(told - created) < timedelta(minutes=1)
    assert timedelta(minutes=59) < created - datetime.now(UTC) < timedelta(minutes=61)


async def test_a_batch_of_megabytes_arrives_whole(
    server: MessagesServer, client: AsyncAnthropic
) -> None:
    requests = [item(f"item-{number}", system="word " * 1000) for number in range(600)]
    created = await create(client, requests)
    assert server.batches.all[0].requests["item-599"] == requests[599]["params"]
    kinds = await kinds_of(client, created.id)
    assert len(kinds) == 600


async def test_it_serves_as_a_process_of_its_own() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), "--port", "0", stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        client = connect(f"http://127.0.0.1:{port}")
        created = await create(client, items(2))
        assert set((await kinds_of(client, created.id)).values()) == {"succeeded"}
        await client.close()
    finally:
        process.terminate()
        await process.wait()
