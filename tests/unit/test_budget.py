"""The budget: limits that are never passed, and an end that stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.budget import Budget
from longjudge.errors import UsageError
from longjudge.judges.make import make_judge


def nothing() -> None:
    return None


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf"), -0.01])
def test_a_cost_that_is_no_amount_is_refused(cost: float) -> None:
    with pytest.raises(UsageError, match="out of range; use 0 or more"):
        Budget(max_cost=cost)


def test_a_negative_number_of_calls_is_refused() -> None:
    with pytest.raises(UsageError, match="out of range"):
        Budget(max_calls=-1)


def test_without_limits_everything_may_be_asked() -> None:
    budget = Budget()
    assert all(budget.reserve(None, nothing) for _ in range(100))
    assert budget.ended is None


def test_a_budget_of_nothing_lets_nothing_be_asked() -> None:
    for budget in (Budget(max_cost=0), Budget(max_calls=0)):
        assert budget.refuses(0.01)
        assert budget.reserve(0.01, nothing) is None
        assert budget.ended is not None


def test_what_costs_nothing_may_be_asked_within_any_cost() -> None:
    assert Budget(max_cost=0).reserve(0.0, nothing) is not None


def test_a_question_waits_while_what_is_on_its_way_may_turn_out_cheaper() -> None:
    budget, woken = Budget(max_cost=0.10), []
    first = budget.reserve(0.06, nothing)
    assert first is not None
    assert budget.reserve(0.06, lambda: woken.append(True)) is None
    assert budget.ended is None
    assert woken == []
    budget.settle(first, 0.02)
    assert woken == [True]
    assert budget.reserve(0.06, nothing) is not None


def test_an_answer_of_unknown_price_keeps_what_was_reserved() -> None:
    budget = Budget(max_cost=0.10)
    first = budget.reserve(0.06, nothing)
    assert first is not None
    budget.settle(first, None)
    assert budget.spent == 0.06
    assert budget.reserve(0.06, nothing) is None
    assert budget.ended is not None
    assert "$0.0600 of the budget of $0.1 is spent" in budget.ended


def test_once_ended_nothing_is_asked_any_more_however_cheap() -> None:
    budget = Budget(max_cost=0.10)
    assert budget.reserve(0.2, nothing) is None
    assert budget.reserve(0.01, nothing) is None


def test_sums_of_prices_reach_their_limit_exactly() -> None:
    budget = Budget(max_cost=0.3)
    for _ in range(3):
        reservation = budget.reserve(0.1, nothing)
        assert reservation is not None
        budget.settle(reservation, 0.1)
    assert budget.refuses(0.1)


@given(
    st.floats(0, 1),
    st.lists(st.tuples(st.floats(0, 0.4), st.floats(0, 1), st.booleans()), max_size=60),
)
def test_what_is_paid_never_passes_the_limit(
    limit: float, questions: list[tuple[float, float, bool]]
) -> None:
    budget, paid, on_the_way = Budget(max_cost=limit), 0.0, []
    for price, share, settle in questions:
        if reservation := budget.reserve(price, nothing):
            on_the_way.append((reservation, price * share))
        if settle and on_the_way:
            reservation, cost = on_the_way.pop(0)
            budget.settle(reservation, cost)
            paid += cost
    for reservation, cost in on_the_way:
        budget.settle(reservation, cost)
        paid += cost
    assert paid <= limit + 1e-9


def test_threads_at_once_never_pass_the_number_of_calls() -> None:
    budget = Budget(max_calls=500)
    with ThreadPoolExecutor(8) as threads:
        granted = list(
            threads.map(lambda _: budget.reserve(None, nothing) is not None, range(2000))
        )
    assert sum(granted) == 500
    assert budget.calls == 500


def test_the_cost_of_a_model_of_unknown_price_cannot_be_limited() -> None:
    judge = make_judge("a-model-of-my-own")
    with pytest.raises(UsageError, match="price of a-model-of-my-own is unknown"):
        Budget(max_cost=1).check_judge(judge)
    Budget(max_calls=1).check_judge(judge)
    Budget(max_cost=1).check_judge(make_judge("offline"))
