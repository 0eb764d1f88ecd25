"""The list of one of the four views: judgments of a session or of all, versions, gaps over time."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge_tui.past.entry_rows import entry_cells, entry_columns
from longjudge_tui.past.sum_rows import (
    group_cells,
    group_columns,
    period_cells,
    period_columns,
)
from longjudge_tui.widgets.line_list import Cells, LineList

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge.history import Entry
    from longjudge.trends import Group, Period
    from longjudge_tui.bench.archive import Archive, Rows


class PastView(StrEnum):
    """What is listed; the value is the command that shows it."""

    SESSION = "past_of_session"
    ALL = "past_of_all"
    RUBRICS = "past_rubrics"
    GAPS = "past_gaps"

    @property
    def next(self) -> PastView:
        """The one after it."""
        views = list(PastView)
        return views[(views.index(self) + 1) % len(views)]

    @property
    def of_judgments(self) -> bool:
        """Whether its rows are judgments."""
        return self in (PastView.SESSION, PastView.ALL)


class PastList(LineList):
    """Draws what the archive has; `follow` takes in what is new, `show_view` is another view."""

    def __init__(self, archive: Archive, view: PastView, *, id: str) -> None:
        super().__init__(id=id)
        self.view = view
        self.picked: dict[str, Entry] = {}
        self._archive = archive
        self._places: dict[PastView, int] = {}
        self._seen: tuple[object, ...] = ()
        self._open_first = False
        # Held as well, so that no later ones are taken for these.
        self._sums = archive.sums
        self._entries: list[Entry] = []
        self._groups: tuple[Group, ...] = ()
        self._periods: tuple[Period, ...] = ()

    @property
    def rows(self) -> Rows:
        """The judgments of the view, where it has such."""
        return self._archive.session if self.view is PastView.SESSION else self._archive.all

    @property
    def entry(self) -> Entry | None:
        """The judgment under the cursor."""
        return self._entries[self.cursor] if self.cursor < len(self._entries) else None

    @property
    def group(self) -> Group | None:
        """The group under the cursor."""
        return self._groups[self.cursor] if self.cursor < len(self._groups) else None

    @property
    def period(self) -> Period | None:
        """The period under the cursor; the first row are all of them."""
        return self._periods[self.cursor] if self.cursor < len(self._periods) else None

    def show_view(self, view: PastView) -> None:
        """List something else, with the cursor where it was there."""
        self._places[self.view] = self.cursor
        self.view = view
        self._seen, self._open_first = (), False
        self.follow()

    def action_open(self) -> None:
        """Open the row under the cursor: the first one as soon as it is there."""
        archive = self._archive
        read = archive.session_read if self.view is PastView.SESSION else archive.whole
        self._open_first = not (read or self.row_count or self.rows.words)
        super().action_open()

    def follow(self) -> None:
        """Take in what is new; what is drawn until then is what was there before."""
        rows, sums = self.rows, self._archive.sums
        shown = rows.shown if self.view.of_judgments else []
        seen = (self.view, id(shown), len(shown), tuple(self.picked))
        if not self.view.of_judgments:
            seen = (self.view, id(sums))
        if seen == self._seen:
            return
        same_view = bool(self._seen) and self._seen[0] is self.view
        rearranged = same_view and self.view.of_judgments and shown is not self._entries
        self._seen, self._entries, self._sums = seen, shown, sums
        self._groups = sums.groups if self.view is PastView.RUBRICS else ()
        self._periods = ()
        if self.view is PastView.GAPS and sums.standing is not None and sums.periods:
            self._periods = (sums.standing, *sums.periods)
        place = self.cursor if same_view else self._places.get(self.view, 0)
        count = len(shown) + len(self._groups) + len(self._periods)
        # Of a list that grows while it is drawn no more rows are drawn than were there.
        self.reset_rows(count, 0 if rearranged else place, follow=not same_view or rearranged)
        if count and self._open_first:
            self.action_open()

    def columns(self) -> str:
        """What the columns are called."""
        width = self.scrollable_content_region.width - 1
        match self.view:
            case PastView.SESSION | PastView.ALL:
                return entry_columns(width, with_session=self.view is PastView.ALL)
            case PastView.RUBRICS:
                return group_columns(width)
            case PastView.GAPS:
                return period_columns(width)

    def row_facts(self, row: int) -> Hashable:
        """What is listed there; nothing about it changes."""
        if self.view.of_judgments:
            entry = self._entries[row]
            return self.view, entry.id, entry.id in self.picked
        return self.view, (self._groups or self._periods)[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """The cells of what is listed there."""
        if self.view.of_judgments:
            entry = self._entries[row]
            with_session = self.view is PastView.ALL
            picked = entry.id in self.picked
            return entry_cells(entry, width, picked=picked, with_session=with_session)
        if self.view is PastView.RUBRICS:
            return group_cells(self._groups[row], width)
        return period_cells(self._periods[row], width)
