"""The figures of an estimate as they stand on the screen: exact so far, and extrapolated. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.forecast import BATCH_PACE, Cost
from longjudge.judges.batch_api import BATCH_SHARE
from longjudge.limits import duration_words
from longjudge_tui.wording import dollars, price_range, tokens

if TYPE_CHECKING:
    from longjudge.forecast import Extrapolated, Interval, Needs, Tally
    from longjudge_tui.estimate.figure_table import Cell

LABELS = (
    "sessions",
    "not applicable",
    "chunks",
    "kept",
    "to ask",
    "tokens to send",
    "price, live",
    "price, batch",
    "time, live",
    "time, batch",
)


def exact_column(tally: Tally, *, concurrency: int, free: bool) -> tuple[Cell, ...]:
    """The figures of what was estimated, one for each of `LABELS`."""
    needs = tally.needs
    return (
        f"{tally.sessions:,}",
        f"{tally.not_applicable:,}",
        f"{needs.chunks:,}",
        f"{needs.kept:,}",
        _to_ask(needs),
        _tokens(needs),
        price_words(needs.cost),
        batch_price_words(needs.cost),
        _time(needs, concurrency),
        _batch_time(free=free) if needs.to_ask else "none",
    )


def extrapolated_column(total: Extrapolated, *, concurrency: int, free: bool) -> tuple[Cell, ...]:
    """What a sample tells of all, each sum with the ends between which it lies."""
    needs = total.needs
    between = f"{duration_words(total.seconds.low)}-{duration_words(total.seconds.high)}"
    guess = "" if needs.measured else ", a guess"
    about = f"~{duration_words(needs.seconds)}"
    return (
        _interval(total.sessions),
        _interval(total.not_applicable),
        _interval(total.chunks),
        f"~{needs.kept:,}",
        _interval(total.to_ask),
        _tokens(needs),
        price_words(needs.cost),
        batch_price_words(needs.cost),
        (f"{about} ({between}{guess})", f"{about}{guess}"),
        _batch_time(free=free),
    )


def price_words(cost: Cost | None) -> str:
    """A price and between which it lies; what is unknown stays unknown."""
    if cost is None:
        return "price unknown"
    if not cost.high:
        return "no cost"
    return " ".join(filter(None, price_range(cost.middle, cost.low, cost.high)))


def batch_price_words(cost: Cost | None) -> str:
    """The price of the same as a batch."""
    if cost is None:
        return price_words(None)
    share = BATCH_SHARE
    return price_words(Cost(cost.batch, cost.low * share, cost.high * share))


def brief_price(cost_usd: float | None) -> str:
    """The price of a session in a row."""
    return "no cost" if cost_usd == 0 else dollars(cost_usd)


def interval_price(interval: Interval) -> str:
    """A price that is extrapolated."""
    return price_words(Cost(interval.middle, interval.low, interval.high))


def _to_ask(needs: Needs) -> Cell:
    asked = f"{needs.to_ask:,}"
    return (f"{asked} (and {needs.equal:,} equal to another)", asked) if needs.equal else asked


def _tokens(needs: Needs) -> str:
    count = needs.tokens
    if not count.high:
        return "none"
    return f"~{tokens(count.tokens)} ({tokens(count.low)}-{tokens(count.high)})"


def _time(needs: Needs, concurrency: int) -> Cell:
    if not needs.to_ask:
        return "none"
    guess = "" if needs.measured else " (a guess)"
    about = f"about {duration_words(needs.seconds)}{guess}"
    return f"{about}, {concurrency} in flight", about


def _batch_time(*, free: bool) -> Cell:
    """How long a batch takes; the offline rules have a queue of their own."""
    return "a second or so" if free else (BATCH_PACE, "within an hour, a day at most")


def _interval(interval: Interval) -> str:
    middle, low, high = (f"{each:,.0f}" for each in (interval.middle, interval.low, interval.high))
    return f"~{middle} ({low}-{high})" if (low, high) != (middle, middle) else f"~{middle}"
