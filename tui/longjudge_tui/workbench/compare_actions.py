"""What the workbench does with a comparison: open it, and go to what was found in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.workbench.chunk_in_sight import ChunkInSight
from longjudge_tui.workbench.detail_panel import Passage

if TYPE_CHECKING:
    from longjudge.result import ResultFinding


class CompareActions(ChunkInSight):
    """The part of the workbench that compares judgments; its lists are the workbench's own."""

    def leave_field(self) -> bool:
        """Take what is typed in a field; False where it was refused."""
        raise NotImplementedError

    def action_compare(self) -> None:
        """Lay two judgments of the session side by side."""
        # Loaded when it is first opened, so that the app starts sooner.
        from longjudge_tui.compare.opening import comparison_screen

        self.leave_field()
        if self.bench.session is None:
            self.notify("the session is still being read", markup=False)
            return
        self.app.push_screen(comparison_screen(self.bench))  # pyright: ignore[reportUnknownMemberType]

    def follow_sought(self) -> None:
        """Go to what another screen has found, once the plan is painted."""
        sought, outlook = self.bench.sought, self.bench.outlook
        if sought is None:
            return
        self.bench.sought = None
        if sought.session is not self.bench.session or outlook is None or not len(outlook.plan):
            return
        position = sought.position(outlook.plan)
        with self.prevent(LineList.Moved):
            self.chunks.go_to(position, middle=True)
            self._show_chunk(position)
            self.events.move_to(self.events.row_of(sought.event), middle=True)
        finding = sought.as_result(position + 1)
        same = self._same(finding) if finding is not None else None
        piece = outlook.plan[position].piece
        self._show_passage(Passage(sought.event, piece, same or finding))
        self.set_focus(self.events)

    def _same(self, finding: ResultFinding) -> ResultFinding | None:
        """The finding as the judgment on the screen has it, so that its mark and copy do, too."""
        records = self._records
        return next(
            (
                each
                for each in (records.findings() if records is not None else ())
                if (each.event, each.criterion, each.quote)
                == (finding.event, finding.criterion, finding.quote)
            ),
            None,
        )
