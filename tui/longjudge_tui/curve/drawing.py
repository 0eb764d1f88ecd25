"""The picture of a curve in block glyphs: two charts over one axis of sizes.

The number of chunks is drawn full, the price (or the tokens) light, so that no colour is needed.
Where no point is made yet it is drawn about as high as its neighbours say, and marked so below.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, exp, floor, log, log10
from typing import TYPE_CHECKING

from longjudge_tui.wording import dollars, fit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longjudge.curve import CurvePoint, RoughPoint

AXIS_CELLS = 8
"""How wide the numbers at the left are, the line behind them included."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SHARES = " ░▒▓█"
_SHADES = ("(about ░ ¼ ▒ ½ ▓ ¾ █ all of the chunks)", "(about ░ ¼ ▒ ½ ▓ ¾ █ all)", "(░ ¼ █ all)")
"""What the shades of what is kept mean, longest first."""
_ABOUT = "╌"
_LEADS = (1, 2, 5)
_FIXED_ROWS = 6
"""Two captions, the axis with its numbers and its marks, and what is kept."""

Row = list[tuple[str, str]]
"""Glyphs with the words for how they look."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from `low` to `high` on `rows` rows; in their logarithm where they differ much."""

    low: float
    high: float
    rows: int
    by_log: bool

    @classmethod
    def of(cls, values: Sequence[float], rows: int) -> Axis:
        """An axis on which all of some values have their place."""
        positive = [value for value in values if value > 0]
        low, high = min(positive, default=1.0), max(positive, default=1.0)
        if high < 8 * low:
            return cls(0.0, high, rows, False)
        return cls(low, high, rows, True)

    def height(self, value: float) -> float:
        """How many rows a value is high; what is there at all has a little."""
        if value <= 0:
            return 0.0
        if not self.by_log:
            return max(1 / 8, value / self.high * self.rows)
        share = log10(value / self.low) / log10(self.high / self.low)
        # The least value has a row's height too, so that nothing that costs looks like nothing.
        return max(1 / 8, 1 / 2 + share * (self.rows - 1 / 2))

    def value(self, row: float) -> float:
        """The value whose height is so many rows."""
        if not self.by_log:
            return row / self.rows * self.high
        share = (row - 1 / 2) / (self.rows - 1 / 2)
        return self.low * (self.high / self.low) ** max(0.0, share)


@dataclass(frozen=True, slots=True)
class Chart:
    """One of the two charts: its words, its values, and the glyph that fills it."""

    caption: str
    values: Mapping[int, float]
    body: str
    look: str
    told: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Figure:
    """All that a picture shows: sizes by column, what is known of them, and two of them marked.

    `rough` says about what sizes make whose points are still to come.
    """

    sizes: Sequence[int]
    points: Mapping[int, CurvePoint]
    today: int
    cursor: int
    rough: Mapping[int, RoughPoint] = field(default_factory=dict[int, "RoughPoint"])

    @property
    def whole(self) -> bool:
        """Whether every size is worked out."""
        return all(size in self.points for size in self.sizes)

    @property
    def priced(self) -> bool:
        """Whether the second chart is of prices: known ones, and not of nothing but zeros."""
        known = [self.points[size] for size in self.sizes if size in self.points]
        return any(point.anew_usd for point in known)

    def charts(self) -> tuple[Chart, Chart]:
        """Chunks, and the price of what is to ask, else the tokens."""
        here = {size: self.points[size] for size in self.sizes if size in self.points}
        rough = {size: self.rough[size] for size in self.sizes if size in self.rough}
        counts = {size: float(point.chunks) for size, point in here.items()}
        about = mended({size: each.chunks for size, each in rough.items()}, counts)
        chunks = Chart("chunks", about | counts, "█", "chunks", short)
        if not self.priced:
            tokens = {size: float(point.tokens.tokens) for size, point in here.items()}
            about = mended({size: each.tokens for size, each in rough.items()}, tokens)
            return chunks, Chart("tokens of all chunks", about | tokens, "░", "price", short)
        prices = {size: point.cost_usd or 0.0 for size, point in here.items()}
        # Of what is kept nothing is known at sizes that are not worked out.
        anew = {size: point.anew_usd or 0.0 for size, point in here.items()}
        about = mended({size: each.cost_usd or 0.0 for size, each in rough.items()}, anew)
        what = "price of what is to ask"
        return chunks, Chart(what, about | prices, "░", "price", _brief_dollars)


