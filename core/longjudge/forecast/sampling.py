"""Draws a few of many files so that what they come to can be told of all of them.

Files are put into strata by size: what a file holds grows with it, so that files of one stratum are
alike. The largest files are always drawn, since a sum hangs on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from longjudge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_DRAWN = 10
"""Of fewer files nobody could tell how far they are from all the others."""

MOST_STRATA = 8
"""Of drawn strata, beside the one whose files are all drawn."""

_LEAST_OF_STRATUM = 2
"""One alone does not tell how much files of its stratum differ, which is not to say: not at all."""

_POWER = 0.7
"""How the spread of what files come to is expected to grow with their size.

1 where it grows with the size itself, as prices do, 0 where it is the same for all, as for a share
of sessions; in between neither is drawn badly. Tried on sizes spread over one to five decades.
"""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Files of about one size: how many there are, sums over their sizes, and who was drawn.

    Sizes are in bytes, at least 1. `drawn` holds places in the sequence that was drawn from.
    """

    count: int
    total: int
    squares: int
    drawn: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Whether every file of it was drawn."""
        return len(self.drawn) == self.count


@dataclass(frozen=True, slots=True)
class Sample:
    """What was drawn of `of` files; `sizes` are those of the drawn ones, in their order."""

    strata: tuple[Stratum, ...]
    sizes: tuple[int, ...]
    of: int
    seed: int

    @property
    def drawn(self) -> tuple[int, ...]:
        """The places of what was drawn, stratum after stratum, that of the largest files first."""
        return tuple(place for stratum in self.strata for place in stratum.drawn)

    @property
    def weights(self) -> tuple[float, ...]:
        """For each of `drawn`, how many files it stands for, itself included."""
        return tuple(
            stratum.count / len(stratum.drawn) for stratum in self.strata for _ in stratum.drawn
        )

    @property
    def whole(self) -> bool:
        """Whether everything was drawn, so that nothing has to be extrapolated."""
        return len(self.sizes) == self.of


def draw(sizes: Sequence[int], wanted: int, seed: int = 0) -> Sample:
    """Draw `wanted` of the files with these sizes in bytes, or all where there are no more.

    The same sizes, number and seed draw the same files.

    Raises:
        UsageError: fewer than `LEAST_DRAWN` are wanted, and there are more.
    """
    if wanted < min(LEAST_DRAWN, len(sizes)):
        few = len(sizes) <= LEAST_DRAWN
        way_out = "without a sample all are read" if few else f"draw {LEAST_DRAWN} or more"
        raise UsageError(
            f"a sample of {wanted} is too small to tell of {len(sizes)} files; {way_out}"
        )
    order = sorted(range(len(sizes)), key=lambda place: (-sizes[place], place))
    if wanted >= len(order):
        return _sample([(order, len(order))] if order else [], sizes, seed)
    weights = [max(1, sizes[place]) ** _POWER for place in order]
    certain = _certain(weights, wanted)
    left = weights[certain:]
    groups = _strata(left, (wanted - certain) // _LEAST_OF_STRATUM)
    shares = _shares([sum(left[a:b]) for a, b in groups], groups, wanted - certain)
    strata = [(order[:certain], certain)]
    for (start, end), share in zip(groups, shares, strict=True):
        strata.append((order[certain + start : certain + end], share))
    return _sample(strata, sizes, seed)


def _sample(strata: Sequence[tuple[Sequence[int], int]], sizes: Sequence[int], seed: int) -> Sample:
    """Draw from each stratum, given by its places and how many of them to draw."""
    random, made = Random(seed), list[Stratum]()
    for places, share in strata:
        chosen = random.sample(places, share) if share < len(places) else places
        least = [max(1, sizes[place]) for place in places]
        squares = sum(size * size for size in least)
        made.append(Stratum(len(places), sum(least), squares, tuple(sorted(chosen))))
    drawn = tuple(max(1, sizes[place]) for stratum in made for place in stratum.drawn)
    return Sample(tuple(made), drawn, len(sizes), seed)


def _certain(weights: Sequence[float], wanted: int) -> int:
    """How many of the largest are drawn for certain: one at least, and half of all at most.

    A file is when its part of what is left is as large as that of one draw.
    """
    left, count = sum(weights), 0
    while count < wanted // 2 and (not count or weights[count] * (wanted - count) >= left):
        left -= weights[count]
        count += 1
    return count


def _strata(weights: Sequence[float], most: int) -> list[tuple[int, int]]:
    """Cut an order of files, given by their weights, into stretches of about equal weight."""
    strata = max(1, min(MOST_STRATA, most))
    each, so_far, starts = sum(weights) / strata, 0.0, [0]
    for place, weight in enumerate(weights):
        # Each is to hold a file more than are drawn of it at least.
        long_enough = place - starts[-1] > _LEAST_OF_STRATUM
        if so_far >= each * len(starts) and long_enough and len(starts) < strata:
            starts.append(place)
        so_far += weight
    if len(starts) > 1 and len(weights) - starts[-1] <= _LEAST_OF_STRATUM:
        starts.pop()
    return list(zip(starts, [*starts[1:], len(weights)], strict=True))


def _shares(weights: Sequence[float], strata: Sequence[tuple[int, int]], wanted: int) -> list[int]:
    """How many to draw of each stratum: by its weight, two at least, no more than it holds."""
    counts = [end - start for start, end in strata]
    shares = [_LEAST_OF_STRATUM] * len(strata)
    for _ in range(wanted - sum(shares)):
        open_ = [i for i in range(len(strata)) if shares[i] < counts[i]]
        neediest = max(open_, key=lambda i: weights[i] / shares[i])
        shares[neediest] += 1
    return shares
