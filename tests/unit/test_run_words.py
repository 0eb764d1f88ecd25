"""What the app says beside a run: saved calls, a provider's wait, a limit that is too short."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from longjudge.limits import LimitAdvice
from longjudge.settings import Settings
from longjudge_tui.bench.live import limit_variants
from longjudge_tui.library.judging import Stage, State
from longjudge_tui.library.words import state_words
from longjudge_tui.wording import calls_words, pause_words

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench


def bench(advice: LimitAdvice | None, limit: float, *, running: bool = False) -> Bench:
    settings = Settings(time_limit=limit)
    return cast("Bench", SimpleNamespace(limit_advice=advice, settings=settings, running=running))


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
