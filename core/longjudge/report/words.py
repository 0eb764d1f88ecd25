"""Words that every account of a judgment has: amounts, who judged, what it used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge.prices import OFFLINE_MODEL
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.report.outcome import Outcome


LEAST_SHOWN: Final = 0.0001
"""In US dollars; nothing that was paid is shown as 0."""


def money(amount: float | None) -> str:
    """A price for people; unknown stays unknown."""
    if amount is None:
        return "price unknown"
    if 0 < amount < LEAST_SHOWN:
        return f"<${LEAST_SHOWN:.4f}"
    return f"${amount:.4f}" if 0 < amount < 0.1 else f"${amount:.2f}"


def plural(count: int, word: str) -> str:
    """A count with its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def judge_name(outcome: Outcome) -> str:
    """Who judged, for people."""
    return "offline rules" if outcome.model == OFFLINE_MODEL else clean_line(outcome.model)


def judged_by(outcome: Outcome) -> str:
    """The same for whoever does not know what these rules are."""
    own = outcome.model == OFFLINE_MODEL
    return "the built-in offline rules, no model" if own else clean_line(outcome.model)


def usage_words(outcome: Outcome) -> str:
    """Tokens by class as they were counted; empty where none were."""
    used = outcome.usage
    if not any(used.values()):
        return ""
    thinking, hour = used.get("thinking_tokens", 0), used.get("cache_write_1h_tokens", 0)
    words = [
        f"{used.get('input_tokens', 0):,} input",
        f"{used.get('output_tokens', 0):,} output" + (f" ({thinking:,} thinking)" * (thinking > 0)),
    ]
    if read := used.get("cache_read_tokens", 0):
        words.append(f"{read:,} cache read")
    if written := used.get("cache_write_tokens", 0):
        words.append(f"{written:,} cache write" + (f" ({hour:,} for an hour)" * (hour > 0)))
    return ", ".join(words)


def price_words(outcome: Outcome) -> str:
    """What a million tokens cost when it was judged, and by whose word; empty where unknown."""
    price = outcome.price
    if price is None or price.source == OFFLINE_MODEL:
        return ""
    tiers = "; long requests by their own tier" if price.tiers else ""
    return (
        f"${price.input:g} in, ${price.output:g} out a million"
        f" ({clean_line(price.source, 60)}{tiers})"
    )
