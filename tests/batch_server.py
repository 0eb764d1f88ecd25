"""The Message Batches API of `server.MessagesServer`, which owns one at `server.batches`.

    with MessagesServer(script) as server:          # the script answers items, too
        batches = server.batches
        batches.latency = FOREVER                   # seconds in progress; or until `finish()`
        ...                                         # the client creates a batch
        server.wait_for(lambda: batches.all)        # `await server.until(...)` in async code
        batch = batches.all[0]                      # `Batch`: id, custom_ids, status, cancels, ...
        batches.finish()                            # or `finish(batch.id)`, `expire(batch.id)`

The script gets a `Request` per item, with its `custom_id`, once, after the batch has ended: a
reply of status 200 makes the item `succeeded`, another one `errored`, and `EXPIRED` and
`CANCELED` are replies, too. A body that is no JSON makes a line of results that is none. Delays
and drops are not for items.

What a call gets may be scripted per endpoint, by the number of the call to it, from 1:

    batches.create_script = lambda number: ACCEPT_AND_DROP if number == 1 else None
    batches.cancel_script = lambda number: Accepted(delay=2)      # done at once, told late
    batches.results_script = lambda number: Cut(3) if number == 1 else None

`None`: the usual. A `Reply` comes instead, and nothing is done: `error(400)`, `rate_limited(5)`,
`DROP`, `HANG`. `Accepted(reply, delay)`: it is done, the client is told that. The other switches
are the attributes of `Batches`; they hold for what comes after they are set. Waits that have no
end (`FOREVER`) end with `server.release()`.

`python tests/batch_server.py --port 0 --latency 0.5` serves as a process and prints its port.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from batch_records import (
    ACCEPT_AND_529,
    ACCEPT_AND_DROP,
    ACCEPT_AND_HANG,
    CANCELED,
    EXPIRED,
    HANG,
    ROOT,
    Accepted,
    Batch,
    Chosen,
    Cut,
    Scripted,
    Status,
    as_usual,
    is_chosen,
    kind_of,
    page_of,
    pieces_of,
    read_create,
    result_line,
    view,
)
from server import MessagesServer, Reply, Request, error, later, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_ITEMS_AT_ONCE = 128

__all__ = [
    "ACCEPT_AND_529",
    "ACCEPT_AND_DROP",
    "ACCEPT_AND_HANG",
    "CANCELED",
    "EXPIRED",
    "HANG",
    "Accepted",
    "Batch",
    "Batches",
    "Cut",
    "is_batch_path",
    "result_line",
]


@dataclass(slots=True, eq=False)
class Batches:
    """The batches of a server, and what a test can make of them."""

    server: MessagesServer
    all: list[Batch] = field(default_factory=list)
    """Every batch that was accepted, and the foreign ones."""
    calls: list[Request] = field(default_factory=list)
    """The calls as they came: method, path, headers, answered, client_closed."""
    called: Counter[str] = field(default_factory=Counter)
    """How many of them: create, list, retrieve, results, cancel."""

    available: bool = True
    """False: an endpoint without batches, which answers as llama.cpp does."""
    latency: float = 0.0
    """Seconds in progress; FOREVER: until `finish`."""
    hidden_for: float = 0.0
    """Seconds after it is created in which a batch is not found by its id."""
    hidden_retrieves: int = 0
    """So many calls for a new batch do not find it."""
    listed_after: float = 0.0
    """Seconds until a new batch is in the list."""
    cancel_latency: float = 0.0
    """Seconds from a cancel to the end; FOREVER: until `finish`."""
    done_at_cancel: Chosen = 0.0
    """The items that are done when a cancel comes."""
    ends_before_cancel: bool = False
    """A batch ends just before its cancel is seen."""
    max_requests: int = 100_000
    max_bytes: int = 256 * 1024 * 1024
    seed: int | None = 0
    """For the order of results, which is another one each time; None: as they were sent."""
    duplicates: int = 0
    """So many lines of results come twice."""
    extra_lines: list[bytes] = field(default_factory=list)
    """More lines among the results; see `result_line`."""
    results_origin: str | None = None
    """Where `results_url` points; None: to this server."""
    skew: float = 0.0
    """Seconds by which the provider's clock is ahead."""
    create_script: Callable[[int], Scripted] = as_usual
    list_script: Callable[[int], Scripted] = as_usual
    retrieve_script: Callable[[int], Scripted] = as_usual
    results_script: Callable[[int], Scripted] = as_usual
    cancel_script: Callable[[int], Scripted] = as_usual

    @property
    def origin(self) -> str:
        """Where `results_url` points."""
        return self.results_origin or self.server.base_url

    @property
    def own(self) -> list[Batch]:
        """Every batch that was created through the API."""
        return [batch for batch in self.all if not batch.foreign]

    def get(self, batch_id: str) -> Batch:
        """The batch of that id."""
        return next(batch for batch in self.all if batch.id == batch_id)

    def now(self) -> datetime:
        """The provider's time."""
        return datetime.now(UTC) + timedelta(seconds=self.skew)

    def finish(self, batch_id: str | None = None) -> None:
        """End a batch now, or all of them; a cancel under way comes to its end."""
        with self.server.changes():
            for batch in self.all if batch_id is None else [self.get(batch_id)]:
                batch.ends = min(batch.ends, time.monotonic())

    def expire(self, batch_id: str | None = None, *, done: Chosen = 0.0) -> None:
        """End a batch, or all that have not ended; items that are not done have expired."""
        with self.server.changes():
            for batch in self.all if batch_id is None else [self.get(batch_id)]:
                if batch.status != "ended":
                    batch.rest, batch.done = EXPIRED, done
                    batch.ends = time.monotonic()

    def archive(self, batch_id: str) -> None:
        """Let the results of a batch be gone, as they are after 29 days."""
        with self.server.changes():
            self.get(batch_id).archived_at = self.now()

    def add_foreign(
        self,
        count: int = 1,
        *,
        custom_ids: Sequence[str] | None = None,
        created_at: datetime | None = None,
        status: Status = "ended",
    ) -> Batch:
        """Put somebody else's batch among ours; one that has not ended goes on until `finish`."""
        ids = custom_ids or [f"foreign-{number}" for number in range(1, count + 1)]
        with self.server.changes():
            batch = self._add(list(ids), created_at or self.now())
            batch.foreign = True
            if status == "ended":
                batch.ends = batch.born
            elif status == "canceling":
                batch.cancel_requested_at, batch.rest, batch.done = self.now(), CANCELED, 0.0
        return batch

    async def reply(self, call: Request) -> Reply:
        """What a call to one of the endpoints gets."""
        found = _endpoint(call)
        if not self.available or found is None:
            return _not_there()
        name, batch_id = found
        with self.server.changes():
            self.called[name] += 1
            number = self.called[name]
            batch = next((batch for batch in self.all if batch.id == batch_id), None)
            if batch is not None and name != "list":
                counter = {"retrieve": "retrieves", "cancel": "cancels"}.get(name, name)
                setattr(batch, counter, getattr(batch, counter) + 1)
        script: Callable[[int], Scripted] = getattr(self, f"{name}_script")
        scripted = script(number)
        if isinstance(scripted, Reply):
            return scripted
        cut = scripted if isinstance(scripted, Cut) else None
        usual = await self._usual(name, call, batch, cut)
        if not isinstance(scripted, Accepted):
            return usual
        return later(usual, scripted.delay) if scripted.reply is None else _told(scripted)

    async def _usual(self, name: str, call: Request, batch: Batch | None, cut: Cut | None) -> Reply:
        if name == "create":
            return self._create(call)
        if name == "list":
            return await self._list(call)
        if batch is None or self._is_hidden(batch):
            return error(404, f"no batch at {call.path}", kind="not_found_error")
        if name == "results":
            return await self._results(batch, cut)
        if name == "cancel":
            return await self._cancel(batch)
        return _json(await self._view(batch))

    def _is_hidden(self, batch: Batch) -> bool:
        with self.server.changes():
            if batch.hidden_retrieves > 0:
                batch.hidden_retrieves -= 1
                return True
        return time.monotonic() < batch.hidden_until

    def _add(self, custom_ids: list[str], created_at: datetime) -> Batch:
        name = f"msgbatch_01{uuid.uuid4().hex[:22]}"
        batch = Batch(name, len(self.all) + 1, custom_ids, created_at)
        self.all.append(batch)
        return batch

    def _create(self, call: Request) -> Reply:
        if len(call.content) > self.max_bytes:
            return error(413, "Request too large", kind="request_too_large")
        try:
            custom_ids, params = read_create(call.content, self.max_requests)
        except ValueError as fault:
            return _invalid(str(fault))
        with self.server.changes():
            batch = self._add(custom_ids, self.now())
            batch.raw_params = params
            batch.ends = batch.born + self.latency
            batch.listed = batch.born + self.listed_after
            batch.hidden_until = batch.born + self.hidden_for
            batch.hidden_retrieves = self.hidden_retrieves
        self.server.tell_after(self.latency)
        # A new batch is in progress, however soon it ends.
        return _json(view(batch, "in_progress", self.origin))

    async def _list(self, call: Request) -> Reply:
        query = {name: values[-1] for name, values in parse_qs(urlsplit(call.path).query).items()}
        with self.server.changes():
            listed = [batch for batch in self.all if batch.listed <= time.monotonic()]
        try:
            batches, more = page_of(listed, query)
        except ValueError as fault:
            return _invalid(str(fault))
        page = [await self._view(batch) for batch in batches]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return _json({"data": page, "has_more": more, "first_id": None, "last_id": None} | ends)

    async def _cancel(self, batch: Batch) -> Reply:
        with self.server.changes():
            if self.ends_before_cancel:
                batch.ends = min(batch.ends, time.monotonic())
            if batch.status == "ended":
                return _invalid(f"Batch {batch.id} has ended and cannot be canceled.")
            if batch.cancel_requested_at is None:
                batch.cancel_requested_at = self.now()
                batch.rest, batch.done = CANCELED, self.done_at_cancel
                batch.ends = time.monotonic() + self.cancel_latency
        self.server.tell_after(self.cancel_latency)
        return _json(view(batch, "canceling", self.origin))

    async def _results(self, batch: Batch, cut: Cut | None) -> Reply:
        if batch.status != "ended" or batch.archived_at is not None:
            # What the provider answers here is not documented; no client should come to ask.
            return error(404, f"{batch.id} has no results", kind="not_found_error")
        await self._settle(batch)
        lines = [*batch.lines, *batch.lines[: self.duplicates], *self.extra_lines]
        if self.seed is not None:
            random.Random(f"{self.seed} {batch.number} {batch.results}").shuffle(lines)
        is_whole = cut is None or cut.ending == "end"
        return Reply(
            content_type="application/x-jsonl",
            chunked=True,
            pieces=pieces_of(lines, cut),
            cut=not is_whole,
            hang=cut is not None and cut.ending == "hang",
        )

    async def _view(self, batch: Batch) -> dict[str, Any]:
        status = batch.status
        if status == "ended":
            await self._settle(batch)
        return view(batch, status, self.origin)

    async def _settle(self, batch: Batch) -> None:
        """Find out once what became of each item; a call that was given up goes on here."""
        async with batch.settling:
            for index in range(len(batch.lines), len(batch.custom_ids)):
                if index % _ITEMS_AT_ONCE == 0:
                    await asyncio.sleep(0)
                reply = self._outcome(batch, index)
                batch.lines.append(result_line(batch.custom_ids[index], reply))
                batch.tally[kind_of(reply)] += 1

    def _outcome(self, batch: Batch, index: int) -> Reply:
        custom_id = batch.custom_ids[index]
        path = f"{ROOT}/{batch.id}"
        body = {} if batch.foreign else msgspec.json.decode(batch.raw_params[index])
        request = Request("POST", path, {}, body, batch.born, custom_id=custom_id)
        if batch.rest is not None and not is_chosen(batch.done, request, index, batch):
            return batch.rest
        if batch.foreign:
            return text("This is somebody else's.")
        # Parameters are looked at with the item, not when the batch is created.
        missing = [name for name in ("model", "max_tokens", "messages") if not body.get(name)]
        if missing or body.get("stream"):
            fault = f"{missing[0]}: Field required" if missing else "stream: not in a batch"
            return _invalid(fault)
        request.attempt = self.server.next_attempt(request)
        return self.server.script(request, request.attempt)


