"""How far the provider's count is from the estimate, as it is learned."""

from __future__ import annotations

from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.factors import ObservedFactor, TokenWatch, learned, observed_ratio
from longjudge.prices import Usage

RATIOS = st.lists(st.floats(0.2, 5.0), max_size=40)


@pytest.mark.parametrize(
    ("usage", "estimated", "ratio"),
    [
        (Usage(110, 9), 100, 1.1),
        (Usage(10, 9, cache_read_tokens=60, cache_write_tokens=40), 100, 1.1),
        # A local server that counts nothing, or something else, teaches nothing.
        (Usage(0, 9), 100, None),
        (Usage(1, 9), 100, None),
        (Usage(900, 9), 100, None),
        (Usage(110, 9), 0, None),
    ],
)
def test_all_that_was_sent_is_compared_with_the_estimate(
    usage: Usage, estimated: int, ratio: float | None
) -> None:
    assert observed_ratio(usage, estimated) == (None if ratio is None else pytest.approx(ratio))


def test_the_first_answer_is_believed_and_each_further_one_weighs_a_fifth() -> None:
    first = learned(None, [1.5])
    assert first == ObservedFactor(1.5, 0.0, 1)
    second = learned(first, [1.0])
    assert second is not None
    assert (second.factor, second.answers) == (pytest.approx(1.4), 2)
    assert second.deviation > 0
    assert learned(None, []) is None
    assert learned(first, []) == first


@given(RATIOS.filter(bool), RATIOS)
def test_it_is_the_same_learned_at_once_or_in_two_judgments(
    one: list[float], other: list[float]
) -> None:
    at_once, in_two = learned(None, [*one, *other]), learned(learned(None, one), other)
    assert at_once is not None
    assert in_two is not None
    assert in_two.factor == pytest.approx(at_once.factor)
    assert in_two.deviation == pytest.approx(at_once.deviation, abs=1e-9)
    assert min([*one, *other]) - 1e-9 <= at_once.factor <= max([*one, *other]) + 1e-9


def test_many_answers_forget_the_first_and_know_how_far_they_scatter() -> None:
    ratios = [1.0, 1.2] * 100
    found = learned(ObservedFactor(3.0, 0.0, 1), ratios)
    assert found is not None
    assert found.factor == pytest.approx(1.1, abs=0.02)
    assert found.deviation == pytest.approx(pstdev(ratios), rel=0.2)


def test_a_budget_goes_by_the_dearest_that_is_known_and_never_by_less_than_the_estimate() -> None:
    assert TokenWatch().dearer_by == 1.0
    assert TokenWatch(ObservedFactor(0.6, 0.0, 9)).dearer_by == 1.0
    watch = TokenWatch(ObservedFactor(1.3, 0.0, 9))
    assert watch.dearer_by == 1.3
    watch.see(Usage(200), 100)
    watch.see(Usage(110), 100)
    watch.see(Usage(0), 100)
    assert watch.dearer_by == 2.0
    watch.see(Usage(900), 100)
    assert watch.dearer_by == 9.0
    assert watch.ratios == [2.0, 1.1]
