"""Tokens with their band, prices, and what a plan would cost."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longjudge.chunks import ChunkPlan, plan_chunks
from longjudge.estimate import Estimator, Totals
from longjudge.judges.make import make_judge
from longjudge.keys import KeyMaker
from longjudge.prices import Price, Usage, cost_usd
from longjudge.prompt import build_question
from longjudge.rubric import load_rubric
from longjudge.sessions import session_from_events
from longjudge.tokens import TokenEstimate, TokenRatio, count_tokens, measure_ratio, model_factor

MODEL = "claude-haiku-5-5"

EVENTS: list[dict[str, object]] = [
    {"kind": "tool_call", "tool": "Bash", "input": {"command": f"grep -rn name{n} src/ | head"}}
    if n % 3 == 0
    else {"kind": "assistant_message", "text": f"Looking at module {n}: it has {n * 7} lines. " * n}
    for n in range(1, 60)
]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("word", 1),
        ("international", 3),
        ("a b", 3),
        ("12345", 2),
        ("漢字", 2),
        ("x();", 4),
    ],
)
def test_tokens_are_counted_as_defined(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(max_size=500), st.text(max_size=500))
def test_tokens_of_two_texts_are_about_the_sum(one: str, other: str) -> None:
    # A token may span the seam, and no more than one on each side of it.
    apart = count_tokens(one) + count_tokens(other)
    assert apart - 2 <= count_tokens(one + other) <= apart + 2


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        ("claude-haiku-5-5", 1.0),
        ("claude-opus-4-7", 1.0),
        ("claude-opus-4-6", 0.81),
        ("claude-haiku-4-5-20251001", 0.81),
        ("claude-3-opus-20240229", 0.81),
        ("my-own-model", 1.0),
        ("offline", 1.0),
    ],
)
def test_older_models_need_fewer_tokens(model: str, factor: float) -> None:
    assert model_factor(model) == factor


def test_a_session_estimate_is_close_to_the_count_and_the_band_holds_it() -> None:
    session = session_from_events(EVENTS)
    rubric = load_rubric("chunks")
    estimator = Estimator.of(session, rubric, MODEL)
    plan = plan_chunks(session.index, 3_000)
    exact, estimated = 0, 0
    for position in range(len(plan)):
        question = build_question(session, plan, position, rubric)
        tokens = count_tokens(question.system) + count_tokens(question.user)
        estimate = estimator.chunk(plan, position)
        assert estimate.low <= tokens <= estimate.high
        exact, estimated = exact + tokens, estimated + estimate.tokens
    assert abs(estimated - exact) / exact < 0.05


def test_the_same_session_has_the_same_ratio() -> None:
    first, second = (measure_ratio(session_from_events(EVENTS), MODEL) for _ in range(2))
    assert first == second
    assert 0.2 < first.per_char < 0.8


def test_an_empty_session_has_a_ratio_too() -> None:
    assert measure_ratio(session_from_events([]), MODEL).per_char > 0


def test_totals_leave_out_what_is_kept_and_price_equal_chunks_once() -> None:
    talk: list[dict[str, object]] = [{"kind": "user_message", "text": "same words " * 25}] * 4
    session = session_from_events([*talk, {"kind": "user_message", "text": "other words " * 25}])
    rubric, plan = load_rubric("chunks"), plan_chunks(session.index, 400)
    estimator = Estimator.of(session, rubric, MODEL)
    keys = list(KeyMaker(make_judge(MODEL), rubric).keys(plan))
    nothing_kept = estimator.totals(plan, keys, set())
    assert (nothing_kept.chunks, nothing_kept.kept) == (5, 0)
    assert (nothing_kept.equal, nothing_kept.to_ask) == (3, 2)
    one_kept = estimator.totals(plan, keys, {keys[4]})
    assert (one_kept.kept, one_kept.equal, one_kept.to_ask) == (1, 3, 1)
    assert one_kept.cost_usd is not None
    assert nothing_kept.cost_usd is not None
    assert 0 < one_kept.cost_usd < nothing_kept.cost_usd
    all_kept = estimator.totals(plan, keys, set(keys))
    assert (all_kept.kept, all_kept.to_ask, all_kept.cost_usd) == (5, 0, 0.0)


def plain_totals(estimator: Estimator, plan: ChunkPlan, keys: list[str], kept: set[str]) -> Totals:
    """The totals chunk by chunk, each question at the price that the table has for it."""

    def price(tokens: int) -> float:
        cost = cost_usd(estimator.model, Usage(-(-tokens // 100) * 100, 300), estimator.price)
        assert cost is not None
        return cost

    tokens, kept_chunks, asked, costs = TokenEstimate(0, 0, 0), 0, set[str](), [0.0, 0.0, 0.0]
    for position, key in enumerate(keys):
        estimate = estimator.chunk(plan, position)
        tokens += estimate
        if key in kept:
            kept_chunks += 1
        elif key not in asked:
            asked.add(key)
            for n, count in enumerate((estimate.tokens, estimate.low, estimate.high)):
                costs[n] += price(count)
    equal = len(plan) - kept_chunks - len(asked)
    return Totals(len(plan), plan.total_chars, tokens, kept_chunks, equal, *costs)


@pytest.mark.parametrize("model", [MODEL, "claude-sonnet-4-5", "offline"])
@pytest.mark.parametrize("sizes", [{"chunk_chars": 250}, {"chunk_tokens": 900}])
@given(data=st.data())
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_totals_are_those_of_the_chunks_one_by_one(
    model: str, sizes: dict[str, int], data: st.DataObject
) -> None:
    session = session_from_events([*EVENTS, *EVENTS[:7], *EVENTS])
    rubric, plan = load_rubric("chunks"), plan_chunks(session.index, **sizes)
    keys = list(KeyMaker(make_judge(model), rubric).keys(plan))
    kept = data.draw(st.sets(st.sampled_from(keys)))
    spread, prompt = data.draw(st.floats(0, 2)), data.draw(st.integers(0, 300_000))
    estimator = Estimator(model, TokenRatio(0.41, spread), prompt)
    fast, plain = (
        f(plan, keys, kept) for f in (estimator.totals, partial(plain_totals, estimator))
    )
    assert replace(fast, cost_usd=0, cost_usd_low=0, cost_usd_high=0) == replace(
        plain, cost_usd=0, cost_usd_low=0, cost_usd_high=0
    )
    assert (fast.cost_usd, fast.cost_usd_low, fast.cost_usd_high) == pytest.approx(
        (plain.cost_usd, plain.cost_usd_low, plain.cost_usd_high), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("model", [MODEL, "claude-sonnet-4-5", "claude-opus-4-6"])
def test_a_question_costs_what_the_table_says_on_both_sides_of_a_tier(model: str) -> None:
    estimator = Estimator(model, TokenRatio(0.4, 0.2), 0)
    for tokens in (1, 9_950, 10_001, 199_650, 199_700, 199_701, 200_000, 200_001, 205_000, 999_999):
        expected = cost_usd(model, Usage(-(-tokens // 100) * 100, 300))
        assert estimator.cost(tokens) == pytest.approx(expected, rel=1e-9)


def test_a_price_that_the_user_set_beats_the_table() -> None:
    session = session_from_events(EVENTS)
    rubric, plan = load_rubric("chunks"), plan_chunks(session.index)
    estimator = Estimator.of(session, rubric, "my-own-model", Price(2.0, 10.0))
    assert estimator.cost(10_000) == pytest.approx(0.02 + 0.003)
    assert estimator.upper_price(plan, 0, 1_000_000) == pytest.approx(10.0, rel=0.01)


def test_the_upper_price_of_a_question_is_never_below_the_expected_one() -> None:
    session = session_from_events(EVENTS)
    plan = plan_chunks(session.index, 3_000)
    estimator = Estimator.of(session, load_rubric("chunks"), MODEL)
    for position in range(len(plan)):
        upper = estimator.upper_price(plan, position, 4_096)
        expected = estimator.cost(estimator.chunk(plan, position).high)
        assert upper is not None
        assert expected is not None
        assert upper > expected


def test_a_price_follows_the_classes_of_tokens_and_is_none_where_unknown() -> None:
    plain = cost_usd(MODEL, Usage(10_000, 300))
    cached = cost_usd(MODEL, Usage(0, 300, cache_read_tokens=10_000))
    assert plain is not None
    assert cached is not None
    assert 0 < cached < plain
    assert cost_usd("my-own-model", Usage(10_000, 300)) is None
    assert cost_usd("offline", Usage(10_000, 300)) == 0.0


def test_a_model_of_unknown_price_has_totals_without_one() -> None:
    session = session_from_events(EVENTS)
    rubric, plan = load_rubric("chunks"), plan_chunks(session.index)
    estimator = Estimator.of(session, rubric, "my-own-model")
    keys = list(KeyMaker(make_judge("my-own-model"), rubric).keys(plan))
    assert estimator.totals(plan, keys, set()).cost_usd is None
