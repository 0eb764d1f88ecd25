"""Rows and positions of a list in which threads have rows of their own, and are folded."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from longjudge_tui.bench.thread_rows import ThreadRows


@st.composite
def rows(draw: st.DrawFn) -> tuple[ThreadRows, list[int]]:
    sizes = draw(st.lists(st.integers(1, 9), max_size=12))
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    folded = draw(st.sets(st.integers(0, max(0, len(sizes) - 1))))
    return ThreadRows(sum(sizes), starts, folded if sizes else ()), sizes


@given(rows())
def test_every_row_is_a_header_or_a_chunk_and_every_chunk_has_its_row(
    made: tuple[ThreadRows, list[int]],
) -> None:
    threads, sizes = made
    told: list[str] = []
    position = 0
    for group, size in enumerate(sizes):
        if len(sizes) > 1:
            told.append(f"header {group} of {position}")
        if group not in threads.folded:
            told += [f"chunk {position + place}" for place in range(size)]
        position += size
    drawn: list[str] = []
    for row in range(len(threads)):
        group, at = threads.header_at(row), threads.position_at(row)
        drawn.append(f"chunk {at}" if group is None else f"header {group} of {at}")
    assert drawn == told
    for at in range(threads.chunks):
        row = threads.row_of(at)
        if threads.header_at(row) is None:
            assert threads.position_at(row) == at
        else:
            assert threads.header_at(row) == threads.group_of(at)
            assert threads.group_of(at) in threads.folded


@given(rows(), st.integers(0, 11))
def test_folding_and_unfolding_again_is_as_it_was(
    made: tuple[ThreadRows, list[int]], group: int
) -> None:
    threads, sizes = made
    if len(sizes) < 2:
        return
    group %= len(sizes)
    folded = threads.folding(group, fold=True)
    assert len(folded.folding(group, fold=False)) == len(threads.folding(group, fold=False))
    assert len(folded) <= len(threads)
    assert len(threads.folding_all(fold=True)) == len(sizes)
    assert len(threads.folding_all(fold=False)) == len(sizes) + sum(sizes)


def test_one_thread_has_no_row_of_its_own() -> None:
    threads = ThreadRows(5, [0], {0})
    assert len(threads) == 5
    assert [threads.position_at(row) for row in range(5)] == [0, 1, 2, 3, 4]
    assert threads.header_at(0) is None


def test_what_is_in_sight_holds_the_chunks_that_are_folded_away() -> None:
    threads = ThreadRows(9, [0, 3, 6], {1})
    assert threads.shown(0, 2) == (0, 1)
    assert threads.shown(0, 4) == (0, 5)


def test_a_hundred_thousand_chunks_in_five_thousand_threads_are_no_wait() -> None:
    begun = time.perf_counter()
    threads = ThreadRows(100_000, range(0, 100_000, 20), range(0, 5_000, 3))
    for row in range(0, len(threads), 97):
        threads.row_of(threads.position_at(row))
    assert time.perf_counter() - begun < 0.5
