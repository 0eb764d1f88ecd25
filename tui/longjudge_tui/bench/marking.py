"""The marks that a person gave to findings: shown once they are kept, and not before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.marks import Mark
from longjudge.text import clean_line
from longjudge_tui.chores import Chores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longjudge.store import Store

MarkKey = tuple[bytes, str]
"""What a mark belongs to: the digest of the event's text (else the chunk's), and the criterion."""

MARK_WORDS: dict[Mark, str] = {Mark.RIGHT: "✔ right", Mark.WRONG: "✘ wrong"}
MARK_LOOKS: dict[Mark, str] = {Mark.RIGHT: "clean", Mark.WRONG: "gap"}


class Marking:
    """Marks of the store, in memory. `notice` is told what a person has to know.

    `changes` counts what was changed, so that a screen knows when to paint.
    """

    def __init__(self, store: Store, notice: Callable[[str], None]) -> None:
        self._store = store
        self._notice = notice
        self._marks: dict[MarkKey, Mark] = {}
        self._chores = Chores()
        self._turn = asyncio.Lock()
        self._begun = False
        self.changes = 0

    def begin(self) -> None:
        """Read the marks of the store, once."""
        if not self._begun:
            self._begun = True
            self._chores.start(self._load())

    def read_again(self) -> None:
        """Take in what was marked elsewhere."""
        self._begun = True
        self._chores.start(self._load())

    def get(self, key: MarkKey) -> Mark | None:
        """The mark that is kept."""
        return self._marks.get(key)

    @property
    def marks(self) -> Mapping[MarkKey, Mark]:
        """All that are kept, as they stand now."""
        return dict(self._marks)

    def toggle(self, key: MarkKey, mark: Mark) -> None:
        """Set a mark, or take it away where it stands; it shows once it is kept."""
        self.begin()
        self._chores.start(self._toggle(key, mark))

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self._chores.raise_failure()

    async def aclose(self) -> None:
        """Let the marks on their way be kept, for a bounded time."""
        await self._chores.finish()

    async def _load(self) -> None:
        async with self._turn:
            try:
                self._marks = dict(await self._store.marks())
            except StoreError as error:
                self._notice(f"marks cannot be read: {clean_line(str(error), 500)}")
            self.changes += 1

    async def _toggle(self, key: MarkKey, mark: Mark) -> None:
        # One at a time: a second press has to see what became of the first.
        async with self._turn:
            wanted = None if self._marks.get(key) is mark else mark
            try:
                await self._store.set_mark(*key, wanted)
            except StoreError as error:
                self._notice(f"the mark is not kept: {clean_line(str(error), 500)}")
                return
            if wanted is None:
                self._marks.pop(key, None)
            else:
                self._marks[key] = wanted
            self.changes += 1
