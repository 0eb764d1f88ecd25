"""The list of past judgments: filtered, sorted, while more come in; and how its rows read."""

from __future__ import annotations

import asyncio

import pytest
from rich.cells import cell_len

from longjudge.history import BROKEN_OFF, ChunkSetting, Entry
from longjudge.trends import History, week_of
from longjudge_tui.bench.archive import Order, Rows, words_of_group, words_of_period
from longjudge_tui.past.entry_rows import entry_cells, entry_columns, entry_words, rest_words
from longjudge_tui.past.sum_rows import (
    group_cells,
    group_columns,
    period_cells,
    period_columns,
)
from longjudge_tui.past.words import picked_words
from longjudge_tui.wording import moment


def entry(id: str, **more) -> Entry:
    facts = {
        "path": "/x/s.jsonl",
        "real_path": "/x/s.jsonl",
        "session_id": "s",
        "title": "The checkout",
        "format": "f",
        "events": 9,
        "rubric": "chunks",
        "version": "v1",
        "model": "m",
        "setting": ChunkSetting(30_000, "chars"),
        "redacted": True,
        "status": "complete",
        "created": 1_790_000_000.0,
        "score": 0.9,
        "low": 0.9,
        "high": 0.9,
        "chunks": 4,
        "judged": 4,
        "cost_usd": 0.02,
        "calls": 4,
    }
    return Entry(id, **facts | more)


CUT_OFF = {
    "status": "cancelled",
    "score": None,
    "low": 0.25,
    "high": 1.0,
    "judged": 1,
    "calls": 1,
    "gaps": (("skipped", 3),),
}


def ids(rows: Rows) -> list[str]:
    return [each.id for each in rows.shown]


async def test_pages_come_in_under_a_filter_and_the_order_changes_with_all_of_them():
    rows = Rows()
    rows.take([entry("a", findings=1), entry("b", **CUT_OFF)])
    assert ids(rows) == ["a", "b"]
    rows.show("cancelled", Order.TIME)
    assert rows.stale
    await rows.arrange()
    rows.take([entry("c", **CUT_OFF), entry("d")])
    assert ids(rows) == ["b", "c"]
    rows.show("", Order.FINDINGS)
    await rows.arrange()
    assert ids(rows)[0] == "a"
    rows.take([entry("e", findings=5)])
    rows.settle()
    assert rows.stale
    await rows.arrange()
    assert (ids(rows)[0], rows.stale) == ("e", False)


async def test_what_comes_in_while_it_is_filtered_is_not_lost():
    rows = Rows()
    rows.take([entry("a"), entry("b", **CUT_OFF)])
    rows.show("checkout", Order.TIME)
    arranging = asyncio.ensure_future(rows.arrange())
    await asyncio.sleep(0)
    rows.take([entry("c")])
    await arranging
    assert ids(rows) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ("CHECKOUT v1", True),
        ("timed out", False),
        ("2026-09-21", True),
        ("30000 chars", True),
        ("tokens", False),
    ],
)
async def test_words_of_session_judge_and_day_are_found(words, fits):
    rows = Rows()
    rows.show(words, Order.TIME)
    rows.take([entry("j_1")])
    await rows.arrange()
    assert bool(rows.shown) is fits


def drawn(cells) -> str:
    return "".join(text for text, _ in cells)


@pytest.mark.parametrize("width", [79, 119])
def test_a_row_says_when_how_and_how_much_of_it_stands(width):
    done = drawn(entry_cells(entry("a", findings=3), width, picked=False, with_session=True))
    assert all(each in done for each in ("09-21", "⚑ complete", "⚑ 3", "0.90 (0.90-0.90)", "4/4"))
    cut = entry("b", **CUT_OFF)
    row = drawn(entry_cells(cut, width, picked=True, with_session=False))
    assert all(each in row for each in ("●", "✗ cancelled", "none (0.25-1.00)", "1/4", "30k chars"))
    assert cell_len(entry_columns(width, with_session=True)) <= width
    assert rest_words(cut) == "r goes on: 3 to ask, ~$0.060"
    assert "3 chunks without a verdict: skipped 3" in entry_words(cut)[0]
    forced = entry("c", fault="timeout")
    assert "forced: " in drawn(entry_cells(forced, width, picked=False, with_session=True))


