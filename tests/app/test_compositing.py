"""What a terminal shows after many partial frames is what one whole frame would show."""

from __future__ import annotations

from itertools import pairwise

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._compositor import Compositor
from textual.geometry import Region

from longjudge_tui.compositing import LineCompositor, _take
from longjudge_tui.widgets.line_list import LineList

WALK = (
    *("down", "enter", "down", "pagedown", "end", "home", "tab", "tab", "down", "M", "M"),
    *("right_square_bracket", "u", "u", "2", "3", "4", "1", "slash", "x", "escape", "T", "Z", "Z"),
    *("question_mark", "escape", "C", "right", "escape", "m", "escape", "B", "down", "escape"),
    *("r", "D", "escape", "J", "escape", "full_stop", "z", "z", "i", "i", "e", "escape"),
    *("less_than_sign", "greater_than_sign", "escape", "down", "up", "enter"),
)


class Terminal:
    """A terminal that gets every frame of an app, as the driver would write it."""

    def __init__(self, app) -> None:
        self.app = app
        self.screen, self.stream = terminal(app.size)
        self.shown = app._display
        app._display = self.display

    def display(self, screen, renderable) -> None:
        if renderable is not None and screen is self.app.screen:
            if (self.screen.columns, self.screen.lines) != tuple(self.app.size):
                self.screen, self.stream = terminal(self.app.size)
            feed(self.stream, renderable, self.app.console)
        self.shown(screen, renderable)

    def is_whole(self) -> bool:
        """Whether it shows what one frame by the toolkit's own compositor would."""
        compositor = self.app.screen._compositor
        if compositor._dirty_regions or self.app.screen._dirty_widgets:
            return False
        whole, stream = terminal(self.app.size)
        assert isinstance(compositor, LineCompositor)
        dirty = set(compositor._dirty_regions)
        # What a list remembers to have drawn is what the terminal was sent, not this frame.
        lists = list(self.app.screen.query(LineList))
        drawn = [dict(each._drawn) for each in lists]
        compositor.__class__ = Compositor
        try:
            frame = compositor.render_full_update()
        finally:
            compositor.__class__ = LineCompositor
            compositor._dirty_regions.update(dirty)
            for each, known in zip(lists, drawn, strict=True):
                each._drawn = known
        feed(stream, frame, self.app.console)
        return cells(whole) == cells(self.screen)


def terminal(size):
    screen = pyte.Screen(*size)
    return screen, pyte.Stream(screen)


def feed(stream, update, console):
    stream.feed(update.render_segments(console).replace("\n", "\r\n"))


def cells(screen):
    return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]


@pytest.mark.parametrize("size", [(120, 40), pytest.param((80, 24), marks=pytest.mark.thorough)])
async def test_nothing_stale_is_left_on_the_screen(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 60), size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        shown = Terminal(desk.app)
        desk.app.screen.refresh()
        await desk.until(shown.is_whole, "the first frame")
        for number, key in enumerate(WALK):
            await desk.press(key)
            await desk.until(shown.is_whole, f"key {number}, {key}")
        assert sum(bool(row.strip()) for row in shown.screen.display) > size[1] / 2


Spans = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 20), min_size=2, max_size=6))


@given(Spans, st.tuples(*[st.integers(0, 12)] * 4))
def test_a_region_closes_what_it_covers_and_leaves_the_rest_open(edges, where):
    open_spans = {}
    for y, each in edges.items():
        cuts = sorted(set(each))
        if spans := list(zip(cuts[::2], cuts[1::2], strict=False)):
            open_spans[y] = spans
    before = {(x, y) for y, spans in open_spans.items() for a, b in spans for x in range(a, b)}
    seen = Region(*where)
    covered = {(x, y) for y in seen.line_range for x in range(seen.x, seen.right)}
    runs = _take(open_spans, seen)
    after = {(x, y) for y, spans in open_spans.items() for a, b in spans for x in range(a, b)}
    assert after == before - covered
    assert all(spans for spans in open_spans.values())
    lines = [y for first, end in runs for y in range(first, end)]
    assert lines == sorted({y for _, y in before & covered})
    # As few runs as can be: no two that touch.
    assert all(one[1] < two[0] for one, two in pairwise(runs))
