"""What an answer costs, from a maintained table; an unknown price is None and never 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge.judges.base import Usage

OFFLINE_MODEL = "offline"
_MILLION = 1_000_000


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
