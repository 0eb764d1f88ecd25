"""The log's file: written by a thread of its own, private, and kept small.

Several processes may write to the same file: each opens it anew, adds whole lines at its end, and
closes it again; only who holds the lock beside it puts a full one aside.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
from collections import deque
from threading import Condition, Thread
from typing import TYPE_CHECKING

from longjudge.redaction import redacted_text
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from longjudge_tui.bench.event_log import LogLine

MOST_BYTES = 1_000_000
FILES = 3
"""A full file is put aside as `.1`, the one before as `.2`; what is older goes."""

MOST_WAITING = 10_000
"""So many lines may wait for a disk that takes none; what comes then is counted, and left out."""

REST_SECONDS = 0.25
"""Lines that come in one burst are written together."""

CLOSE_SECONDS = 1.0
LINE_CHARS = 600
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class LogFile:
    """Takes lines from any thread; what a line holds is cleaned, and without secrets, before.

    `trouble` is told once, in the writing thread, why none is kept, and the empty string when the
    file takes them again; how many may be missing stands in the file then.
    """

    def __init__(self, path: Path, trouble: Callable[[str], None]) -> None:
        self.path = path
        self._trouble = trouble
        self._fault = ""
        self._missing = 0
        self._waiting: deque[str] = deque()
        self._left_out = 0
        self._closing = False
        self._changed = Condition()
        self._writer = Thread(target=self._write_on, name="log-file", daemon=True)
        self._writer.start()

    def take(self, line: LogLine) -> None:
        """Write a line of the log."""
        self.write(line.text)

    def write(self, text: str) -> None:
        """Write a line, soon."""
        with self._changed:
            if len(self._waiting) >= MOST_WAITING:
                self._left_out += 1
                return
            self._waiting.append(text)
            self._changed.notify_all()

    def close(self) -> None:
        """Write what waits, for a bounded time, and no more after it."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._writer.join(CLOSE_SECONDS)

    def _write_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                self._changed.wait_for(lambda: self._closing, REST_SECONDS)
                lines, self._waiting = self._waiting, deque()
                left_out, self._left_out = self._left_out, 0
                closing = self._closing
            if left_out:
                lines.append(f"{left_out:,} more lines came faster than they could be written")
            self._write(lines)
            if closing:
                return

    def _write(self, lines: deque[str]) -> None:
        if not lines:
            return
        pid = os.getpid()
        text = "".join(f"[{pid}] {_safe(each)}\n" for each in lines)
        if self._missing:
            # What was written last may end within a line.
            lost = f"up to {self._missing:,} lines are missing here: {self._fault}"
            text = f"\n[{pid}] {_safe(lost)}\n{text}"
        try:
            append(self.path, text.encode("utf-8", "replace"))
        except OSError as error:
            self._missing += len(lines)
            if not self._fault:
                self._fault = _why(error)
                self._trouble(self._fault)
        else:
            if self._fault:
                self._fault, self._missing = "", 0
                self._trouble("")


def _why(error: OSError) -> str:
    """Why nothing is written, in words; the system has odd ones for what is no plain file."""
    if error.errno in (errno.ELOOP, errno.ENXIO):
        return "it is a link or a pipe, and no plain file"
    return error.strerror or str(error)


def _safe(text: str) -> str:
    """One line without secrets that acts on no terminal; a secret must not be cut in two first."""
    return clean_line(redacted_text(text[: 2 * LINE_CHARS]), LINE_CHARS)


def append(path: Path, data: bytes) -> None:
    """Add to the end of a private file, and put it aside first where it is full.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    _put_aside(path, len(data))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, PRIVATE_FILE)
    try:
        os.fchmod(descriptor, PRIVATE_FILE)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def _put_aside(path: Path, more: int) -> None:
    """Let a full file be the one before; whoever is doing so already is left to it."""
    if not _is_full(path, more):
        return
    with _sole(path.with_name(f"{path.name}.lock")) as alone:
        if not alone or not _is_full(path, more):
            return
        for number in range(FILES - 1, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            newer = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
            with contextlib.suppress(FileNotFoundError):
                newer.replace(older)


def _is_full(path: Path, more: int) -> bool:
    try:
        held = path.stat().st_size
    except FileNotFoundError:
        return False
    return held > 0 and held + more > MOST_BYTES


@contextlib.contextmanager
def _sole(lock: Path) -> Generator[bool]:
    """Whether nobody else holds a lock now; it is held inside where nobody does."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(lock, flags, PRIVATE_FILE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


class LogHandler(logging.Handler):
    """Takes what modules log: ours as it is said, of others no more than that they warn.

    What other packages put into a message may be a whole request, so that only its form is kept,
    and of that the first line: some have put together all of it themselves.
    """

    def __init__(self, write: Callable[[str, str], None]) -> None:
        super().__init__(logging.INFO)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; called in whatever thread logs."""
        ours = record.name.partition(".")[0] in ("longjudge", "longjudge_tui")
        if not ours and record.levelno < logging.WARNING:
            return
        try:
            words = record.getMessage() if ours else str(record.msg).partition("\n")[0]
        except (TypeError, ValueError):
            words = str(record.msg)
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        self._write(record.name, level + words)


@contextlib.contextmanager
def python_logs(write: Callable[[str, str], None]) -> Generator[None]:
    """Inside, what Python's own logging is told goes to `write` and never to a stream.

    `write` is called in any thread, with the logger's name and the words.
    """
    handler, ours, root = LogHandler(write), logging.getLogger("longjudge"), logging.getLogger()
    level = ours.level
    ours.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(level)
