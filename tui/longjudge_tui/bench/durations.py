"""How long models took for a chunk until now: read once for each, beside the event loop."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.limits import advice, measure
from longjudge_tui.chores import Chores

if TYPE_CHECKING:
    from longjudge.limits import LimitAdvice, Measured
    from longjudge.store import Store


class Durations:
    """What was measured stays until it is read again; what follows from it is arithmetic."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._measured: dict[str, Measured | None] = {}
        self._begun: set[str] = set()
        self._chores = Chores()

    def advice(self, model: str, to_ask: int, concurrency: int) -> LimitAdvice | None:
        """What to expect of a run; None until it is known what was measured of the model."""
        if model not in self._begun:
            self._begun.add(model)
            self._chores.start(self._read(model))
        if model not in self._measured:
            return None
        return advice(self._measured[model], to_ask, concurrency)

    def read_again(self) -> None:
        """Take in what was measured meanwhile, once it is asked for."""
        self._begun.clear()

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self._chores.raise_failure()

    async def aclose(self) -> None:
        """End what is read."""
        await self._chores.end()

    async def _read(self, model: str) -> None:
        # It only stands beside the limit: a store that does not give it says so elsewhere.
        with contextlib.suppress(StoreError):
            self._measured[model] = await measure(self._store, model)
