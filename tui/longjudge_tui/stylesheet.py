"""A stylesheet that reads each source once for each theme, and looks only at rules that may apply.

The toolkit's own reads all sources again when a screen is shown, and whenever a kind of widget
comes up for the first time, since what it keeps holds fewer sources than this app has. And for
every widget it goes through all rules there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

if TYPE_CHECKING:
    from textual.css.model import RuleSet
    from textual.css.styles import RulesMap
    from textual.dom import DOMNode

MOST_SOURCES = 1024


class KeptStylesheet(Stylesheet):
    """Keeps what it has read until the theme's colours are others."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache: LRUCache[tuple[object, ...], list[RuleSet]] = LRUCache(MOST_SOURCES)
        self._narrow: list[RuleSet] | None = None
        self._candidates: dict[frozenset[str], list[RuleSet]] = {}
        self._candidates_of: list[RuleSet] | None = None

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

    @property
    def rules(self) -> list[RuleSet]:
        """All rules; while a node is given its styles, those that may be meant for it."""
        return super().rules if self._narrow is None else self._narrow

    def apply(
        self,
        node: DOMNode,
        *,
        animate: bool = False,
        cache: dict[tuple[object, ...], RulesMap] | None = None,
    ) -> None:
        """Give a node its styles."""
        outer, self._narrow = self._narrow, None
        self._narrow = self._rules_for(node)
        try:
            super().apply(node, animate=animate, cache=cache)  # pyright: ignore[reportUnknownMemberType]
        finally:
            self._narrow = outer

    def _rules_for(self, node: DOMNode) -> list[RuleSet]:
        """The rules that name anything the node has, in their order."""
        every = self.rules
        if every is not self._candidates_of:
            self._candidates_of = every
            self._candidates.clear()
        has = node._selector_names  # pyright: ignore[reportPrivateUsage]
        names = frozenset(self.rules_map.keys() & has)
        found = self._candidates.get(names)
        if found is None:
            meant = {id(rule) for name in names for rule in self.rules_map[name]}
            found = self._candidates[names] = [rule for rule in every if id(rule) in meant]
        return found
