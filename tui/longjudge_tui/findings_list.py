"""Everything that was found, by part; a row leads to the event and its quote."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len

from longjudge_tui.line_list import Cells, LineList
from longjudge_tui.wording import fit, line

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge.result import ResultFinding
    from longjudge.rubric import Rubric

WIDE = 75
LABEL_CELLS = 24


class FindingsList(LineList):
    """One row per finding."""

    OPEN_ON_CLICK: ClassVar[bool] = True

    def __init__(self, rubric: Rubric, *, id: str) -> None:
        super().__init__(id=id)
        self._labels = criterion_labels(rubric)
        self._label_cells = min(LABEL_CELLS, max(map(cell_len, self._labels.values())))
        self._findings: list[ResultFinding] = []

    @property
    def findings(self) -> list[ResultFinding]:
        """What is shown."""
        return self._findings

    def show_findings(self, findings: list[ResultFinding]) -> None:
        """Show these, keeping the cursor on the finding where it is.

        The list follows the cursor only where it was in sight: who has scrolled stays there.
        """
        if findings == self._findings:
            return
        here = self._findings[self.cursor] if self.cursor < len(self._findings) else None
        self._findings = findings
        if here is None or here not in findings:
            self.reset_rows(len(findings))
        else:
            follow = self.cursor_in_sight
            self.reset_rows(len(findings), findings.index(here), follow=follow)

    def row_facts(self, row: int) -> Hashable:
        """The finding."""
        return self._findings[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """Part, criterion, event, verified or not, note."""
        finding = self._findings[row]
        label = self._labels.get(finding.criterion, line(finding.criterion, LABEL_CELLS))
        criterion = (fit(label, self._label_cells) + "  ", "strong")
        note = (line(finding.note or finding.quote or ""), "plain")
        if width < WIDE:
            seen = ("✓ ", "clean") if finding.verified else ("? unverified  ", "gap")
            return [(f"⚑ {finding.part:<3} ", "flagged"), criterion, seen, note]
        event = "no event" if finding.event is None else f"event {finding.event}"
        seen = ("✓ verified", "clean") if finding.verified else ("? unverified", "gap")
        return [
            (f"⚑ part {finding.part:<3} ", "flagged"),
            criterion,
            (fit(event, 11), "dim"),
            (fit(seen[0], 13), seen[1]),
            note,
        ]


def criterion_labels(rubric: Rubric) -> dict[str, str]:
    """What people read for each criterion: its label, where it has one."""
    return {each.id: line(each.label or each.id, LABEL_CELLS) for each in rubric.criteria}
