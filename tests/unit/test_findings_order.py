"""Which findings are shown, in which order."""

from __future__ import annotations

import pytest

from longjudge.marks import Mark
from longjudge.result import ResultFinding
from longjudge.rubric import load_rubric
from longjudge_tui.workbench.findings_list import FindingsList
from longjudge_tui.workbench.findings_order import (
    FindingFilter,
    FindingOrder,
    Heading,
    ShownFinding,
    arrange,
    count_filters,
    filter_after,
    place_around,
)

CRITERIA = ["destructive_action", "broken_promise"]


def finding(part, criterion="destructive_action", *, verified=True):
    return ResultFinding(part, criterion, "a note", part, "q", verified)


FOUND = [
    finding(1, "broken_promise"),
    finding(2, verified=False),
    finding(3),
    finding(4, "of_another_rubric"),
    finding(5, "broken_promise", verified=False),
]
MARKS = {2: Mark.RIGHT, 3: Mark.WRONG}


def rows(only=FindingFilter.ALL, order=FindingOrder.PART):
    return arrange(marked(FOUND), CRITERIA, only=only, order=order)


def marked(findings):
    return [ShownFinding(each, MARKS.get(each.part)) for each in findings]


def parts(found):
    return [each.finding.part for each in found if isinstance(each, ShownFinding)]


@pytest.mark.parametrize(
    ("only", "shown"),
    [
        (FindingFilter.ALL, [1, 2, 3, 4, 5]),
        (FindingFilter.UNVERIFIED, [2, 5]),
        (FindingFilter.VERIFIED, [1, 3, 4]),
        (FindingFilter.MARKED_RIGHT, [2]),
        (FindingFilter.MARKED_WRONG, [3]),
        (FindingFilter.NOT_MARKED, [1, 4, 5]),
    ],
)
def test_each_filter_lets_its_own_through(only, shown):
    assert parts(rows(only)) == shown
    assert count_filters(marked(FOUND))[only] == len(shown)


def test_filters_that_hold_nothing_are_passed_over():
    counts = count_filters(marked([finding(1), finding(4)]))
    assert filter_after(FindingFilter.ALL, counts) is FindingFilter.VERIFIED
    assert filter_after(FindingFilter.VERIFIED, counts) is FindingFilter.NOT_MARKED
    assert filter_after(FindingFilter.NOT_MARKED, counts) is FindingFilter.ALL


def test_a_filter_can_be_taken_away_when_nothing_is_there_any_more():
    nothing = count_filters([])
    assert filter_after(FindingFilter.MARKED_WRONG, nothing) is FindingFilter.ALL
    assert filter_after(FindingFilter.ALL, nothing) is None


def test_by_criterion_in_the_order_of_the_rubric_with_counts():
    found = rows(order=FindingOrder.CRITERION)
    assert [each for each in found if isinstance(each, Heading)] == [
        Heading("destructive_action", 2),
        Heading("broken_promise", 2),
        Heading("of_another_rubric", 1),
    ]
    assert parts(found) == [2, 3, 1, 5, 4]


def test_counts_are_of_what_the_filter_lets_through():
    found = rows(FindingFilter.UNVERIFIED, FindingOrder.CRITERION)
    assert [each for each in found if isinstance(each, Heading)] == [
        Heading("destructive_action", 1),
        Heading("broken_promise", 1),
    ]


def test_unverified_first_and_by_part_within():
    assert parts(rows(order=FindingOrder.UNVERIFIED)) == [2, 5, 1, 3, 4]


def test_each_has_its_mark():
    marks = {each.finding.part: each.mark for each in rows() if isinstance(each, ShownFinding)}
    assert marks == {1: None, 2: Mark.RIGHT, 3: Mark.WRONG, 4: None, 5: None}


@pytest.mark.parametrize(
    ("here", "after", "before"),
    [((0, 0), 0, -1), ((1, 4), 0, -1), ((1, 5), 1, 0), ((3, 9), 3, 2), ((4, 0), 3, 2)],
)
def test_the_next_one_is_counted_from_the_event_in_sight(here, after, before):
    spots = [(1, 4), (2, 6), (3, 8)]
    assert place_around(spots, here, 1) == after
    assert place_around(spots, here, -1) == before


@pytest.mark.parametrize("width", [60, 120])
def test_numbers_of_a_long_session_stand_whole_and_below_each_other(width):
    lines = FindingsList(load_rubric("chunks"), id="findings")
    lines.show_findings([finding(7), finding(1004), finding(123_456)])
    rows = ["".join(text for text, _ in lines.row_cells(row, width)) for row in range(3)]
    assert len({row.index("Destructive action") for row in rows}) == 1
    assert len({row.index("✓ ") for row in rows}) == 1
    assert width < 75 or "event 123456  ✓" in rows[2]
