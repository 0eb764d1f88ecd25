"""The words about a judgment that went by something else than what stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longjudge_tui.bench.sizes import Unit
from longjudge_tui.library.last import By, Last
from longjudge_tui.library.looking_back import cut_off, goes_on_words, judged_otherwise
from longjudge_tui.wording import widest

NOW = By(30_000, Unit.CHARACTERS, "offline", "chunks", "aaaa1111")


def last(**changes: object) -> Last:
    return Last("cancelled", None, 15, 75, 0, 0.0, by=replace(NOW, **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        (
            {"size": 8_000},
            "last judged at 8,000 characters: 15 of 75 parts, cancelled"
            " · J, then enter, then r, goes on · s 8000 shows it",
        ),
        (
            {"size": 2_000, "unit": Unit.TOKENS},
            "last judged at 2,000 tokens: 15 of 75 parts, cancelled"
            " · J, then enter, then r, goes on · u s 2000 shows it",
        ),
        (
            {"model": "claude-x-9", "rubric": "mine", "version": "b"},
            "last judged by claude-x-9 by the rubric mine: 15 of 75 parts, cancelled"
            " · J, then enter, then r, goes on · m claude-x-9 and b mine show it",
        ),
        (
            {"version": "bbbb2222"},
            "last judged by another version of the rubric: 15 of 75 parts, cancelled"
            " · J, then enter, then r, goes on",
        ),
        (
            {"size": 200, "model": "x\x1b[31m\ny"},
            "last judged at 200 characters by x␛[31m⏎y: 15 of 75 parts, cancelled"
            " · J, then enter, then r, goes on · s 200 and m x␛[31m⏎y show it",
        ),
    ],
)
def test_what_it_went_by_is_said_with_the_keys_that_lead_there(changes, words):
    hint = judged_otherwise(last(**changes), NOW)
    assert (hint.words if hint else "") == words


def test_the_findings_of_one_that_was_complete_are_said():
    whole = replace(last(size=800), status="complete", judged=75, findings=2)
    assert judged_otherwise(whole, NOW).words.endswith(
        "75 of 75 parts, complete, 2 findings · s 800 shows it"
    )
    other = replace(last(version="b"), status="complete", judged=75)
    assert judged_otherwise(other, NOW).words.endswith(
        "75 of 75 parts, complete · J, then enter, shows it"
    )
    # No key chooses the version that it went by; in little room the keys that lead there stay.
    both = replace(last(version="b", size=8_000), status="complete", judged=75)
    hint = judged_otherwise(both, NOW)
    assert hint.words.endswith("75 of 75 parts, complete · J, then enter, shows it")
    lines = [widest(hint.variants(hint.words), room) for room in (90, 60, 20)]
    assert lines == [
        "last judged at 8,000 characters by another version of the rubric · J enter: shows it",
        "last: 75 of 75 parts, complete · J enter: shows it",
        "J enter: shows it",
    ]


def test_a_run_that_was_cut_off_is_said_with_what_it_judged():
    assert cut_off(last(), NOW).endswith(": cancelled, 15 of 75 parts judged")
    whole = replace(last(), status="complete", judged=75)
    for other in (whole, last(size=800), replace(last(), forced=True)):
        assert cut_off(other, NOW) == ""


def test_nothing_is_said_where_nobody_noted_it_or_the_rubric_did_not_apply():
    assert judged_otherwise(replace(last(), by=None), NOW) is None
    assert judged_otherwise(replace(last(size=9), status="not_applicable"), NOW) is None


def test_in_little_room_the_hint_says_first_how_to_go_on():
    hint = judged_otherwise(last(size=4_000), NOW)
    line = widest(hint.variants(f"! a caveat · {hint.words}"), 80)
    assert line == "! a caveat · last: 15 of 75 parts, cancelled · J enter r: goes on at 4k"
    assert widest(hint.variants(hint.words), 30) == "J enter r: goes on at 4k"
    assert hint.variants("another remark") == []
    # What stands beside it is said more briefly before it is lost.
    texts = [f"{each} · {hint.words}" for each in ("cut as for another one: s changes it", "cut")]
    assert widest(hint.variants(*texts), 40) == "cut · J enter r: goes on at 4k"


def test_the_keys_that_go_on_are_said_in_the_list_whatever_ended_the_run():
    assert goes_on_words(last(), NOW) == "enter r goes on: 60 of 75 chunks left"
    timed_out = replace(last(size=4_000), status="timed_out")
    assert goes_on_words(timed_out, NOW) == "J 1 enter r: goes on at 4k"
    assert goes_on_words(last(version="b"), NOW) == "J 1 enter r: goes on with it"
    whole = replace(last(size=800), status="complete", judged=75)
    for other in (whole, replace(last(size=9), forced=True), replace(last(), by=None)):
        assert goes_on_words(other, NOW) == ""
