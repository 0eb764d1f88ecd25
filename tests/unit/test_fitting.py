"""The chunk size that is offered where chunks were too large for the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.chunks import MIN_CHUNK_CHARS, MIN_CHUNK_TOKENS, plan_chunks
from longjudge.fitting import fitting_size, round_below, size_under
from longjudge.sessions.memory import session_from_events
from longjudge.settings import Settings


@pytest.mark.parametrize(
    ("sizes", "offered"),
    [
        ([30_000], 15_000),
        ([29_950], 12_000),
        ([30_000, 1_000_000], 15_000),
        ([1_000_000], 500_000),
        ([700], 300),
        ([300], MIN_CHUNK_CHARS),
        ([201], MIN_CHUNK_CHARS),
        ([200], None),
        ([30_000, 100], None),
        ([], None),
    ],
)
def test_half_of_the_smallest_is_offered_as_a_round_number(
    sizes: list[int], offered: int | None
) -> None:
    assert size_under(sizes, by_tokens=False) == offered


def test_tokens_have_their_own_least_size() -> None:
    assert size_under([150], by_tokens=True) == MIN_CHUNK_TOKENS
    assert size_under([100], by_tokens=True) is None


@given(st.integers(1, 10_000_000))
def test_a_round_number_is_below_and_not_far_below(size: int) -> None:
    assert size * 0.6 < round_below(size) <= size


TEXTS = st.lists(st.sampled_from([1, 30, 150, 400, 3_000]), min_size=1, max_size=8)


@given(TEXTS, st.sampled_from([200, 500, 2_000]), st.booleans(), st.data())
def test_with_the_offered_size_no_event_stands_in_a_chunk_as_large_as_before(
    lengths: list[int], limit: int, by_tokens: bool, data: st.DataObject
) -> None:
    items = [{"kind": "user_message", "text": "a b, c. " * length} for length in lengths]
    session = session_from_events(items)
    settings = Settings(chunk_tokens=limit) if by_tokens else Settings(limit)
    plan = plan_chunks(session.index, settings.chunk_chars, settings.chunk_tokens)
    gaps = data.draw(st.sets(st.integers(0, len(plan) - 1), min_size=1))
    size = fitting_size(plan, gaps, settings)
    smallest = min(plan.size(gap) for gap in gaps)
    if size is None:
        assert smallest <= (MIN_CHUNK_TOKENS if by_tokens else MIN_CHUNK_CHARS)
        return
    assert size < smallest
    smaller = (
        plan_chunks(session.index, chunk_tokens=size)
        if by_tokens
        else plan_chunks(session.index, size)
    )
    assert max(map(smaller.size, range(len(smaller)))) < smallest
