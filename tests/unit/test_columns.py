"""What the index is made of: columns that grow with their values, and a small set of hashes."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.sessions import columns, index, key_set
from longjudge.sessions.columns import (
    continued_total,
    counted,
    crossings,
    followed,
    joined,
    running_total,
)
from longjudge.sessions.gather import Gathering
from longjudge.sessions.index import IndexBuilder, ToolNames
from longjudge.sessions.key_set import KeySet, as_key
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.notes import Notes


@pytest.fixture(autouse=True)
def _short_slices(monkeypatch):
    monkeypatch.setattr(columns, "_SLICE", 7)


@given(st.lists(st.integers(0, 2**33)), st.lists(st.integers(0, 300)), st.integers(0, 9))
def test_columns_are_joined_whatever_their_items_take(large, small, offset):
    wide, narrow = array("Q", large), array("H", small)
    behind = [value + offset for value in large]
    assert list(joined(array("H", small), wide, offset)) == [*small, *behind]
    assert list(joined(array("Q", large), narrow)) == [*large, *small]


@given(st.lists(st.integers(0, 2**32 - 1)), st.lists(st.integers(0, 2**32 - 1)))
def test_a_running_total_goes_on(first, more):
    totals = continued_total(running_total(array("I", first)), array("I", more))
    assert list(totals) == [sum([*first, *more][:n]) for n in range(len(first) + len(more) + 1)]


@given(st.integers(0, 40), st.lists(st.integers(0, 60), max_size=20))
def test_a_column_that_counts_takes_no_room(count, more):
    column = counted(array("I", range(count)))
    assert column == range(count)
    assert list(followed(column, array("I", more))) == [*range(count), *more]


def test_a_column_that_does_not_count_stays():
    for values in ([1], [0, 1, 1], [0, 2, 1, 3]):
        assert list(counted(array("I", values))) == values


@given(st.lists(st.integers(1, 12), max_size=40), st.integers(0, 40))
def test_the_rows_that_part_a_call_from_its_result_are_found(distances, known):
    calls = array("I", [max(0, row - back) for row, back in enumerate(distances)])
    plain = [
        int(any(calls[result] < row <= result for result in range(len(calls))))
        for row in range(len(calls))
    ]
    assert list(crossings(calls)) == plain
    first = calls[:known]
    assert list(crossings(calls, crossings(first))) == plain


def test_a_large_value_widens_its_column_and_no_other_value():
    rows = IndexBuilder(ToolNames())
    sizes = [5, 70_000, 12, 5_000_000]
    for number, chars in enumerate(sizes):
        event = Event(EventKind.TOOL_CALL, "x", tool=f"t{number}")
        rows.add(event, number, 300 * number, bytes(16), chars, chars // 3)
    assert list(rows.index.chars) == sizes
    assert list(rows.index.tokens) == [chars // 3 for chars in sizes]
    assert list(rows.index.positions) == [0, 300, 600, 900]
    assert list(rows.index.tools) == [1, 2, 3, 4]
    assert rows.index.tools.itemsize == 1


def test_more_tools_than_a_byte_counts_keep_their_names():
    gathering = Gathering(Notes())
    rows = gathering.session().thread()
    for number in range(700):
        rows.add(Event(EventKind.TOOL_CALL, "", f"t{number}"), number, 0, bytes(16), 1, 1)
    found = gathering.session().finish()
    assert [found.tool(number) for number in range(700)] == [f"t{n}" for n in range(700)]


def test_the_oldest_of_very_many_open_calls_is_given_up(monkeypatch):
    monkeypatch.setattr(index, "MOST_OPEN", 50)
    rows = IndexBuilder(ToolNames())
    for number in range(51):
        rows.add(Event(EventKind.TOOL_CALL, "", "t", f"c{number}"), number, 0, b"", 1, 1)
    for call_id in ("c0", "c1"):
        rows.add(Event(EventKind.TOOL_RESULT, "", "t", call_id), 0, 0, b"", 1, 1)
    assert list(rows.index.calls)[-2:] == [51, 1]


def test_a_set_of_hashes_knows_what_it_was_given(monkeypatch):
    monkeypatch.setattr(key_set, "_FEW", 16)
    rng, known, keys = random.Random(3), set[int](), KeySet()
    for _ in range(5_000):
        key = as_key((rng.randrange(2_000), "x"))
        assert keys.add(key) is (key not in known)
        known.add(key)
    assert set(keys) == known
    assert len(keys) == len(known)
