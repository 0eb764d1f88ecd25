"""What the store holds, as the bench goes by it: keys of verdicts, what they say, marks, holds."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.store import token_factors
from longjudge.store.times_asked import times_asked
from longjudge.text import clean_line
from longjudge_tui.bench.durations import Durations
from longjudge_tui.bench.editing import Editing
from longjudge_tui.bench.holding import Holding
from longjudge_tui.bench.marking import Marking
from longjudge_tui.bench.preview import Lookup
from longjudge_tui.bench.reasons import Reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longjudge.factors import ObservedFactor
    from longjudge.sessions import Session
    from longjudge.store import Origin, Store
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.preview import Preview

CUT_SECONDS = 1.0


class Stock:
    """Keys in memory, one preview at a time, marks and holds; other processes write there as well.

    `factors` is what was seen of the models' tokens, by model and format of session.

    `keys` is one set for all who look things up. `changed` is called when it holds other keys than
    before, `lost` when a verdict did not read, `notice` is told what a person has to know.
    """

    def __init__(
        self,
        store: Store,
        keys: set[str],
        *,
        lost: Callable[[], None],
        changed: Callable[[], None],
        notice: Callable[[str], None],
    ) -> None:
        self.keys = keys
        self.marking = Marking(store, notice)
        self.holding = Holding(store, notice)
        self.reasons = Reasons(store, notice)
        self.durations = Durations(store)
        self.editing = Editing(store, keys, notice)
        self._store = store
        self._changed = changed
        self._notice = notice
        self._lookup = Lookup(store, keys, lost=lost, notice=notice)
        self.factors: Mapping[tuple[str, str], ObservedFactor] = {}
        self._times: Mapping[str, int] = {}
        self._reads = 0
        self._task: asyncio.Task[None] | None = None
        self._learning: asyncio.Task[None] | None = None
        self._learn_more = False

    @property
    def preview(self) -> Preview | None:
        """What the kept verdicts of a plan say, as far as they are read."""
        return self._lookup.preview

    @property
    def changes(self) -> int:
        """Counts how often there was something else to say about the chunks."""
        return self.reasons.changes + self._reads

    def times_asked(self, key: str) -> int:
        """How many verdicts there are about a chunk that has one."""
        return self._times.get(key, 1)

    def show(self, session: Session, outlook: Outlook, asked: Origin) -> None:
        """Read the kept verdicts of a plan from now on, and why the others are not kept.

        `asked` is what the keys of the plan have in common.
        """
        if outlook.totals.kept:
            self._lookup.begin(session, outlook)
        self.reasons.begin(outlook, self.keys, asked)

    def show_nothing(self) -> None:
        """Read no verdicts any more."""
        self._lookup.end()
        self.reasons.end()

    def read_again(self) -> None:
        """Take in what other processes have kept, marked and taken away, in the background."""
        self.marking.read_again()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read_keys())

    def learn_again(self) -> None:
        """Take in, in the background, what answers took until now, and how often each came."""
        self.durations.read_again()
        self._learn_more = True
        if self._learning is None or self._learning.done():
            self._learning = asyncio.create_task(self._read_answers())

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self.marking.raise_failure()
        self.holding.raise_failure()
        self.durations.raise_failure()
        self.editing.raise_failure()
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def aclose(self) -> None:
        """End what is read; marks and releases on their way are done, for a bounded time."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CUT_SECONDS)
        await asyncio.gather(self.marking.aclose(), self.holding.aclose(), self.durations.aclose())

    @property
    def _tasks(self) -> list[asyncio.Task[None]]:
        tasks = (self._task, self._learning, self._lookup.task, self.reasons.task)
        return [task for task in tasks if task is not None]

    async def _read_answers(self) -> None:
        while self._learn_more:
            # What ends while this is read is read once more.
            self._learn_more = False
            # A store that does not give what only stands beside something says so elsewhere.
            with contextlib.suppress(StoreError):
                self.factors = await token_factors(self._store)
                self._times = await times_asked(self._store)
            self._reads += 1

    async def _read_keys(self) -> None:
        before = frozenset(self.keys)
        try:
            there = await self._store.all_keys()
        except StoreError as error:
            self._notice(clean_line(str(error), 1000))
            return
        # What a judgment of this process has kept meanwhile stays.
        gone = before - there
        self.keys -= gone
        self.keys |= there
        if gone or there - before:
            self._changed()
