"""The words of a preview, for `chunks` and before `judge` asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.preview import Preview, thousands
from longjudge.replaced import secrets_words
from longjudge.report.words import money, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.estimate import Totals

__all__ = ["Preview", "secrets_in_words", "summary", "thousands"]


def secrets_in_words(counts: Mapping[str, int] | None) -> str:
    """What is replaced before anything is sent; None where nothing is."""
    return "; not redacted" if counts is None else f"; {secrets_words(counts)}"


def summary(totals: Totals) -> str:
    """The totals in one line; the price is for what a run would still ask."""
    tokens = totals.tokens
    band = f"{thousands(tokens.low)}-{thousands(tokens.high)}"
    equal = f", {totals.equal} equal to another" if totals.equal else ""
    return (
        f"{plural(totals.chunks, 'chunk')}, {totals.kept} kept, {totals.to_ask} to ask{equal},"
        f" ~{thousands(tokens.tokens)} tokens ({band}), {_cost(totals)}"
    )


def _cost(totals: Totals) -> str:
    if not totals.to_ask:
        return "nothing to pay"
    if totals.cost_usd is None:
        return "price unknown"
    if not totals.cost_usd:
        return "no cost"
    band = f"{money(totals.cost_usd_low)}-{money(totals.cost_usd_high)}"
    return f"about {money(totals.cost_usd)} ({band}) for what is to ask"
