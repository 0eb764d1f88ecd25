"""The curve of chunk sizes: its points, their order, what they mean, and the picture."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks
from longjudge.curve import CurveBase, CurveMeaning, CurvePoint
from longjudge.estimate import Estimator
from longjudge.judges.make import make_judge
from longjudge.keys import KeyMaker
from longjudge.limits import LimitAdvice
from longjudge.rubric import load_rubric
from longjudge.sessions import session_from_events
from longjudge.tokens import TokenEstimate
from longjudge_tui.bench import curving as curving_module
from longjudge_tui.bench.curving import MOST_CHUNKS, Curving, coarse_first
from longjudge_tui.curve.drawing import AXIS_CELLS, Axis, Figure, picture, short
from longjudge_tui.curve.words import meaning_words, point_variants

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

MODEL = "claude-haiku-5-5"
SESSION = session_from_events(
    [{"kind": "user_message", "text": f"number {n} " * 30} for n in range(60)]
)
RUBRIC = load_rubric("chunks")
ESTIMATOR = Estimator.of(SESSION, RUBRIC, MODEL)
MAKER = KeyMaker(make_judge(MODEL), RUBRIC)


def point(
    size: int, chunks: int, burden: float, fixed: float, *, price: bool = True, kept: int = 0
) -> CurvePoint:
    tokens = TokenEstimate(round(burden), round(burden), round(burden))
    cost = burden if price else None
    anew = cost
    if cost is not None:
        cost *= (chunks - kept) / chunks
    return CurvePoint(size, chunks, tokens, kept, chunks - kept, cost, cost, cost, anew, fixed)


def test_a_point_is_what_a_run_of_that_size_would_do() -> None:
    plan = plan_chunks(SESSION.index, 2_000)
    keys = list(MAKER.keys(plan))
    kept = set(keys[:3])
    base = CurveBase(SESSION.index, ESTIMATOR, MAKER, kept, by_tokens=False)
    made, totals = base.point(2_000), ESTIMATOR.totals(plan, keys, kept)
    assert (made.chunks, made.kept, made.to_ask) == (len(plan), 3, len(plan) - 3)
    assert (made.cost_usd, made.tokens) == (totals.cost_usd, totals.tokens)
    assert made.anew_usd == ESTIMATOR.totals(plan, keys, frozenset[str]()).cost_usd
    assert 0 < base.point(50_000).fixed_share < made.fixed_share < base.point(200).fixed_share < 1
    by_tokens = CurveBase(SESSION.index, ESTIMATOR, MAKER, kept, by_tokens=True)
    assert by_tokens.point(700).chunks == len(plan_chunks(SESSION.index, chunk_tokens=700))


def test_what_the_curve_means_is_read_from_its_points() -> None:
    points = [
        point(1_000, 100, 50.0, 0.9),
        point(8_000, 20, 10.0, 0.6),
        point(30_000, 8, 5.0, 0.3),
        point(50_000, 4, 4.1, 0.2),
        point(90_000, 2, 4.0, 0.1),
    ]
    meaning = CurveMeaning.of(points, points[2])
    assert meaning is not None
    assert (meaning.mostly_fixed, meaning.flat_from, meaning.best) == (8_000, 50_000, 50_000)
    words = meaning_words(meaning, 30_000, free=False)
    assert (
        "up to 8k most of the price is for prompt and answer, which each chunk needs anew" in words
    )
    assert "from 50k on larger chunks save less than 3 %" in words
    assert "50k would cost 18 % less than 30k" in words
    assert "kept" not in words
    # A model that is dearer for long requests.
    meaning = CurveMeaning.of([*points, point(200_000, 1, 20.0, 0.1)], points[4])
    words = meaning_words(meaning, 90_000, free=False)
    assert "from 200k on the price rises again, up to 5.0 times" in words
    # Of all sizes the one that is set may be the dearest, whatever larger ones would save.
    dear = point(200_000, 1, 20.0, 0.1)
    words = meaning_words(CurveMeaning.of([*points, dear], dear), 200_000, free=False)
    assert "50k would cost 80 % less than 200k" in words
    best = meaning_words(CurveMeaning.of(points, points[3]), 50_000, free=False)
    assert "over 3 % less than 50k" in best
    # Asking about nothing at the size that is set is cheaper than any other.
    half = [*points[:2], point(30_000, 8, 5.0, 0.3, kept=8), *points[3:]]
    meaning = CurveMeaning.of(half, half[2])
    assert meaning_words(meaning, 30_000, free=False).startswith("with nothing kept: up to 8k")
    unknown = [
        point(size, 4, burden, 0.1, price=False) for size, burden in ((1, 9), (2, 5), (3, 5))
    ]
    meaning = CurveMeaning.of(unknown, unknown[2])
    assert "price is unknown" in meaning_words(meaning, 3, free=False)
    free = meaning_words(meaning, 3, free=True)
    assert free.endswith("axis in tokens: the offline rules have no price")
    assert CurveMeaning.of(points[:2], points[0]) is None
    assert meaning_words(None, 1, free=False) == ""


def test_the_figures_of_a_size_leave_out_what_does_not_fit_and_say_what_is_not_known() -> None:
    made = point(30_000, 40, 0.5, 0.2, kept=28)
    advice = LimitAdvice(45.0, 90.0, measured=False)
    whole, *_, least = point_variants(made, 30_000, "characters", advice, applies=True)
    assert whole.startswith("30,000 characters: 40 chunks · ~")
    assert "28 kept · 12 to ask" in whole
    assert "all anew ~$0.50" in whole
    assert "about 45 s (a guess)" in whole
    assert least == "30k: 40 chunks · ~$0.150"
    assert "still to be worked out" in point_variants(None, 5, "tokens", None, applies=True)[0]
    assert "nothing to ask" in point_variants(made, 5, "tokens", None, applies=False)[0]
    unknown = point(5, 4, 9, 0.2, price=False)
    assert "price unknown" in point_variants(unknown, 5, "tokens", None, applies=True)[0]


def test_a_few_sizes_come_first_and_all_of_them_once() -> None:
    sizes = list(range(100, 200))
    order = coarse_first(sizes, 150)
    assert order[:4] == [150, 199, 100, 135]
    assert sorted(order) == sizes
    early = sorted(order[:9])
    assert all(after - before < 30 for before, after in pairwise(early))


def curving(*, by_tokens: bool = False) -> Curving:
    return Curving(SESSION.index, ESTIMATOR, MAKER, set(), by_tokens=by_tokens)


async def test_a_curve_is_filled_in_and_stops_where_it_is_told_to() -> None:
    made = curving()
    sizes = made.sizes(20, 3_456)
    assert sizes[0] == 200
    assert sizes[-1] >= SESSION.index.total_chars
    assert 3_456 in sizes
    made.want(sizes, 3_456)
    read = made.points
    await made.fill()
    assert read == {}, "what somebody goes through never changes"
    assert set(made.points) == set(sizes)
    assert made.points[3_456].chunks == len(plan_chunks(SESSION.index, 3_456))
    assert made.left == 0
    # Other columns after the window has another width: only what is missing is made.
    made.want(made.sizes(40, 3_456), 3_456)
    assert 0 < made.left <= 40
    made.stop()
    before = len(made.points)
    await made.fill()
    assert len(made.points) == before


async def test_the_event_loop_has_its_turn_before_the_work_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, made = threading.Event(), curving()

    def worked_out(_base: CurveBase, size: int, rest: Callable[[], None]) -> CurvePoint:
        began.set()
        if size == 2_000:
            made.stop()
        rest()
        return point(size, 1, 1.0, 0.0)

    monkeypatch.setattr(CurveBase, "point", worked_out)
    monkeypatch.setattr(curving_module, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(curving_module, "LONGEST_TURN", 60.0)
    made.want([1_000], 1_000)
    filling = asyncio.create_task(made.fill())
    await asyncio.sleep(0)
    # The loop is kept busy: the worker has begun, and waits.
    assert began.wait(30)
    assert made.points == {}
    await filling
    assert set(made.points) == {1_000}
    # What is stopped in the middle of a point makes no point of it.
    made.want([2_000], 2_000)
    await made.fill()
    assert set(made.points) == {1_000}


def test_a_huge_session_begins_where_its_chunks_can_still_be_counted() -> None:
    index = session_from_events([]).index
    index.prefix[-1] = 300_000_000
    made = Curving(index, ESTIMATOR, MAKER, set(), by_tokens=False)
    low, high = made.bounds
    assert index.total_chars / low <= MOST_CHUNKS
    assert high == 10_000_000


def figure(*, price: bool = True, made: int = 5) -> Figure:
    sizes = [1_000, 3_000, 10_000, 30_000, 100_000]
    points = {
        size: point(size, 200_000 // size, 200_000 / size + 4, 0.1, price=price, kept=1)
        for size in sizes[:made]
    }
    return Figure(sizes, points, today=30_000, cursor=100_000)


def drawn(figure: Figure, height: int = 20) -> list[str]:
    rows = picture(figure, 40, height)
    assert len(rows) == height
    return ["".join(text for text, _ in row) for row in rows]


def test_both_series_have_their_own_glyph_and_numbers_and_sizes_are_marked() -> None:
    lines = drawn(figure())
    text = "\n".join(lines)
    assert lines[0].startswith("█ chunks, on a logarithmic scale")
    assert "░ price of what is to ask" in text
    assert "200┤█" in text
    assert "kept" in text
    half = figure()
    points = {size: replace(each, kept=0) for size, each in half.points.items()}
    points[3_000] = replace(points[3_000], kept=points[3_000].chunks)
    wide = replace(
        half,
        sizes=[*half.sizes[:2], *range(3_001, 3_060), *half.sizes[2:]],
        points={
            **points,
            **{size: replace(points[1_000], size=size) for size in range(3_001, 3_060)},
        },
    )
    row = next(row for row in drawn(wide, 20) if row.lstrip().startswith("kept"))
    assert row.rstrip() == "   kept  █ (about ░ ¼ ▒ ½ ▓ ¾ █ all of the chunks)"
    marks = lines[-1]
    assert "30k is set ◆" in marks
    assert marks[AXIS_CELLS + 4] == "▲"
    columns = [[line[AXIS_CELLS + place] for line in lines[1:8]] for place in range(5)]
    heights = [sum(glyph == "█" for glyph in column) for column in columns]
    assert heights == sorted(heights, reverse=True)


def test_without_a_price_tokens_are_drawn_and_said_to_be() -> None:
    text = "\n".join(drawn(figure(price=False)))
    assert "tokens of all chunks" in text
    assert "$" not in text


def test_a_size_that_is_not_worked_out_yet_has_no_column() -> None:
    lines = drawn(figure(made=2))
    assert all(line[AXIS_CELLS + 2] == " " for line in lines[1:8])


def test_sizes_still_to_come_are_drawn_about_right_and_marked_below() -> None:
    whole = figure()
    base = CurveBase(SESSION.index, ESTIMATOR, MAKER, frozenset[str](), by_tokens=False)
    exact = {size: base.point(size) for size in whole.sizes}
    rough = {size: base.rough(size) for size in whole.sizes}
    few = {size: exact[size] for size in (1_000, 100_000)}
    part = Figure(whole.sizes, few, 30_000, 100_000, rough)
    for chart, right in zip(
        part.charts(), Figure(whole.sizes, exact, 1_000, 1_000).charts(), strict=True
    ):
        assert chart.values.keys() == right.values.keys()
        for size, value in chart.values.items():
            assert abs(value / right.values[size] - 1) < 0.25
    lines = ["".join(text for text, _ in row) for row in picture(part, 100, 20)]
    assert "above ╌ estimated" in lines[0]
    columns = [[line[AXIS_CELLS + place] for line in lines] for place in range(5)]
    assert ["╌" in column for column in columns] == [False, True, True, True, False]
    # The axis is marked; a column stands above it.
    assert all("░" in column or "█" in column for column in columns)
    assert "╌" not in "".join(drawn(whole))


def test_small_differences_are_drawn_from_nothing_and_large_ones_in_their_logarithm() -> None:
    flat, steep = Axis.of([5.0, 6.0], 8), Axis.of([1.0, 10_000.0], 8)
    assert not flat.by_log
    assert flat.height(3.0) == 4.0
    assert steep.by_log
    assert steep.height(10_000.0) == 8.0
    assert steep.height(1.0) == 0.5
    assert steep.height(0.0) == 0.0
    assert Axis.of([], 8).height(0.0) == 0.0


def test_numbers_are_short() -> None:
    told = [short(n) for n in (0, 950, 999.6, 1_500, 9_960, 30_000, 999_700, 2_100_000, 3e12)]
    assert told == ["0", "950", "1k", "1.5k", "10k", "30k", "1M", "2.1M", "3T"]
