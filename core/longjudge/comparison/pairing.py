"""Which finding of one side is which of the other, where both speak about the same events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.sides import SideFinding


@dataclass(frozen=True, slots=True)
class Pair:
    """The same finding on both sides, or one that only one of them has."""

    one: SideFinding | None
    other: SideFinding | None


def pairs_of(one: Cell | None, other: Cell | None) -> list[Pair]:
    """Match the findings of two cells: by event and criterion, and then by quote.

    At the same place those with the same quote come first. Two texts that are known to differ are
    no same place, and where a text stands elsewhere by now, it is found by itself.
    """
    mine = one.findings if one is not None else ()
    its = other.findings if other is not None else ()
    partners: dict[int, int] = {}
    taken: set[int] = set()
    if one is not None and other is not None and mine and its:
        for key in (_place_and_quote, _place, _text_and_quote, _text, _quote):
            waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
            for number in reversed(range(len(its))):
                if number not in taken and (what := key(its[number], other)) is not None:
                    waiting[what].append(number)
            for number, finding in enumerate(mine):
                what = key(finding, one) if number not in partners else None
                there = waiting.get(what) if what is not None else None
                if there and (key not in _BY_PLACE or _alike(finding, its[there[-1]])):
                    partners[number] = there.pop()
                    taken.add(partners[number])
    pairs = [
        Pair(finding, its[partners[number]] if number in partners else None)
        for number, finding in enumerate(mine)
    ]
    return pairs + [Pair(None, each) for number, each in enumerate(its) if number not in taken]


def _place_and_quote(finding: SideFinding, cell: Cell) -> Hashable:
    return (*_place(finding, cell), finding.quote)


def _place(finding: SideFinding, cell: Cell) -> tuple[Hashable, ...]:
    """Events are counted from where the cell begins, as the two sides may number them otherwise."""
    place = None if finding.event is None else finding.event - cell.first
    return place, finding.criterion


def _text_and_quote(finding: SideFinding, cell: Cell) -> Hashable | None:
    text = _text(finding, cell)
    return (text, finding.quote) if text is not None else None


def _text(finding: SideFinding, _: Cell) -> Hashable | None:
    return (finding.digest, finding.criterion) if finding.digest else None


def _quote(finding: SideFinding, _: Cell) -> Hashable | None:
    return (finding.quote, finding.criterion) if finding.quote else None


def _alike(one: SideFinding, other: SideFinding) -> bool:
    """Whether nothing says that the two are about other texts.

    Where no event is named, the text is that of the chunk, and decides nothing.
    """
    if one.event is None or not (one.digest and other.digest):
        return True
    return one.digest == other.digest


_BY_PLACE: frozenset[Callable[[SideFinding, Cell], Hashable | None]] = frozenset(
    {_place_and_quote, _place}
)
