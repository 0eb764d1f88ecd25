"""What an answer costs, from a maintained table; an unknown price is None and never 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from math import isclose

OFFLINE_MODEL = "offline"
_MILLION = 1_000_000
_SMALL = 1_000
_HUGE = 10_000_000
"""Tokens of a request that is beyond every tier."""

_CURRENT = re.compile(r"claude-[a-z]+-([4-9]|\d\d)(-\d+)?")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer or the sum of several, by price class.

    The last two are shares of others: what was written to the cache for an hour, of
    `cache_write_tokens`, and what the model thought, of `output_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    thinking_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cache_write_1h_tokens + other.cache_write_1h_tokens,
            self.thinking_tokens + other.thinking_tokens,
        )

    @property
    def prompt_tokens(self) -> int:
        """Everything that was sent, whatever a cache served or kept of it."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


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
class RunPrice:
    """What a run was priced by, in US dollars per million tokens, and where that is from.

    With `tiers` these hold for small requests: each request is priced by its own size.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    tiers: bool
    source: str


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model of the table, with its price for a million tokens of a small request."""

    name: str
    price: Price


def table_models() -> list[str]:
    """The names in the table; older generations are left out.

    The table takes 0.15 s to import the first time.
    """
    from genai_prices.data_snapshot import get_snapshot

    return [
        model.id
        for provider in get_snapshot().providers
        if provider.id == "anthropic"
        for model in provider.models
        if _CURRENT.fullmatch(model.id)
    ]


def priced_models() -> list[PricedModel]:
    """The models of the table, cheapest first."""
    prices = ((name, price_of(name)) for name in table_models())
    found = [PricedModel(name, price) for name, price in prices if price is not None]
    return sorted(found, key=lambda each: (each.price.input, each.price.output, each.name))


def price_of(model: str) -> Price | None:
    """Price for a million tokens, as a small request pays it; None where it is unknown."""
    classes = (_SMALL, 0, 0, 0), (0, _SMALL, 0, 0), (0, 0, _SMALL, 0), (0, 0, 0, _SMALL)
    found = [_table_price(model, *tokens) for tokens in classes]
    prices = [price * _MILLION / _SMALL for price in found if price is not None]
    return Price(*prices) if len(prices) == len(classes) else None


def price_of_run(model: str, price: Price | None = None) -> RunPrice | None:
    """What a run that begins now is priced by; None where the price is unknown.

    `price` is one that the user set, and beats the table.
    """
    if price is not None:
        read = price.input if price.cache_read is None else price.cache_read
        write = price.input if price.cache_write is None else price.cache_write
        return RunPrice(price.input, price.output, read, write, tiers=False, source="profile")
    if model == OFFLINE_MODEL:
        return RunPrice(0.0, 0.0, 0.0, 0.0, tiers=False, source=OFFLINE_MODEL)
    small, huge = price_of(model), _table_price(model, _HUGE, 0, 0, 0)
    if small is None or small.cache_read is None or small.cache_write is None or huge is None:
        return None
    return RunPrice(
        small.input,
        small.output,
        small.cache_read,
        small.cache_write,
        tiers=not isclose(huge * _MILLION / _HUGE, small.input),
        source=f"genai-prices {_table_version()}",
    )


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
        min(usage.cache_write_1h_tokens, usage.cache_write_tokens),
    )


@lru_cache(maxsize=1)
def _table_version() -> str:
    return version("genai-prices")


@lru_cache(maxsize=4096)
def _table_price(
    model: str,
    input_tokens: int,
    output_tokens: int,
    cache_read: int,
    cache_write: int,
    cache_write_1h: int = 0,
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
        # Dearer than what is written for five minutes; a table without that price has one for both.
        **({"cache_write_1h_tokens": cache_write_1h} if cache_write_1h else {}),
    )
    try:
        price = genai_prices.calc_price(usage, model_ref=model, provider_id="anthropic")
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
