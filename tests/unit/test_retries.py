"""How long a chunk waits after an error, and when it is given up."""

from __future__ import annotations

from random import Random

from longjudge.judges.base import Again, AskError
from longjudge.retries import RetryCount, RetryPolicy
from longjudge.states import GapReason


def error(again: Again, wait: float | None = None) -> AskError:
    return AskError("503", again=again, reason=GapReason.PROVIDER_ERROR, wait=wait)


def waits(again: Again, wait: float | None = None, step: float = 0.0) -> list[float]:
    policy, count, now = RetryPolicy(Random(1)), RetryCount(), 100.0
    seen: list[float] = []
    while (pause := policy.next_wait(error(again, wait), count, now)) is not None:
        seen.append(pause)
        now += pause + step
    return seen


def test_a_server_error_is_asked_at_most_five_times_with_growing_waits() -> None:
    seen = waits(Again.SOON)
    assert len(seen) == 4
    assert seen == sorted(seen)
    assert 0.3 <= seen[0] <= 0.5


def test_a_server_error_is_given_up_after_thirty_seconds() -> None:
    assert len(waits(Again.SOON, step=20.0)) == 2


def test_a_rate_limit_is_given_up_at_the_eighth_answer_and_never_waits_longer_than_30_s() -> None:
    seen = waits(Again.WHEN_TOLD)
    assert len(seen) == 7
    assert max(seen) <= 30
    assert 0.75 <= seen[0] <= 1.0


def test_a_wait_that_the_provider_names_is_kept() -> None:
    assert waits(Again.WHEN_TOLD, wait=17.5) == [17.5] * 7


def test_what_would_fail_again_is_not_asked_again() -> None:
    assert waits(Again.NEVER) == []
    assert waits(Again.END) == []
