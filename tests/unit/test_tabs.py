"""The bar of tabs as it fits, and the rows of the gaps as a judgment goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from longjudge_tui.bench.gap_rows import ONE_BY_ONE, GapRows
from longjudge_tui.bench.layout import Tab
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.workbench.tabs import bar_pieces

COUNTS = {Tab.FINDINGS: "2", Tab.GAPS: "1", Tab.HOLDS: "4"}
CHOICES = [
    Choice("FINDINGS 2 · 1 not verified", (Word("filter_findings", "filter: all"),)),
    Choice("FINDINGS 2"),
]


def drawn(width, here=Tab.FINDINGS, choices=CHOICES, counts=COUNTS):
    return "".join(each.text for each in bar_pieces(counts, here, choices, width))


def test_the_open_tab_says_the_most_and_the_others_their_counts():
    bar = drawn(120)
    assert bar.startswith(" 1 FINDINGS 2 · 1 not verified │ 2 GAPS 1 │ 3 HOLDS 4 │ 4 LOG ─")
    assert bar.endswith("─ [filter: all] ")
    assert drawn(80, Tab.GAPS, [Choice("GAPS 1")]).startswith(" 1 FINDINGS 2 │ 2 GAPS 1 │ 3 H")


@given(st.integers(0, 200), st.sampled_from(Tab), st.text(max_size=60))
def test_the_bar_fills_its_line_and_names_every_tab_where_there_is_room(width, here, text):
    choices = [Choice(f"{here.value.upper()} {text}"), Choice(here.value.upper())]
    bar = drawn(width, here, choices)
    if width >= 60:
        assert cell_len(bar) == width
        assert all(f"{key} {name}" in bar for key, name in zip("234", "GHL", strict=True))


@pytest.mark.parametrize(("width", "brief"), [(74, True), (120, False)])
def test_little_room_shortens_the_names_before_what_the_open_tab_says(width, brief):
    bar = drawn(width, Tab.GAPS, [Choice("GAPS 812 · 800 timed out · 12 truncated")])
    assert ("1 FIND 2" in bar) is brief
    assert "12 truncated" in bar


class Known:
    """What is known about the chunks of a plan, as far as gaps are concerned."""

    def __init__(self, *gaps):
        self.gaps = set(gaps)
        self.listed = 0

    def is_gap(self, position):
        return position in self.gaps

    def gap_positions(self):
        self.listed += 1
        return sorted(self.gaps)


@given(st.lists(st.lists(st.integers(0, 60), max_size=8), max_size=30))
def test_the_rows_are_the_gaps_in_order_whatever_becomes_of_them(steps):
    known, rows = Known(3, 50), GapRows()
    rows.follow(known, ())
    for changed in steps:
        before, seen = list(rows.positions), rows.changes
        for position in changed:
            known.gaps ^= {position}
        rows.follow(known, set(changed))
        assert rows.positions == sorted(known.gaps)
        assert (rows.changes != seen) is (rows.positions != before)
    assert known.listed == 1


def test_many_at_once_and_another_judgment_are_listed_anew():
    known, rows = Known(), GapRows()
    rows.follow(known, ())
    known.gaps = set(range(50_000))
    rows.follow(known, range(50_000))
    assert known.listed == 2
    assert len(range(50_000)) > ONE_BY_ONE
    assert rows.row_of(40_000) == 40_000
    rows.follow(Known(7), ())
    assert rows.positions == [7]
    rows.follow(None, ())
    assert rows.positions == []
