"""What reading a session file tells about it; files are read for the rows in sight only."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.errors import LoadCancelledError, SessionError
from longjudge.sessions.loader import load_sessions
from longjudge.text import clean_line
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions import Session, SessionFile

READERS = 2
"""Files read at once: each is a thread that competes with the screen."""

CLOSE_SECONDS = 1.0
_HEAD_BYTES = 64_000
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about one session; with a `fault`, why nothing is.

    `tokens` is an estimate, `bytes` is its size with the files of its subagents, `folder` where the
    agent worked, empty where the file does not say.
    """

    format: str = ""
    id: str = ""
    title: str = ""
    events: int = 0
    tool_calls: int = 0
    threads: int = 0
    tokens: int = 0
    skipped_lines: int = 0
    bytes: int = 0
    folder: str = ""
    fault: str = ""


Counted = list[tuple["SessionFile", Facts]]


@dataclass(frozen=True, slots=True)
class _Reader:
    task: asyncio.Task[None]
    stopped: threading.Event


class Counting:
    """Reads what is wanted now, and stops reading what is wanted no more.

    `facts` holds what was read; a file that was written since is another key. `split` is called
    with the sessions of a file that holds several, `refused` with a file that holds none.
    """

    def __init__(
        self,
        split: Callable[[SessionFile, list[SessionFile]], None],
        refused: Callable[[SessionFile, str], None],
    ) -> None:
        self.facts: dict[SessionFile, Facts] = {}
        self.version = 0
        self._split = split
        self._refused = refused
        self._wanted: list[SessionFile] = []
        self._readers: dict[SessionFile, _Reader] = {}
        self._failure: BaseException | None = None

    @property
    def reading(self) -> set[SessionFile]:
        """The files that are being read."""
        return set(self._readers)

    def want(self, files: Sequence[SessionFile]) -> None:
        """Read these, the first ones first, and no others any more."""
        self._wanted = [file for file in files if file not in self.facts]
        wanted = set(self._wanted)
        for file, reader in self._readers.items():
            if file not in wanted:
                reader.stopped.set()
        self._fill()

    def learn(self, counted: Counted) -> None:
        """Take what somebody else read, or what was read here."""
        self.facts |= counted
        self.version += 1

    def learn_of(self, file: SessionFile, session: Session) -> None:
        """Take what is known of a session that is open: it need not be read a second time."""
        if file not in self.facts and session.siblings == 1:
            self.learn([(file, facts_of(session, _folder(file)))])

    async def sessions_of(self, file: SessionFile) -> list[SessionFile]:
        """Read a file that is known to hold several sessions, and list them.

        Raises:
            SessionError: it cannot be read any more.
        """
        counted = await asyncio.to_thread(count, file, threading.Event())
        self._take(file, counted)
        return [each for each, _ in counted]

    def raise_failure(self) -> None:
        """Raise what a reader died of."""
        if self._failure is not None:
            raise self._failure

    async def aclose(self) -> None:
        """Stop reading, for a bounded time."""
        self._wanted = []
        tasks = {reader.task for reader in self._readers.values()}
        for reader in self._readers.values():
            reader.stopped.set()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()

    def _fill(self) -> None:
        for file in self._wanted:
            if len(self._readers) >= READERS:
                return
            if file not in self._readers and file not in self.facts:
                stopped = threading.Event()
                task = asyncio.create_task(self._read(file, stopped))
                self._readers[file] = _Reader(task, stopped)
                task.add_done_callback(self._ended)

    async def _read(self, file: SessionFile, stopped: threading.Event) -> None:
        try:
            counted = await asyncio.to_thread(count, file, stopped)
        except LoadCancelledError:
            return
        except SessionError as error:
            words = clean_line(fault(str(error), clean_line(str(file.path))), 400)
            self.learn([(file, Facts(fault=words))])
            self._refused(file, words)
            return
        finally:
            self._readers.pop(file, None)
        self._take(file, counted)

    def _take(self, file: SessionFile, counted: Counted) -> None:
        self.learn(counted)
        if len(counted) > 1:
            self._split(file, [each for each, _ in counted])

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            self._failure = self._failure or task.exception()
            self._fill()


def count(file: SessionFile, stopped: threading.Event) -> Counted:
    """Read a file and let go of it; for a thread.

    Raises:
        SessionError: it holds no session, or `stopped` was set.
    """
    sessions = load_sessions(file.path, lambda _done, _total: not stopped.is_set())
    folder = _folder(file)
    try:
        if len(sessions) == 1:
            return [(file, facts_of(sessions[0], folder))]
        return [
            (replace(file, session=each.id, bytes=each.bytes), facts_of(each, folder))
            for each in sessions
            if file.session in (None, each.id)
        ]
    finally:
        for session in sessions:
            session.close()


def facts_of(session: Session, folder: str = "") -> Facts:
    """The facts of a session that is open."""
    index = session.index
    return Facts(
        format=session.format,
        id=session.id,
        title=session.title,
        events=len(index),
        tool_calls=index.tool_calls,
        threads=len(index.threads),
        tokens=index.total_tokens,
        skipped_lines=session.skipped_lines,
        bytes=session.bytes,
        folder=folder,
    )


def _folder(file: SessionFile) -> str:
    """The working folder that the first records name."""
    try:
        with file.path.open("rb") as opened:
            found = _CWD.search(opened.read(_HEAD_BYTES))
        folder = json.loads(found[1]) if found else ""
    except (OSError, ValueError):
        return ""
    return folder if isinstance(folder, str) else ""
