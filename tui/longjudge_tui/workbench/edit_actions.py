"""Opens what is looked at in the user's own editor."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

from textual.screen import Screen

from longjudge.errors import SessionError, UsageError
from longjudge_tui.bench.editors import find_editor
from longjudge_tui.bench.event_file import event_file
from longjudge_tui.bench.event_log import LogKind, Subject
from longjudge_tui.chores import Chores
from longjudge_tui.lending import Lending, open_window
from longjudge_tui.wording import clock, line

if TYPE_CHECKING:
    from textual.app import App

    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.editors import Editor
    from longjudge_tui.bench.event_file import Opened
    from longjudge_tui.workbench.chunk_list import ChunkList
    from longjudge_tui.workbench.detail_panel import DetailPanel
    from longjudge_tui.workbench.event_list import EventList


class EditActions(Screen[None]):
    """The part of the workbench that leads out of it."""

    bench: Bench
    chunks: ChunkList
    detail: DetailPanel
    events: EventList

    def __init__(self) -> None:
        super().__init__()
        self.lending = Lending()
        self._edits = Chores()
        self._copies = ExitStack()

    async def on_unmount(self) -> None:
        """End an editor in this terminal, and let go of what was copied for others."""
        await self._edits.end()
        await asyncio.to_thread(self._copies.close)

    def follow_editor(self) -> None:
        """Raise what an edit died of."""
        self._edits.raise_failure()

    def action_edit_file(self) -> None:
        """Open the file of the event that is shown in an editor, at its line."""
        session, event = self.bench.session, self._event_meant()
        if session is None or event is None:
            self._tell("no event is shown to open in an editor")
        elif self.lending.busy:
            self._tell("an editor is open already")
        else:
            self._edits.start(self._edit(session, event))

    def _event_meant(self) -> int | None:
        """The event that is shown, else the one under the cursor, else the chunk's first."""
        passage, outlook = self.detail.passage, self.bench.outlook
        if passage is not None:
            return passage.event
        if (event := self.events.event_at(self.events.cursor)) is not None:
            return event
        here = self.chunks.position
        return (
            outlook.plan[here].first if outlook is not None and here < len(outlook.plan) else None
        )

    async def _edit(self, session: Session, event: int) -> None:
        with ExitStack() as stack:
            try:
                editor = await asyncio.to_thread(find_editor)
                opened = await asyncio.to_thread(stack.enter_context, event_file(session, event))
            except (UsageError, SessionError) as error:
                self._tell(str(error))
                return
            except OSError as error:
                self._tell(f"no copy of the record can be written: {error.strerror}")
                return
            if editor.opens_a_window:
                # It may read the copy long after its starter has ended.
                self._copies.push(stack.pop_all())
            await self._run(editor, opened, Subject.of(session))

    async def _run(self, editor: Editor, opened: Opened, subject: Subject) -> None:
        argv, at_line = editor.command(opened.path, opened.line)
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        begun = time.monotonic()
        if editor.opens_a_window:
            outcome = await open_window(argv)
        else:
            outcome = await self.lending.in_terminal(app, argv)
        what = "a copy of the record" if opened.why else "the file"
        where = f" at line {opened.line}" if at_line else ""
        took = "" if editor.opens_a_window else f" for {clock(time.monotonic() - begun)}"
        how = outcome.fault or f"{editor.name} had {what}{where}{took}"
        self.bench.log.add(LogKind.SESSION, how, subject=subject)
        said = [outcome.fault] if outcome.fault else []
        if opened.why:
            said.append(f"a read-only copy of the record, since {opened.why}")
        elif not at_line and not outcome.fault:
            said.append(f"{editor.name} opens a file at its beginning: this is line {opened.line}")
        elif editor.opens_a_window and not outcome.fault:
            said.append(f"{editor.name} opens the file at line {opened.line}")
        if said:
            self._tell(" · ".join(said))

    def _tell(self, words: str) -> None:
        self.notify(line(words, 500), markup=False)
