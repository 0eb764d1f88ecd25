"""What the store holds, as the bench goes by it: keys of verdicts, what they say, marks, holds."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.store import token_factors
from longjudge.store.times_asked import times_asked
from longjudge.text import clean_line
from longjudge_tui.bench.durations import Durations
from longjudge_tui.bench.editing import Editing
from longjudge_tui.bench.holding import Holding
from longjudge_tui.bench.marking import Marking
from longjudge_tui.bench.owing import Owing
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

LOOK_SECONDS = 2.0
"""How often it is looked whether other processes have written to the store."""

LOOK_SHARE = 100
"""So many times as long as it took to read what they wrote, nothing is looked at."""

REFRESH_SECONDS = 1.0
"""How long somebody who needs to know what is kept now waits for that."""


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
        self.owing = Owing(store, notice)
        self.holding = Holding(store, notice, self.owing)
        self.reasons = Reasons(store, notice)
        self.durations = Durations(store)
        self.editing = Editing(store, keys, notice)
        self._store = store
        self._changed = changed
        self._notice = notice
        self._lookup = Lookup(store, keys, lost=lost, notice=notice)
        self.factors: Mapping[tuple[str, str], ObservedFactor] = {}
        self._times: Mapping[str, int] = {}
        self._reads = self._versions = self._taken = self._late = 0
        self._task: asyncio.Task[None] | None = None
        self._learning: asyncio.Task[None] | None = None
        self._learn_more = self._look_at_all = False
        self._looking: asyncio.Task[None] | None = None
        self._look_due = time.monotonic() + LOOK_SECONDS

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
        if outlook.totals.kept or self._store.owed.verdicts:
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

    def follow(self, *, busy: bool) -> bool:
        """Offer what is owed, and take in what others have written, where that is due.

        What is `busy` judging does so itself. True where the store has taken late what it had not.
        """
        if not busy:
            self.owing.follow()
            if time.monotonic() >= self._look_due or self._taken != self._store.owed.taken:
                self._look()
        late, self._late = self._late != self._store.owed.taken, self._store.owed.taken
        return late

    def look_soon(self, *, at_all: bool = False) -> None:
        """Take in with the next look what others have written; `at_all`: this process as well."""
        self._look_due = 0.0
        self._look_at_all = self._look_at_all or at_all

    async def refresh(self) -> bool:
        """Offer what is owed, and read what others wrote; whether other keys are there since."""
        before = self._versions
        await self.owing.offer(REFRESH_SECONDS)
        await asyncio.wait({self._look()}, timeout=REFRESH_SECONDS)
        return before != self._versions

    def _look(self) -> asyncio.Task[None]:
        if self._looking is None or self._looking.done():
            self._look_due = time.monotonic() + LOOK_SECONDS
            self._looking = asyncio.create_task(self._take_in())
        return self._looking

    async def _take_in(self) -> None:
        begun = time.monotonic()
        # What cannot be read now is said where somebody asks for it.
        with contextlib.suppress(StoreError):
            taken = self._store.owed.taken
            at_all, self._look_at_all = self._look_at_all, False
            if await self._store.written_elsewhere() or self._taken != taken or at_all:
                self._taken = taken
                self.marking.read_again()
                await self._read_keys()
        now = time.monotonic()
        if self._look_at_all:
            return
        self._look_due = now + max(LOOK_SECONDS, LOOK_SHARE * (now - begun))

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
        self.owing.raise_failure()
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
        await self.owing.aclose()

    @property
    def _tasks(self) -> list[asyncio.Task[None]]:
        tasks = (
            self._task,
            self._learning,
            self._looking,
            self._lookup.task,
            self.reasons.task,
        )
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
            self._versions += 1
            self._changed()
