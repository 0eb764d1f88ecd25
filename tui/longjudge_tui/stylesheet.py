"""A stylesheet that reads each source once for each theme.

The toolkit's own reads them all again when a screen is shown, and whenever a kind of widget comes
up for the first time, since what it keeps holds fewer sources than this app has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

if TYPE_CHECKING:
    from textual.css.model import RuleSet

MOST_SOURCES = 1024


class KeptStylesheet(Stylesheet):
    """Keeps what it has read until the theme's colours are others."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache: LRUCache[tuple[object, ...], list[RuleSet]] = LRUCache(MOST_SOURCES)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Use the colours of a theme; the same ones again change nothing."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Read the sources that were not read with these colours.

        Raises:
            StylesheetParseError: a source is wrong; the rules stay as they were.
        """
        self.parse()
