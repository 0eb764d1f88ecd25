"""What was found, filtered and ordered; a row leads to the event and its quote."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len

from longjudge.disputes import RuleFinding
from longjudge.result import correction_words
from longjudge_tui.bench.marking import MARK_LOOKS, MARK_WORDS
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import DISPUTED, fit, line
from longjudge_tui.workbench.findings_order import (
    FindingFilter,
    FindingOrder,
    FindingRow,
    Heading,
    ShownFinding,
    arrange,
    count_filters,
    filter_after,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from textual.message import Message

    from longjudge.marks import Mark
    from longjudge.result import ResultFinding
    from longjudge.rubric import Rubric

WIDE = 75
PART_CELLS, EVENT_CELLS = 3, 11
LABEL_CELLS = 24
NOTE_CELLS = 14
"""So much of what a finding says has room beside the words of its mark."""


def _no_mark(finding: ResultFinding) -> Mark | None:
    """Nothing is marked."""
    return None


class FindingsList(LineList):
    """One row per finding; by criterion, a heading above each group.

    `findings` are those that are shown, in order. It is `ahead` while a move of the cursor is on
    its way to whoever shows the finding.
    """

    OPEN_ON_CLICK: ClassVar[bool] = True

    def __init__(self, rubric: Rubric, *, id: str) -> None:
        super().__init__(id=id)
        self.only = FindingFilter.ALL
        self.order = FindingOrder.PART
        self._all: list[ResultFinding] = []
        self._rows_shown: list[FindingRow] = []
        self._rows_of: list[int] = []
        self._places: dict[ResultFinding, int] = {}
        self.findings: list[ResultFinding] = []
        self._anchor: ResultFinding | None = None
        self.ahead = False
        self._marked: list[ShownFinding] = []
        self._counts = count_filters([])
        self._cells = PART_CELLS, EVENT_CELLS
        self.use_rubric(rubric)

    def use_rubric(self, rubric: Rubric) -> None:
        """Name criteria as this rubric does, and order them so."""
        self._labels = criterion_labels(rubric)
        self._label_cells = min(LABEL_CELLS, max(map(cell_len, self._labels.values())))

    @property
    def all_findings(self) -> list[ResultFinding]:
        """What there is, whatever the filter lets through."""
        return self._all

    @property
    def hides_some(self) -> bool:
        """Whether another filter would show something."""
        return len(self._marked) > len(self.findings)

    @property
    def here(self) -> ResultFinding | None:
        """The finding under the cursor."""
        return self.finding_at(self.cursor)

    def finding_at(self, row: int) -> ResultFinding | None:
        """The finding of a row, None for a heading."""
        shown = self._rows_shown[row] if 0 <= row < len(self._rows_shown) else None
        return shown.finding if isinstance(shown, ShownFinding) else None

    def place_of(self, finding: ResultFinding | None) -> int | None:
        """Which one of those shown a finding is, from 0; None where it is not shown."""
        if finding is None:
            return None
        if finding == self.here:
            return self._place_at(self.cursor)
        return self._places.get(finding)

    @property
    def place_here(self) -> int:
        """Which one of those shown is under the cursor; at a heading, the one below it."""
        return self._place_at(self.cursor)

    def move_to_place(self, place: int) -> None:
        """Put the cursor on one of those shown."""
        self.move_to(self._rows_of[place])
        self.ahead = False

    def point_at(self, finding: ResultFinding | None) -> None:
        """Put the cursor on a finding that is shown somewhere else, where the list has it."""
        place = self.place_of(finding)
        if place is not None and finding != self.here:
            with self.prevent(LineList.Moved):
                self.move_to_place(place)

    def post_message(self, message: Message) -> bool:
        """Know about the moves that others hear of."""
        posted = super().post_message(message)
        if posted and type(message) is LineList.Moved:
            self.ahead = True
        return posted

    def next_filter(self) -> bool:
        """Show what the next filter lets through; False where no other lets anything through."""
        after = filter_after(self.only, self._counts)
        if after is None:
            return False
        self.only = after
        self._arrange()
        return True

    def show_all(self) -> None:
        """Take the filter away."""
        self.only = FindingFilter.ALL
        self._arrange()

    def next_order(self) -> None:
        """Show them in the next order."""
        orders = [*FindingOrder]
        self.order = orders[(orders.index(self.order) + 1) % len(orders)]
        self._arrange()

    @property
    def marked_wrong(self) -> int:
        """How many findings of the judge a person marked wrong."""
        return self._counts[FindingFilter.MARKED_WRONG]

    def show_findings(
        self,
        findings: list[ResultFinding],
        mark_of: Callable[[ResultFinding], Mark | None] = _no_mark,
        disputes: Sequence[RuleFinding] = (),
    ) -> None:
        """Show these, by part, keeping the cursor on the finding where it is.

        `disputes` are shown by a filter of their own. The list follows the cursor only where it was
        in sight: who has scrolled stays there.
        """
        self._all = findings
        self._marked = [ShownFinding(finding, mark_of(finding)) for finding in findings]
        self._marked += [ShownFinding(finding) for finding in disputes]
        self._counts = count_filters(self._marked)
        parts = max((each.finding.part for each in self._marked), default=0)
        events = max((each.finding.event or 0 for each in self._marked), default=0)
        self._cells = max(PART_CELLS, len(str(parts))), max(EVENT_CELLS, len(f"event {events}  "))
        self._arrange()

    def choices(self) -> list[Choice]:
        """The title: how many, the filter, what its key shows next, and the order."""
        there, shown = len(self._all), self._counts[self.only]
        name = brief = f"FINDINGS {there}"
        if self.only is not FindingFilter.ALL:
            name, brief = f"FINDINGS {shown} of {there}", f"{shown} of {there}"
        full = name
        if self.only is FindingFilter.RULES:
            full = name = f"RULES DISAGREE {shown}"
            brief = f"{DISPUTED} {shown}"
        elif self.only is FindingFilter.ALL:
            unverified, disputed = (
                self._counts[each] for each in (FindingFilter.UNVERIFIED, FindingFilter.RULES)
            )
            notes = [f"{unverified} not verified"] if unverified else []
            notes += [f"{DISPUTED} {disputed} by rules alone"] if disputed else []
            full = " · ".join([name, *notes])
        only = self._filter_words()
        words = (
            Word("filter_findings", f"filter: {only}"),
            Word("order_findings", f"order: {self.order.value}"),
        )
        short = (Word("filter_findings", only),)
        return [
            Choice(full, words),
            Choice(name, words),
            Choice(full, words[:1]),
            Choice(name, words[:1]),
            Choice(name, short),
            Choice(brief, short),
            Choice(brief.replace(" of ", "/"), short),
            Choice(f"{name} · {self.only.value}"),
        ]

    def _filter_words(self) -> str:
        """The filter, and what the next press of its key shows."""
        after = filter_after(self.only, self._counts)
        if after is None:
            return self.only.value
        key = command("filter_findings").shown
        return f"{self.only.value}, {key}: {after.value} {self._counts[after]}"

    def row_facts(self, row: int) -> Hashable:
        """The finding with its mark, or the heading."""
        return self._rows_shown[row], self.order, self._cells

    def row_cells(self, row: int, width: int) -> Cells:
        """Part, criterion, event, verified or not, mark, correction, note; or the heading.

        Under a heading the criterion is not said again.
        """
        shown = self._rows_shown[row]
        if isinstance(shown, Heading):
            name = self._label(shown.criterion)
            return [(fit(f"── {name} · {shown.count} ".ljust(width, "─"), width), "strong")]
        finding = shown.finding
        part_cells, event_cells = self._cells
        part_number = f"{finding.part:<{part_cells}}"
        label = fit(self._label(finding.criterion), self._label_cells) + "  "
        criterion = [] if self.order is FindingOrder.CRITERION else [(label, "strong")]
        by_rules = isinstance(finding, RuleFinding)
        said = line(finding.note or finding.quote or "")
        rules = "rules: " if width < WIDE else "offline rules say: "
        note = (f"{rules}{said}" if by_rules else said, "plain")
        glyph, look = (DISPUTED, "gap") if by_rules else ("⚑", "flagged")
        words = f"you: {MARK_WORDS[shown.mark]}  " if shown.mark else ""
        mark = [(words, MARK_LOOKS[shown.mark])] if shown.mark else []
        if width < WIDE:
            unseen = "? " if mark else "? unverified  "
            seen = [("✓ ", "clean")] if finding.verified else [(unseen, "gap")]
            part = f"{glyph} {part_number} "
            before = sum(cell_len(text) for text, _ in [(part, look), *criterion, *seen, *mark])
            if shown.mark and width - before < NOTE_CELLS:
                # In little room the mark is where it takes none from what was found.
                part, look = f"{words.split()[1]} {part_number} ", MARK_LOOKS[shown.mark]
                mark = []
            return [(part, look), *criterion, *seen, *mark, *_named(finding), note]
        event = "no event" if finding.event is None else f"event {finding.event}"
        seen = ("✓ verified", "clean") if finding.verified else ("? unverified", "gap")
        return [
            (f"{glyph} part {part_number} ", look),
            *criterion,
            (fit(event, event_cells), "dim"),
            (fit(seen[0], 13), seen[1]),
            *mark,
            *_named(finding),
            note,
        ]

    def _label(self, criterion: str) -> str:
        return self._labels.get(criterion, line(criterion, LABEL_CELLS))

    def _place_at(self, row: int) -> int:
        return bisect_left(self._rows_of, row)

    def _arrange(self) -> None:
        rows = arrange(self._marked, [*self._labels], only=self.only, order=self.order)
        if rows == self._rows_shown:
            return
        # A list that was empty for a moment goes on where it was before.
        here = self.here if self._rows_shown else self._anchor
        self._anchor = here
        self._rows_shown = rows
        self._keep_places()
        self._reset(self.cursor if here is None else self._row_of(here))

    def _keep_places(self) -> None:
        """Make once what every frame asks for: where each finding stands, the first of equals."""
        shown = [(row, each) for row, each in enumerate(self._rows_shown)]
        found = [(row, each.finding) for row, each in shown if isinstance(each, ShownFinding)]
        self._rows_of = [row for row, _ in found]
        self.findings = [finding for _, finding in found]
        self._places = {}
        for place, finding in enumerate(self.findings):
            self._places.setdefault(finding, place)

    def _row_of(self, finding: ResultFinding) -> int:
        """The row of a finding, also where other chunks have given it another part.

        What a filter took away leaves the cursor to what followed.
        """
        if self.finding_at(self.cursor) == finding:
            return self.cursor
        alike = self.cursor
        for row in range(len(self._rows_shown) - 1, -1, -1):
            each = self.finding_at(row)
            if each == finding:
                return row
            if each is not None and _says(each) == _says(finding):
                alike = row
        return alike

    def _reset(self, row: int) -> None:
        """Put the cursor on a row, from a heading on to the finding below it."""
        while row < len(self._rows_shown) - 1 and self.finding_at(row) is None:
            row += 1
        self.ahead = False
        self.reset_rows(len(self._rows_shown), row, follow=self.cursor_in_sight)


def _named(finding: ResultFinding) -> Cells:
    """What the judge named instead of the event in which the quote was found."""
    words = correction_words(finding)
    return [(f"{words}: ", "gap")] if words else []


def criterion_labels(rubric: Rubric) -> dict[str, str]:
    """What people read for each criterion: its label, where it has one."""
    return {each.id: line(each.label or each.id, LABEL_CELLS) for each in rubric.criteria}


def _says(finding: ResultFinding) -> tuple[str, int | None, str | None]:
    """What a finding is about, whichever chunk it was found in."""
    return finding.criterion, finding.event, finding.quote
