"""A chunk size that fits where chunks were too large for the model."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from longjudge.chunks import MIN_CHUNK_CHARS, MIN_CHUNK_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.chunks import ChunkPlan
    from longjudge.settings import Settings

SHARE = 0.5
"""How much of a chunk that was too large is offered: nobody says by how much it was."""

_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)


def fitting_size(plan: ChunkPlan, gaps: Iterable[int], settings: Settings) -> int | None:
    """The largest round chunk size that cuts every chunk of `gaps` (positions from 0) in two.

    In the unit of the settings. None without gaps, and where such a chunk is as small as can be.
    """
    sizes = [plan.size(position) for position in gaps]
    return size_under(sizes, by_tokens=settings.chunk_tokens is not None)


def size_under(sizes: Iterable[int], *, by_tokens: bool) -> int | None:
    """The same for chunks of these sizes, in tokens or else in characters."""
    smallest = min(sizes, default=0)
    least = MIN_CHUNK_TOKENS if by_tokens else MIN_CHUNK_CHARS
    if smallest <= least:
        return None
    return max(least, round_below(smallest * SHARE))


def round_below(size: float) -> int:
    """The largest number that people would type, at most `size` (1 or more)."""
    power = 10 ** floor(log10(max(1.0, size)))
    return max(int(step * power) for step in _ROUND if step * power <= max(1.0, size))
