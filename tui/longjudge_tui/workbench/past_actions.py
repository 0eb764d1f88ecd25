"""What the workbench does with judgments of the past: list them, show one again, report on one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual.screen import Screen

from longjudge.errors import LongjudgeError, StoreError
from longjudge.sessions import SessionFile, find_sessions
from longjudge.store import real_path
from longjudge_tui.bench.going_on import SAVED
from longjudge_tui.bench.reporting import report_now
from longjudge_tui.clipboard import save, shown_path
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.history import Entry
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.chores import Chores
    from longjudge_tui.past.screen import Subject


class PastActions(Screen[None]):
    """The part of the workbench that looks back; what it shows is the bench's own."""

    bench: Bench
    _chores: Chores
    _awaited: Entry | None = None

    def leave_field(self) -> bool:
        """Take what is typed in a field; False where it was refused."""
        raise NotImplementedError

    def tick(self) -> None:
        """Paint what changed."""
        raise NotImplementedError

    def action_show_past(self) -> None:
        """List the judgments of this session, and of all."""
        # Loaded when it is first opened, so that the app starts sooner.
        from longjudge_tui.past.screen import PastScreen

        self.leave_field()
        screen = PastScreen(self.bench, _subject(self.bench))

        def closed(_: None) -> None:
            if screen.chosen is not None:
                self.recall(screen.chosen)

        self.app.push_screen(screen, closed)  # pyright: ignore[reportUnknownMemberType]

    def recall(self, entry: Entry) -> None:
        """Have a judgment stand again, once its session is open."""
        bench = self.bench
        if bench.running:
            self._tell("a judgment is in flight: cancel it (x) first")
        elif bench.loading is None and _is_of(entry, bench):
            self._chores.start(self._recall(entry))
        else:
            self._chores.start(self._open(entry))

    def follow_past(self) -> None:
        """Go on once the session is there; called on every tick."""
        entry, bench = self._awaited, self.bench
        if entry is None or bench.loading is not None:
            return
        self._awaited = None
        if _is_of(entry, bench):
            self._chores.start(self._recall(entry))

    async def _open(self, entry: Entry) -> None:
        bench = self.bench
        file = await asyncio.to_thread(_file_of, entry, list(bench.files))
        if file is None:
            self._tell(f"{entry.real_path or entry.path}: the file is not there any more")
        elif bench.show(file):
            self._awaited = entry

    async def _recall(self, entry: Entry) -> None:
        try:
            await self.bench.recall(entry)
        except LongjudgeError as error:
            self._tell(f"it cannot be shown: {error}")
        self.tick()

    def action_save_report(self) -> None:
        """Save the report of what stands here."""
        self.leave_field()
        self._chores.start(self._save_report())

    async def _save_report(self) -> None:
        try:
            report = await report_now(self.bench)
        except StoreError as error:
            self._tell(str(error))
            return
        if report is None:
            self._tell("nothing is judged here yet: there is nothing to report")
            return
        try:
            path = await asyncio.to_thread(save, report.text, report.name)
        except OSError as error:
            self._tell(f"not saved: {error.strerror}")
            return
        # A message would lie over the path, which stays as long as the result does.
        self.bench.remark = f"{SAVED}{shown_path(path)}"
        self.tick()

    def _tell(self, words: str) -> None:
        self.notify(line(words, 1_000), markup=False)


def _subject(bench: Bench) -> Subject | None:
    """The open session; of one that is still being read, what is known of its file."""
    from longjudge_tui.past.screen import Subject as Meant

    session, loading = bench.session, bench.loading
    if loading is not None:
        file = loading.file
        return Meant(real_path(file.path), file.session, file.path.name, open=False)
    if session is None or session.path is None:
        return None
    name = session.title or session.path.name
    return Meant(real_path(session.path), session.id, name, open=True)


def _is_of(entry: Entry, bench: Bench) -> bool:
    """Whether the open session is the one of a judgment, or a copy of it in another place."""
    session = bench.session
    if session is None or session.id != entry.session_id:
        return False
    same = (session.format, session.title) == (entry.format, entry.title)
    return same or real_path(session.path) == entry.real_path


def _file_of(entry: Entry, files: Sequence[SessionFile]) -> SessionFile | None:
    """The file of a judgment's session, one of those that are listed where it is; for a thread."""
    path = Path(entry.real_path)
    for file in files:
        here = file.session in (None, entry.session_id) and file.path.name == path.name
        if here and real_path(file.path) == entry.real_path:
            return file
    try:
        if not entry.real_path or not path.exists():
            return None
    except (OSError, ValueError):
        return None
    [found] = find_sessions([path])[:1] or [None]
    if found is None:
        return None
    return SessionFile(found.path, found.named, found.bytes, found.modified, entry.session_id)
