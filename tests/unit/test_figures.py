"""The rate of a run and the time that is left: honest, and steady enough to be read."""

from __future__ import annotations

import pytest

from longjudge_tui.bench.figures import Rate, rate_words, rounded_up


def test_a_rate_is_not_known_before_a_few_chunks_have_ended() -> None:
    rate = Rate()
    assert rate.per_minute(0.5) is None
    rate.ended(1.1)
    rate.ended(1.2)
    assert rate.per_minute(2.0) is None
    assert rate.left(2.0, 10) is None
    rate.ended(2.5)
    assert rate.per_minute(3.0) == 60
    assert rate.left(3.0, 10) == 10


def test_a_rate_is_that_of_the_last_minute() -> None:
    rate = Rate()
    for second in range(60):
        rate.ended(second + 0.5)
    assert rate.per_minute(60.0) == pytest.approx(60, abs=1)
    # Then it gets slow: what was before does not count on.
    for second in (70, 80, 90, 100, 110, 120):
        rate.ended(second + 0.5)
    assert rate.per_minute(121.0) == 6
    assert rate.left(121.0, 3) == 30


def test_within_one_second_neither_number_changes() -> None:
    rate = Rate()
    for at in (0.1, 0.2, 0.3):
        rate.ended(at)
    shown = rate.per_minute(2.0), rate.left(2.0, 10)
    for at in (2.1, 2.2, 2.3, 2.4):
        rate.ended(at)
        assert (rate.per_minute(at), rate.left(at, 5)) == shown
    assert rate.per_minute(3.0) != shown[0]


def test_the_ends_of_hours_are_not_held() -> None:
    rate = Rate()
    for second in range(10_000):
        for _ in range(20):
            rate.ended(float(second))
    assert len(rate._ends) <= 60
    assert rate.per_minute(9_999.5) == pytest.approx(1_200, abs=1)


@pytest.mark.parametrize(
    ("rate", "words", "brief"),
    [
        (None, "rate not known yet", "?/min"),
        (0.44, "0.4 chunks/min", "0.4/min"),
        (24.4, "24 chunks/min", "24/min"),
        (283.0, "280 chunks/min", "280/min"),
        (3_123.0, "3,100 chunks/min", "3,100/min"),
    ],
)
def test_a_rate_has_as_many_digits_as_it_is_exact(
    rate: float | None, words: str, brief: str
) -> None:
    assert (rate_words(rate), rate_words(rate, brief=True)) == (words, brief)


def test_a_time_that_is_left_goes_in_steps_and_never_reads_as_over() -> None:
    given = [0.0, 0.2, 3.0, 19.1, 21.0, 59.0, 61.0, 598.0, 601.0, 3_590.0]
    assert [rounded_up(each) for each in given] == [1, 1, 3, 20, 25, 60, 70, 600, 660, 3_600]
