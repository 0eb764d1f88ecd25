"""What judging sessions would ask and cost, estimated one after the other in the background."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LoadCancelledError, SessionError, SeveralSessionsError
from longjudge.sessions import load_session
from longjudge.text import clean_line
from longjudge_tui.counting import facts_of
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable

    from longjudge.estimate import Totals
    from longjudge.sessions import SessionFile
    from longjudge_tui.counting import Counting, Facts
    from longjudge_tui.terms import Terms

CLOSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Price:
    """An estimate for one session, or the sum over several; a cost that is unknown is None."""

    chunks: int = 0
    kept: int = 0
    to_ask: int = 0
    cost_usd: float | None = 0.0
    low: float | None = 0.0
    high: float | None = 0.0
    fault: str = ""

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

    def __add__(self, other: Price) -> Price:
        return Price(
            self.chunks + other.chunks,
            self.kept + other.kept,
            self.to_ask + other.to_ask,
            _sum(self.cost_usd, other.cost_usd),
            _sum(self.low, other.low),
            _sum(self.high, other.high),
        )


class Pricing:
    """Estimates by session and by what they depend on; tasks of its own are ended by `aclose`."""

    def __init__(self, counting: Counting, kept: Container[str]) -> None:
        self.version = 0
        self._counting = counting
        self._kept = kept
        self._prices: dict[SessionFile, tuple[Hashable, Price]] = {}
        self._wanted: dict[SessionFile, Terms] = {}
        self._reading: SessionFile | None = None
        self._stopped = threading.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many sessions are yet to be estimated."""
        return len(self._wanted)

    def is_waiting(self, file: SessionFile) -> bool:
        """Whether a session is to be estimated, or is being read for it."""
        return file in self._wanted

    def of(self, file: SessionFile, terms: Terms) -> Price | None:
        """The estimate for a session, None where there is none that still holds."""
        basis, price = self._prices.get(file, (None, None))
        return price if basis == terms.basis else None

    def among(self, files: Container[SessionFile], terms: Terms) -> list[Price]:
        """The estimates that still hold of some sessions."""
        basis = terms.basis
        found = self._prices.items()
        return [price for file, (held, price) in found if held == basis and file in files]

    def estimate(self, files: Iterable[SessionFile], terms: Terms) -> None:
        """Estimate sessions, those that are not estimated already."""
        for file in files:
            if self.of(file, terms) is None:
                self._wanted[file] = terms
        if self._wanted and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    def learn(self, file: SessionFile, terms: Terms, price: Price) -> None:
        """Take an estimate that somebody else made."""
        self._prices[file] = (terms.basis, price)
        self.version += 1

    def forget(self, files: Iterable[SessionFile] | None = None) -> None:
        """Drop estimates, all of them where no files are named: the store has changed."""
        for file in [*self._prices] if files is None else files:
            self._prices.pop(file, None)
        self.version += 1

    def cancel(self, file: SessionFile | None = None) -> bool:
        """Estimate one session, or all, no more; False where none was to be."""
        dropped = [each for each in self._wanted if file in (None, each)]
        for each in dropped:
            del self._wanted[each]
            if each == self._reading:
                self._stopped.set()
        return bool(dropped)

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

    async def _work(self) -> None:
        while self._wanted:
            file, terms = next(iter(self._wanted.items()))
            self._reading, self._stopped = file, threading.Event()
            try:
                price, facts = await asyncio.to_thread(
                    _price, file, terms, self._kept, self._stopped.is_set
                )
            except LoadCancelledError:
                continue
            except SeveralSessionsError:
                await self._expand(file, terms)
                continue
            except SessionError as error:
                words = clean_line(fault(str(error), clean_line(str(file.path))), 400)
                price = Price(fault=words)
            else:
                if file not in self._counting.facts:
                    self._counting.learn([(file, facts)])
            finally:
                self._reading = None
            if self._wanted.pop(file, None) is not None:
                self.learn(file, terms, price)

    async def _expand(self, file: SessionFile, terms: Terms) -> None:
        """Each session of a file with many is to be estimated."""
        try:
            parts = await self._counting.sessions_of(file)
        except SessionError as error:
            self.learn(file, terms, Price(fault=clean_line(str(error), 400)))
            parts = []
        if self._wanted.pop(file, None) is not None:
            self._wanted |= dict.fromkeys(parts, terms)


def _price(
    file: SessionFile, terms: Terms, kept: Container[str], stopped: Callable[[], bool]
) -> tuple[Price, Facts]:
    session = load_session(file.path, lambda _done, _total: not stopped(), file.session)
    try:
        outlook = terms.outlook(session, kept)
        return Price.of(outlook.totals, applies=terms.applies(session)), facts_of(session)
    finally:
        session.close()


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
