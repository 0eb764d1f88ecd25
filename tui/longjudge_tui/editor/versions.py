"""The versions beside the text: what each has that the text has not, and taking one back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on

from longjudge_tui.bench.rubric_diff import DiffLine, Side, compare
from longjudge_tui.editor.lists import DiffList, PastList
from longjudge_tui.widgets.whole_screen import WholeScreen
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from longjudge_tui.bench.edit_session import EditSession, Past
    from longjudge_tui.editor.text import RubricText
    from longjudge_tui.widgets.line_list import LineList
    from longjudge_tui.widgets.lines import FittedLine

_SAME = (DiffLine(Side.PLACE, "the editor holds the same text"),)


class VersionActions(WholeScreen):
    """The part of the editor that compares and takes back; its widgets are the editor's own."""

    session: EditSession | None
    area: RubricText
    past: PastList
    diff: DiffList
    _compared: tuple[str, str] | None = None
    _comparing: bool = False
    _lines: tuple[DiffLine, ...] = ()

    def show_versions(self, session: EditSession, title: FittedLine, right: str) -> None:
        """Paint the versions, and begin to compare the one under the cursor."""
        rubric = session.checked.rubric if session.checked is not None else None
        self.past.show_past(session.past, rubric.version if rubric is not None else "")
        rows = max(2, min(len(session.past) + 1, self.size.height // 4))
        if self.past.styles.height is None or self.past.styles.height.value != rows:
            self.past.styles.height = rows
        known = plural(len(session.past), "text")
        keys = "enter restores one"
        title.show(
            f"VERSIONS · {known} · {keys}", "VERSIONS · enter restores", "VERSIONS", right=right
        )
        under = self._under_cursor
        if under is None:
            self.diff.show_lines(())
            return
        wanted = (under.text, session.text)
        if self._compared != wanted and not self._comparing:
            # One at a time: long texts take longer than there is between two keys.
            self._comparing = True
            self.chores.start(self._compare(wanted))
        is_same = not self._lines and self._compared == wanted
        self.diff.show_lines(_SAME if is_same else self._lines)

    @property
    def _under_cursor(self) -> Past | None:
        rows = self.past.past
        return rows[self.past.cursor] if self.past.cursor < len(rows) else None

    def action_undo_text(self) -> None:
        """Take back the last change, wherever the keys are."""
        before = self.area.text
        self.area.action_undo()
        if self.area.text != before and self.focused is not self.area:
            self.notify("taken back: the text is as it was before", markup=False)

    async def _compare(self, wanted: tuple[str, str]) -> None:
        try:
            self._lines = await asyncio.to_thread(compare, *wanted)
            self._compared = wanted
        finally:
            self._comparing = False

    @on(PastList.Opened, "#rubric-past")
    def version_opened(self, event: LineList.Opened) -> None:
        """Take a version back into the editor."""
        event.stop()
        if self.session is not None and (past := self._under_cursor) is not None:
            self.chores.start(self._take_back(self.session, past))

    async def _take_back(self, session: EditSession, past: Past) -> None:
        if past.text == session.text:
            self.notify("that is what stands in the editor", markup=False)
            return
        await session.give_up(past)
        self.area.take(past.text)
        name = past.version or "the draft"
        said = f"{line(name, 60)} is in the editor again; ctrl+z takes that back"
        self.notify(said, markup=False)
