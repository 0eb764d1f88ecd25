"""What is held outside the process, as the screens show it: read in the background, and released.

The screens paint what was read last. Nothing is read where nobody looks.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.holds import HoldState, list_holds, sweep
from longjudge.owner import this_process
from longjudge.store.batches import live_batches
from longjudge.text import clean_line
from longjudge_tui.bench.owing import Owing
from longjudge_tui.chores import Chores
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from longjudge.batches.sweeping import SweptBatches
    from longjudge.holds import Hold
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch
    from longjudge_tui.bench.sending import BatchOffer

READ_SECONDS = 1.0
SOON_SECONDS = 0.25
"""How often what is held is read, and while a judgment gives it back."""

LINGER_SECONDS = 2.0
"""How long what was released stays in sight."""

_PLURALS = {"batch": "batches"}


@dataclass(frozen=True, slots=True)
class HoldRow:
    """A hold since `taken`; one that is `gone` was released then. Both on the monotonic clock.

    `batch` is what the store knows of a batch.
    """

    hold: Hold
    taken: float
    gone: float | None = None
    batch: Batch | None = None

    @property
    def mine(self) -> bool:
        """Whether this process holds it; one that is dead has had its number before, at most."""
        return self.hold.alive and self.hold.owner == this_process().words

    @property
    def age(self) -> float:
        """Seconds since it was taken, until it was released."""
        return max(0.0, (time.monotonic() if self.gone is None else self.gone) - self.taken)

    @property
    def dead(self) -> bool:
        """Whether nobody holds it any more who lives."""
        return self.gone is None and self.hold.state is HoldState.ABANDONED


class Holding:
    """The holds of a store. `notice` is told what a person has to know.

    `sweep_batches` finishes batches that nobody follows, where somebody can; `offer_cancel` says
    what to agree to before the batch of a row is cancelled.

    `rows` are replaced by others, oldest first, whenever they are read. `error` says why
    they cannot be read.
    """

    def __init__(
        self, store: Store, notice: Callable[[str], None], owing: Owing | None = None
    ) -> None:
        self.rows: list[HoldRow] = []
        self.error = ""
        self.reading_done = False
        self._store = store
        self._notice = notice
        self._chores = Chores()
        self._reading = self._sweeping = False
        self._shown = False
        self._due = 0.0
        self._owing = owing or Owing(store, notice)
        self.sweep_batches: Callable[[], Awaitable[SweptBatches]] | None = None
        self.offer_cancel: Callable[[HoldRow | None], BatchOffer | None] = lambda _: None

    @property
    def left_over(self) -> int:
        """How many leases judgments of this process could not give back."""
        return self._store.owed.leases

    @property
    def held(self) -> int:
        """How many are held now."""
        return sum(row.gone is None for row in self.rows)

    @property
    def dead(self) -> int:
        """How many of them dead owners have left."""
        return sum(row.dead for row in self.rows)

    @property
    def released(self) -> int:
        """How many of those in sight are held no more."""
        return sum(row.gone is not None for row in self.rows)

    @property
    def batches(self) -> int:
        """How many of them are batches."""
        return sum(row.gone is None and bool(row.hold.batch) for row in self.rows)

    @property
    def counted(self) -> str:
        """How many there are of each kind: `1 batch, 4 leases`."""
        kinds = Counter(row.hold.kind.value for row in self.rows if row.gone is None)
        return ", ".join(_count(count, kind) for kind, count in sorted(kinds.items()))

    def follow(self, *, shown: bool, hurry: bool = False) -> None:
        """Read again where that is due: while the list is `shown`, oftener in a `hurry`.

        What was seen last is old when somebody looks again, and so is forgotten.
        """
        now = time.monotonic()
        if shown != self._shown:
            self._shown, self._due = shown, now
            self.rows, self.reading_done = [], False
        if not shown:
            return
        self._forget(now)
        if self._reading or now < self._due:
            return
        self._reading = True
        self._due = now + (SOON_SECONDS if hurry or self._sweeping else READ_SECONDS)
        self._chores.start(self._read())

    def read_soon(self) -> None:
        """Read with the next look."""
        self._due = 0.0

    def sweep(self, *, unasked: bool = False) -> None:
        """Release what dead owners left, in the background, and say so.

        What the store did not take of this process is offered to it first.

        Nobody who has not asked is told that there was nothing, or that it could not be.
        """
        if not self._sweeping:
            self._sweeping = True
            self._chores.start(self._sweep(unasked=unasked))

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self._chores.raise_failure()

    async def aclose(self) -> None:
        """Let what is being released be released, for a bounded time."""
        await self._chores.finish()

    async def _read(self) -> None:
        try:
            found = await list_holds(self._store)
            batches: dict[str, Batch] = {}
            if any(hold.batch for hold in found):
                batches = {each.id: each for each in await live_batches(self._store)}
        except StoreError as error:
            self.error = clean_line(str(error), 500)
        else:
            self.error = ""
            if self._shown:
                self._take_in(found, batches)
        finally:
            self._reading, self.reading_done = False, self._shown

    async def _sweep(self, *, unasked: bool) -> None:
        own = await self._offer_owed()
        try:
            swept = await sweep(self._store)
            finished = await self._finish_batches(unasked=unasked)
        except StoreError as error:
            if not unasked:
                self._notice(f"not released: {clean_line(str(error), 500)}")
        else:
            released = (*swept.released, *finished)
            if self._shown:
                self._release(released)
            if swept.left and not unasked:
                kept = _count(len(swept.left), swept.left[0].kind.value)
                self._notice(f"{kept} could not be released: {clean_line(str(swept.error), 400)}")
            if released:
                kinds = Counter(hold.kind.value for hold in released)
                count = ", ".join(_count(each, kind) for kind, each in sorted(kinds.items()))
                owners = len({hold.owner for hold in released})
                who = "a dead process" if owners == 1 else f"{owners:,} dead processes"
                self._notice(f"released {count} that {who} left")
            elif not (unasked or own or swept.left):
                self._notice("dead processes have left nothing to release")
        finally:
            self._sweeping = False
            self.read_soon()

    async def _finish_batches(self, *, unasked: bool) -> tuple[Hold, ...]:
        """Have batches finished that nobody follows; what was released of them."""
        if unasked or self.sweep_batches is None or not await live_batches(self._store):
            return ()
        swept = await self.sweep_batches()
        for words in swept.left:
            self._notice(clean_line(words, 300))
        return swept.released

    async def _offer_owed(self) -> bool:
        """Give the store what it did not take of this process; whether there was such a thing."""
        if not self._store.owed:
            return False
        await self._owing.offer()
        if words := self._owing.left_words:
            self._notice(words)
        return True

    def _take_in(self, found: Iterable[Hold], batches: Mapping[str, Batch]) -> None:
        """Show what is held now and, in its place for a while, what is not held any more."""
        now = time.monotonic()
        held = {_identity(hold): hold for hold in found}
        taken: dict[tuple[str, str], float] = {}
        gone_before: dict[tuple[str, str], list[HoldRow]] = {}
        gone: list[HoldRow] = []
        for row in self.rows:
            identity = _identity(row.hold)
            if identity not in held:
                gone.append(_gone(row, now))
            elif row.gone is None:
                taken[identity], gone_before[identity] = row.taken, gone
                gone = []
        rows: list[HoldRow] = []
        for identity, hold in held.items():
            rows += gone_before.get(identity, ())
            since = taken.get(identity, now - hold.age)
            rows.append(HoldRow(hold, since, batch=batches.get(hold.batch)))
        self.rows = rows + gone

    def _release(self, released: Iterable[Hold]) -> None:
        now = time.monotonic()
        rows = {_identity(row.hold): row for row in self.rows}
        for hold in released:
            known = rows.get(_identity(hold)) or HoldRow(hold, now - hold.age)
            rows[_identity(hold)] = _gone(known, now)
        self.rows = list(rows.values())

    def _forget(self, now: float) -> None:
        if any(row.gone is not None and now - row.gone >= LINGER_SECONDS for row in self.rows):
            self.rows = [
                row for row in self.rows if row.gone is None or now - row.gone < LINGER_SECONDS
            ]


def _identity(hold: Hold) -> tuple[str, str]:
    # A batch is the same one whoever follows it, and whatever its provider calls it by then.
    return (hold.batch, "") if hold.batch else (hold.id, hold.holder)


def _gone(row: HoldRow, now: float) -> HoldRow:
    if row.gone is not None:
        return row
    return replace(row, hold=replace(row.hold, state=HoldState.RELEASED), gone=now)


def _count(count: int, kind: str) -> str:
    if count != 1 and kind in _PLURALS:
        return f"{count:,} {_PLURALS[kind]}"
    return plural(count, kind)
