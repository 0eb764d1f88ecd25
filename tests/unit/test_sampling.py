"""A few files are drawn by their sizes, and an interval tells what all of them come to."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longjudge.errors import UsageError
from longjudge.forecast import LEAST_DRAWN, Sample, draw, extrapolate
from longjudge.forecast.quantiles import beta_quantile, student_quantile

Population = Callable[[random.Random, int], tuple[list[int], list[float], list[float]]]

SIZES = st.lists(st.integers(0, 10**9), max_size=300)
MANY = st.lists(st.integers(0, 10**9), min_size=LEAST_DRAWN, max_size=300)


def drawn_of(sample: Sample, values: list[float]) -> list[float]:
    return [values[place] for place in sample.drawn]


@settings(deadline=None)
@given(SIZES, st.integers(LEAST_DRAWN, 120), st.integers(0, 9))
def test_so_many_are_drawn_and_stand_for_all(sizes: list[int], wanted: int, seed: int) -> None:
    sample = draw(sizes, wanted, seed)
    assert len(set(sample.drawn)) == len(sample.drawn) == min(wanted, len(sizes))
    assert set(sample.drawn) <= set(range(len(sizes)))
    assert sum(stratum.count for stratum in sample.strata) == sample.of == len(sizes)
    assert math.isclose(sum(sample.weights), len(sizes))
    assert sample.sizes == tuple(max(1, sizes[place]) for place in sample.drawn)
    assert sum(stratum.total for stratum in sample.strata) == sum(max(1, size) for size in sizes)
    assert sample == draw(sizes, wanted, seed)


@settings(deadline=None)
@given(MANY, st.integers(LEAST_DRAWN, 120), st.integers(0, 9))
def test_the_largest_is_always_drawn_and_no_stratum_hangs_on_one(
    sizes: list[int], wanted: int, seed: int
) -> None:
    sample = draw(sizes, wanted, seed)
    assert max(sizes) == max(sizes[place] for place in sample.drawn)
    for stratum in sample.strata:
        assert stratum.whole or len(stratum.drawn) >= 2
    ends = [[sizes[place] for place in stratum.drawn] for stratum in sample.strata]
    # Each stratum holds larger files than the next.
    assert all(min(a) >= max(b) for a, b in pairwise(ends))


def test_another_seed_draws_other_files() -> None:
    sizes = list(range(1_000, 3_000))
    assert draw(sizes, 50, 1).drawn != draw(sizes, 50, 2).drawn


def test_too_few_to_tell_anything_are_refused() -> None:
    with pytest.raises(UsageError, match=r"a sample of 9 is too small to tell of 50 files"):
        draw([1] * 50, LEAST_DRAWN - 1)
    with pytest.raises(UsageError, match=r"of 5 files; without a sample all are read"):
        draw([1] * 5, 3)
    assert draw([5, 5], 2).whole
    assert draw([], 3).drawn == ()


@settings(deadline=None)
@given(MANY, st.data())
def test_what_is_drawn_whole_is_added_up(sizes: list[int], data: st.DataObject) -> None:
    values = data.draw(
        st.lists(st.floats(0, 1e6), min_size=len(sizes), max_size=len(sizes)), label="values"
    )
    sample = draw(sizes, len(sizes))
    assert sample.whole
    sum_ = extrapolate(sample, drawn_of(sample, values), drawn_of(sample, values))
    assert sum_.low == sum_.middle == sum_.high == pytest.approx(sum(values))


@settings(deadline=None)
@given(MANY, st.data())
def test_an_interval_holds_its_middle_and_never_less_than_was_found(
    sizes: list[int], data: st.DataObject
) -> None:
    count = len(sizes)
    most = data.draw(st.lists(st.floats(0, 1e6), min_size=count, max_size=count))
    shares = data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    values = [top * share for top, share in zip(most, shares, strict=True)]
    sample = draw(sizes, LEAST_DRAWN)
    found = drawn_of(sample, values)
    for interval in (
        extrapolate(sample, found),
        extrapolate(sample, found, drawn_of(sample, most)),
    ):
        assert sum(found) * (1 - 1e-9) <= interval.low <= interval.middle <= interval.high
        assert math.isfinite(interval.high)


@settings(deadline=None)
@given(st.lists(st.integers(1, 10**7), min_size=30, max_size=200), st.integers(0, 9))
def test_what_follows_the_size_or_is_the_same_for_all_is_told_exactly(
    sizes: list[int], seed: int
) -> None:
    sample = draw(sizes, 12, seed)
    for value in (lambda size: 3.0, lambda size: 2e-6 * size, lambda size: 0.1 + 2e-6 * size):
        values = [value(size) for size in sizes]
        interval = extrapolate(sample, drawn_of(sample, values))
        assert interval.middle == pytest.approx(sum(values), rel=1e-6)
        assert interval.high - interval.low <= 1e-3 * sum(values)


def prices(rng: random.Random, count: int) -> tuple[list[int], list[float], list[float]]:
    """Sizes over some decades, and prices that follow them roughly, in steps of a chunk."""
    spread, noise, fixed = rng.choice([0.5, 1.5, 2.5]), rng.choice([0.1, 0.3, 0.7]), 3_000
    sizes = [max(200, int(rng.lognormvariate(10, spread))) for _ in range(count)]
    rough = [fixed + size * rng.lognormvariate(0, noise) for size in sizes]
    values = [0.01 * math.ceil(each / 30_000) for each in rough]
    return sizes, values, values


def prices_of_some(share: float) -> Population:
    """The same where the rest is kept, or not applicable."""

    def make(rng: random.Random, count: int) -> tuple[list[int], list[float], list[float]]:
        sizes, most, _ = prices(rng, count)
        return sizes, [each if rng.random() < share else 0.0 for each in most], most

    return make


def flagged(share: float) -> Population:
    """Sessions that are flagged or not, whatever their size."""

    def make(rng: random.Random, count: int) -> tuple[list[int], list[float], list[float]]:
        sizes, *_ = prices(rng, count)
        return sizes, [float(rng.random() < share) for _ in sizes], [1.0] * count

    return make


@pytest.mark.parametrize(
    ("population", "files", "wanted", "width"),
    [
        pytest.param(prices, 60, 20, 0.22, id="prices"),
        pytest.param(prices, 600, 50, 0.18, id="prices of many"),
        pytest.param(prices_of_some(0.5), 400, 40, 0.29, id="half kept"),
        pytest.param(prices_of_some(0.04), 400, 40, 0.12, id="nearly all kept"),
        pytest.param(flagged(0.4), 400, 60, 0.42, id="flagged"),
        pytest.param(flagged(0.02), 400, 40, 0.29, id="hardly one flagged"),
    ],
)
def test_nine_of_ten_intervals_hold_the_truth(
    population: Population, files: int, wanted: int, width: float
) -> None:
    rng, held, widths, rounds = random.Random(20), 0, list[float](), 120
    for seed in range(rounds):
        sizes, values, most = population(rng, files)
        sample = draw(sizes, wanted, seed)
        interval = extrapolate(sample, drawn_of(sample, values), drawn_of(sample, most))
        held += interval.low - 1e-9 <= sum(values) <= interval.high + 1e-9
        widths.append((interval.high - interval.low) / sum(most))
    # 90 % of 120 within three deviations, or more where a share is small.
    assert held >= 0.9 * rounds - 3 * math.sqrt(0.09 * rounds)
    assert fmean(widths) < width


def test_nothing_found_in_a_few_is_not_nothing_in_all() -> None:
    sizes = [1_000 + place for place in range(1_000)]
    sample = draw(sizes, 30)
    clean = extrapolate(sample, [0.0] * 30, [1.0] * 30)
    assert clean.low == clean.middle == 0
    # The rule of three: with 95 %, no more than one in ten.
    assert 50 < clean.high < 130
    all_flagged = extrapolate(sample, [1.0] * 30, [1.0] * 30)
    assert (all_flagged.middle, all_flagged.high) == pytest.approx((1_000, 1_000))
    assert 870 < all_flagged.low < 950


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 6.314), (2, 2.920), (3, 2.353), (5, 2.015), (30, 1.697)]
)
def test_student_s_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(0.95, freedom) == pytest.approx(quantile, rel=0.01)
    assert student_quantile(0.95, freedom + 0.5) <= student_quantile(0.95, freedom) + 1e-9


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.integers(1, 60), st.integers(1, 60))
def test_beta_quantiles_are_the_binomial_s(probability: float, a: int, b: int) -> None:
    x = beta_quantile(probability, a, b)
    # A beta variable is below x where at least `a` of `a + b - 1` draws are.
    draws = a + b - 1
    below = sum(math.comb(draws, k) * x**k * (1 - x) ** (draws - k) for k in range(a, draws + 1))
    assert below == pytest.approx(probability, abs=1e-6)
