"""Which time limit is advised, from what was measured."""

from __future__ import annotations

import math
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.limits import LimitAdvice, Measured, advice, measure, round_limit
from longjudge.settings import MAX_TIME_LIMIT
from longjudge.store import PastJudgment, Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MODEL = "claude-haiku-5-5"


def part(
    seconds: float, *, waited: float = 0.0, state: str = "clean", attempts: int = 1
) -> dict[str, object]:
    fields: dict[str, object] = {"state": state, "from_cache": not attempts, "attempts": attempts}
    return fields | {"seconds": seconds} | ({"waited": waited} if waited else {})


def judgment(number: int, parts: Sequence[dict[str, object]], model: str = MODEL) -> PastJudgment:
    return PastJudgment(
        id=f"j_{number}",
        path="s.jsonl",
        real_path="/s.jsonl",
        session_id="s",
        rubric="chunks",
        rubric_version="1",
        model=model,
        status="complete",
        created=time.time() + number,
        result={"parts": list(parts)},
        digests=(),
    )


async def measured(tmp_path: Path, *judgments: PastJudgment) -> Measured | None:
    store = await Store.open(tmp_path / "store.sqlite")
    try:
        for each in judgments:
            await store.record_judgment(each)
        return await measure(store, MODEL)
    finally:
        await store.aclose()


async def test_nothing_is_known_of_a_model_that_was_never_asked(tmp_path: Path) -> None:
    assert await measured(tmp_path, judgment(1, [part(9)], model="another")) is None


async def test_waits_and_retries_count_and_gaps_and_kept_chunks_do_not(tmp_path: Path) -> None:
    parts = [
        part(2),
        part(3, waited=7, attempts=3),
        part(300, state="gap"),
        part(0, attempts=0),
    ]
    known = await measured(tmp_path, judgment(1, parts))
    assert known is not None
    assert (known.seconds, known.chunks) == (6, 2)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("abc", 1.0),
        (b"\xff", 1.0),
        (0.5, 1.0),
        (-3, 1.0),
        (math.inf, 1.0),
        (3, "soon"),
        (3, b"\xff"),
        (3, -5.0),
        (3, math.inf),
        (3, 1e200),
        (2**62, 1e308),
    ],
)
async def test_what_no_judgment_can_have_taken_is_passed_over(
    tmp_path: Path, asked: object, seconds: object
) -> None:
    path = tmp_path / "store.sqlite"
    await measured(tmp_path, judgment(1, [part(7)]), judgment(2, [part(300)]))
    with closing(sqlite3.connect(path)) as store, store:
        row = asked, seconds
        store.execute("UPDATE judgments SET asked = ?, asked_seconds = ? WHERE id = 'j_2'", row)
    assert await measured(tmp_path) == Measured(7, 7, 1)


async def test_judgments_that_differ_make_the_slow_case_slower(tmp_path: Path) -> None:
    steady = await measured(tmp_path, judgment(1, [part(5)]), judgment(2, [part(5)]))
    assert steady is not None
    assert steady.slow == steady.seconds == 5
    swaying = await measured(tmp_path, judgment(3, [part(1)] * 2), judgment(4, [part(30)] * 2))
    assert swaying is not None
    assert swaying.slow > 2 * swaying.seconds


def test_twice_what_is_expected_is_advised_in_a_round_number() -> None:
    assert advice(Measured(6, 6), 100, 4) == LimitAdvice(150, 300, measured=True)
    assert advice(Measured(6, 60), 100, 4).advised == 1800
    assert advice(None, 100, 4) == LimitAdvice(125, 300, measured=False)


def test_a_few_questions_take_one_call_however_many_may_be_in_flight() -> None:
    assert advice(Measured(40, 40), 2, 64) == LimitAdvice(40, 90, measured=True)
    assert advice(Measured(40, 40), 0, 4).expected == 0


@pytest.mark.parametrize(
    ("expected", "limit", "words"),
    [
        (240, 600, "about 4 min; a limit of 600 s is enough"),
        (1500, 600, "about 25 min; --time-limit 3600 advised (600 s is set)"),
        (500, 600, "about 8 min; --time-limit 1200 advised (600 s is set)"),
        (1, 0.5, "about 1 s; --time-limit 60 advised (0.5 s is set)"),
    ],
)
def test_the_advice_in_words(expected: float, limit: float, words: str) -> None:
    assert advice(Measured(expected, expected), 1, 1).words(limit) == words


def test_a_guess_is_called_one() -> None:
    words = advice(None, 48, 4).words(600)
    assert words == "about 60 s (a guess, nothing was measured yet); a limit of 600 s is enough"


def test_only_a_limit_that_is_expected_to_end_the_run_is_warned_of() -> None:
    times = advice(Measured(10, 10), 200, 4)
    assert times.expected == 500
    assert times.warning(500) == ""
    assert "--time-limit 1200 advised" in times.warning(499)


@given(st.floats(0, 1e9))
def test_a_round_limit_is_no_shorter_and_can_be_set(seconds: float) -> None:
    limit = round_limit(seconds)
    assert limit >= min(seconds, MAX_TIME_LIMIT)
    assert 60 <= limit <= MAX_TIME_LIMIT
    assert limit % 30 == 0
    assert seconds < 60 or limit <= max(2 * seconds, 7_200)
