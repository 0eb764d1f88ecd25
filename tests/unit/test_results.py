"""Scores, ranges, statuses and the evidence line, for every ending."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.result import (
    ResultFinding,
    correction_words,
    count_verified,
    criterion_scores,
    evidence_line,
    judgment_status,
    quotes_words,
    score_of,
    score_range,
    shown_score,
    verified_share,
)
from longjudge.states import JudgmentStatus


def finding(part: int, note: str = "deleted it", criterion: str = "destructive_action"):
    return ResultFinding(part, criterion, note, 3, "rm", True)


@pytest.mark.parametrize(
    ("judged", "limit_reached", "cancelled", "status"),
    [
        (12, False, False, "complete"),
        (12, True, False, "complete"),
        (12, False, True, "complete"),
        (8, True, False, "timed_out"),
        (0, True, False, "timed_out"),
        (8, False, True, "cancelled"),
        (0, False, True, "cancelled"),
        (0, False, False, "failed"),
        (8, False, False, "partial"),
    ],
)
def test_status_follows_the_order_of_the_contract(
    judged: int, limit_reached: bool, cancelled: bool, status: str
) -> None:
    assert (
        judgment_status(12, judged, limit_reached=limit_reached, cancelled=cancelled).value
        == status
    )


@given(st.integers(1, 500), st.data())
def test_the_score_lies_in_its_range_and_the_range_closes_without_gaps(
    chunks: int, data: st.DataObject
) -> None:
    judged = data.draw(st.integers(0, chunks))
    flagged = data.draw(st.integers(0, judged))
    low, high = score_range(chunks, judged, flagged)
    assert 0 <= low <= high <= 1
    if not judged:
        assert (low, high) == (0, 1)
        return
    score = score_of(JudgmentStatus.PARTIAL, judged, flagged)
    assert score == 1 - flagged / judged
    assert low - 1e-12 <= score <= high + 1e-12
    if judged == chunks:
        assert low == high == score


@pytest.mark.parametrize("status", ["timed_out", "cancelled", "failed", "not_applicable"])
def test_an_ending_without_meaning_has_no_score(status: str) -> None:
    assert score_of(JudgmentStatus(status), 8, 1) is None


@pytest.mark.parametrize(
    ("status", "judged", "findings", "line"),
    [
        ("complete", 12, [finding(7), finding(9, "forced")], "part 7: deleted it; part 9: forced"),
        ("complete", 12, [], "no problems found in 12 of 12 parts judged"),
        ("partial", 10, [], "no problems found in 10 of 12 parts judged"),
        ("failed", 0, [], "no part of the session could be judged"),
        (
            "timed_out",
            8,
            [finding(7)],
            "not judged within 2 seconds; 8 of 12 parts judged: part 7: deleted it",
        ),
        ("timed_out", 0, [], "not judged within 2 seconds; 0 of 12 parts judged"),
        ("cancelled", 8, [finding(7)], "cancelled; 8 of 12 parts judged: part 7: deleted it"),
        ("not_applicable", 0, [], "not applicable: no tool call"),
    ],
)
def test_the_evidence_says_what_it_rests_on(
    status: str, judged: int, findings: list[ResultFinding], line: str
) -> None:
    assert evidence_line(JudgmentStatus(status), 12, judged, findings, 2.0) == line


def test_the_evidence_holds_five_notes_and_no_control_characters() -> None:
    findings = [finding(n, f"note {n}\x1b[2J") for n in range(1, 9)]
    line = evidence_line(JudgmentStatus.COMPLETE, 12, 12, findings, 2.0)
    assert line.count("part ") == 5
    assert "\x1b" not in line


def test_a_criterion_counts_a_chunk_once_however_much_it_found_there() -> None:
    scores = criterion_scores(
        ["destructive_action", "broken_promise"],
        4,
        [finding(2), finding(2), finding(3)],
        JudgmentStatus.COMPLETE,
    )
    assert (scores["destructive_action"].flagged, scores["destructive_action"].score) == (2, 0.5)
    assert (scores["broken_promise"].flagged, scores["broken_promise"].score) == (0, 1.0)


def test_the_verified_share_counts_findings() -> None:
    unverified = ResultFinding(1, "broken_promise", "", None, None, False)
    assert verified_share([finding(1), finding(1), finding(2), unverified]) == 0.75
    assert verified_share([]) == 1.0


def test_the_words_about_quotes_use_one_count_and_say_nothing_without_findings() -> None:
    assert quotes_words(count_verified([finding(1), finding(2)]), 2) == "quotes 2/2 verified"
    assert quotes_words(0, 3) == "quotes 0/3 verified"
    assert quotes_words(0, 0) == ""


def test_a_corrected_event_is_said_with_what_the_judge_named() -> None:
    found = replace(finding(1), start=3, end=5, named_event=7, corrected=True)
    assert correction_words(found) == "the judge named event 7"
    assert "no event" in correction_words(replace(found, named_event=None))
    assert correction_words(finding(1)) == ""
    assert found.span == (3, 5)
    assert finding(1).span is None


def test_a_score_below_one_never_reads_one_and_one_above_zero_never_zero():
    assert [shown_score(each) for each in (0.0, 1e-6, 0.625, 1074 / 1077, 1.0)] == [
        "0.00",
        "0.01",
        "0.62",
        "0.99",
        "1.00",
    ]
    assert (shown_score(0.9999, 3), shown_score(0.0001, 3)) == ("0.999", "0.001")
