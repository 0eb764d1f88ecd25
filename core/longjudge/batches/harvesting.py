"""Brings the results of an ended batch home: every verdict is kept before anything is told.

Any process can do it, twice too, and without the sessions: the batch's row has the rubric, and a
verdict of the same batch is the same one. What the results say of other questions is passed over.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from longjudge.judges.batch_api import BATCH_SHARE, BatchError, Trouble, batch_of, key_of
from longjudge.judges.reply import BadReply, bounded_reply, read_reply
from longjudge.prices import cost_usd
from longjudge.rubric import check_rubric_text
from longjudge.states import GapReason
from longjudge.store import KeptVerdict, Provenance, rubric_of_version
from longjudge.store.batch_rows import ItemOutcome
from longjudge.store.batches import note_outcomes, open_items

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from longjudge.judges.base import Answer
    from longjudge.judges.batch_api import BatchApi, ItemResult, RemoteBatch
    from longjudge.rubric import Rubric
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch, BatchItem

PAGE: Final = 200
"""Results that are kept together."""

_NO_LINE = "the results of the batch say nothing about it"
_NO_RUBRIC = "the rubric that it was asked by is not in the store any more"


async def harvest(
    store: Store,
    api: BatchApi,
    batch: Batch,
    remote: RemoteBatch,
    told: Callable[[Sequence[ItemOutcome]], None],
    *,
    believe: bool,
) -> None:
    """Keep every verdict of a batch that has ended, and note what came of every question.

    Where results are missing one fetch says little: only with `believe` do they count as none.

    Raises:
        BatchError: the results could not be read to their end; what was read is kept.
        StoreError: the store did not take something; the provider has it for a while.
    """
    rubric = await _rubric(store, batch)
    items = await open_items(store, batch.id)
    page: list[tuple[BatchItem, ItemResult]] = []

    async def keep() -> None:
        given, page[:] = list(page), []
        outcomes = await _keep(store, batch, rubric, given, _answered_at(batch, remote))
        await note_outcomes(store, batch.id, outcomes)
        told(outcomes)

    results = api.results(remote)
    try:
        async for result in results:
            if batch_of(result.custom_id) != batch.id:
                continue
            # Whatever the results say of one question again is passed over with the rest.
            if (item := items.pop(key_of(result.custom_id), None)) is not None:
                page.append((item, result))
            if len(page) >= PAGE:
                await keep()
    finally:
        await results.aclose()
        # Also where the rest could not be read: it is paid for.
        await keep()
    if items and not believe:
        raise BatchError(f"the results say nothing about {len(items)} questions", Trouble.UNSURE)
    missing = [ItemOutcome(key, GapReason.PROVIDER_ERROR, _NO_LINE) for key in items]
    for start in range(0, len(missing), PAGE):
        outcomes = missing[start : start + PAGE]
        await note_outcomes(store, batch.id, outcomes)
        told(outcomes)


def _answered_at(batch: Batch, remote: RemoteBatch) -> float:
    """When the answers came, by our clock, which the provider's may be far from."""
    now = time.time()
    return min(max(remote.ended or now, batch.created), now)


async def _rubric(store: Store, batch: Batch) -> Rubric | None:
    rubric, _ = await asyncio.to_thread(check_rubric_text, batch.rubric_toml, batch.rubric)
    if rubric is not None and rubric.version == batch.rubric_version:
        return rubric
    return await rubric_of_version(store, batch.rubric_version)


async def _keep(
    store: Store,
    batch: Batch,
    rubric: Rubric | None,
    page: Sequence[tuple[BatchItem, ItemResult]],
    created: float,
) -> list[ItemOutcome]:
    """Commit the verdicts among some results; what came of each."""
    outcomes: list[ItemOutcome] = []
    commits: list[Awaitable[None]] = []
    for item, result in page:
        if result.answer is None:
            outcomes.append(_without_answer(batch, item, result))
            continue
        answer, said = result.answer, bounded_reply(result.answer.text)
        cost = _cost(batch, answer)
        verdict = (
            BadReply(GapReason.UNPARSABLE, _NO_RUBRIC)
            if rubric is None
            else read_reply(answer, rubric)
        )
        if isinstance(verdict, BadReply):
            bad = verdict.reason, verdict.detail, said
            outcomes.append(ItemOutcome(item.key, *bad, answer.usage, cost))
            continue
        kept = KeptVerdict(verdict, said, item.disputed and not verdict.flagged)
        by = _provenance(batch, item, answer, cost)
        commits.append(store.keep(item.key, kept, by, created=created))
        outcomes.append(ItemOutcome(item.key, usage=answer.usage, cost_usd=cost))
    for done in await asyncio.gather(*commits, return_exceptions=True):
        if isinstance(done, BaseException):
            raise done
    return outcomes


def _without_answer(batch: Batch, item: BatchItem, result: ItemResult) -> ItemOutcome:
    reason, problem = result.reason, result.problem
    if reason is GapReason.CANCELLED:
        # What is not answered when a batch is cancelled is a gap of what it was cancelled for.
        reason = GapReason(batch.cancel.value or GapReason.CANCELLED)
        problem = problem or "the batch was cancelled before it was answered"
    replied = reason not in (GapReason.CANCELLED, GapReason.TIMED_OUT)
    return ItemOutcome(item.key, reason, problem, replied=replied)


def _cost(batch: Batch, answer: Answer) -> float | None:
    live = cost_usd(batch.model, answer.usage, batch.price)
    return None if live is None else live * BATCH_SHARE


def _provenance(batch: Batch, item: BatchItem, answer: Answer, cost: float | None) -> Provenance:
    parts = replace(batch.parts, chunk_digest=item.chunk_digest)
    return Provenance(
        batch.model,
        batch.endpoint,
        batch.rubric,
        batch.rubric_version,
        answer.usage,
        cost,
        parts,
    )
