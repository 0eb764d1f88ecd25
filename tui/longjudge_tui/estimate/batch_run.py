"""A batch run in a process of its own: begun here, followed, cancelled; it outlives the app.

What it says goes to a log file of its own, so that it can be read when the app is gone, and its
results to a file that has no name: a pipe would break with the app, and the run with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.paths import log_path
from longjudge.streams import tell
from longjudge.text import clean_line
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.estimate.batch_state import BatchState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge_tui.bench.event_log import EventLog
    from longjudge_tui.estimate.batch_command import BatchCommand

LOOK_SECONDS = 0.25
"""How often it is looked at what a run has said."""

CLOSE_SECONDS = 1.0

KEPT_SECONDS = 30 * 86_400
"""Logs of runs stay for about as long as the provider keeps the results of a batch (29 days)."""

MOST_LINES = 200
"""So many lines of a run are taken in at once, so that the screen has its turn."""

_READ_BYTES = 1_000_000
_FILE, _FOLDER = 0o600, 0o700
_APART = (
    subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    if sys.platform == "win32"
    else 0
)


@dataclass(slots=True)
class _Tail:
    """Reads what is added to a file, line by line."""

    descriptor: int
    rest: bytes = b""
    lines: list[bytes] = field(default_factory=list[bytes])

    def read(self) -> list[bytes]:
        """The next whole lines, some at a time."""
        if not self.lines:
            try:
                new = os.read(self.descriptor, _READ_BYTES)
            except OSError:
                new = b""
            *self.lines, self.rest = (self.rest + new).split(b"\n")
        some, self.lines = self.lines[:MOST_LINES], self.lines[MOST_LINES:]
        return some


@dataclass(slots=True)
class _Process:
    process: subprocess.Popen[bytes]
    results: _Tail
    said: _Tail
    log: Path

    def close(self) -> None:
        for tail in (self.results, self.said):
            os.close(tail.descriptor)


class BatchRuns:
    """One run at a time. `state` is that of the last one, None before any.

    `news` grows with every result, for whoever shows what the store has. `notice` is told how a run
    ended.
    """

    def __init__(self, log: EventLog, notice: Callable[[str], None]) -> None:
        self.state: BatchState | None = None
        self.news = 0
        self._log = log
        self._notice = notice
        self._process: _Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._left = asyncio.Event()

    @property
    def running(self) -> bool:
        """Whether a run goes on."""
        return self.state is not None and self.state.running

    @property
    def words(self) -> str:
        """How far the run is that goes on; empty without one."""
        return self.state.words if self.state is not None and self.state.running else ""

    def begin(self, command: BatchCommand) -> None:
        """Start a run.

        Raises:
            OSError: no process could be started, or its log cannot be written.
        """
        self._process = _start(command)
        self.state = BatchState(command.sessions)
        self._log.add(LogKind.RUN, f"a batch run begins: {clean_line(command.typed, 400)}")
        self._task = asyncio.create_task(self._follow(self._process))

    def cancel(self) -> bool:
        """Ask the run to cancel its batches and end; false where none goes on."""
        if not self.running or self.state is None or self._process is None:
            return False
        if not self.state.cancelled:
            self.state = replace(self.state, cancelled=True)
            self._process.process.terminate()
        return True

    def raise_failure(self) -> None:
        """Raise what the task died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """Follow it no more; a run that goes on is left to itself, and that is said."""
        self._left.set()
        if self._task is not None:
            _, late = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
        if self.running and self._process is not None:
            # It is left to itself, and so is its end.
            self._process.process.returncode = 0
            tell(
                f"longjudge: {self.words}: it goes on without the app; what it says is in"
                f" {self._process.log}, `longjudge holds` shows its batches"
            )
        if self._process is not None:
            self._process.close()
            self._process = None

    async def _follow(self, run: _Process) -> None:
        while not self._left.is_set():
            # Asked first: what it said before its end is there then.
            code = run.process.poll()
            more = self._take_in(run)
            if code is not None and not more:
                self._ended(run, code)
                return
            with contextlib.suppress(TimeoutError):
                # Where there is more, everybody else has one turn before it.
                async with asyncio.timeout(0 if more else LOOK_SECONDS):
                    await self._left.wait()

    def _take_in(self, run: _Process) -> bool:
        """Take in some of what was said and printed; whether there was anything."""
        said, results, state = run.said.read(), run.results.read(), self.state
        if state is None:
            return False
        for each in said:
            words = clean_line(each.decode("utf-8", "replace"), 500).removeprefix("longjudge: ")
            if words:
                state = state.with_words(words)
                self._log.add(LogKind.RUN, f"batch run: {words}")
        for each in results:
            state = state.with_result(each)
        self.state = state
        self.news += len(results)
        return bool(said or results)

    def _ended(self, run: _Process, code: int) -> None:
        run.close()
        self._process = None
        if self.state is not None:
            self.state = replace(self.state, code=code)
            self._log.add(LogKind.RUN, self.state.words)
            self._notice(self.state.words)
        self.news += 1


def _start(command: BatchCommand) -> _Process:
    log = _new_log()
    written, results = _nameless()
    try:
        with log.open("ab") as says:
            said = os.open(log, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            # The folder that the app works in is no place to import modules from: -P leaves it out.
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "longjudge", *command.words],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=says,
                start_new_session=True,
                creationflags=_APART,
            )
    finally:
        os.close(written)
    return _Process(process, _Tail(results), _Tail(said), log)


def _new_log() -> Path:
    """A log file for a run; those that are too old go."""
    folder = log_path().with_name("batch-runs")
    folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    now = time.time()
    for old in folder.glob("*.log"):
        with contextlib.suppress(OSError):
            if now - old.stat().st_mtime > KEPT_SECONDS:
                old.unlink()
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    log = folder / name
    os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _FILE))
    return log


def _nameless() -> tuple[int, int]:
    """A file to write to and the same to read from, each where it is by itself."""
    written, name = tempfile.mkstemp(prefix="longjudge-")
    try:
        return written, os.open(name, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    finally:
        # Where a file that is open keeps its name, it keeps it.
        with contextlib.suppress(OSError):
            os.unlink(name)
