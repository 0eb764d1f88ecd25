"""The newest results of the sessions, from the store and from this process, with their marks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.marks import Mark
from longjudge_tui.library.last import PastResults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.history import Entry
    from longjudge.sessions import SessionFile
    from longjudge.store import Store
    from longjudge_tui.bench.marking import Marking
    from longjudge_tui.library.counting import Facts
    from longjudge_tui.library.last import Last

PAGE = 200
"""Judgments of the past looked through before something else gets a turn."""


class Results:
    """`lasts` has the newest result of each session that has one.

    `ready` says that those of the store are in.
    """

    def __init__(self, store: Store, marking: Marking) -> None:
        self.lasts: dict[SessionFile, Last] = {}
        self._store = store
        self._marking = marking
        self._past: PastResults | None = None
        self._wrong: dict[SessionFile, tuple[Last, int]] = {}
        self._marks_seen = -1

    @property
    def ready(self) -> bool:
        """Whether the store was read."""
        return self._past is not None

    def note(self, file: SessionFile, last: Last, *, told: bool = False) -> None:
        """Take the result of a judgment that has just ended.

        One that was `told` already is as old as it was, where it is the newest.
        """
        before = self.lasts.get(file)
        if not told or before is None or (before.by, before.status) != (last.by, last.status):
            self.lasts[file] = last.after(before)

    def split(self, parts: Sequence[SessionFile]) -> None:
        """Find the results of the sessions of one file."""
        for part in parts:
            last = self._past.of(part, None) if self._past is not None else None
            if last is not None:
                self.lasts[part] = last

    def wrong(self, file: SessionFile) -> int:
        """How many findings of a newest result are marked wrong; every row that is drawn asks."""
        changes = self._marking.changes
        if self._marks_seen != changes:
            self._marks_seen = changes
            self._wrong.clear()
        last, counted = self.lasts.get(file), self._wrong.get(file)
        if last is None:
            return 0
        if counted is None or counted[0] is not last:
            wrong = sum(self._marking.get(key) is Mark.WRONG for key in last.marked_by)
            counted = self._wrong[file] = last, wrong
        return counted[1]

    async def read(
        self,
        files: Sequence[SessionFile],
        facts: Mapping[SessionFile, Facts],
        broken_off: Sequence[Entry] = (),
    ) -> None:
        """Read what the store holds about some sessions, and the runs ended by force since.

        Raises:
            StoreError: it cannot be read.
        """
        self._marking.begin()
        past = PastResults(await self._store.last_judgments(), broken_off)
        await self._match(past, files, facts)
        self._past = past

    async def read_before(
        self, files: Sequence[SessionFile], facts: Mapping[SessionFile, Facts]
    ) -> None:
        """Look for the complete judgments before those that came to no end.

        Raises:
            StoreError: it cannot be read.
        """
        past = self._past
        if past is None:
            return
        wanted = await asyncio.to_thread(past.unfinished, files)
        if not wanted:
            return
        ids = await self._store.judgment_ids()
        for start in range(0, len(ids), PAGE):
            page = ids[start : start + PAGE]
            async for each in self._store.stream_judgments(page, whole=False):
                which = each.real_path, each.session_id
                if which in wanted and past.add_before(each):
                    wanted.discard(which)
            if not wanted:
                break
        await self._match(past, files, facts)

    async def _match(
        self,
        past: PastResults,
        files: Sequence[SessionFile],
        facts: Mapping[SessionFile, Facts],
    ) -> None:
        found = await asyncio.to_thread(past.match, files, dict(facts))
        known = self.lasts
        # What ended here meanwhile is newer than what was read.
        newer = {
            f: last
            for f, last in known.items()
            if f in found and last.recorded and last.created > found[f].created
        }
        for file, last in newer.items():
            found[file] = last.after(found[file])
        self.lasts = known | {file: last.after(known.get(file)) for file, last in found.items()}
