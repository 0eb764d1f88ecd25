"""Looks in the provider's list for a batch of which nobody knows whether it was accepted.

One there is ours only if the ids of its results say so, which can be read once it has ended. Until
then it is waited for, and never cancelled.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from longjudge.judges.batch_api import BatchError, RemoteStatus, Trouble, batch_of
from longjudge.store import batches as rows
from longjudge.store.batch_rows import BatchState
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.batch_pace import Pace
    from longjudge.judges.batch_api import BatchApi, RemoteBatch
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch

SKEW_SECONDS: Final = 600.0
"""How far the provider's clock may be behind ours: older batches cannot be the one looked for."""

MOST_EMPTY: Final = 3
"""So many fetches without any result say that there is none; fewer may have been cut off."""

LOOKED_FOR: Final = "it is looked for in the provider's list"

_LOG = logging.getLogger(__name__)


class Finder:
    """What is seen in the list of one endpoint; what is somebody else's is looked at once."""

    def __init__(self, store: Store, api: BatchApi, pace: Pace) -> None:
        self._store = store
        self._api = api
        self._pace = pace
        self._foreign: set[str] = set()
        self._empty: Counter[str] = Counter()

    async def find(self, batch: Batch, quiet: float) -> Batch:
        """A batch as it is known after a look; `quiet` seconds ago its sender was last heard of.

        It is `submitted` where it is found, `lost` where it never reached the provider, and else
        as it was, with the reason in its `problem`.

        Raises:
            BatchError: the list, or results, cannot be read.
            StoreError: the store cannot be read, or does not take what was found out.
        """
        candidates = await self._candidates(batch)
        for remote in candidates:
            if remote.status is RemoteStatus.ENDED and await self._is(remote, batch):
                _LOG.info("batch %s was accepted as %s", batch.id, clean_line(remote.id))
                found = replace(
                    batch,
                    provider_id=remote.id,
                    submitted=remote.created or time.time(),
                    state=BatchState.SUBMITTED,
                    problem="",
                )
                await rows.note(self._store, found)
                return found
        left = [remote for remote in candidates if remote.id not in self._foreign]
        if left:
            may_be = ", ".join(clean_line(remote.id, 60) for remote in left[:3])
            problem = f"it may be {may_be}, which tells only once that has ended"
            return replace(batch, problem=problem)
        if quiet < self._pace.listed_after or not await rows.withdraw(self._store, batch):
            return replace(batch, problem=LOOKED_FOR)
        _LOG.info("batch %s never reached the provider", batch.id)
        return replace(batch, state=BatchState.LOST, problem="it never reached the provider")

    async def _candidates(self, batch: Batch) -> list[RemoteBatch]:
        """What the provider lists that may be the batch: since then, of its size, nobody's yet."""
        known = await rows.known_ids(self._store)
        found: list[RemoteBatch] = []
        listed = self._api.listed(batch.created - SKEW_SECONDS)
        try:
            async for remote in listed:
                mine = remote.id not in known and remote.id not in self._foreign
                if mine and remote.count in (0, batch.count):
                    found.append(remote)
        except BatchError as error:
            # An endpoint without a list has no batches.
            if error.trouble is not Trouble.GONE:
                raise
        finally:
            await listed.aclose()
        return found

    async def _is(self, remote: RemoteBatch, batch: Batch) -> bool:
        """Whether the results of a batch say that it is ours."""
        results = self._api.results(remote)
        try:
            async for result in results:
                named = batch_of(result.custom_id)
                if named != batch.id and not (named and await self._sent(named)):
                    self._foreign.add(remote.id)
                return named == batch.id
        finally:
            await results.aclose()
        self._empty[remote.id] += 1
        if self._empty[remote.id] < MOST_EMPTY:
            raise BatchError(
                f"the results of {clean_line(remote.id, 60)} are empty", Trouble.UNSURE
            )
        # One without any results is nobody's.
        self._foreign.add(remote.id)
        return False

    async def _sent(self, id: str) -> bool:
        """Whether a batch that is looked for as well has that id of ours."""
        return bool(await rows.live_batches(self._store, [id]))
