"""What a forecast of many sessions holds: keys in little room, the longest, sums of a sample."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longjudge.forecast import (
    Cost,
    DrawnFile,
    Expected,
    Longest,
    LongSession,
    Needs,
    SessionForecast,
    Tally,
    draw,
    extrapolated,
)
from longjudge.forecast.forecaster import AnsweredKeys
from longjudge.tokens import TokenEstimate

NOTHING = Needs.nothing(redact=True)


def needs(chunks: int, kept: int = 0) -> Needs:
    asked = chunks - kept
    return Needs(
        chunks=chunks,
        kept=kept,
        to_ask=asked,
        tokens=TokenEstimate(10 * asked, 9 * asked, 12 * asked),
        cost=Cost(0.01 * asked, 0.009 * asked, 0.012 * asked),
        seconds=5.0 * asked,
        redacted=Counter({"password": asked}),
        advised=60.0,
    )


def keys(first: int, count: int) -> list[str]:
    return [hashlib.sha256(str(n).encode()).hexdigest() for n in range(first, first + count)]


def test_keys_of_sessions_before_are_known_and_a_session_s_own_are_not() -> None:
    answered = AnsweredKeys()
    first, second = keys(0, 5), keys(3, 5)
    assert answered.add([*first, *first]) == set()
    assert answered.add(second) == {first[3], first[4]}
    assert answered.add(second) == {*second}
    assert answered.add(["0" * 64]) == set()
    assert answered.add(["0" * 64]) == {"0" * 64}


def test_a_hundred_thousand_keys_take_little_room() -> None:
    answered = AnsweredKeys()
    tracemalloc.start()
    try:
        for start in range(0, 100_000, 100):
            answered.add(keys(start, 100))
        assert tracemalloc.get_traced_memory()[0] < 4_000_000
    finally:
        tracemalloc.stop()
    assert answered.add(keys(99_900, 200)) == {*keys(99_900, 100)}


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=60), st.integers(1, 12))
def test_the_longest_are_those_of_all(sizes: list[tuple[int, int]], most: int) -> None:
    rows = [
        LongSession(f"{place:03}", "s", asked, asked, tokens, None)
        for place, (asked, tokens) in enumerate(sizes)
    ]
    longest = Longest(most)
    for row in rows:
        longest.add(row)
    in_order = sorted(rows, key=lambda row: (-row.to_ask, -row.tokens, row.path))
    assert longest.rows() == [row for row in in_order if row.to_ask][:most]


def test_a_tally_counts_what_does_not_apply() -> None:
    tally = Tally(NOTHING)
    tally.add("a", "1", SessionForecast(Expected.TO_ASK, needs(4)))
    tally.add("b", "2", SessionForecast(Expected.NOT_APPLICABLE, NOTHING))
    tally.add("c", "3", SessionForecast(Expected.KEPT, needs(2, kept=2)))
    total = tally.to_dict()
    assert (total["sessions"], total["not_applicable"]) == (3, 1)
    assert (total["chunks"], total["kept"], total["to_ask"]) == (6, 2, 4)
    assert total["extrapolated"] is False
    assert [row.path for row in tally.longest.rows()] == ["a"]


def drawn(forecasts: list[SessionForecast]) -> DrawnFile:
    file = DrawnFile(NOTHING, NOTHING)
    for forecast in forecasts:
        file.add(forecast)
    return file


def test_a_sum_of_a_sample_lies_between_its_ends() -> None:
    sizes = [30_000 * (1 + place % 9) for place in range(500)]
    sample = draw(sizes, 60)
    files = []
    for place in sample.drawn:
        whole = needs(1 + place % 9)
        asked = needs(1 + place % 9, kept=place % 2 * (1 + place % 9))
        status = Expected.TO_ASK if asked.to_ask else Expected.KEPT
        files.append(drawn([SessionForecast(status, asked, whole)]))
    total = extrapolated(sample, files)
    truth = sum((1 + place % 9) * (1 - place % 2) for place in range(500))
    assert total.chunks.middle == pytest.approx(sum(1 + place % 9 for place in range(500)))
    assert total.to_ask.low < truth < total.to_ask.high
    fields = total.to_dict()
    assert fields["extrapolated"] is True
    assert (fields["sampled"], fields["of"], fields["sessions"]) == (60, 500, 500)
    assert fields["cost_usd_low"] < 0.01 * truth < fields["cost_usd_high"]
    # The band of the estimates is part of it.
    assert fields["tokens_high"] / 10 > total.to_ask.high
    assert fields["cost_usd_batch"] == pytest.approx(total.needs.cost.middle / 2)
    assert fields["chunks"] == pytest.approx(fields["kept"] + fields["to_ask"], abs=1)


def test_all_kept_in_the_drawn_files_is_not_all_kept() -> None:
    sample = draw([1_000] * 400, 40)
    kept = SessionForecast(Expected.KEPT, needs(2, kept=2), needs(2))
    total = extrapolated(sample, [drawn([kept]) for _ in sample.drawn])
    assert (total.to_ask.low, total.to_ask.middle) == (0, 0)
    assert 20 < total.to_ask.high < 100
    assert total.needs.cost is not None
    assert total.needs.cost.high > 0.2


def test_a_drawn_file_without_a_session_counts_and_an_unknown_price_stays_unknown() -> None:
    sample = draw([1_000] * 400, 40)
    free = replace(needs(2), cost=None)
    some = drawn([SessionForecast(Expected.TO_ASK, free, free)])
    total = extrapolated(sample, [some if n % 2 else drawn([]) for n in range(40)])
    assert total.sessions.low < 200 < total.sessions.high < 300
    assert total.needs.cost is None
    assert total.to_dict()["cost_usd_high"] is None
