"""Every forced failure, on one, some and all chunks, by the offline rules and by the real SDK.

What a failure made is never kept and never sent; what the judge gave is kept; and the run after it
asks about what is missing, and about nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import sqlite3
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from commands_for_tests import longjudge, longjudge_process
from judgments_for_tests import MODEL
from longjudge import retries
from longjudge.chunks import plan_chunks
from longjudge.faults import Fault
from longjudge.holds import list_holds
from longjudge.judges import faulty
from longjudge.prompt import chunk_tag
from longjudge.sessions import session_from_events
from longjudge.store import Store
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, events, item_of, write_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commands_for_tests import Finished
    from server import Reply, Request

COUNT = 6
EVERY = set(range(1, COUNT + 1))
BAD = 6
"""The part that the model finds something in; the offline rules find nothing."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What becomes of a chunk that a failure meets: its gap, None where it is judged, the number
    of questions, and how many of them got no reply."""

    spec: str
    gap: str | None
    questions: int = 1
    without_reply: int = 0
    kept: bool = True


ROWS = [
    Expected("timeout", "provider_error", 5, 5),
    Expected("slow=0.01", None),
    Expected("429=0.001", "rate_limited", 8),
    Expected("529=0.001", "rate_limited", 8),
    Expected("500", "provider_error", 5),
    Expected("drop", "provider_error", 5, 5),
    Expected("badjson", "unparsable", 2),
    Expected("truncated", "truncated", 2),
    Expected("refusal", "refused"),
    Expected("empty", "unparsable", 2),
    Expected("thinking-only", "truncated", 2),
    Expected("full-disk", None, kept=False),
]
WHERE = {"one": "@3", "some": "@40%:1", "all": ""}


def each_and_where() -> Iterator[Any]:
    """Each row for one chunk by the SDK and for all by the rules; a few for everything else."""
    for row, where, model in itertools.product(ROWS, WHERE, ("offline", MODEL)):
        always = (where, model) in (("one", MODEL), ("all", "offline"))
        always |= row.spec in ("badjson", "full-disk")
        marks = [] if always else [pytest.mark.thorough]
        yield pytest.param(row, where, model, marks=marks, id=f"{row.spec}-{where}-{model}")


@pytest.fixture(autouse=True)
def _in_short(served: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(faulty, "CALL_SECONDS", 0.005)
    served.script = flags_the_last


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def flags_the_last(request: Request, attempt: int) -> Reply:
    if item_of(request.prompt) != BAD - 1:
        return api.clean(request)
    return api.flagged(request, {"broken_promise": [{"event": 1, "quote": "", "note": "never"}]})


def judge(path: Path, store: Path, *options: object, model: str = MODEL) -> Finished:
    sizes = ("--chunk-chars", CHUNK_CHARS, "--concurrency", 3)
    return longjudge("judge", path, "--model", model, "--store", store, *sizes, *options)


@cache
def tags() -> list[str]:
    """The tags of the session's chunks, in order."""
    with contextlib.closing(session_from_events(events(COUNT))) as session:
        plan = plan_chunks(session.index, CHUNK_CHARS)
        return [chunk_tag(digest) for digest in plan.digests()]


