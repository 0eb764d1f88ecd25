"""Which chunks of the plan are in a batch that no judgment in sight waits for, and whose it is."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

from longjudge.errors import StoreError
from longjudge.owner import this_process
from longjudge.store import leases
from longjudge.store.batches import live_batches, on_the_way
from longjudge_tui.bench.batch_words import short_name
from longjudge_tui.chores import Chores
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch
    from longjudge.store.leases import Holder

LOOK_SECONDS: Final = 2.0


class OnTheWay:
    """`who` says of a verdict key which batch it is in, and who follows that.

    It is read in the background, now and then; `changed` is called where it is another one.
    """

    def __init__(self, store: Store, changed: Callable[[], None]) -> None:
        self.who: Mapping[str, str] = {}
        self._store = store
        self._changed = changed
        self._chores = Chores()
        self._due = 0.0
        self._reading = False
        self._keys: Sequence[str] = ()

    def follow(self, keys: Sequence[str]) -> None:
        """Look where that is due; called several times a second, with the keys of the plan."""
        now = time.monotonic()
        if self._reading or (now < self._due and keys is self._keys):
            return
        self._reading, self._keys, self._due = True, keys, now + LOOK_SECONDS
        self._chores.start(self._read(keys))

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self._chores.raise_failure()

    async def aclose(self) -> None:
        """End what is read."""
        await self._chores.end()

    async def _read(self, keys: Sequence[str]) -> None:
        try:
            # A store that cannot be read says so elsewhere.
            with contextlib.suppress(StoreError):
                who = await self._find(keys)
                if who != self.who:
                    self.who = who
                    self._changed()
        finally:
            self._reading = False

    async def _find(self, keys: Sequence[str]) -> dict[str, str]:
        batches = {each.id: each for each in await live_batches(self._store)}
        if not batches:
            return {}
        found = await on_the_way(self._store, keys)
        owners = await leases.find_holders(self._store, [b.owner for b in batches.values()])
        words = {id: _words(each, owners.get(each.owner)) for id, each in batches.items()}
        return {key: words[id] for key, id in found.items() if id in words}


def _words(batch: Batch, holder: Holder | None) -> str:
    """`msgbatch_01ab of this window`: a batch and whose it is."""
    if not batch.owner:
        whose = "left running"
    elif holder is None or holder.owner is None or not holder.alive:
        whose = "of a dead process"
    elif holder.owner == this_process():
        whose = "of this window"
    else:
        whose = f"of {line(holder.owner.words, 40)}"
    return f"{short_name(batch)} {whose}"
