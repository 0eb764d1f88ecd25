"""Follows batches that nobody follows any more, while live questions may wait for their answers."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from longjudge.errors import CredentialError
from longjudge.store import batches as rows
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from longjudge.batch_pace import Pace
    from longjudge.batches.following import BatchNews
    from longjudge.cli.judge_run import Run


@contextlib.asynccontextmanager
async def batches_followed(run: Run, pace: Pace) -> AsyncGenerator[None]:
    """Inside, what stands in the store's ledger at the judge's endpoint is brought home.

    Nothing is called where nothing stands there, and without a credential nothing can be.

    Raises:
        StoreError: the store cannot be read or written.
    """
    live = await rows.live_batches(run.store)
    if run.store.write_error is not None or not any(
        batch.endpoint == run.judge.endpoint for batch in live
    ):
        yield
        return
    from longjudge.batches.batching import Batching
    from longjudge.judges.make import batch_api

    def told(news: BatchNews) -> None:
        if not news.batch.state.live:
            name = clean_line(news.batch.provider_id or news.batch.id, 80)
            tell(f"longjudge: batch {name}, which was left, has ended")

    batching = Batching(run.store, batch_api(run.judge), pace, told, "waiting for batches")
    try:
        await batching.api.prepare()
    except CredentialError:
        # Sessions that the store answers whole need none.
        yield
        return
    async with batching.at_work():
        try:
            await batching.adopt()
            yield
        finally:
            await batching.leave(give_back=True)
