"""The chunk plan: every event once, no chunk over its limit, stable when a session grows."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.chunks import ChunkPlan, plan_chunks
from longjudge.errors import UsageError
from longjudge.sessions.model import KIND_CODES, EventIndex, EventKind, Thread, text_digest

LIMIT = 1000


def make_index(rows: list[tuple[int, int | None]], cuts: tuple[int, ...] = ()) -> EventIndex:
    """An index of events (chars, number of the call it answers); `cuts` begin further threads."""
    index = EventIndex()
    for number, (chars, call) in enumerate(rows):
        kind = EventKind.USER_MESSAGE if call is None else EventKind.TOOL_RESULT
        index.kinds.append(KIND_CODES[kind])
        index.errors.append(0)
        index.records.append(number)
        index.positions.append(0)
        index.chars.append(chars)
        # Different from the characters, and in no fixed proportion to them.
        index.tokens.append(1 + chars * (25 + number % 3 * 9) // 60)
        index.calls.append(number if call is None else call)
        index.tools.append(0)
        index.digests += text_digest(f"{number}:{chars}:{call}")
    starts = [0, *cuts]
    ends = [*cuts, len(rows)]
    threads = [
        Thread(f"t{k}", a, b) for k, (a, b) in enumerate(zip(starts, ends, strict=True)) if a < b
    ]
    index.seal(tuple(threads))
    return index


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[int, int | None]]:
    sizes = draw(st.lists(st.integers(1, 3 * LIMIT), max_size=60))
    made: list[tuple[int, int | None]] = []
    for number, size in enumerate(sizes):
        answers = number > 0 and draw(st.booleans())
        call = draw(st.integers(max(0, number - 6), number - 1)) if answers else None
        made.append((size, call))
    return made


def spans(plan: ChunkPlan) -> list[tuple[int, int, int, tuple[int, int] | None, bytes]]:
    return [
        (
            chunk.first,
            chunk.last,
            chunk.chars,
            (chunk.piece.start, chunk.piece.end) if chunk.piece else None,
            plan.digest(position),
        )
        for position, chunk in enumerate(plan)
    ]


@given(rows(), st.integers(200, 2 * LIMIT))
def test_every_event_is_in_exactly_one_chunk_or_in_pieces_that_hold_it_once(
    events: list[tuple[int, int | None]], limit: int
) -> None:
    plan = plan_chunks(make_index(events), limit)
    covered: list[tuple[int, int, int]] = []
    for chunk in plan:
        if chunk.piece:
            covered.append((chunk.first, chunk.piece.start, chunk.piece.end))
        else:
            covered += [(n, 0, events[n][0]) for n in range(chunk.first, chunk.last + 1)]
    expected = []
    for number, (size, _) in enumerate(events):
        expected += (
            [(number, k, min(k + limit, size)) for k in range(0, size, limit)]
            if size > limit
            else [(number, 0, size)]
        )
    assert covered == expected


@given(rows(), st.integers(200, 2 * LIMIT))
def test_no_chunk_is_over_its_limit_and_sizes_add_up(
    events: list[tuple[int, int | None]], limit: int
) -> None:
    plan = plan_chunks(make_index(events), limit)
    assert all(chunk.chars <= limit for chunk in plan)
    assert sum(chunk.chars for chunk in plan) == sum(size for size, _ in events)
    assert [chunk.part for chunk in plan] == list(range(1, len(plan) + 1))


@given(rows(), st.data())
def test_only_the_last_chunk_of_a_thread_changes_when_the_session_grows(
    events: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    kept = data.draw(st.integers(0, len(events)))
    before = spans(plan_chunks(make_index(events[:kept]), LIMIT))
    after = spans(plan_chunks(make_index(events), LIMIT))
    stable = before[:-1]
    # The last pieces of an oversized last event are complete, and stay too.
    assert after[: len(stable)] == stable


@given(rows(), st.data())
def test_threads_are_never_mixed_and_do_not_disturb_each_other(
    events: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    if len(events) < 2:
        return
    cut = data.draw(st.integers(1, len(events) - 1))
    both = plan_chunks(make_index(events, (cut,)), LIMIT)
    alone = plan_chunks(make_index(events[:cut]), LIMIT)
    assert all((chunk.first < cut) == (chunk.last < cut) for chunk in both)
    assert [(c.first, c.last) for c in both][: len(alone)] == [(c.first, c.last) for c in alone]
    assert {chunk.thread for chunk in both} == {"t0", "t1"}


@given(rows(), st.integers(100, LIMIT))
def test_a_plan_in_tokens_holds_every_event_once_and_no_chunk_is_over_its_limit(
    events: list[tuple[int, int | None]], limit: int
) -> None:
    index = make_index(events)
    plan = plan_chunks(index, chunk_tokens=limit)
    covered: dict[int, list[tuple[int, int]]] = {}
    for position, chunk in enumerate(plan):
        assert plan.size(position) <= limit
        assert 0 < plan.fill(position) <= 1
        if chunk.piece:
            assert chunk.chars > 0
            covered.setdefault(chunk.first, []).append((chunk.piece.start, chunk.piece.end))
        else:
            assert plan.size(position) == sum(index.tokens[chunk.first : chunk.last + 1])
            for number in range(chunk.first, chunk.last + 1):
                covered.setdefault(number, []).append((0, events[number][0]))
    assert list(covered) == list(range(len(events)))
    for number, spans_of_event in covered.items():
        assert [start for start, _ in spans_of_event] == [0, *(e for _, e in spans_of_event[:-1])]
        assert spans_of_event[-1][1] == events[number][0]
        assert (len(spans_of_event) > 1) == (index.tokens[number] > limit)
        sizes = [end - start for start, end in spans_of_event]
        assert max(sizes) - min(sizes) <= 1
    assert sum(chunk.chars for chunk in plan) == sum(size for size, _ in events)
    assert [chunk.part for chunk in plan] == list(range(1, len(plan) + 1))


@given(rows(), st.data())
def test_a_plan_in_tokens_changes_only_its_last_chunk_when_the_session_grows(
    events: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    kept = data.draw(st.integers(0, len(events)))
    before = spans(plan_chunks(make_index(events[:kept]), chunk_tokens=LIMIT // 2))
    after = spans(plan_chunks(make_index(events), chunk_tokens=LIMIT // 2))
    stable = before[:-1]
    assert after[: len(stable)] == stable


@given(rows(), st.integers(200, 2 * LIMIT), st.booleans())
def test_what_a_plan_says_about_all_chunks_at_once_is_what_it_says_about_each(
    events: list[tuple[int, int | None]], limit: int, by_tokens: bool
) -> None:
    index = make_index(events)
    plan = plan_chunks(index, limit, limit // 2 if by_tokens else None)
    assert (plan.limit, plan.by_tokens) == (limit // 2 if by_tokens else limit, by_tokens)
    assert list(plan.digests()) == [plan.digest(position) for position in range(len(plan))]
    chars, counts = plan.extents()
    assert chars == [chunk.chars for chunk in plan]
    assert counts == [chunk.last - chunk.first + 1 for chunk in plan]


@given(rows())
def test_a_cut_is_known_to_part_a_call_from_its_result(
    events: list[tuple[int, int | None]],
) -> None:
    for cut, parts in enumerate(make_index(events).parting):
        parted = any(
            call is not None and call < cut <= number for number, (_, call) in enumerate(events)
        )
        assert bool(parts) == parted


@given(rows())
def test_the_same_input_gives_the_same_plan(events: list[tuple[int, int | None]]) -> None:
    first, second = (spans(plan_chunks(make_index(events), LIMIT)) for _ in range(2))
    assert first == second


@given(rows())
def test_part_of_finds_the_first_chunk_that_holds_an_event(
    events: list[tuple[int, int | None]],
) -> None:
    plan = plan_chunks(make_index(events), LIMIT)
    for number in range(len(events)):
        holding = [c.part for c in plan if c.first <= number <= c.last]
        assert plan.part_of(number) == holding[0]


def test_a_cut_keeps_a_call_with_its_result() -> None:
    index = make_index([(600, None), (100, None), (400, 1), (100, None)])
    assert [(c.first, c.last) for c in plan_chunks(index, LIMIT)] == [(0, 0), (1, 3)]


def test_a_cut_in_tokens_keeps_a_call_with_its_result_too() -> None:
    index = make_index([(600, None), (100, None), (400, 1), (100, None)])
    index.tokens[:] = array("I", [60, 10, 40, 10])
    plan = plan_chunks(index, chunk_tokens=100)
    assert [(c.first, c.last) for c in plan] == [(0, 0), (1, 3)]
    assert [plan.fill(i) for i in range(2)] == [0.6, 0.6]


def test_pieces_of_an_event_are_equal_where_the_limit_is_in_tokens() -> None:
    index = make_index([(2500, None)])
    index.tokens[0] = 1001
    plan = plan_chunks(index, chunk_tokens=500)
    assert [(c.split, c.chars) for c in plan] == [([1, 3], 833), ([2, 3], 833), ([3, 3], 834)]


def test_a_cut_keeps_parallel_calls_with_all_their_results() -> None:
    index = make_index([(600, None), (50, None), (50, None), (200, 1), (300, 2)])
    assert [(c.first, c.last) for c in plan_chunks(index, LIMIT)] == [(0, 0), (1, 4)]


def test_a_cut_is_not_moved_where_less_than_half_a_chunk_would_be_left() -> None:
    index = make_index([(300, None), (100, None), (500, None), (400, 1)])
    plan = plan_chunks(index, LIMIT)
    assert [(c.first, c.last) for c in plan] == [(0, 2), (3, 3)]
    assert plan.context_calls(1) == (1,)
    assert plan.context_calls(0) == ()


def test_the_context_of_a_result_is_part_of_the_digest() -> None:
    first = make_index([(300, None), (100, None), (500, None), (400, 1)])
    other = make_index([(300, None), (100, None), (500, None), (400, 0)])
    # The results' own texts are made equal, so that only the call they answer differs.
    other.digests[3 * 16 : 4 * 16] = first.digests[3 * 16 : 4 * 16]
    assert plan_chunks(first, LIMIT).digest(1) != plan_chunks(other, LIMIT).digest(1)


def test_a_session_that_fits_is_one_chunk() -> None:
    plan = plan_chunks(make_index([(10, None)] * 30), LIMIT)
    assert [(c.first, c.last, c.split) for c in plan] == [(0, 29, None)]


def test_pieces_say_which_of_how_many_they_are() -> None:
    plan = plan_chunks(make_index([(2500, None)]), LIMIT)
    assert [(c.split, c.chars) for c in plan] == [([1, 3], 1000), ([2, 3], 1000), ([3, 3], 500)]


def test_a_plan_has_no_chunk_before_its_first() -> None:
    plan = plan_chunks(make_index([(2500, None)]), LIMIT)
    assert (plan[-3], plan[-1]) == (plan[0], plan[2])
    for position in (-4, 3):
        with pytest.raises(IndexError):
            plan[position]


def test_an_empty_session_has_no_chunks() -> None:
    assert list(plan_chunks(make_index([]), LIMIT)) == []


@pytest.mark.parametrize("limit", [-5, 0, 99, 2_000_001])
def test_a_limit_in_tokens_out_of_range_is_refused_with_the_range(limit: int) -> None:
    with pytest.raises(UsageError, match="use 100 to 2000000 tokens"):
        plan_chunks(make_index([]), chunk_tokens=limit)


@pytest.mark.parametrize("limit", [-5, 0, 199, 10_000_001])
def test_a_limit_out_of_range_is_refused_with_the_range(limit: int) -> None:
    with pytest.raises(UsageError, match="use 200 to 10000000 characters"):
        plan_chunks(make_index([]), limit)
