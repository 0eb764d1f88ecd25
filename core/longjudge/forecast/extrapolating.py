"""From what was found in drawn files to all of them, with the interval that the sum lies in.

The sum is a regression estimate on sizes in strata. How much files differ is learned in each
stratum and, since few are drawn of it, from all strata together; the interval is Student's. Where
a value has a most (chunks to ask of all chunks, flagged sessions of all sessions) the share is
extrapolated on its own, with the interval of Clopper and Pearson at the size that the sample
effectively has (Korn and Graubard, Survey Methodology 24 (1998), 193-201): when nothing was found
in what was drawn, something may still be in the rest.

On made-up populations of 30 to 2,000 files, with sizes spread over one to five decades, 85 to 100
of 100 such intervals hold the truth where 20 files or more are drawn. Of 10, which is few for sizes
so far apart, 75 to 100 do.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

from longjudge.forecast.quantiles import beta_quantile, student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longjudge.forecast.sampling import Sample, Stratum

CONFIDENCE = 0.9
"""The share of intervals that are to hold the truth."""

_UPPER = (1 + CONFIDENCE) / 2
_POOLED = 3
"""How many draws the spread in all strata counts for beside the draws in a stratum."""

_MOST_DRAWS = 1e4
"""The largest effective size that a sample is given; a share of a half is then known to 0.8 %."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A sum over all files: what is expected, and between what it lies."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What was drawn of a stratum that was not drawn whole."""

    stratum: Stratum
    sizes: tuple[float, ...]
    values: tuple[float, ...]
    most: tuple[float, ...]

    @property
    def weight(self) -> float:
        return self.stratum.count / len(self.sizes)


@dataclass(frozen=True, slots=True)
class _Line:
    """What a file of a size is expected to come to."""

    start: float
    slope: float

    def at(self, size: float) -> float:
        return self.start + self.slope * size

    def sum(self, stratum: Stratum) -> float:
        return self.start * stratum.count + self.slope * stratum.total

    def mean_square(self, stratum: Stratum) -> float:
        """The mean square over all files of a stratum."""
        squares = self.slope**2 * stratum.squares + 2 * self.start * self.slope * stratum.total
        return self.start**2 + squares / stratum.count


_FLAT = _Line(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Estimate:
    """A sum with its variance and the degrees of freedom that the variance is known with."""

    sum: float
    variance: float
    freedom: float

    @property
    def half_width(self) -> float:
        return student_quantile(_UPPER, self.freedom) * sqrt(self.variance)


def extrapolate(
    sample: Sample, values: Sequence[float], most: Sequence[float] | None = None
) -> Interval:
    """The sum of a value over all files, from its values in the drawn ones.

    Give `most` for a value that may be 0 where it could have been something: without, nothing found
    in the drawn files is taken for nothing in all. The interval never reaches below what was found.

    Args:
        sample: What was drawn.
        values: For each of `sample.drawn` a value that is not negative.
        most: For each of them the most that its value could have been.
    """
    tops = values if most is None else most
    stretches = [(each, here) for each, here in _stretches(sample) if not each.whole]
    whole = [here for each, here in _stretches(sample) if each.whole]
    found = sum(sum(values[here]) for here in whole)
    # The squares of very small numbers are nothing.
    unit = max((max(*values[here], *tops[here]) for _, here in stretches), default=0.0)
    if not unit:
        return Interval(found, found, found)
    parts = [
        _Drawn(
            stratum,
            sample.sizes[here],
            tuple(value / unit for value in values[here]),
            tuple(top / unit for top in tops[here]),
        )
        for stratum, here in stretches
    ]
    rest = _of_values(parts) if most is None else _of_shares(parts)
    least = sum(sum(part.values) for part in parts)
    middle = max(least, rest.middle)
    return Interval(
        found + unit * middle,
        found + unit * max(least, rest.low),
        found + unit * max(middle, rest.high),
    )


def _stretches(sample: Sample) -> Iterator[tuple[Stratum, slice]]:
    """Each stratum with where what was drawn of it stands."""
    at = 0
    for stratum in sample.strata:
        yield stratum, slice(at, at + len(stratum.drawn))
        at += len(stratum.drawn)


def _of_values(parts: Sequence[_Drawn]) -> Interval:
    values = [part.values for part in parts]
    line = _fit(parts, values)
    estimate = _estimate(parts, values, line, line)
    half = estimate.half_width
    return Interval(estimate.sum, estimate.sum - half, estimate.sum + half)


def _of_shares(parts: Sequence[_Drawn]) -> Interval:
    """The share of the most, times what all of the most comes to."""
    highest = [part.most for part in parts]
    line = _fit(parts, highest)
    whole = _estimate(parts, highest, line, line)
    reached = sum(part.weight * sum(part.most) for part in parts)
    if reached <= 0:
        return Interval(0.0, 0.0, 0.0)
    share = min(1.0, sum(part.weight * sum(part.values) for part in parts) / reached)
    low, high = _share_limits(parts, share, reached, line)
    half = share * whole.half_width
    middle = share * whole.sum
    return Interval(
        middle,
        middle - sqrt((whole.sum * (share - low)) ** 2 + half**2),
        middle + sqrt((whole.sum * (high - share)) ** 2 + half**2),
    )


def _share_limits(
    parts: Sequence[_Drawn], share: float, reached: float, line: _Line
) -> tuple[float, float]:
    off = [
        tuple((value - share * top) / reached for value, top in zip(p.values, p.most, strict=True))
        for p in parts
    ]
    estimate = _estimate(parts, off, _FLAT, line)
    if 0 < share < 1:
        draws = sum(len(part.sizes) for part in parts)
        known = student_quantile(_UPPER, draws - 1) / student_quantile(_UPPER, estimate.freedom)
        size = known**2 * share * (1 - share) / max(estimate.variance, 1 / _MOST_DRAWS**2)
    else:
        # All alike: as many as would tell as much if each were drawn from all of the most.
        spread = sum(
            (1 - 1 / part.weight) * (part.weight * top) ** 2 for part in parts for top in part.most
        )
        size = reached**2 / spread
    size = min(max(size, 1.0), _MOST_DRAWS)
    hits = share * size
    low = beta_quantile(1 - _UPPER, hits, size - hits + 1) if share > 0 else 0.0
    high = beta_quantile(_UPPER, hits + 1, size - hits) if share < 1 else 1.0
    return min(low, share), max(high, share)


def _fit(parts: Sequence[_Drawn], values: Sequence[Sequence[float]]) -> _Line:
    """The line that is nearest to all files: least squares, each over its size."""
    ones = by_size = by_square = of_values = of_both = 0.0
    for part, here in zip(parts, values, strict=True):
        for size, value in zip(part.sizes, here, strict=True):
            weight = part.weight / size
            ones += weight
            by_size += weight * size
            by_square += weight * size * size
            of_values += weight * value
            of_both += weight * size * value
    spread = ones * by_square - by_size * by_size
    slope = 0.0
    if spread > 1e-9 * ones * by_square:
        slope = (ones * of_both - by_size * of_values) / spread
    return _Line((of_values - slope * by_size) / ones, slope)


def _estimate(
    parts: Sequence[_Drawn], values: Sequence[Sequence[float]], line: _Line, scale: _Line
) -> _Estimate:
    """The sum over all files of the strata by a line, corrected by how far off it was.

    Files of a stratum are taken to differ in proportion to `scale`.
    """
    total = 0.0
    squares: list[float] = []
    for part, here in zip(parts, values, strict=True):
        off = [value - line.at(size) for size, value in zip(part.sizes, here, strict=True)]
        mean = fmean(off)
        total += line.sum(part.stratum) + part.stratum.count * mean
        squares.append(sum((each - mean) ** 2 for each in off))
    free = [len(part.sizes) - 1 for part in parts]
    scales = [scale.mean_square(part.stratum) for part in parts]
    floor = max(max(scales) * 1e-6, 1e-300)
    scales = [max(floor, each) for each in scales]
    fitted = 0 if line is _FLAT else 1
    all_free = max(1, sum(free) - fitted)
    pooled = sum(s / scale for s, scale in zip(squares, scales, strict=True)) / all_free
    variance = doubt = 0.0
    for part, square, degrees, scale_ in zip(parts, squares, free, scales, strict=True):
        spread = (square + _POOLED * pooled * scale_) / (degrees + _POOLED)
        count, draws = part.stratum.count, len(part.sizes)
        own = count * (count - draws) * spread / draws
        variance += own
        doubt += own * own / (degrees + min(_POOLED, all_free))
    freedom = min(all_free, variance * variance / doubt) if doubt > 0 else inf
    return _Estimate(total, variance * sum(free) / all_free, max(1.0, freedom))
