"""Why chunks that a run would ask about are not kept, found out beside the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.text import clean_line
from longjudge.why import TEXT, most_common, new_parts, new_words

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from longjudge.store import Origin, Store
    from longjudge_tui.bench.outlook import Outlook

STANDING_SECONDS = 0.15
"""How long a plan stands before anything is looked up about it: no plan of a drag does."""

NEVER_ASKED = "never asked"


class Reasons:
    """Looks one plan up at a time; `notice` is told what a person has to know.

    `changes` counts how often there was something else to say, so that a screen knows when to
    paint; `summary` says it of the whole plan in a few words, as soon as it is known, and nothing
    where no chunk was ever asked about, which goes without saying.
    """

    def __init__(self, store: Store, notice: Callable[[str], None]) -> None:
        self.summary = ""
        self.changes = 0
        self.task: asyncio.Task[None] | None = None
        self._store = store
        self._notice = notice
        self._words: dict[int, str] = {}

    def of(self, position: int) -> str:
        """Why a chunk is not kept, in a few words; empty where it is, or is not looked up yet."""
        return self._words.get(position, "")

    def begin(self, outlook: Outlook, kept: Container[str], asked: Origin) -> None:
        """Find out about a plan once it has stood for a moment; `asked` is what all keys share."""
        self.end()
        if outlook.totals.to_ask:
            self.task = asyncio.create_task(self._find_out(outlook, kept, asked))

    def end(self) -> None:
        """Say nothing any more."""
        if self.task is not None:
            self.task.cancel()
        if self._words:
            self._words, self.summary = {}, ""
            self.changes += 1

    async def _find_out(self, outlook: Outlook, kept: Container[str], asked: Origin) -> None:
        await asyncio.sleep(STANDING_SECONDS)
        # In threads: a gigabyte is cut into some ten thousand chunks.
        digests = await asyncio.to_thread(_digests, outlook, kept)
        try:
            new = await new_parts(self._store, asked, digests)
        except StoreError as error:
            self._notice(clean_line(str(error), 1000))
            return
        self._words, summary = await asyncio.to_thread(_said, new)
        self.summary = "" if summary == NEVER_ASKED else summary
        self.changes += 1


def _digests(outlook: Outlook, kept: Container[str]) -> dict[int, str]:
    """What the chunks that are not kept say, by position."""
    return {
        position: digest.hex()
        for position, digest in enumerate(outlook.plan.digests())
        if outlook.keys[position] not in kept
    }


def _said(new: Mapping[int, tuple[str, ...]]) -> tuple[dict[int, str], str]:
    """Why each chunk is not kept, and that in a few words."""
    said = {parts: _words(parts) for parts in set(new.values())}
    words = {position: said[parts] for position, parts in new.items()}
    return words, most_common(words.values())


def _words(parts: tuple[str, ...]) -> str:
    """As people read it: a text that no verdict is about was never asked about."""
    return NEVER_ASKED if parts == (TEXT,) else new_words(parts)
