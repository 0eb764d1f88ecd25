"""Keeps the layout across starts: in one small file, read before the screen opens.

A layout is never worth an error: what cannot be read or written is said once, and that is all.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from longjudge_tui.bench.layout import LayoutFault, Layouts, read_layouts, write_layouts
from longjudge_tui.chores import Chores
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 64_000
WRITE_SECONDS = 1.0
CLOSE_SECONDS = 2.0


class KeptLayout:
    """The layouts as they are now; without a `path` they are kept nowhere.

    `notices` are for the screen to show once. Of two windows the one that writes last is right.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.notices: list[str] = []
        self._path = path
        self._layouts = Layouts()
        self._written = self._layouts
        self._due = 0.0
        self._refused = False
        self._writing = False
        self._chores = Chores()

    @property
    def layouts(self) -> Layouts:
        """What stands."""
        return self._layouts

    def change(self, layouts: Layouts) -> None:
        """Have others from now on; `follow` writes them when it is time."""
        self._layouts = layouts

    async def read(self) -> None:
        """Take what was kept; where that cannot be used, the layout is as at first."""
        if self._path is None:
            return
        try:
            text = await asyncio.to_thread(_read, self._path)
            if text is not None:
                self._layouts = self._written = read_layouts(text)
        except OSError as error:
            self._say("read", error.strerror or "")
        except LayoutFault as error:
            self._say("used", str(error))

    def follow(self) -> None:
        """Write what has changed, in the background, at most every second."""
        self._chores.raise_failure()
        now = time.monotonic()
        if self._is_written or self._writing or now < self._due:
            return
        self._due, self._writing = now + WRITE_SECONDS, True
        self._chores.start(self._write())

    async def aclose(self) -> None:
        """Write what is not written yet."""
        await self._chores.finish()
        if not self._is_written:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._write()

    @property
    def _is_written(self) -> bool:
        return self._path is None or self._refused or self._layouts == self._written

    async def _write(self) -> None:
        layouts, path = self._layouts, self._path
        try:
            if path is not None:
                await asyncio.to_thread(_replace, path, write_layouts(layouts))
            self._written = layouts
        except OSError as error:
            # Not tried again: a folder that takes nothing does not take it a second later either.
            self._refused = True
            self._say("kept", error.strerror or "")
        finally:
            self._writing = False

    def _say(self, done: str, why: str) -> None:
        name = self._path.name if self._path is not None else ""
        self.notices.append(f"the layout cannot be {done}: {line(name, 80)}: {line(why, 200)}")


def _read(path: Path) -> bytes | None:
    """What the file holds; None where there is none.

    Raises:
        OSError: it cannot be read, or is no plain file.
        LayoutFault: it is far too long.
    """
    try:
        # Without waiting: a pipe in its place would otherwise be waited for.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise LayoutFault("it is no plain file")
        text = os.read(handle, MOST_BYTES + 1)
    finally:
        os.close(handle)
    if len(text) > MOST_BYTES:
        raise LayoutFault("far too long for a layout")
    return text


def _replace(path: Path, text: bytes) -> None:
    """Write the whole file or nothing of it.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(text)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
