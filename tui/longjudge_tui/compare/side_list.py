"""The judgments that a side may be, in place of the rows while one is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import fit, line, moment, plural

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from longjudge.history import Entry
    from longjudge_tui.bench.side_offers import Offer

WHEN_CELLS = 17
NOW_WORDS = "what stands in the settings now: what is kept counts, nothing is asked by itself"


class SideList(LineList):
    """One row per judgment, what stands now first."""

    OPEN_ON_CLICK: ClassVar[bool] = True

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.offers: Sequence[Offer] = ()

    def show_offers(self, offers: Sequence[Offer], standing: str | None) -> None:
        """Show them, beginning at the one that stands: by its id, None for what stands now.

        The cursor stays where they are the same.
        """
        if list(self.offers) == list(offers):
            return
        self.offers = offers
        ids = [each.entry.id if each.entry is not None else None for each in offers]
        self.reset_rows(len(offers), ids.index(standing) if standing in ids else 0)
        self.refresh()

    def row_facts(self, row: int) -> Hashable:
        """The offer."""
        return self.offers[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """When it was, what it was judged by, and what came of it."""
        entry = self.offers[row].entry
        if entry is None:
            return [(fit("now", WHEN_CELLS), "strong"), (NOW_WORDS, "plain")]
        return [(fit(moment(entry.created), WHEN_CELLS), "strong"), (_facts(entry), "plain")]


def _facts(entry: Entry) -> str:
    judge = "offline rules" if entry.model == "offline" else line(entry.model, 60)
    size = f"{entry.setting.size:,} {entry.setting.unit}" if entry.setting else "unknown chunks"
    status = line(entry.status.replace("_", " "), 30)
    judged = f"{entry.judged:,} of {entry.chunks:,} judged" if entry.known else "does not read"
    marks = [f"{entry.right} right"] * (entry.right > 0) + [f"{entry.wrong} wrong"] * (
        entry.wrong > 0
    )
    found = plural(entry.findings, "finding")
    # What tells two apart stands first: the rest is cut where there is no room.
    told = [line(entry.version, 12), found, judged, status, size, line(entry.rubric, 30), judge]
    return " · ".join([*told, *marks])
