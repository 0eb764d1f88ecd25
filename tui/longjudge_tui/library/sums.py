"""What the selected sessions come to, as far as something is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge_tui.library.listing import size_of
from longjudge_tui.library.pricing import Price

if TYPE_CHECKING:
    from longjudge.sessions import SessionFile
    from longjudge_tui.library.counting import Counting
    from longjudge_tui.library.pricing import Pricing
    from longjudge_tui.library.terms import Terms


@dataclass(frozen=True, slots=True)
class Sum:
    """Sessions taken together. `counted` and `priced` say of how many something is known."""

    sessions: int
    bytes: int
    events: int
    counted: int
    price: Price
    priced: int

    @classmethod
    def of(cls, files: set[SessionFile], terms: Terms, counting: Counting, pricing: Pricing) -> Sum:
        """Sum up what is known."""
        # What is known may be about few of very many files.
        facts = [known for file, known in counting.facts.items() if file in files]
        prices = [price for price in pricing.of_all(files, terms) if price is not None]
        return cls(
            len(files),
            size_of(files, counting.facts),
            sum(each.events for each in facts),
            len(facts),
            Price.sum(prices),
            len(prices),
        )
