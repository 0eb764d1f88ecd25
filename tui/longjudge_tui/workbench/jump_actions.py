"""From a line of the log, or from what is held, to the chunk that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from longjudge_tui.bench.event_log import Subject
from longjudge_tui.commands import LETTERS, Scope
from longjudge_tui.held.holds_list import HoldsList
from longjudge_tui.held.log_panel import LogField, LogPanel
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.workbench.chunk_list import ChunkList


class JumpActions(Screen[None]):
    """The part of the workbench that follows a row to its chunk; its lists are its own."""

    bench: Bench
    chunks: ChunkList

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Whose commands can be chosen here now."""
        shown = self.query(LogPanel)
        return (Scope.SCREEN, Scope.LOG) if shown and shown.first().display else (Scope.SCREEN,)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the log, its own filter has the key of the search, and every letter is one."""
        panel = self.query(LogPanel)
        if action == "search" and panel and panel.first().has_focus_within:
            return False
        if isinstance(self.focused, LogField) and action in LETTERS:
            return False
        return super().check_action(action, parameters)

    @on(LogPanel.Wanted)
    def log_line_wanted(self, event: LogPanel.Wanted) -> None:
        """Go to the chunk that a line is about, however the session is cut now."""
        event.stop()
        found, session, outlook = event.line, self.bench.session, self.bench.outlook
        if found.part is None:
            # All of it, where the panel is too narrow for it.
            self._say_why_not(f"this line is about no chunk: {found.words}")
        elif session is None or outlook is None or found.subject != Subject.of(session):
            where = found.subject.name if found.subject is not None else "another session"
            self._say_why_not(f"part {found.part.number} is one of {where}: open that first")
        else:
            self._go_to_chunk(outlook.plan.part_of(found.part.event) - 1)

    @on(LineList.Opened, "#holds")
    def hold_opened(self, event: LineList.Opened) -> None:
        """Go to the chunk that is asked about under a lease."""
        event.stop()
        row, outlook = self.query_one("#holds", HoldsList).here, self.bench.outlook
        if row is None or outlook is None:
            return
        # A lease is known by the beginning of its question's key, and a key is one chunk's here.
        known = (place for place, key in enumerate(outlook.keys) if key.startswith(row.hold.id))
        if (position := next(known, None)) is None:
            self._say_why_not("this is held for no chunk of the plan that is shown")
        else:
            self._go_to_chunk(position)

    def _go_to_chunk(self, position: int) -> None:
        self.chunks.go_to(position, middle=True)
        self.set_focus(self.chunks)

    def _say_why_not(self, words: str) -> None:
        self.notify(line(words, 300), markup=False)
