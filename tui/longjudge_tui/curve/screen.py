"""The screen of the curve: every chunk size, what it would make, and the way to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on

from longjudge.curve import CurveMeaning
from longjudge.errors import UsageError
from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.commands import Scope, bindings
from longjudge_tui.curve.chart import CurveChart
from longjudge_tui.curve.drawing import Figure
from longjudge_tui.curve.words import meaning_words, point_variants
from longjudge_tui.widgets.lines import FittedLine, GrowingLine
from longjudge_tui.widgets.whole_screen import WholeScreen
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge.curve import CurvePoint
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.curving import Curving

_LEAST_SHARE = 8
"""Once one of so many sizes is worked out, it is said what the curve means so far."""


class CurveScreen(WholeScreen):
    """Reads a curve while it is worked out; `enter` uses the size under the reading cursor."""

    SCOPE = Scope.CURVE
    BAR = ("read_smaller", "read_larger", "take_size", "read_today", "read_smallest")
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.CURVE)]

    def __init__(self, bench: Bench, banner: Callable[[], str]) -> None:
        super().__init__(banner)
        self._bench = bench
        self._curving: Curving | None = None
        self._of: Hashable = None
        self._sizes: list[int] = []
        self._cursor = bench.tuning.size
        self._shown = -1

    def compose_body(self) -> ComposeResult:
        """The chart, the figures of one size, and what the curve means."""
        yield CurveChart(id="curve-chart")
        yield FittedLine(id="curve-point")
        yield GrowingLine(id="curve-meaning")

    @property
    def _chart(self) -> CurveChart:
        return self.query_one(CurveChart)

    @property
    def _today(self) -> int:
        return self._bench.tuning.size

    def tick(self) -> None:
        """Begin anew where the curve is another one, and paint what was worked out meanwhile."""
        super().tick()
        bench = self._bench
        kept = bench.outlook.totals.kept if bench.outlook is not None and not bench.running else -1
        # During a judgment the curve stays that of its beginning, and says so.
        events = len(bench.session.index) if bench.session is not None else 0
        of = bench.session, events, bench.judge, bench.rubric, bench.tuning.unit, kept
        if of != self._of:
            self._of = of
            self._begin()
        self._show()

    async def on_unmount(self) -> None:
        """Work nothing out any more."""
        if self._curving is not None:
            self._curving.stop()
        await super().on_unmount()

    @on(CurveChart.Resized)
    def chart_resized(self) -> None:
        """Other sizes stand in the columns."""
        self._want()
        self._show()

    @on(CurveChart.Pointed)
    def column_clicked(self, event: CurveChart.Pointed) -> None:
        """Read the size of a column."""
        self._read(event.column)

    def action_read_smaller(self) -> None:
        """One column to the left."""
        self._read(self._column - 1)

    def action_read_larger(self) -> None:
        """One column to the right."""
        self._read(self._column + 1)

    def action_read_smallest(self) -> None:
        """The first column."""
        self._read(0)

    def action_read_largest(self) -> None:
        """The last column."""
        self._read(len(self._sizes) - 1)

    def action_read_today(self) -> None:
        """The size that is set."""
        if self._sizes:
            self._read(self._sizes.index(self._today))

    def action_take_size(self) -> None:
        """Use the size that is read, and go back."""
        try:
            self._bench.tuning.set_size(self._cursor)
        except UsageError as error:
            self.notify(line(str(error), 200), severity="warning", markup=False)
            return
        self.dismiss(None)

    @property
    def _column(self) -> int:
        return self._sizes.index(self._cursor) if self._cursor in self._sizes else 0

    def _read(self, column: int) -> None:
        if not self._sizes:
            return
        self._cursor = self._sizes[max(0, min(column, len(self._sizes) - 1))]
        if self._curving is not None and self._cursor not in self._curving.points:
            self._curving.want(self._sizes, self._cursor)
            self._fill()
        self._show()

    def _begin(self) -> None:
        """Work out another curve from now on."""
        if self._curving is not None:
            self._curving.stop()
        self._curving = self._bench.curving()
        self._want()

    def _want(self) -> None:
        curving = self._curving
        # Before it is laid out the chart has no columns to fill.
        if curving is None or not self._chart.content_size.width:
            return
        self._sizes = curving.sizes(self._chart.columns, self._today)
        if self._cursor not in self._sizes:
            self._cursor = min(self._sizes, key=lambda size: abs(size - self._cursor))
        curving.want(self._sizes, self._today)
        self._fill()

    def _fill(self) -> None:
        if self._curving is not None and self._curving.left and not self._curving.filling:
            self.chores.start(self._curving.fill())

    def _show(self) -> None:
        curving, bench = self._curving, self._bench
        if curving is None:
            self.show_title("THE CURVE · the session is still being read")
            return
        if not self._sizes:
            return
        if self._today not in self._sizes:
            self._want()
        self._fill()
        unit = bench.tuning.unit.value
        # As they are now: the next moment there may be more.
        points = curving.points
        done = sum(size in points for size in set(self._sizes))
        of = len(set(self._sizes))
        name = f"CURVE of chunk sizes in {unit}"
        exact = f" · {done} of {of} sizes exact" if done < of else ""
        others = ", the others estimated" if done < of else ""
        running, brief = "", ""
        if bench.running:
            running = " · a judgment is in flight: what is kept is counted as of before"
            brief = " · kept: as of before"
        less = f" · {done}/{of} exact" if done < of else ""
        self.show_title(
            f"{name}{exact}{others}{running}",
            f"{name}{exact}{others}{brief}",
            f"{name}{exact}{brief}",
            f"CURVE{less}{brief}",
        )
        self._chart.show(Figure(self._sizes, points, self._today, self._cursor, curving.rough))
        point = points.get(self._cursor)
        advice = bench.time_needed(point.to_ask) if point is not None else None
        words = point_variants(point, self._cursor, unit, advice, applies=bench.applies)
        self.query_one("#curve-point", FittedLine).show(*words)
        self._show_meaning(points, whole=done == of)

    def _show_meaning(self, points: dict[int, CurvePoint], *, whole: bool) -> None:
        sizes = sorted(set(self._sizes))
        known = [points[size] for size in sizes if size in points]
        now = points.get(self._today)
        # A few sizes that lie far apart would say what is soon another thing.
        enough = len(known) * _LEAST_SHARE >= len(sizes)
        meaning = CurveMeaning.of(known, now) if now is not None and enough else None
        free = self._bench.judge.model == OFFLINE_MODEL
        words = meaning_words(meaning, self._today, free=free)
        so_far = "" if whole or not words else "so far: "
        self.query_one("#curve-meaning", GrowingLine).show_whole(f"{so_far}{words}")