def mended(rough: Mapping[int, float], exact: Mapping[int, float]) -> dict[int, float]:
    """Rough values by size, each as far off as the exact ones beside it say; none without any.

    Between two exact ones how far it is off goes from the one to the other; beyond the outermost it
    is that one's.
    """
    both = sorted(size for size in rough if rough[size] > 0 and exact.get(size, 0.0) > 0)
    if not both:
        return {}
    places = [log(size) for size in both]
    off = [log(exact[size] / rough[size]) for size in both]
    values: dict[int, float] = {}
    for size, value in rough.items():
        place = log(size)
        after = bisect_left(places, place)
        low, high = max(0, after - 1), min(after, len(both) - 1)
        way = places[high] - places[low]
        share = (place - places[low]) / way if way else 0.0
        values[size] = value * exp(off[low] + share * (off[high] - off[low]))
    return values


def short(count: float) -> str:
    """A number in at most five cells: `950`, `1.5k`, `30k`, `2.1M`."""
    if count < 999.5:
        return f"{count:.0f}"
    for unit, word in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        if count < 999.5 * unit:
            scaled = count / unit
            return f"{scaled:.0f}{word}" if scaled >= 9.95 else f"{scaled:.2g}{word}"
    return f"{count / 1e12:.2g}T"


def _brief_dollars(amount: float) -> str:
    if amount >= 100:
        return f"${short(amount)}"
    return dollars(amount) if amount >= 0.01 else f"${amount:.1g}"


def picture(figure: Figure, width: int, height: int) -> list[Row]:
    """The rows of the whole picture, `width` cells wide."""
    kept = any(point.kept for point in figure.points.values())
    rows = max(2, height - _FIXED_ROWS + (0 if kept else 1))
    upper = rows // 2
    about = "" if figure.whole else f" · above {_ABOUT} estimated"
    drawn: list[Row] = []
    for chart, count in zip(figure.charts(), (upper, rows - upper), strict=True):
        drawn += _chart(figure, chart, count, width, about)
    if kept:
        drawn.append(_kept(figure))
    return [_joined(row) for row in (*drawn, *_size_axis(figure))]


def _joined(row: Row) -> Row:
    """Neighbours that look alike as one: a screen paints few long pieces much sooner."""
    return [
        ("".join(text for text, _ in cells), look)
        for look, cells in groupby(row, key=lambda cell: cell[1])
    ]


def _chart(figure: Figure, chart: Chart, count: int, width: int, about: str) -> list[Row]:
    axis = Axis.of(list(chart.values.values()), count)
    scale = ", on a logarithmic scale" if axis.by_log else ""
    caption = f"{chart.body} {chart.caption}{scale}{about}"
    rows: list[Row] = [[(fit(caption, width), chart.look)]]
    heights = {size: axis.height(value) for size, value in chart.values.items()}
    labels = _labels(axis, chart.told) if chart.values else {}
    for row in range(count - 1, -1, -1):
        label = labels.get(row, "")
        tick = "┤" if label else "│"
        cells: Row = [(f"{label:>{AXIS_CELLS - 1}}{tick}", "axis")]
        for size in figure.sizes:
            cells.append(_cell(figure, chart, size, heights.get(size), row))
        rows.append(cells)
    return rows


def _cell(
    figure: Figure, chart: Chart, size: int, height: float | None, row: int
) -> tuple[str, str]:
    """One cell of a column: full, its upper end, or empty with the mark of a size."""
    here = size == figure.cursor
    # Not reversed: that would draw the part of a cell that is empty.
    look = "cursor" if here else chart.look
    rest = (height or 0.0) - row
    if rest >= 1:
        # The last row of a light column is as full as its upper end is exact.
        is_top = chart.body != "█" and rest < 1 + 1 / 16
        return ("█" if is_top else chart.body), look
    eighths = round(rest * 8) if rest > 0 else 0
    if eighths:
        return _EIGHTHS[eighths], look
    if here:
        return "│", "cursor"
    return ("┊", "axis") if size == figure.today else (" ", "axis")


