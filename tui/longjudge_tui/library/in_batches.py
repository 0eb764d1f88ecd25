"""Which questions are in batches already, as far as the library has to know it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.store.batches import live_batches, open_items
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from longjudge.store import Store


class InBatches:
    """`keys` are those of the questions without an answer, as of the last look.

    They are replaced by others, so that a thread may read them.
    """

    def __init__(self, store: Store) -> None:
        self.keys: frozenset[str] = frozenset()
        self._store = store

    async def look(self) -> bool:
        """Read them; whether they are others than before."""
        before = self.keys
        # A store that cannot be read says so elsewhere.
        with contextlib.suppress(StoreError):
            found: set[str] = set()
            for batch in await live_batches(self._store):
                found |= (await open_items(self._store, batch.id)).keys()
            self.keys = frozenset(found)
        return self.keys != before


def left_out_words(count: int) -> str:
    """What of a question is not asked, in a line of its own; empty where that is nothing."""
    if not count:
        return ""
    are = "is" if count == 1 else "are"
    return f"\n{plural(count, 'question')} more {are} in a batch already, not asked again"


def all_out_words(count: int) -> str:
    """Why nothing is asked where all that has no verdict is in batches."""
    if count == 1:
        return "all of it is in a batch already: 1 question, not asked again"
    return f"all of it is in a batch already: {count:,} questions, not asked again"
