"""One endpoint's batches in a program with many judgments: what becomes known is told to all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.batches.batching import Batching
from longjudge.judges.make import batch_api

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.batch_pace import Pace
    from longjudge.batches.following import BatchNews
    from longjudge.judges.base import Judge
    from longjudge.judges.batch_api import BatchApi
    from longjudge.store import Store

    Hear = Callable[[BatchNews], None]


class BatchQueue:
    """The queue behind `judge`, whose `profile` is empty where it has none; or `api` in its place.

    Its `batching` has to be at work while anything is sent or followed.
    """

    def __init__(
        self,
        store: Store,
        judge: Judge,
        pace: Pace,
        profile: str = "",
        api: BatchApi | None = None,
    ) -> None:
        self.profile = profile
        self.endpoint = judge.endpoint
        self.batching = Batching(
            store, api or batch_api(judge), pace, self._tell, f"batches of {judge.label}"
        )
        self._listeners: list[Hear] = []

    def hear(self, listener: Hear) -> None:
        """Have a listener told what becomes known of batches, until `hear_no_more`."""
        self._listeners.append(listener)

    def hear_no_more(self, listener: Hear) -> None:
        """Tell a listener nothing more."""
        self._listeners.remove(listener)

    def _tell(self, news: BatchNews) -> None:
        for listener in list(self._listeners):
            listener(news)
