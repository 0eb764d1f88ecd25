"""What one command may spend, in calls and in dollars, shared by all of its judgments.

Before each question its upper price is reserved; what was really paid takes the reservation's
place when the answer is there. So the sum never passes the limit, however many workers ask at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from longjudge.errors import UsageError
from longjudge.prices import Usage, cost_usd
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.judges.base import Judge

_DUST = 1e-12
"""Dollars below which a sum of prices is not told from its limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """One question on its way, and the most that it may cost."""

    price: float


class Budget:
    """Limits on calls and cost, None where there is none. Every method may be called on any thread.

    `ended` says why no question may be sent any more, and is None while one may.

    Raises:
        UsageError: a limit is negative or no number.
    """

    def __init__(self, max_cost: float | None = None, max_calls: int | None = None) -> None:
        if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
            raise UsageError(f"a budget of {max_cost:g} dollars is out of range; use 0 or more")
        if max_calls is not None and max_calls < 0:
            raise UsageError(f"a budget of {max_calls} calls is out of range; use 0 or more")
        self.max_cost = max_cost
        self.max_calls = max_calls
        self.calls = 0
        self.spent = 0.0
        self.ended: str | None = None
        self._on_the_way: set[Reservation] = set()
        self._waiting: list[Callable[[], None]] = []
        self._lock = Lock()

    def check_judge(self, judge: Judge) -> None:
        """Refuse to limit the cost of a judge whose price nobody knows.

        Raises:
            UsageError: it is unknown.
        """
        if self.max_cost is None:
            return
        if cost_usd(judge.model, Usage(1, 1), judge.price) is None:
            raise UsageError(
                f"the price of {clean_line(judge.model)} is unknown, so its cost cannot be limited;"
                " leave --max-cost out, use --max-calls, or set the price in a profile"
            )

    def refuses(self, price: float | None) -> bool:
        """Whether a question of this upper price may not be sent, now or later."""
        with self._lock:
            self._judge(price)
            return self.ended is not None

    def reserve(self, price: float | None, on_change: Callable[[], None]) -> Reservation | None:
        """Take one call and its upper price out of the budget.

        None where the question may not be sent: for good where `ended` says so, else until
        questions on their way have cost less than reserved; `on_change` is called then, once, on
        whatever thread settles one.
        """
        cost = price or 0.0
        with self._lock:
            self._judge(price)
            if self.ended is not None:
                return None
            if self.max_cost is not None and self._reserved() + cost > self.max_cost + _DUST:
                self._waiting.append(on_change)
                return None
            self.calls += 1
            reservation = Reservation(cost)
            self._on_the_way.add(reservation)
            return reservation

    def settle(self, reservation: Reservation, paid: float | None) -> None:
        """A question is over; where nobody knows what was paid, the reservation stands."""
        with self._lock:
            self._on_the_way.discard(reservation)
            self.spent += reservation.price if paid is None else paid
            waiting, self._waiting = self._waiting, []
        for on_change in waiting:
            on_change()

    def _reserved(self) -> float:
        """What is spent at most once everything on its way is paid."""
        return self.spent + sum(reservation.price for reservation in self._on_the_way)

    def _judge(self, price: float | None) -> None:
        """End the budget where not even cheaper answers would leave room for the question."""
        if self.ended is not None:
            return
        if self.max_calls is not None and self.calls >= self.max_calls:
            self.ended = f"all {self.max_calls} calls of the budget are made"
        elif self.max_cost is not None:
            cost = math.inf if price is None else price
            if self.spent + cost > self.max_cost + _DUST:
                self.ended = (
                    f"${self.spent:.4f} of the budget of ${self.max_cost:g} is spent, and the next"
                    f" question may cost up to ${cost:.4f}"
                )


class Purse:
    """One judgment's way to the budget; where there is none, everything may be asked.

    `upper_price(position, max_tokens)` is the most that a question about a chunk may cost.
    """

    def __init__(
        self, budget: Budget | None, upper_price: Callable[[int, int], float | None]
    ) -> None:
        self._budget = budget
        self._upper_price = upper_price

    @property
    def is_empty(self) -> bool:
        """Whether the budget has ended."""
        return self._budget is not None and self._budget.ended is not None

    def refuses(self, position: int, max_tokens: int) -> bool:
        """Whether a chunk may not be asked about, now or later."""
        return self._budget is not None and self._budget.refuses(
            self._upper_price(position, max_tokens)
        )

    def reserve(
        self, position: int, max_tokens: int, on_change: Callable[[], None]
    ) -> Reservation | None:
        """As `Budget.reserve`; `on_change` is called on the running loop."""
        if self._budget is None:
            return _FREE
        loop = asyncio.get_running_loop()

        def changed() -> None:
            # The judgment, and its loop with it, may be over by then.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(on_change)

        return self._budget.reserve(self._upper_price(position, max_tokens), changed)

    def settle(self, reservation: Reservation, paid: float | None) -> None:
        """As `Budget.settle`."""
        if self._budget is not None:
            self._budget.settle(reservation, paid)


_FREE = Reservation(0.0)