def _labels(axis: Axis, told: Callable[[float], str]) -> dict[int, str]:
    """Numbers for the highest row, the lowest, and some between."""
    step = max(1, ceil(axis.rows / 4))
    rows = {axis.rows - 1, *range(0, axis.rows - 1, step)}
    labels: dict[int, str] = {}
    for row in sorted(rows, reverse=True):
        # What a column that fills this row and no more stands for.
        label = told(axis.value(row + 1))
        if label not in labels.values() and row + 1 != axis.rows - 1:
            labels[row] = label
    return labels


def _kept(figure: Figure) -> Row:
    """How much of each size is kept."""
    cells: Row = [(f"{'kept':>{AXIS_CELLS - 1}} ", "axis")]
    for size in figure.sizes:
        point = figure.points.get(size)
        if point is None:
            cells.append((_ABOUT, "axis"))
            continue
        share = point.kept / point.chunks if point.chunks else 0.0
        level = max(ceil(share * 4 - 0.5), 1) if share else 0
        cells.append((_SHARES[min(4, level)], "kept"))
    return _with_legend(cells)


def _with_legend(cells: Row) -> Row:
    """Say what the shades mean, in the first stretch without any that has the room."""
    drawn = "".join(glyph for glyph, _ in cells[1:])
    for words in _SHADES:
        at = drawn.find(" " * (len(words) + 2))
        if at >= 0:
            at += 2
            told: Row = [(glyph, "axis") for glyph in words]
            return [*cells[:at], *told, *cells[at + len(words) :]]
    return cells


def _size_axis(figure: Figure) -> list[Row]:
    """The line below, round sizes, and which size is set and which is read."""
    sizes = figure.sizes
    line = ["─" if size in figure.points else _ABOUT for size in sizes]
    numbers = [" "] * (len(sizes) + AXIS_CELLS)
    free = 0
    for size in _round_sizes(sizes):
        at = min(range(len(sizes)), key=lambda place: abs(sizes[place] - size))
        label = short(size)
        start = AXIS_CELLS + at - len(label) // 2
        if start < free or start + len(label) > len(numbers):
            continue
        line[at] = "┬"
        numbers[start : start + len(label)] = label
        free = start + len(label) + 1
    return [
        [(" " * (AXIS_CELLS - 1) + "└", "axis"), ("".join(line), "axis")],
        [("".join(numbers), "axis")],
        _marks(figure),
    ]


def _round_sizes(sizes: Sequence[int]) -> list[int]:
    low, high = sizes[0], sizes[-1]
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    tens = [10**power for power in powers if low <= 10**power <= high]
    between = [lead * 10**power for power in powers for lead in _LEADS if lead > 1]
    # Powers of ten first: where there is no room for all, they are the ones that stay.
    if len(sizes) < 24 * len(tens):
        between = []
    return sorted({*tens, *(size for size in between if low <= size <= high)})


def _marks(figure: Figure) -> Row:
    """`◆ set` below the size that is set, `▲` below the one that is read."""
    row = [" "] * (AXIS_CELLS + len(figure.sizes))
    today = AXIS_CELLS + list(figure.sizes).index(figure.today)
    cursor = AXIS_CELLS + list(figure.sizes).index(figure.cursor)
    words = f"{short(figure.today)} is set"
    row[today] = "◆"
    cells = len(words) + 1
    # On the side where there is room, and which leaves the other mark to be seen.
    if today + cells < len(row) and not today < cursor <= today + cells:
        row[today + 1 : today + 1 + cells] = f" {words}"
    elif cells <= today and not today - cells <= cursor < today:
        row[today - cells : today] = f"{words} "
    if cursor != today:
        row[cursor] = "▲"
    return [("".join(row), "strong")]
