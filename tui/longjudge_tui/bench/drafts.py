"""Texts that were typed and not saved yet, kept aside so that no crash takes them along.

Every window writes a file of its own, so that none overwrites what another has typed. What a
window left that does not live any more is taken over by the next one that opens the same rubric.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from longjudge.owner import Owner, lives, this_process
from longjudge.text import clean, clean_line

if TYPE_CHECKING:
    from pathlib import Path

EVERY_SECONDS = 0.5
"""Between two writes of a text that is being typed."""

AGAIN_SECONDS = 5.0
"""Between two tries where nothing can be written."""

MOST_DRAFTS = 20
_MOST_BYTES = 400_000
_CLOSE_SECONDS = 2.0


class _Row(msgspec.Struct, frozen=True):
    name: str
    text: str
    written: float
    host: str
    boot: str
    pid: int
    started: str
    over: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that somebody typed; `elsewhere` while the window it was typed in is open still.

    `here` says that it was typed in this one. `over` tells which text it was typed over, as
    `text_mark` does.
    """

    path: Path
    text: str
    written: float
    elsewhere: bool
    over: str = ""
    here: bool = False


def text_mark(text: str) -> str:
    """What a text is told from others by."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def any_drafts(folder: Path) -> bool:
    """Whether there is a draft of anything. Blocks."""
    try:
        return any(folder.glob("*.json"))
    except OSError:
        return False


def read_drafts(folder: Path, key: str) -> list[Draft]:
    """The drafts of a rubric, newest first; what does not read as one is left alone. Blocks."""
    found: list[Draft] = []
    try:
        paths = sorted(folder.glob(f"{key}.*.json"), key=_changed, reverse=True)[:MOST_DRAFTS]
    except OSError:
        return []
    here = this_process()
    for path in paths:
        try:
            if path.stat().st_size > _MOST_BYTES:
                continue
            row = msgspec.json.decode(path.read_bytes(), type=_Row)
        except (OSError, ValueError, RecursionError):
            continue
        owner = Owner(row.host, row.boot, row.pid, row.started)
        # The process itself is looked at: whoever reads for an hour has typed nothing, and lives.
        elsewhere = owner != here and lives(owner, row.written, time.monotonic())
        if clean(row.text) == row.text:
            found.append(Draft(path, row.text, row.written, elsewhere, row.over, owner == here))
    return sorted(found, key=lambda draft: -draft.written)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class DraftKeeper:
    """Keeps what is typed in one window; `problem` says why that cannot be, empty while it can.

    `follow` is told the text about ten times a second, or None where it is as saved: then there is
    no draft. `ousted` are drafts that this window has taken over, gone once its own is written.
    `over` is the mark of the text that is typed over.
    """

    def __init__(self, folder: Path, key: str, name: str, over: str = "") -> None:
        self.problem = ""
        self.over = over
        self.path = folder / f"{key}.{uuid4().hex[:12]}.json"
        self._name = name
        self._written: str | None = None
        self._wanted: str | None = None
        self._ousted: list[Path] = []
        self._next = 0.0
        self._task: asyncio.Task[None] | None = None

    def take_over(self, draft: Draft) -> None:
        """Be the keeper of a draft that a window left."""
        self._ousted.append(draft.path)

    def follow(self, text: str | None) -> None:
        """Write a text, or take the draft away, where that is due."""
        self._wanted = text
        if self._in_flight or not self._behind or time.monotonic() < self._next:
            return
        self._task = asyncio.create_task(self._write())

    async def flush(self) -> None:
        """Write what is not written yet, for a bounded time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                if self._task is not None:
                    await self._task
                if self._behind:
                    await self._write()

    def raise_failure(self) -> None:
        """Raise what the writing died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    @property
    def is_written(self) -> bool:
        """Whether the draft is what was told last."""
        return not self._behind

    @property
    def _in_flight(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def _behind(self) -> bool:
        return self._wanted != self._written or (self._wanted is None and bool(self._ousted))

    async def _write(self) -> None:
        text, ousted = self._wanted, tuple(self._ousted)
        try:
            await asyncio.to_thread(self._put, text, ousted)
        except OSError as error:
            folder = clean_line(os.fspath(self.path.parent), 80)
            self.problem = f"drafts cannot be kept ({error.strerror}), save often: {folder}"
            self._next = time.monotonic() + AGAIN_SECONDS
        else:
            self.problem, self._written = "", text
            self._ousted = [each for each in self._ousted if each not in ousted]
            self._next = time.monotonic() + EVERY_SECONDS

    def _put(self, text: str | None, ousted: tuple[Path, ...]) -> None:
        if text is None:
            self.path.unlink(missing_ok=True)
        else:
            self._put_text(text)
        for each in ousted:
            each.unlink(missing_ok=True)

    def _put_text(self, text: str) -> None:
        owner = this_process()
        row = _Row(
            self._name,
            text,
            time.time(),
            owner.host,
            owner.boot,
            owner.pid,
            owner.started,
            self.over,
        )
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.path.with_suffix(".part")
        descriptor = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.encode(row))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
