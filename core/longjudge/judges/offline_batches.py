"""A batch queue for the offline rules: everything about a batch can be seen without a key.

It is in this process alone, and ends with it: a batch of another process is unknown here.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from longjudge.ids import random_id
from longjudge.judges.batch_api import (
    BatchError,
    BatchRequest,
    ItemResult,
    RemoteBatch,
    RemoteStatus,
    Trouble,
    custom_id,
)
from longjudge.states import GapReason

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from longjudge.judges.base import Judge, Question

SECONDS = 1.0
"""How long such a batch is in progress, so that it can be watched and cancelled."""

_REPLY_TOKENS = 0


@dataclass(slots=True)
class _Held:
    remote: RemoteBatch
    requests: list[BatchRequest]
    ends: float
    cancelled: set[str] = field(default_factory=set[str])


class OfflineBatches:
    """The queue of `judge`; a batch takes `seconds`, by the monotonic `clock`."""

    def __init__(
        self,
        judge: Judge,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._judge = judge
        self._seconds = seconds
        self._clock = clock
        self._held: dict[str, _Held] = {}

    @property
    def endpoint(self) -> str:
        """`offline`."""
        return self._judge.endpoint

    async def prepare(self) -> None:
        """Nothing to get ready."""

    def request(self, key: str, question: Question, *, max_tokens: int) -> BatchRequest:
        """The question itself; rules write as little as they need."""
        return BatchRequest(key, question, len(question.system) + len(question.user))

    async def create(self, batch: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Take the questions in; they are answered when somebody looks at the results."""
        id = f"offline_{random_id()}"
        remote = RemoteBatch(id, RemoteStatus.IN_PROGRESS, len(requests), created=time.time())
        self._held[id] = _Held(
            remote,
            [replace(each, key=custom_id(batch, each.key)) for each in requests],
            self._clock() + self._seconds,
        )
        return remote

    async def retrieve(self, provider_id: str) -> RemoteBatch:
        """How far it is; what another process has sent is unknown."""
        held = self._held.get(provider_id)
        if held is None:
            raise BatchError(
                "it ended with the process that the offline rules ran in", Trouble.GONE
            )
        if held.remote.status is not RemoteStatus.ENDED and self._clock() >= held.ends:
            held.remote = replace(held.remote, status=RemoteStatus.ENDED, ended=time.time())
        return held.remote

    async def cancel(self, provider_id: str) -> RemoteBatch:
        """End it now; nothing of it has been read then."""
        remote = await self.retrieve(provider_id)
        held = self._held[provider_id]
        if remote.status is not RemoteStatus.ENDED:
            held.ends = self._clock()
            held.cancelled.update(each.key for each in held.requests)
        return await self.retrieve(provider_id)

    async def listed(self, since: float) -> AsyncGenerator[RemoteBatch]:
        """Those of this process."""
        for id, held in reversed(self._held.items()):
            if held.remote.created >= since:
                yield await self.retrieve(id)

    async def results(self, batch: RemoteBatch) -> AsyncGenerator[ItemResult]:
        """The rules' answers."""
        await self.retrieve(batch.id)
        held = self._held[batch.id]
        for each in held.requests:
            if each.key in held.cancelled:
                yield ItemResult(each.key, reason=GapReason.CANCELLED)
                continue
            question = cast("Question", each.body)
            # The rules may take long; whoever reads the results is not alone on the loop.
            await asyncio.sleep(0)
            yield ItemResult(each.key, await self._judge.ask(question, max_tokens=_REPLY_TOKENS))