def test_nothing_of_a_hostile_store_reaches_the_screen():
    evil = "\x1b]0;x\x07[red]\u202e\x9b2J"
    entry_ = entry(
        evil,
        title=evil,
        path=evil,
        real_path=evil,
        rubric=evil,
        version=evil,
        model=evil,
        status=evil,
        fault=evil,
        gaps=((evil, 1),),
        judged=3,
    )
    texts = [drawn(entry_cells(entry_, 119, picked=True, with_session=each)) for each in (0, 1)]
    texts += entry_words(entry_)
    history = History()
    for each in (entry("a", rubric=evil, version=evil, model=evil, gaps=((evil, 2),)), entry("b")):
        history.add(each)
    texts += [drawn(group_cells(each, 119)) for each in history.groups()]
    texts += [drawn(period_cells(each, 119)) for each in history.periods()]
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set("".join(texts))
    assert "[red]" in "".join(texts)


@pytest.mark.parametrize("width", [79, 119])
def test_sums_fit_and_say_what_is_partial(width):
    history = History()
    history.add(entry("a", score=0.8, status="partial", judged=3, gaps=(("truncated", 1),)))
    history.add(entry("b", session_id="t", score=None, **{k: CUT_OFF[k] for k in ("status",)}))
    history.add(entry("c", session_id="u", setting=ChunkSetting(1_000, "tokens")))
    head, *each = (drawn(group_cells(group, width)) for group in history.groups())
    assert "chunks v1" in head
    assert ("0.80 of 1, ◑ 1" if width > 100 else "0.80 ◑") in "".join(each)
    assert ("none: 2 chunk sizes" if width > 100 else "below") in head
    assert "1k tokens a chunk"[:14] in "".join(each)
    rows = [drawn(period_cells(period, width)) for period in history.periods()]
    assert "1 of 3" in rows[0]
    assert "33 %" in rows[0]
    assert "truncated 1" in rows[0]
    for columns in (group_columns(width), period_columns(width)):
        assert cell_len(columns) <= width


async def test_what_a_sum_leads_to_are_just_the_judgments_it_counts():
    """Also where a title, a path or another model has the same words in it."""
    of_group = [
        entry("a", model="m 1"),
        entry("b", model="m 1", setting=ChunkSetting(1_000, "chars"), title="2026-09-20 v1"),
    ]
    others = [
        entry("c", model="m 10"),
        entry("d", model="m 1", version="v10", title="v1 m_1"),
        entry("e", model="m 1", fault="timeout"),
        entry("f", model="m 1", status="not_applicable"),
        entry("g", model="m 1", known=False),
    ]
    history, rows = History(), Rows()
    for each in (*of_group, *others):
        history.add(each)
    rows.take([*of_group, *others])

    async def shown(words: str) -> list[str]:
        rows.show(words, Order.TIME)
        await rows.arrange()
        return ids(rows)

    groups = [each for each in history.groups() if (each.model, each.version) == ("m 1", "v1")]
    assert [await shown(words_of_group(each)) for each in groups] == [["a", "b"], ["a"], ["b"]]
    assert [each.judgments for each in groups] == [2, 1, 1]
    [day] = history.periods()
    assert await shown(words_of_period(day)) == ["a", "b", "c", "d"]
    assert await shown(words_of_period(history.standing())) == ["a", "b", "c", "d"]
    assert await shown("day:2026-09-20") == []
    assert await shown(f"week:{week_of(day.start)}") == [each.id for each in (*of_group, *others)]


def test_the_two_that_are_picked_are_named_by_what_tells_them_apart():
    def said(**other):
        one, two = entry("a"), entry("b", **other)
        when = moment(one.created)
        return [each.replace(when, "T").replace(when[5:], "t") for each in picked_words([one, two])]

    words = said(version="v2")
    assert words[0] == "2 picked: D compares T v1 with T v2"
    assert words[-1] == "2 picked: D compares t v1, t v2"
    assert max(map(cell_len, picked_words([entry("a"), entry("b", version="9" * 12)])[-1:])) < 78
    assert said(setting=ChunkSetting(4_000, "chars"))[0].endswith("T 30k chars with T 4k chars")
    assert said(model="n")[0].endswith("T m with T n")
    assert said(created=entry("a").created + 7)[0].endswith("T:20 v1 with T:27 v1")
    assert picked_words([entry("a")])[0].startswith(f"1 picked, {moment(entry('a').created)} v1: ")
    assert picked_words([]) == ()


def test_a_run_that_was_ended_by_force_claims_no_number():
    broken = entry("x", status=BROKEN_OFF, score=None, judged=0, cost_usd=None)
    assert rest_words(broken) == "r goes on with what is missing"
    row = drawn(entry_cells(broken, 119, picked=False, with_session=False))
    assert "?/4" in row
    assert "0.90" not in row
    assert "without a verdict" not in entry_words(broken)[0]
