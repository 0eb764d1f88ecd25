"""How long a chunk waits after an error, and when it is given up."""

from __future__ import annotations

from random import Random

import pytest

from longjudge.judges.base import MAX_WAIT, Again, AskError
from longjudge.retries import RetryCount, RetryPolicy
from longjudge.settings import DEFAULT_TIME_LIMIT
from longjudge.states import GapReason

SOON, WHEN_TOLD = Again.SOON, Again.WHEN_TOLD


def error(again: Again, wait: float | None = None, *, discouraged: bool = False) -> AskError:
    return AskError(
        "503", again=again, reason=GapReason.PROVIDER_ERROR, wait=wait, discouraged=discouraged
    )


def waits(*errors: AskError, step: float = 0.0, seed: int = 1) -> list[float]:
    """The waits of one chunk that meets these errors, the last one again and again.

    Each answer takes `step` seconds.
    """
    policy, count, now = RetryPolicy(Random(seed)), RetryCount(), 100.0
    seen: list[float] = []
    coming = list(errors)
    while True:
        met = coming.pop(0) if len(coming) > 1 else coming[0]
        if (pause := policy.next_wait(met, count, now)) is None:
            return seen
        seen.append(pause)
        now += pause + step


def test_a_server_error_is_asked_at_most_five_times_with_growing_waits() -> None:
    seen = waits(error(SOON))
    assert len(seen) == 4
    assert seen == sorted(seen)
    assert 0.3 <= seen[0] <= 0.5


@pytest.mark.parametrize("step", [16.0, 20.0, 35.0, 300.0])
def test_a_server_error_is_given_up_after_thirty_seconds_but_not_before_three_attempts(
    step: float,
) -> None:
    assert len(waits(error(SOON), step=step)) + 1 == 3


def test_a_rate_limit_is_given_up_at_the_eighth_answer_and_never_waits_longer_than_30_s() -> None:
    seen = waits(error(WHEN_TOLD))
    assert len(seen) == 7
    assert max(seen) <= 30
    assert 0.75 <= seen[0] <= 1.0


def test_a_wait_that_the_provider_names_is_kept_and_no_two_chunks_return_in_step() -> None:
    seen = waits(error(WHEN_TOLD, 17.5))
    assert len(seen) == 7
    assert all(17.5 <= wait <= 17.5 * 1.05 for wait in seen)
    assert len(set(seen)) == 7


def test_a_wait_of_its_own_is_never_the_same_twice() -> None:
    assert (
        len({waits(error(again), seed=seed)[0] for again in (SOON, WHEN_TOLD) for seed in range(5)})
        == 10
    )


def test_an_order_of_an_hour_leaves_room_for_three_attempts_within_the_default_limit() -> None:
    first, second, *_ = waits(error(WHEN_TOLD, 3600.0))
    assert first >= MAX_WAIT
    assert first + second < DEFAULT_TIME_LIMIT / 2


def test_an_order_that_comes_with_a_server_error_leaves_room_for_three_attempts() -> None:
    seen = waits(error(SOON, 60.0))
    assert len(seen) + 1 == 3
    assert sum(seen) <= 30
    assert waits(error(SOON, 2.0))[0] >= 2


def test_a_rate_limit_that_the_provider_calls_hopeless_is_tried_three_times() -> None:
    assert len(waits(error(WHEN_TOLD, 1.0, discouraged=True))) + 1 == 3


def test_the_time_that_a_provider_ordered_is_no_time_of_its_failing() -> None:
    assert len(waits(error(WHEN_TOLD, 100.0), error(SOON))) + 1 == 1 + 5


def test_what_would_fail_again_is_not_asked_again() -> None:
    assert waits(error(Again.NEVER)) == []
    assert waits(error(Again.END)) == []
