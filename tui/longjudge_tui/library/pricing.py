"""What judging sessions would ask and cost, estimated one after the other in the background."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING

from longjudge.errors import (
    CopiedSessionError,
    LoadCancelledError,
    SessionError,
    SeveralSessionsError,
)
from longjudge.text import clean_line
from longjudge_tui.library.counting import facts_of
from longjudge_tui.library.together import Either, Together
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Hashable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from longjudge.estimate import Totals
    from longjudge.sessions import SessionFile
    from longjudge_tui.library.counting import Counting, Facts
    from longjudge_tui.library.in_batches import InBatches
    from longjudge_tui.library.terms import Terms

CLOSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Price:
    """An estimate for one session, or the sum over several; a cost that is unknown is None.

    `copied` says that all of a session stands in another file that was read before it. What is
    `in_batch` already is not asked again.
    """

    chunks: int = 0
    kept: int = 0
    to_ask: int = 0
    cost_usd: float | None = 0.0
    low: float | None = 0.0
    high: float | None = 0.0
    fault: str = ""
    copied: bool = False
    in_batch: int = 0

    @property
    def equal(self) -> int:
        """Chunks that an equal one answers, of this session or of one before it."""
        return self.chunks - self.kept - self.to_ask - self.in_batch

    @classmethod
    def of(cls, totals: Totals, *, applies: bool) -> Price:
        """What the totals of a plan come to; nothing where the rubric does not apply."""
        if not applies:
            return cls()
        return cls(
            totals.chunks,
            totals.kept,
            totals.to_ask,
            totals.cost_usd,
            totals.cost_usd_low,
            totals.cost_usd_high,
        )

    @classmethod
    def sum(cls, prices: Sequence[Price]) -> Price:
        """What several come to: the same in whatever order they are added."""
        return cls(
            sum(each.chunks for each in prices),
            sum(each.kept for each in prices),
            sum(each.to_ask for each in prices),
            _sum([each.cost_usd for each in prices]),
            _sum([each.low for each in prices]),
            _sum([each.high for each in prices]),
            in_batch=sum(each.in_batch for each in prices),
        )


@dataclass(frozen=True, slots=True)
class _Estimate:
    """A price and what it holds for; one that `leans` counts on the others read together."""

    basis: Hashable
    price: Price
    together: Together
    leans: bool


@dataclass(frozen=True, slots=True)
class _Batch:
    """Sessions that are estimated together; `left` are those yet to come, in their order."""

    asked: frozenset[SessionFile]
    terms: Terms
    together: Together
    left: dict[SessionFile, None]


class Pricing:
    """Estimates by session and by what they depend on; tasks of its own are ended by `aclose`."""

    def __init__(self, counting: Counting, kept: Container[str], out: InBatches) -> None:
        self.version = 0
        self._out = out
        self._counting = counting
        self._kept = kept
        self._estimates: dict[SessionFile, _Estimate] = {}
        self._wanted: set[SessionFile] = set()
        self._batches: list[_Batch] = []
        self._reading: SessionFile | None = None
        self._stopped = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._within: dict[int, bool] = {}
        self._within_what: Hashable = None

    @property
    def waiting(self) -> int:
        """How many sessions are yet to be estimated."""
        return sum(len(batch.left) for batch in self._batches)

    def is_waiting(self, file: SessionFile) -> bool:
        """Whether a session is to be estimated, or is being read for it."""
        return any(file in batch.left for batch in self._batches)

    def is_wanted(self, file: SessionFile) -> bool:
        """Whether somebody wants to know what is to be asked, since it was asked."""
        return file in self._wanted

    def of(
        self, file: SessionFile, terms: Terms, beside: AbstractSet[SessionFile], generation: int
    ) -> Price | None:
        """The estimate for a session among others, None where there is none that still holds.

        `generation` changes with what is in `beside`.
        """
        found = self._estimates.get(file)
        if found is None or found.basis != terms.basis:
            return None
        if found.leans and not self._is_within(found.together, beside, generation):
            return None
        return found.price

    def of_all(self, files: Collection[SessionFile], terms: Terms) -> list[Price | None]:
        """The estimate for each of some sessions, as far as all were estimated together."""
        basis = terms.basis
        found = [self._estimates.get(file) for file in files]
        held = [each if each is not None and each.basis == basis else None for each in found]
        groups = {each.together.number: each.together for each in held if each is not None}
        if not groups:
            return [None] * len(held)
        newest = groups[max(groups)]
        same = {number for number, each in groups.items() if each.files == newest.files}
        whole = newest.files <= set(files)
        return [
            each.price
            if each is not None and each.together.number in same and (whole or not each.leans)
            else None
            for each in held
        ]

    def known(self, file: SessionFile) -> object:
        """What was estimated last about a session: another object with every estimate of it."""
        return self._estimates.get(file)

    def lean(self, files: Iterable[SessionFile]) -> bool:
        """Whether the estimate of any of them counts on others that were read with it."""
        found = (self._estimates.get(file) for file in files)
        return any(each is not None and each.leans for each in found)

    def estimate(self, files: Sequence[SessionFile], terms: Terms) -> None:
        """Estimate sessions together, where they are not estimated so already."""
        asked = frozenset(files)
        self._wanted |= asked
        going = any(
            batch.asked == asked and batch.terms.basis == terms.basis for batch in self._batches
        )
        if not going and None in self.of_all(files, terms):
            batch = _Batch(asked, terms, Together(files), dict.fromkeys(files))
            self._batches.append(batch)
        if self._batches and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    def learn(
        self,
        file: SessionFile,
        terms: Terms,
        price: Price,
        together: Together,
        *,
        leans: bool,
        asked: bool = False,
    ) -> None:
        """Take an estimate that somebody else made, or that was made here.

        Where it was `asked` what is to be asked, that is no news.
        """
        (self._wanted.discard if asked else self._wanted.add)(file)
        self._estimates[file] = _Estimate(terms.basis, price, together, leans)
        self.version += 1

    def forget(self, files: Iterable[SessionFile] | None = None) -> None:
        """Drop estimates, all of them where no files are named: the store has changed."""
        for file in [*self._estimates] if files is None else files:
            self._estimates.pop(file, None)
            self._wanted.discard(file)
        self.version += 1

    def cancel(self, file: SessionFile | None = None) -> bool:
        """Estimate one session, or all, no more; False where none was to be."""
        dropped = False
        for batch in self._batches:
            for each in [each for each in batch.left if file in (None, each)]:
                del batch.left[each]
                batch.together.leave_out(each)
                dropped = True
        if dropped and file in (None, self._reading):
            self._stopped.set()
        return dropped

    def raise_failure(self) -> None:
        """Raise what the task died of."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """Stop, for a bounded time."""
        self.cancel()
        if self._task is not None:
            _, late = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()

    def _is_within(
        self, together: Together, beside: AbstractSet[SessionFile], generation: int
    ) -> bool:
        """Whether all that were read together are in `beside`; every row that is drawn asks."""
        if len(together.files) > len(beside):
            return False
        what = (generation, self.version)
        if self._within_what != what:
            self._within_what = what
            self._within = {}
        if together.number not in self._within:
            self._within[together.number] = together.files <= beside
        return self._within[together.number]

    async def _work(self) -> None:
        while self._batches:
            batch = self._batches[0]
            while batch.left:
                await self._estimate_one(next(iter(batch.left)), batch)
            self._batches.remove(batch)
            batch.together.answered.clear()
            batch.together.close()

    async def _estimate_one(self, file: SessionFile, batch: _Batch) -> None:
        self._reading, self._stopped = file, threading.Event()
        terms, together = batch.terms, batch.together
        leans = True
        try:
            price, leans, facts = await asyncio.to_thread(
                _price, file, terms, self._kept, self._out.keys, together, self._stopped.is_set
            )
        except LoadCancelledError:
            return
        except SeveralSessionsError:
            await self._expand(file, batch)
            return
        except CopiedSessionError:
            price = Price(copied=True)
            together.leave_out(file)
        except SessionError as error:
            words = clean_line(fault(str(error), clean_line(str(file.path))), 400)
            price, leans = Price(fault=words), False
            together.leave_out(file)
        else:
            if facts is not None and file not in self._counting.facts:
                self._counting.learn([(file, facts)])
        finally:
            self._reading = None
        if file in batch.left:
            del batch.left[file]
            self.learn(file, terms, price, together, leans=leans)

    async def _expand(self, file: SessionFile, batch: _Batch) -> None:
        """Each session of a file with many is to be estimated in its place."""
        try:
            parts = await self._counting.sessions_of(file)
        except SessionError as error:
            batch.together.leave_out(file)
            price = Price(fault=clean_line(str(error), 400))
            self.learn(file, batch.terms, price, batch.together, leans=False)
            parts = []
        else:
            batch.together.expand(file, parts)
            self._wanted |= {*parts}
        if file in batch.left:
            del batch.left[file]
            put_first(batch.left, parts)


def put_first(left: dict[SessionFile, None], files: Sequence[SessionFile]) -> None:
    """Put files before all others in an order that a dictionary's keys have."""
    rest = [each for each in left if each not in files]
    left.clear()
    for each in (*files, *rest):
        left[each] = None


