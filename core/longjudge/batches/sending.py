"""Sends questions as a batch: noted first, then sent once, then noted under the provider's name."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.ids import random_id
from longjudge.judges.batch_api import BatchError, Trouble
from longjudge.states import GapReason
from longjudge.store import batches as rows
from longjudge.store.batch_rows import BatchState, CancelCause, ItemOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.judges.batch_api import BatchApi, BatchRequest
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch, BatchItem

    Follow = Callable[[Batch, bool], None]


@dataclass(frozen=True, slots=True)
class Ready:
    """A question that can be sent: what the store notes of it, and what the provider gets."""

    item: BatchItem
    request: BatchRequest


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of sending some questions.

    `batches` hold them, `elsewhere` are asked by others or answered by now, `outcomes` are gaps of
    what the provider does not take. With `later` nothing was accepted, and the same questions may
    be sent again after so many seconds.
    """

    batches: tuple[Batch, ...] = ()
    elsewhere: frozenset[str] = frozenset()
    outcomes: tuple[ItemOutcome, ...] = ()
    fatal: str | None = None
    later: BatchError | None = None
    keys: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


async def send(
    store: Store,
    api: BatchApi,
    plain: Batch,
    ready: Sequence[Ready],
    *,
    since: float,
    follow: Follow,
) -> Sent:
    """Send questions as one batch, or as smaller ones where that is too large.

    `plain` is what all of them have in common. Verdicts from before `since` (seconds since 1970)
    count as none. `follow(batch, sending)` is called before it is sent, and again when the call is
    over, so that it is looked after whatever happens to the caller.

    Raises:
        StoreError: it cannot be noted, and so it is not sent.
    """
    batch = replace(plain, id=random_id(), count=len(ready), created=time.time())
    items = [each.item for each in ready]
    taken = await rows.begin(store, batch, items, since=since, holder=batch.owner)
    elsewhere = frozenset(each.key for each in items if each.key not in taken)
    sending = [each for each in ready if each.item.key in taken]
    if not sending:
        return Sent(elsewhere=elsewhere)
    batch = replace(batch, count=len(sending))
    unsure = Sent((batch,), elsewhere, keys={batch.id: frozenset(taken)})
    # However this ends: a batch that nobody knows to be accepted is looked for.
    known = batch
    follow(batch, True)
    try:
        remote = await api.create(batch.id, [each.request for each in sending])
        # Nothing is awaited before the provider's name of it is noted.
        known = replace(
            batch, provider_id=remote.id, submitted=time.time(), state=BatchState.SUBMITTED
        )
        if not store.write_now(rows.SUBMITTED, (remote.id, known.submitted, batch.id)):
            known = await _note_accepted(store, known, [each.item for each in sending], since)
        return replace(unsure, batches=(known,))
    except BatchError as error:
        known = replace(batch, problem=error.message)
        if error.trouble is Trouble.UNSURE:
            return replace(unsure, batches=(known,))
        sent = await _not_accepted(store, batch, sending, error)
        known = replace(batch, state=BatchState.LOST, problem=error.message)
    finally:
        follow(known, False)
    if sent is None:
        halves = [sending[: len(sending) // 2], sending[len(sending) // 2 :]]
        parts: list[Sent] = []
        for half in halves:
            if not any(part.fatal or part.later for part in parts):
                parts.append(await send(store, api, plain, half, since=since, follow=follow))
        return _together(elsewhere, parts)
    return replace(sent, elsewhere=elsewhere)


async def _note_accepted(
    store: Store, batch: Batch, items: Sequence[BatchItem], since: float
) -> Batch:
    """Note an accepted batch after all: somebody held the file, or took it for one never sent."""
    with contextlib.suppress(StoreError):
        if not await rows.note_accepted(store, batch, items, since=since, holder=batch.owner):
            # Others ask all of its questions by now, or have the answers.
            await rows.want_cancel(store, batch.id, CancelCause.CANCEL)
            return replace(batch, cancel=CancelCause.CANCEL)
    return batch


async def _not_accepted(
    store: Store, batch: Batch, sending: Sequence[Ready], error: BatchError
) -> Sent | None:
    """What follows from a refusal; None where smaller batches may be accepted."""
    if error.trouble is Trouble.LATER:
        await rows.withdraw(store, batch)
        return Sent(later=error)
    if error.trouble is Trouble.TOO_LARGE and len(sending) > 1:
        await rows.withdraw(store, batch)
        return None
    reason = GapReason.TOO_LARGE if error.trouble is Trouble.TOO_LARGE else error.reason
    outcomes = tuple(ItemOutcome(each.item.key, reason, error.message) for each in sending)
    await rows.note_outcomes(store, batch.id, outcomes)
    await rows.note(store, replace(batch, state=BatchState.LOST, problem=error.message))
    fatal = error.message if error.trouble is Trouble.END else None
    return Sent(outcomes=outcomes, fatal=fatal)


def _together(elsewhere: frozenset[str], parts: Sequence[Sent]) -> Sent:
    return Sent(
        tuple(batch for part in parts for batch in part.batches),
        elsewhere.union(*(part.elsewhere for part in parts)),
        tuple(outcome for part in parts for outcome in part.outcomes),
        next((part.fatal for part in parts if part.fatal), None),
        next((part.later for part in parts if part.later), None),
        {id: keys for part in parts for id, keys in part.keys.items()},
    )
