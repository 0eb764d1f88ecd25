"""Notices that the file of the open session has grown, or is another one by now."""

from __future__ import annotations

import asyncio
import stat
import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.sessions.lines import count_new_lines
from longjudge_tui.commands import command
from longjudge_tui.wording import plural, size

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session
    from longjudge.sessions.companions import CompanionFiles

LOOK_SECONDS = 1.0
"""How often the file's facts are asked for; its content is read only where it has grown."""

CUT_SECONDS = 1.0
MOST_COUNTED = 64_000_000
"""Of a file that has grown by more than this its new lines are not counted."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Which file it is, how large, and when it was written last."""

    device: int
    number: int
    size: int
    written: int

    def is_same_file(self, other: FileFacts) -> bool:
        """Whether it is the same file, whatever was written to it."""
        return (self.device, self.number) == (other.device, other.number)


class Change(Enum):
    """What has become of a file since it was read."""

    GROWN = "grown"
    REPLACED = "replaced"
    GONE = "gone"


def file_facts(path: Path) -> FileFacts | None:
    """What can be known of a file without reading it; None where there is none."""
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    return FileFacts(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


class Following:
    """Looks at one file about once a second, in a thread: a disk may let one wait.

    `change` is what has become of the file, `more` and `lines` how much it has grown by, `beside`
    by how much the files of its subagents have, those that are new among them. With `by_itself`
    what is new is read without being asked for. Who `asks` is answered once: by the next look.
    """

    def __init__(self) -> None:
        self.by_itself = False
        self.change: Change | None = None
        self.more = 0
        self.lines = 0
        self.beside = 0
        self._path: Path | None = None
        self._companions: CompanionFiles | None = None
        self._read: FileFacts | None = None
        self._by_lines = False
        self._counted = 0
        self._looked = 0.0
        self._task: asyncio.Task[None] | None = None
        self._asked = self._answered = False

    def begin(self, path: Path, read: FileFacts | None, session: Session) -> None:
        """Look at the file of a session from now on; `read` is what it was when it was read."""
        self._path, self._read, self._companions = path, read, session.beside
        # New lines are counted where the records stand one on each line.
        self._by_lines = bool(session.index.records) and session.line(0) is not None
        self.change, self.more, self.lines, self.beside = None, 0, 0, 0
        self._asked = self._answered = False
        self._counted = read.size if read is not None else 0

    def end(self) -> None:
        """Look at no file any more."""
        self._path = self._read = self._companions = self.change = None

    def follow(self) -> None:
        """Look again where that is due; called on every tick of a screen."""
        now = time.monotonic()
        busy = self._task is not None and not self._task.done()
        if self._read is None or busy or now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        self._task = asyncio.create_task(self._look(self._path, self._read))

    def ask(self) -> None:
        """Look at once."""
        self._asked, self._looked = True, 0.0
        self.follow()

    def take_answer(self) -> bool:
        """Whether someone has asked, and there was a look since then."""
        answered, self._answered = self._answered, False
        return answered

    def raise_failure(self) -> None:
        """Raise what the task died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """End what is looked at, for a bounded time."""
        self.end()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CUT_SECONDS)

    @property
    def words(self) -> str:
        """What has become of the file and the key that reads it, empty where nothing has."""
        key = command("read_on").shown
        if self.change is Change.GONE:
            return "the file is gone; what was read of it stays"
        if self.change is Change.REPLACED:
            return f"the file was written anew: {key} reads it again"
        if self.change is Change.GROWN:
            if not self.more:
                return f"{size(self.beside)} more in its subagents' files: {key} reads on"
            lines = f"{plural(self.lines, 'new line')}, " if self.lines else ""
            return f"{lines}{size(self.more)} more in the file: {key} reads on"
        return "reads on by itself" if self.by_itself and self._read is not None else ""

    async def _look(self, path: Path | None, read: FileFacts) -> None:
        if path is None:
            return
        asked, self._asked = self._asked, False
        now = await asyncio.to_thread(file_facts, path)
        change = change_of(read, now)
        lines, counted = self.lines, self._counted
        few = now is not None and now.size - read.size <= MOST_COUNTED
        if change is Change.GROWN and now is not None and few and self._by_lines:
            lines += await asyncio.to_thread(count_new_lines, path, counted, now.size)
            counted = now.size
        companions, beside = self._companions, 0
        if companions is not None and change in (None, Change.GROWN):
            beside = await asyncio.to_thread(companions.growth)
        if self._read is not read:
            # Another file is open by now, or this one was read again.
            return
        self.beside, self._answered = beside, self._answered or asked
        self.change = change or (Change.GROWN if beside else None)
        if change is Change.GROWN and now is not None:
            self.more, self.lines, self._counted = now.size - read.size, lines, counted


def change_of(read: FileFacts, now: FileFacts | None) -> Change | None:
    """What has become of a file since it was read."""
    if now is None:
        return Change.GONE
    if not now.is_same_file(read) or now.size < read.size:
        return Change.REPLACED
    if now.size > read.size:
        return Change.GROWN
    return None if now.written == read.written else Change.REPLACED