def stored(store: Path, sql: str) -> list[Any]:
    """The rows of a query, on a connection of its own."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql).fetchall()


def holds(path: Path) -> int:
    """How much is held outside."""

    async def look() -> int:
        store = await Store.open(path)
        try:
            return len(await list_holds(store))
        finally:
            await store.aclose()

    return asyncio.run(look())


def check_sums(result: dict[str, Any]) -> None:
    """Every chunk has ended in exactly one way, and together they are the session."""
    parts = result["parts"]
    states = [part["state"] for part in parts]
    assert len(parts) == result["chunks"] == COUNT
    assert result["judged_chunks"] + result["unjudged_chunks"] == COUNT
    assert states.count("clean") + states.count("flagged") == result["judged_chunks"]
    assert states.count("gap") == sum(result["gaps"].values()) == result["unjudged_chunks"]
    assert sum(part["attempts"] for part in parts) == result["calls"]


@pytest.mark.parametrize(("row", "where", "model"), each_and_where())
def test_a_failure_costs_what_it_meets_and_nothing_else(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    row: Expected,
    where: str,
    model: str,
) -> None:
    fault = Fault.parse(row.spec + WHERE[where])
    met = {n for n, tag in enumerate(tags(), start=1) if fault.meets(n, tag)}
    assert {"one": met == {3}, "some": 1 < len(met) < 5, "all": met == EVERY}[where]
    judged = EVERY if row.gap is None else EVERY - met
    kept = judged if row.kept else judged - met
    asked = len(judged) if model == MODEL else 0

    ended = judge(session_file, store_file, "--json", "--fault", fault.spec, model=model)

    [result] = ended.objects
    check_sums(result)
    for part in result["parts"]:
        gap = part["part"] not in judged
        assert part["reason"] == (row.gap if gap else None)
        assert part["attempts"] == (row.questions if part["part"] in met else 1)
    assert result["status"] == (
        "complete" if judged == EVERY else "partial" if judged else "failed"
    )
    assert ended.code == (0 if judged == EVERY else 3)
    assert result["evidence"] == evidence(judged, model)
    assert result["calls"] == len(EVERY - met) + row.questions * len(met)
    assert result["calls_without_reply"] == row.without_reply * len(met)
    assert result["usage"]["input_tokens"] == 100 * asked
    assert (result["cost_usd"] > 0) == (asked > 0)
    assert len(served.requests) == asked
    assert result["fault"] == fault.spec
    assert f"forced failures: {fault.spec}; nothing they make is kept" in ended.err
    assert f"failures are forced in {len(met)} of {COUNT} parts" in ended.err
    assert (result["store_error"] is None) == (kept == judged)
    assert stored(store_file, "SELECT count(*) FROM verdicts") == [(len(kept),)]
    recorded = [] if not row.kept and where == "all" else [(0, 0.0)]
    assert stored(store_file, "SELECT asked, asked_seconds FROM judgments") == recorded
    assert (result["holds_left"], holds(store_file)) == (0, 0)

    again = judge(session_file, store_file, "--json", model=model)

    [second] = again.objects
    check_sums(second)
    assert (again.code, second["status"], second["fault"]) == (0, "complete", None)
    assert (second["calls"], second["cached_chunks"]) == (COUNT - len(kept), len(kept))
    assert second["evidence"] == evidence(EVERY, model)
    missing = COUNT - len(kept) if model == MODEL else 0
    assert len(served.requests) == asked + missing
    assert stored(store_file, "SELECT count(*) FROM verdicts") == [(COUNT,)]
    assert holds(store_file) == 0


def evidence(judged: set[int], model: str) -> str:
    if not judged:
        return "no part of the session could be judged"
    if model == MODEL and BAD in judged:
        return f"part {BAD}: never"
    return f"no problems found in {len(judged)} of {COUNT} parts judged"


@pytest.mark.parametrize(
    ("verdicts", "model"),
    [
        (1, "offline"),
        (COUNT, "offline"),
        pytest.param(3, MODEL, marks=pytest.mark.thorough),
    ],
)
def test_a_crash_leaves_the_verdicts_before_it_and_the_next_run_asks_for_the_others(
    served: MessagesServer, session_file: Path, store_file: Path, verdicts: int, model: str
) -> None:
    options = ("--model", model, "--store", store_file, "--chunk-chars", CHUNK_CHARS)
    crash = ("--concurrency", 1, "--json", "--fault", f"crash={verdicts}")
    ended = longjudge_process("judge", session_file, *options, *crash)
    assert (ended.code, ended.out) == (-signal.SIGKILL, "")
    assert f"forced failures: crash={verdicts}; " in ended.err
    assert stored(store_file, "SELECT count(*) FROM verdicts") == [(verdicts,)]
    again = judge(session_file, store_file, "--json", model=model)
    [result] = again.objects
    check_sums(result)
    assert (again.code, result["calls"], result["cached_chunks"]) == (
        0,
        COUNT - verdicts,
        verdicts,
    )
    assert len(served.requests) == (COUNT if model == MODEL else 0)
    assert holds(store_file) == 0