def _price(
    file: SessionFile,
    terms: Terms,
    kept: Container[str],
    out: frozenset[str],
    together: Together,
    stopped: Callable[[], bool],
) -> tuple[Price, bool, Facts | None]:
    """A session's price, whether it leans on those before it, and the facts of one that is whole.

    What those before it ask is not asked again, nor what is `out` in a batch.
    """
    loaded = together.load(file, lambda _done, _total: not stopped())
    session, leans = loaded.session, loaded.leans
    try:
        price = Price()
        if terms.applies(session):
            outlook = terms.outlook(session, kept)
            price = Price.of(outlook.totals, applies=True)
            answered = together.answered
            there = Either(kept, answered)
            if not answered.isdisjoint(outlook.keys):
                less = Price.of(outlook.again(there).totals, applies=True)
                leans = leans or less.to_ask < price.to_ask
                price = replace(less, kept=price.kept)
            if not out.isdisjoint(outlook.keys):
                rest = Price.of(outlook.again(Either(there, out)).totals, applies=True)
                in_batch = price.to_ask - rest.to_ask
                price = replace(rest, kept=price.kept, in_batch=in_batch)
            answered.update(outlook.keys)
        return price, leans, None if loaded.leans else facts_of(session)
    finally:
        session.close()


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if len(known) == len(costs) else None
