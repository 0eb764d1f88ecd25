"""Everything that was found, by part; a row leads to the event and its quote."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from longjudge_tui.line_list import Cells, LineList
from longjudge_tui.wording import fit, line

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge.result import ResultFinding

WIDE = 60


class FindingsList(LineList):
    """One row per finding."""

    OPEN_ON_CLICK: ClassVar[bool] = True

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._findings: list[ResultFinding] = []

    @property
    def findings(self) -> list[ResultFinding]:
        """What is shown."""
        return self._findings

    def show_findings(self, findings: list[ResultFinding]) -> None:
        """Show these, keeping the cursor on the finding where it is."""
        if findings == self._findings:
            return
        here = self._findings[self.cursor] if self.cursor < len(self._findings) else None
        self._findings = findings
        row = findings.index(here) if here in findings else 0
        self.reset_rows(len(findings), row)

    def row_facts(self, row: int) -> Hashable:
        """The finding."""
        return self._findings[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """Part, criterion, event, verified or not, note."""
        finding = self._findings[row]
        event = "no event" if finding.event is None else f"event {finding.event}"
        seen = ("✓ verified", "clean") if finding.verified else ("? unverified", "gap")
        note = (line(finding.note or finding.criterion), "plain")
        if width < WIDE:
            return [
                (f"⚑ {finding.part:<3} ", "flagged"),
                (fit(seen[0], 13), seen[1]),
                note,
                (f" · {line(finding.criterion)}", "dim"),
            ]
        return [
            (f"⚑ part {finding.part:<3} ", "flagged"),
            (fit(line(finding.criterion), 19) + " ", "strong"),
            (fit(event, 10), "dim"),
            (fit(seen[0], 13), seen[1]),
            note,
        ]
