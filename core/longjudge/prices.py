"""What an answer costs, from a maintained table; an unknown price is None and never 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

OFFLINE_MODEL = "offline"
_MILLION = 1_000_000
_SMALL = 1_000
_CURRENT = re.compile(r"claude-[a-z]+-([4-9]|\d\d)(-\d+)?")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer or the sum of several, by price class."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens of each class; the cache's are the input's where unsaid."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> float:
        """Price of one answer, or of the sum of several."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        dollars = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * write
        )
        return dollars / _MILLION


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model of the table, with its price for a million tokens of a small request."""

    name: str
    price: Price


def priced_models() -> list[PricedModel]:
    """The models of the table, cheapest first; older generations are left out.

    The table takes 0.15 s to import the first time.
    """
    from genai_prices.data_snapshot import get_snapshot

    found: list[PricedModel] = []
    for provider in get_snapshot().providers:
        if provider.id != "anthropic":
            continue
        for model in provider.models:
            price = price_of(model.id) if _CURRENT.fullmatch(model.id) else None
            if price is not None:
                found.append(PricedModel(model.id, price))
    return sorted(found, key=lambda each: (each.price.input, each.price.output, each.name))


def price_of(model: str) -> Price | None:
    """Price for a million tokens, as a small request pays it; None where it is unknown."""
    one = _table_price(model, _SMALL, 0, 0, 0), _table_price(model, 0, _SMALL, 0, 0)
    if one[0] is None or one[1] is None:
        return None
    return Price(one[0] * _MILLION / _SMALL, one[1] * _MILLION / _SMALL)


def cost_usd(model: str, usage: Usage, price: Price | None = None) -> float | None:
    """Price in US dollars of one answer (tiers go by the size of one request).

    `price` is one that the user set, and beats the table. None where the model's price is
    unknown; 0 for the offline rules, which use nothing.
    """
    if price is not None:
        return price.of(usage)
    if model == OFFLINE_MODEL:
        return 0.0
    return _table_price(
        model,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    )


@lru_cache(maxsize=4096)
def _table_price(
    model: str, input_tokens: int, output_tokens: int, cache_read: int, cache_write: int
) -> float | None:
    # The table takes 0.15 s to import, and no command needs it before a price is asked for.
    import genai_prices

    # The provider's `input_tokens` leaves out what its cache served; the table counts all.
    everything = input_tokens + cache_read + cache_write
    usage = genai_prices.Usage(
        input_tokens=everything,
        output_tokens=output_tokens,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
    )
    try:
        price = genai_prices.calc_price(usage, model_ref=model, provider_id="anthropic")
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
