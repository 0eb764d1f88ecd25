"""What the app says beside a run: saved calls, a provider's wait, a limit that is too short."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from longjudge.calls import InHand
from longjudge.limits import LimitAdvice
from longjudge.settings import Settings
from longjudge_tui.bench.figures import Figures
from longjudge_tui.bench.limit_words import limit_variants
from longjudge_tui.bench.run_words import (
    asker_words,
    hand_labels,
    judging_words,
    paused_words,
    releasing_words,
    retry_words,
    running_line,
)
from longjudge_tui.library.judging import Stage, State
from longjudge_tui.library.words import state_words
from longjudge_tui.wording import calls_words, pause_words, widest

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench


def bench(advice: LimitAdvice | None, limit: float, *, running: bool = False) -> Bench:
    settings = Settings(time_limit=limit)
    return cast(
        "Bench", SimpleNamespace(limit_advice=advice, settings=settings, running=running, run=None)
    )


def test_saved_calls_stand_beside_those_that_were_made() -> None:
    assert calls_words(12, 0) == "12 calls"
    assert calls_words(12, 28) == "12 calls, 28 saved by the store"
    assert calls_words(1, 28, brief=True) == "1 call, 28 saved"


def test_a_wait_is_rounded_up_so_that_it_never_reads_as_over() -> None:
    assert pause_words(0.2) == "all wait 1 s"
    assert pause_words(11.3, "429: slow\x1b[2J down") == "all wait 12 s: 429: slow␛[2J down"


def test_the_library_says_how_long_the_provider_lets_nobody_ask() -> None:
    state = State(Stage.JUDGING, 3, 12, wait=5, note="429: slow down")
    assert state_words(state) == ("◐ judging 3/12 · wait 5 s", "◐ judging 3/12")
    assert state_words(State(Stage.JUDGING, 3, 12)) == ("◐ judging 3/12",)


@pytest.mark.parametrize(
    ("expected", "measured", "limit", "words"),
    [
        (45.0, True, 600.0, ["needs ~45 s", "needs ~45 s"]),
        (45.0, False, 600.0, ["needs ~45 s (a guess)", "needs ~45 s?"]),
        (400.0, True, 600.0, ["tight: ~7 min needed", "tight: ~7 min"]),
        (1_500.0, True, 600.0, ["! short: ~25 min needed", "! short: ~25 min"]),
        (1_500.0, False, 600.0, ["! short: ~25 min? needed", "! short: ~25 min?"]),
    ],
)
def test_beside_the_limit_stands_how_long_a_run_needs(
    expected: float, measured: bool, limit: float, words: list[str]
) -> None:
    advice = LimitAdvice(expected, 2 * expected, measured)
    assert limit_variants(bench(advice, limit)) == words
    assert limit_variants(bench(advice, limit, running=True)) == [""]


def test_beside_the_limit_stands_nothing_where_nothing_is_known() -> None:
    assert limit_variants(bench(None, 600.0)) == [""]


FIGURES = Figures(
    findings=3,
    disagreements=0,
    verified=3,
    score=0.625,
    score_range=(0.31, 0.81),
    judged=8,
    chunks=16,
    gaps=0,
    calls=12,
    retries=2,
    saved=0,
    cost_usd=0.02,
    seconds=42.0,
    rate=24.0,
    left=20.0,
    open=8,
    until_limit=558.0,
)


def run(figures: Figures = FIGURES, hand: InHand | None = None, **options: Any) -> Any:
    known: dict[str, Any] = {
        "figures": lambda: figures,
        "held": 0,
        "forced": "",
        "paused": False,
        "stopping": False,
        "ordered_wait": None,
        "stop_cause": None,
        "in_hand": hand or InHand(0, 0, 0),
        "batches": (),
        "in_batch": 0,
    }
    return SimpleNamespace(**known | options)


def test_the_live_line_says_how_fast_and_what_it_cost_so_far_at_every_width() -> None:
    lines = running_line(run(), "claude-haiku-5-5", None)
    assert lines[0] == (
        "claude-haiku-5-5 · 3 findings, quotes 3/3 verified · score 0.62 (0.31-0.81)"
        " · judged 8 of 16 · 0 gaps · 2 retries · 12 calls · $0.020 so far · 24 chunks/min"
        " · 0:42 elapsed, about 0:20 left"
    )
    assert widest(lines, 118) == (
        "3 findings · score 0.62 (0.31-0.81) · judged 8 of 16 · 0 gaps · 12 calls · $0.020"
        " · 24/min · 0:42, 0:20 left"
    )
    assert (
        widest(lines, 78) == "3 findings · 0.62 (0.31-0.81) · 8 of 16 · $0.020 · 24/min · 0:20 left"
    )
    gaps = running_line(run(replace(FIGURES, gaps=12)), "claude-haiku-5-5", None)
    assert "12 gaps" in widest(gaps, 60)


def test_what_nobody_can_tell_is_said_to_be_unknown() -> None:
    unknown = replace(FIGURES, rate=None, left=None, cost_usd=None)
    (whole, *_) = running_line(run(unknown), "a model", None)
    assert "price unknown · rate not known yet · 0:42 elapsed" in whole
    assert whole.endswith("elapsed")
    measured = LimitAdvice(100.0, 200.0, measured=True)
    (whole, *_) = running_line(run(unknown), "a model", measured)
    assert whole.endswith("0:42 elapsed, about 1:40 left by earlier runs")
    for nothing_like_it in (
        running_line(run(unknown), "a model", replace(measured, measured=False)),
        running_line(run(unknown, forced="slow=4"), "a model", measured),
        # By those it would have been over long ago.
        running_line(run(unknown), "a model", replace(measured, expected=3.0)),
    ):
        assert nothing_like_it[0].endswith("elapsed")


@pytest.mark.parametrize(
    ("state", "end"),
    [
        ({"paused": True}, "0:42 elapsed, PAUSED by hand"),
        ({"ordered_wait": (11.2, "429")}, "0:42 elapsed, all wait 12 s"),
        ({"stopping": True}, "$0.020 so far · 0:42 elapsed"),
    ],
)
def test_while_nothing_is_asked_no_time_is_said_to_be_left(state: Any, end: str) -> None:
    assert running_line(run(**state), "a model", None)[0].endswith(end)


def test_a_limit_that_comes_first_is_what_ends_it() -> None:
    short = replace(FIGURES, until_limit=8.0)
    whole, *others = running_line(run(short), "a model", None)
    assert whole.endswith("the limit ends it in 0:08")
    assert "limit in 0:08" in widest(others, 100)


def test_of_a_batch_nobody_says_how_long_it_takes_at_the_rate_of_live_answers() -> None:
    batched = replace(FIGURES, in_batch=4, left=None)
    whole = running_line(run(batched), "a model", LimitAdvice(45.0, 90.0, measured=True))[0]
    assert whole.endswith("0:42 elapsed")


def test_what_is_in_a_batch_is_counted_named_and_dated() -> None:
    sent = SimpleNamespace(provider_id="msgbatch_01abcdefgh", id="k3", cancel="", problem="")
    out = run(batches=(sent,), in_batch=12, sent_since=250.0)
    [what, keys] = judging_words(out, "at most a day")
    assert what == "12 in a batch (msgbatch_01abcd…), sent 4 min ago, at most a day"
    assert keys == "A asks it live, x cancels"
    sent.problem = "the connection\x1b was reset"
    assert judging_words(out, "")[-1].endswith("sent 4 min ago: the connection␛ was reset")
    ending = run(batches=(sent,), end_left=8.2, stop_cause="cancel")
    assert releasing_words(ending) == (
        "cancelling 1 batch at the provider, for 9 s at most (x waits no longer)…"
    )


def test_what_an_end_has_in_hand_is_counted_until_it_is_released() -> None:
    ending = run(hand=InHand(4, 0, 3), stop_cause="cancel")
    assert releasing_words(ending) == "cancelling: 4 calls closing, 3 leases…"
    ending = run(hand=InHand(0, 1, 1), stop_cause="limit")
    assert releasing_words(ending) == "the time limit is reached: 1 verdict being kept, 1 lease…"
    ending = run(stop_cause="fatal")
    assert releasing_words(ending).startswith("ending after an error: all is released")
    labels = [widest(hand_labels(InHand(4, 0, 3)), width) for width in (15, 10, 7)]
    assert labels == ["4 calls, 3 held", "4 + 3 held", "4+3…"]


def test_a_pause_says_what_still_comes_and_both_ways_out() -> None:
    assert paused_words(run()).endswith("nothing is asked · P goes on, x cancels")
    assert "2 answers still to come" in paused_words(run(hand=InHand(2, 0, 2)))


def test_a_chunk_says_when_it_is_asked_again_and_who_asks_it_meanwhile() -> None:
    waits = run(retry_in=lambda position: 3.2, asked_by=lambda position: "")
    limited = "429 (rate_limit_error): slow down"
    assert retry_words(waits, 0, limited) == ("in 4 s (429)", "slow down")
    assert retry_words(waits, 0, "529 (overloaded_error)") == ("in 4 s (529)", "overloaded_error")
    forced = "forced: 429 (rate_limit_error)"
    assert retry_words(waits, 0, forced) == ("in 4 s (429)", "forced: rate_limit_error")
    assert retry_words(waits, 0, "no reply came") == ("in 4 s", "no reply came")
    assert retry_words(run(retry_in=lambda position: 0.0), 0, "")[0] == "next in turn"
    assert retry_words(run(paused=True), 0, limited)[0] == "paused by hand (429)"
    assert asker_words(waits, 0) == "another judgment asks it"
    other = run(asked_by=lambda position: "pid 7 on \x1bbox")
    assert asker_words(other, 0) == "pid 7 on ␛box asks it"


def test_the_library_says_that_a_judgment_pauses_and_what_one_that_ends_has_in_hand() -> None:
    assert state_words(State(Stage.PAUSED, 3, 12)) == ("‖ paused 3/12",)
    ending = State(Stage.STOPPING, 3, 12, note="4 calls closing, 3 leases")
    assert state_words(ending) == ("◐ stopping: 4 calls closing, 3 leases", "◐ stopping")
