"""Which findings are shown, in which order."""

from __future__ import annotations

import pytest

from longjudge.marks import Mark
from longjudge.result import ResultFinding
from longjudge_tui.workbench.findings_order import (
    FindingFilter,
    FindingOrder,
    Heading,
    ShownFinding,
    arrange,
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
    return arrange(FOUND, lambda each: MARKS.get(each.part), CRITERIA, only=only, order=order)


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
