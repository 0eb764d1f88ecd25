"""Judgments of the past: what a row knows, what groups come to, gaps by day and week."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest

from longjudge.history import ChunkSetting, Entry, hex_marks, of_one_session
from longjudge.marks import Mark
from longjudge.store import PastJudgment
from longjudge.trends import History

DAY = 86_400.0
MONDAY = datetime(2026, 3, 2, 12).timestamp()


def past(id: str = "j_1", *, created: float = MONDAY, session="s", **result) -> PastJudgment:
    if not isinstance(session, str):
        session, result["session"] = "s", session
    said = {
        "session": {"title": "T", "format": "f", "events": 9},
        "score": 0.5,
        "score_range": [0.5, 0.5],
        "chunks": 4,
        "judged_chunks": 4,
        "flagged_chunks": 2,
        "findings": [{"criterion": "a", "verified": True}, {"criterion": "b", "verified": False}],
        "gaps": {},
        "calls": 4,
        "cost_usd": 0.04,
        "settings": {"chunk_chars": 1000},
    }
    return PastJudgment(
        id=id,
        path=f"/x/{session}.jsonl",
        real_path=f"/x/{session}.jsonl",
        session_id=session,
        rubric=result.pop("rubric", "chunks"),
        rubric_version=result.pop("version", "v1"),
        model=result.pop("model", "m"),
        status=result.pop("status", "complete"),
        created=created,
        result=said | result,
        digests=result.pop("digests", ("aa", "bb")),
    )


def cut_off(id: str = "j_1", **more) -> PastJudgment:
    gaps = {"cancelled": 1, "skipped": 2}
    return past(
        id,
        **{"status": "cancelled", "score": None, "judged_chunks": 1, "gaps": gaps, "calls": 1}
        | more,
    )


def summed(*judgments: PastJudgment) -> History:
    history = History()
    for each in sorted(judgments, key=lambda one: -one.created):
        history.add(Entry.of(each, {}))
    return history


def test_a_row_knows_how_it_ended_what_is_left_and_what_was_marked():
    marks = hex_marks({(b"\xaa", "a"): Mark.RIGHT, (b"\xbb", "b"): Mark.WRONG})
    entry = Entry.of(past(), marks)
    assert (entry.findings, entry.verified, entry.right, entry.wrong) == (2, 1, 1, 1)
    assert entry.setting == ChunkSetting(1000, "chars")
    assert (entry.unjudged, entry.complete) == (0, True)
    left = Entry.of(cut_off(cost_usd=0.01), {})
    assert (left.unjudged, left.cost_of_rest) == (3, pytest.approx(0.03))
    assert Entry.of(cut_off(cost_usd=None), {}).cost_of_rest is None


@pytest.mark.parametrize(
    "odd",
    [
        {"chunks": "four"},
        {"findings": [3]},
        {"settings": None},
        {"score_range": [1]},
        {"gaps": {"cancelled": "x"}},
    ],
)
def test_what_a_store_holds_may_be_anything(odd):
    entry = Entry.of(past(**odd), {})
    assert not entry.known
    assert (entry.chunks, entry.findings) == (0, 0)
    history = summed(past(**odd))
    assert (history.groups(), history.unread) == ([], 1)


def test_a_copy_of_a_session_is_the_same_one_and_another_of_its_id_is_not():
    here = Entry.of(past("j_1"), {})
    copy = Entry.of(replace(past("j_2"), real_path="/y/s.jsonl"), {})
    other = past("j_3", session={"title": "Other", "format": "f"})
    stranger = Entry.of(replace(other, real_path="/z/s.jsonl", session_id="s"), {})
    found = [here, copy, stranger]
    assert of_one_session(found, "/x/s.jsonl", "s") == [here, copy]
    assert of_one_session([copy], "/new/s.jsonl", "s") == [copy]
    assert of_one_session(found, "/x/s.jsonl", "t") == []


def test_a_group_counts_the_newest_of_each_session_and_pays_for_all():
    history = summed(
        cut_off("j_1", created=MONDAY, cost_usd=0.01),
        past("j_2", created=MONDAY + 60),
        past("j_3", created=MONDAY, session="t", cost_usd=None, score=1.0, findings=[]),
    )
    [group] = history.groups()
    assert (group.judgments, group.sessions, group.unfinished) == (3, 2, 0)
    assert (group.chunks, group.judged, group.findings) == (8, 8, 2)
    assert (group.score_mean, group.scores) == (0.75, 2)
    assert (group.cost_usd, group.unpriced) == (pytest.approx(0.05), 1)
    assert group.flagged_share == 0.5


def test_scores_of_different_chunk_settings_are_never_put_together():
    history = summed(
        past("j_1", created=MONDAY, score=1.0),
        past("j_2", created=MONDAY + 1, settings={"chunk_tokens": 1000}, score=0.0),
    )
    whole, *each = history.groups()
    assert (whole.settings, whole.setting, whole.score_mean) == (2, None, None)
    assert [(one.setting, one.score_mean, one.within) for one in each] == [
        (ChunkSetting(1000, "tokens"), 0.0, True),
        (ChunkSetting(1000, "chars"), 1.0, True),
    ]


def test_a_mean_says_how_many_of_its_scores_are_of_a_part_only():
    partial = past("j_1", status="partial", judged_chunks=3, gaps={"truncated": 1})
    [group] = summed(partial, past("j_2", session="t")).groups()
    assert (group.scores, group.partial_scores, group.unfinished) == (2, 1, 1)


def test_groups_are_apart_by_version_and_model_and_leave_forced_failures_out():
    history = summed(
        past("j_1", created=MONDAY),
        past("j_2", created=MONDAY + 1, version="v2"),
        past("j_3", created=MONDAY + 2, model="n"),
        past("j_4", created=MONDAY + 3, fault="timeout"),
        past("j_5", created=MONDAY + 4, status="not_applicable", score=None, chunks=0),
    )
    assert [(g.version, g.model) for g in history.groups()] == [
        ("v1", "n"),
        ("v2", "m"),
        ("v1", "m"),
    ]
    assert (history.counted, history.forced) == (5, 1)


def test_a_day_counts_each_session_by_its_newest_judgment_of_it():
    history = summed(
        cut_off("j_1", created=MONDAY),
        past("j_2", created=MONDAY + 3600),
        cut_off("j_3", created=MONDAY, session="t"),
        cut_off("j_4", created=MONDAY - DAY),
    )
    today, before = history.periods()
    assert (today.start, today.days) == (date(2026, 3, 2), 1)
    assert (today.sessions, today.without_score, today.share) == (2, 1, 0.5)
    assert (today.unjudged, today.chunks) == (3, 8)
    assert today.gaps == (("skipped", 2), ("cancelled", 1))
    assert (before.without_score, before.sessions) == (1, 1)
    standing = history.standing()
    assert (standing.sessions, standing.without_score) == (2, 1)


def test_a_long_time_is_counted_by_the_week():
    history = summed(
        *(past(f"j_{n}", created=MONDAY + n * DAY, session=f"{n}") for n in (0, 6, 7, 100))
    )
    assert [(each.start, each.days, each.sessions) for each in history.periods()] == [
        (date(2026, 6, 8), 7, 1),
        (date(2026, 3, 9), 7, 1),
        (date(2026, 3, 2), 7, 2),
    ]


def test_a_time_that_is_none_belongs_to_no_day():
    history = summed(past(created=1e300))
    assert history.periods() == []
    assert history.standing().sessions == 1
