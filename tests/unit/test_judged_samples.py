"""What a judged sample tells of all sessions, and that a part of it tells nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from longjudge.forecast import Cost, DrawnFile, Needs, draw
from longjudge.sessions import SessionFile
from longjudge_tui.estimate.judged_sample import JudgedSample, SessionEnd


@pytest.fixture
def judged():
    """Ten of forty files, of which each is estimated at a dollar."""
    sample = draw([1000] * 40, 10)
    listed = [[SessionFile(Path(f"{place}.jsonl"), False, 1000)] for place in sample.drawn]
    dollar = Needs(chunks=1, to_ask=1, cost=Cost(1.0, 1.0, 1.0))
    return JudgedSample(sample, listed, [DrawnFile(dollar, dollar, 1) for _ in listed])


def end(judged, count, *, flagged=0, whole=True, paid: float | None = 0.5):
    for number, (file,) in enumerate(judged.listed[:count]):
        judged.take(file, SessionEnd(whole, True, number < flagged, paid))


def test_a_part_of_it_tells_nothing(judged):
    end(judged, 9)
    assert (judged.ended, judged.sessions, judged.told) == (9, 10, None)
    judged.take(judged.listed[9][0], SessionEnd(False, True, False, 0.1))
    assert (judged.ended, judged.incomplete, judged.told) == (10, 1, None)
    assert judged.begin() == judged.listed[9]
    assert judged.ended == 9


def test_all_of_it_tells_the_flagged_share_and_the_price_with_their_ranges(judged):
    end(judged, 10, flagged=2)
    told = judged.told
    assert told is not None
    # Each counts for as many files as it stands for.
    share = sum(judged.sample.weights[:2]) / 40
    assert told.share.middle == pytest.approx(share, abs=0.001)
    assert told.share.low < share / 2 < 2 * share < told.share.high
    assert told.paid is not None
    assert told.paid.middle == pytest.approx(20, abs=0.5)
    assert round(told.sessions.middle) == 40


def test_a_cost_that_is_unknown_stays_unknown(judged):
    end(judged, 10, paid=None)
    assert judged.told is not None
    assert judged.told.paid is None


def test_sessions_of_others_are_let_pass(judged):
    judged.take(SessionFile(Path("other.jsonl"), False, 1), SessionEnd(True, True, True, 9.0))
    assert judged.ended == 0


def test_a_file_with_many_sessions_ends_with_the_last_of_them():
    sample = draw([1000], 1)
    file, needs = SessionFile(Path("many.jsonl"), False, 1000), Needs()
    judged = JudgedSample(sample, [[file]], [DrawnFile(needs, needs, 2)])
    for number, id in enumerate(("a", "b")):
        assert judged.told is None, number
        part = SessionFile(file.path, False, 500, session=id)
        judged.take(part, SessionEnd(True, True, True, 0.0))
    assert judged.told is not None
    assert judged.told.share.middle == 1.0
