"""What `batch_server` serves: a batch, its results, and what a test may order of a call."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from server import DROP, FOREVER, Reply, Request, error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = "/v1/messages/batches"
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LINES_AT_ONCE = 64

Status = Literal["in_progress", "canceling", "ended"]

EXPIRED = Reply(0, b"expired")
CANCELED = Reply(0, b"canceled")

Chosen = float | Callable[[Request], bool]
"""Some items of a batch: a share, counted from the first one, or what is true of them."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The call has its effect; the client is told `reply` (None: the usual) after `delay`."""

    reply: Reply | None = None
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Cut:
    """Results that are not whole: `lines` lines and, with `half`, half of the next one.

    Then the connection is dropped, or the body ends as if it were whole, or nothing more comes.
    """

    lines: int
    half: bool = True
    ending: Literal["drop", "end", "hang"] = "drop"


Scripted = Reply | Accepted | Cut | None

HANG = Reply(drop=True, delay=FOREVER)
ACCEPT_AND_DROP = Accepted(DROP)
ACCEPT_AND_HANG = Accepted(HANG)
ACCEPT_AND_529 = Accepted(error(529, "overloaded", kind="overloaded_error"))


def as_usual(number: int) -> Scripted:
    """The script of an endpoint that works."""
    return None


@dataclass(slots=True, eq=False)
class Batch:
    """One batch as the provider knows it. Times are the server's, in UTC."""

    id: str
    number: int
    custom_ids: list[str]
    created_at: datetime
    raw_params: list[msgspec.Raw] = field(default_factory=list, repr=False)
    foreign: bool = False
    cancel_requested_at: datetime | None = None
    archived_at: datetime | None = None
    retrieves: int = 0
    results: int = 0
    cancels: int = 0
    """Calls that came for it, answered or not."""
    tally: Counter[str] = field(default_factory=Counter)
    """What became of the items; known once it has ended and the client has looked."""
    born: float = field(default_factory=time.monotonic)
    ends: float = FOREVER
    listed: float = 0.0
    hidden_until: float = 0.0
    hidden_retrieves: int = 0
    rest: Reply | None = None
    """What becomes of the items that are not `done`; None: all are."""
    done: Chosen = 1.0
    lines: list[bytes] = field(default_factory=list, repr=False)
    settling: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def status(self) -> Status:
        """As the API words it."""
        if time.monotonic() >= self.ends:
            return "ended"
        return "canceling" if self.cancel_requested_at else "in_progress"

    @property
    def ended_at(self) -> datetime | None:
        """When it ended, if it has."""
        if self.status != "ended":
            return None
        return self.created_at + timedelta(seconds=self.ends - self.born)

    def params(self, custom_id: str) -> dict[str, Any]:
        """What was asked in one item."""
        return msgspec.json.decode(self.raw_params[self.custom_ids.index(custom_id)])

    @property
    def requests(self) -> dict[str, dict[str, Any]]:
        """What was asked, per custom_id."""
        pairs = zip(self.custom_ids, self.raw_params, strict=True)
        return {custom_id: msgspec.json.decode(params) for custom_id, params in pairs}


class _Item(msgspec.Struct):
    custom_id: str
    params: msgspec.Raw


class _Body(msgspec.Struct):
    requests: list[_Item]


def read_create(content: bytes, limit: int) -> tuple[list[str], list[msgspec.Raw]]:
    """The custom_ids and parameters of a call to create; ValueError says what is wrong with it."""
    try:
        items = msgspec.json.decode(content, type=_Body).requests
    except (msgspec.DecodeError, UnicodeDecodeError) as failure:
        raise ValueError(str(failure)) from None
    if not 1 <= len(items) <= limit:
        raise ValueError(f"requests: List should have from 1 to {limit} items")
    for index, item in enumerate(items):
        if not _CUSTOM_ID.fullmatch(item.custom_id):
            pattern = f"'^{_CUSTOM_ID.pattern}$'"
            raise ValueError(f"requests.{index}.custom_id: String should match pattern {pattern}")
    custom_ids = [item.custom_id for item in items]
    if len(set(custom_ids)) < len(custom_ids):
        raise ValueError("requests: custom_id must be unique within a batch")
    return custom_ids, [item.params for item in items]


def result_line(custom_id: str, reply: Reply) -> bytes:
    """A line of results, without its end; for `Batches.extra_lines`, too."""
    kind, body = kind_of(reply), reply.body
    if kind == "succeeded":
        tier = b'"service_tier": "standard"', b'"service_tier": "batch"'
        inner = b', "message": ' + body.replace(*tier)
    else:
        inner = b', "error": ' + body if kind == "errored" else b""
    head = json.dumps({"custom_id": custom_id, "result": {"type": kind}})
    return head[:-2].encode() + inner + b"}}"


def kind_of(reply: Reply) -> str:
    if reply.status == 0:
        return reply.body.decode()
    return "succeeded" if reply.status == 200 else "errored"


def is_chosen(chosen: Chosen, request: Request, index: int, batch: Batch) -> bool:
    if callable(chosen):
        return chosen(request)
    return index < round(chosen * len(batch.custom_ids))


def pieces_of(lines: Sequence[bytes], cut: Cut | None) -> Iterator[bytes]:
    whole = lines if cut is None else lines[: cut.lines]
    for start in range(0, len(whole), _LINES_AT_ONCE):
        yield b"".join(line + b"\n" for line in whole[start : start + _LINES_AT_ONCE])
    if cut is not None and cut.half and cut.lines < len(lines):
        line = lines[cut.lines]
        yield line[: len(line) // 2]


def page_of(listed: Sequence[Batch], query: Mapping[str, str]) -> tuple[list[Batch], bool]:
    """The batches that a call to list asks for, the newest first, and whether there are more.

    Raises ValueError where it asks for what there is not.
    """
    limit = int(query.get("limit", "20"))
    if not 1 <= limit <= 1000:
        raise ValueError("limit: Input should be from 1 to 1000")
    batches = sorted(listed, key=lambda batch: (batch.created_at, batch.number), reverse=True)
    ids = [batch.id for batch in batches]
    start = ids.index(query["after_id"]) + 1 if "after_id" in query else 0
    if "before_id" in query:
        stop = ids.index(query["before_id"])
        return batches[max(start, stop - limit) : stop], stop - limit > start
    return batches[start : start + limit], start + limit < len(ids)


def view(batch: Batch, status: Status, origin: str) -> dict[str, Any]:
    """A batch as the API shows it; one that has ended has its `tally`."""
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    has_ended = status == "ended"
    counts |= batch.tally if has_ended else {"processing": len(batch.custom_ids)}
    url = f"{origin}{ROOT}/{batch.id}/results"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": status,
        "request_counts": counts,
        "created_at": _time(batch.created_at),
        "expires_at": _time(batch.created_at + timedelta(hours=24)),
        "ended_at": _time(batch.ended_at) if has_ended else None,
        "cancel_initiated_at": _time(batch.cancel_requested_at),
        "archived_at": _time(batch.archived_at),
        "results_url": url if has_ended and batch.archived_at is None else None,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
