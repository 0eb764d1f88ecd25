"""Sessions that are wanted to be judged, until what that costs is known and agreed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge_tui.bench.secrets import SecretCounts
from longjudge_tui.library.pricing import Price
from longjudge_tui.library.secrets import count_together

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from longjudge.sessions import SessionFile
    from longjudge_tui.library.pricing import Pricing
    from longjudge_tui.library.terms import Terms


@dataclass(frozen=True, slots=True)
class Offer:
    """Sessions to judge with their price, to be agreed to.

    Those that only wait for a batch are in the price, and not among the files.
    """

    files: tuple[SessionFile, ...]
    price: Price


class Offers:
    """One at a time. `secrets` counts what would be replaced in the one that stands.

    `parts` are the sessions of the files that hold many.
    """

    def __init__(
        self,
        pricing: Pricing,
        parts: Mapping[SessionFile, list[SessionFile]],
        kept: Container[str],
    ) -> None:
        self.secrets = SecretCounts()
        self._pricing = pricing
        self._parts = parts
        self._kept = kept
        self._wanted: tuple[SessionFile, ...] = ()
        self._lacking: tuple[SessionFile, object, object] | None = None

    def want(self, files: Sequence[SessionFile], terms: Terms) -> None:
        """Find out what judging sessions would cost, see `take`."""
        self._wanted, self._lacking = tuple(files), None
        self._pricing.estimate(files, terms)

    def drop(self, file: SessionFile | None = None) -> None:
        """Want one session, or all, no more."""
        self._wanted = tuple(each for each in self._wanted if file not in (None, each))
        self._lacking = None

    def take(self, terms: Terms) -> Offer | None:
        """What is wanted, once all of it is priced; its secrets are counted from then on."""
        if not self._wanted or self._lacks_as_before(terms):
            return None
        # Files with many sessions have become several by now.
        self._wanted = tuple(
            part for file in self._wanted for part in self._parts.get(file, [file])
        )
        prices = self._pricing.of_all(self._wanted, terms)
        if None in prices:
            if not self._pricing.waiting:
                # The terms are others now than those of the question.
                self._pricing.estimate(self._wanted, terms)
            last = self._wanted[-1 - prices[::-1].index(None)]
            self._lacking = last, self._pricing.known(last), terms.basis
            return None
        priced = zip(self._wanted, prices, strict=True)
        fine = [(f, p) for f, p in priced if p and not p.fault and not p.copied]
        self._wanted = ()
        price = Price.sum([price for _, price in fine])
        # What is asked of the others holds only while those they lean on are judged as well.
        if not (price.to_ask and self._pricing.lean(file for file, _ in fine)):
            fine = [(f, p) for f, p in fine if p.to_ask or not p.in_batch]
        offer = Offer(tuple(file for file, _ in fine), price)
        if offer.price.to_ask:
            self.secrets.begin_with(
                lambda stopped: count_together(offer.files, terms, self._kept, stopped),
                redact=terms.settings.redact,
            )
        return offer

    def _lacks_as_before(self, terms: Terms) -> bool:
        """Whether the one that is estimated last still has no price that holds.

        As long as it has not, no frame need look at all the others: there may be very many.
        """
        if self._lacking is None or not self._pricing.waiting:
            return False
        file, known, basis = self._lacking
        same = self._pricing.known(file) is known and basis == terms.basis
        return same and file not in self._parts
