"""What is held outside the process, by whom, and how what dead owners left is released."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.store import leases
from longjudge.store.batches import forget_over, live_batches

if TYPE_CHECKING:
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch
    from longjudge.store.leases import Lease


class HoldKind(StrEnum):
    """What is held."""

    LEASE = "lease"
    BATCH = "batch"


class HoldState(StrEnum):
    """How far it is: a hold whose owner is dead is `abandoned` until somebody releases it.

    A batch that was left running on purpose has no owner, and is `held` all the same.
    """

    HELD = "held"
    ABANDONED = "abandoned"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Hold:
    """One thing that is held. `age` is in seconds, `detail` hostile text as it was written.

    `holder` is the id that it was taken under, `doing` what is done under that, hostile as well.
    `batch` is our id of a batch, empty for a lease.
    """

    id: str
    kind: HoldKind
    state: HoldState
    owner: str
    alive: bool
    age: float
    detail: str
    holder: str = ""
    doing: str = ""
    batch: str = ""

    def to_dict(self) -> dict[str, object]:
        """The JSON object of `holds --json`."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "state": self.state.value,
            "owner": self.owner,
            "alive": self.alive,
            "age": self.age,
            "detail": self.detail,
        }


async def list_holds(store: Store) -> list[Hold]:
    """Everything that is held, oldest first.

    Raises:
        StoreError: the store cannot be read.
    """
    now = time.time()
    batches = await live_batches(store)
    holders = await leases.find_holders(store, [batch.owner for batch in batches])
    held = [batch_hold(batch, holders.get(batch.owner), now) for batch in batches]
    held += [_hold(lease, now) for lease in await leases.leases(store)]
    return sorted(held, key=lambda hold: -hold.age)


MOST_FAILURES = 3
"""After so many that could not be released no other is tried: each may wait for a locked store."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep released, what it could not release, and the `error` that says why not."""

    released: tuple[Hold, ...] = ()
    left: tuple[Hold, ...] = ()
    error: StoreError | None = None


async def sweep(store: Store) -> Swept:
    """Release what dead owners left, as much of it as can be.

    Raises:
        StoreError: the store cannot be read, or nothing of it can be written.
    """
    now = time.time()
    released: list[Hold] = []
    left: list[Hold] = []
    fault: StoreError | None = None
    for lease in await leases.leases(store):
        if lease.alive:
            continue
        hold = _hold(lease, now)
        if len(left) >= MOST_FAILURES:
            left.append(hold)
            continue
        try:
            if await leases.take_over(store, lease):
                released.append(replace(hold, state=HoldState.RELEASED))
        except StoreError as error:
            left.append(hold)
            fault = error
    if not left:
        await leases.forget_dead_owners(store)
        await forget_over(store)
    return Swept(tuple(released), tuple(left), fault)


async def sweep_holds(store: Store) -> list[Hold]:
    """Release what dead owners left, and return it.

    Raises:
        StoreError: the store cannot be read, or something could not be released.
    """
    swept = await sweep(store)
    if swept.error is not None:
        raise swept.error
    return list(swept.released)


def batch_hold(batch: Batch, holder: leases.Holder | None, now: float) -> Hold:
    """A batch as a hold; `holder` is who follows it, None where nobody is known to."""
    alive = holder is not None and holder.alive
    owner = "unknown"
    if holder is not None and holder.owner is not None:
        owner = holder.owner.words
    elif not batch.owner:
        owner = "left running"
    return Hold(
        id=batch.provider_id or batch.id,
        kind=HoldKind.BATCH,
        state=HoldState.HELD if alive or not batch.owner else HoldState.ABANDONED,
        owner=owner,
        alive=alive,
        age=max(0.0, now - batch.created),
        detail=batch_words(batch),
        holder=batch.owner,
        batch=batch.id,
    )


def batch_words(batch: Batch) -> str:
    """What a batch is about and how far it is, hostile text as it was written."""
    questions = "1 question" if batch.count == 1 else f"{batch.count} questions"
    state = batch.state.value
    if batch.cancel:
        state = "cancel sent" if batch.cancel_sent else "to be cancelled"
    words = f"{questions} to {batch.model} by {batch.rubric}: {state}"
    return f"{words}; {batch.problem}" if batch.problem else words


def _hold(lease: Lease, now: float) -> Hold:
    return Hold(
        id=lease.key[:12],
        kind=HoldKind.LEASE,
        state=HoldState.HELD if lease.alive else HoldState.ABANDONED,
        owner=lease.owner.words if lease.owner else "unknown",
        alive=lease.alive,
        age=max(0.0, now - lease.taken),
        detail=lease.detail,
        holder=lease.holder,
        doing=lease.doing,
    )