def is_batch_path(path: str) -> bool:
    """Whether a request is for this API."""
    return path.startswith(ROOT)


def _endpoint(call: Request) -> tuple[str, str] | None:
    path = call.path.partition("?")[0]
    match call.method, path.removeprefix(ROOT).split("/"):
        case "POST", [""]:
            return "create", ""
        case "GET", [""]:
            return "list", ""
        case "GET", ["", batch_id]:
            return "retrieve", batch_id
        case "GET", ["", batch_id, "results"]:
            return "results", batch_id
        case "POST", ["", batch_id, "cancel"]:
            return "cancel", batch_id
        case _:
            return None


def _told(accepted: Accepted) -> Reply:
    assert accepted.reply is not None
    return later(accepted.reply, max(accepted.delay, accepted.reply.delay))


def _not_there() -> Reply:
    body = {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}
    return Reply(404, json.dumps(body).encode())


def _invalid(message: str) -> Reply:
    return error(400, message, kind="invalid_request_error")


def _json(body: Mapping[str, Any]) -> Reply:
    return Reply(body=json.dumps(body).encode())


def main() -> None:
    """Serve until the process is stopped; every item is clean."""
    parser = argparse.ArgumentParser(description="A local Messages API with batches.")
    parser.add_argument("--port", type=int, default=0, help="0: any free one, which is printed")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds in progress")
    parser.add_argument("--cancel-latency", type=float, default=0.0, help="seconds to be canceled")
    options = parser.parse_args()
    with MessagesServer(port=options.port) as server, contextlib.suppress(KeyboardInterrupt):
        server.batches.latency = options.latency
        server.batches.cancel_latency = options.cancel_latency
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
