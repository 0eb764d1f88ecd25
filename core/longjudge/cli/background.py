"""Work in a process of its own that outlives whoever asked for it: its log, and one at a time."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.paths import begun_path, log_path
from longjudge.streams import MESSAGE_CHARS, tell
from longjudge.text import clean_line

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

MOST_BYTES = 1_000_000
"""A log that is larger is put aside as `.1` before more is written to it."""

_FILE, _FOLDER = 0o600, 0o700
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOSED = getattr(os, "O_CLOEXEC", 0)
_APART = (
    subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    if sys.platform == "win32"
    else 0
)


def hook_log_path() -> Path:
    """Where it is written what hooks did."""
    return log_path().with_name("hook.log")


def note(text: str) -> None:
    """Add a line to the log, without secrets; where that takes none, say it on stderr."""
    from longjudge.redaction import redacted_text

    line = clean_line(redacted_text(text), MESSAGE_CHARS)
    when = time.strftime("%Y-%m-%d %H:%M:%S")
    try:
        log = _open_log()
        try:
            os.write(log, f"{when} [{os.getpid()}] {line}\n".encode("utf-8", "replace"))
        finally:
            os.close(log)
    except (LongjudgeError, OSError):
        tell(f"longjudge: {line}")


def start_longjudge(words: Sequence[str]) -> None:
    """Start `longjudge` with these words; it lives on without this process, and is not waited for.

    What it prints goes to the log.

    Raises:
        OSError: no process could be started, or the log cannot be written.
    """
    log = _open_log()
    try:
        # The folder that the agent works in is no place to import modules from: -P leaves it out.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "longjudge", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            creationflags=_APART,
        )
    finally:
        os.close(log)
    # It is left to itself, and so is its end.
    process.returncode = 0


def _open_log() -> int:
    path = hook_log_path()
    path.parent.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    if _is_full(path):
        with _alone(path.with_name(f"{path.name}.lock")) as alone:
            if alone and _is_full(path):
                path.replace(path.with_name(f"{path.name}.1"))
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CLOSED | _NO_FOLLOW, _FILE)


def _is_full(path: Path) -> bool:
    try:
        return path.stat().st_size > MOST_BYTES
    except FileNotFoundError:
        return False


@dataclass(frozen=True, slots=True)
class Turn:
    """Work about one thing, its `key`, that one process at a time does.

    Whoever asks while it is being done need start nobody: who does it looks once more afterwards.
    """

    key: str

    def ask(self) -> bool:
        """Ask for the work; whether somebody has to be started to do it.

        Raises:
            OSError: the state folder cannot be written.
        """
        self._wanted.parent.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        self._wanted.touch(mode=_FILE)
        with _alone(self._lock) as alone:
            return alone

    def serve(self, work: Callable[[], bool]) -> None:
        """Do the work as often as it was asked for meanwhile, unless another process is at it.

        It ends where the work returns False. No request is missed: what is asked for too late to
        be seen inside is seen once the turn was given back, or finds the turn free.

        Raises:
            OSError: the state folder cannot be written.
        """
        while self._wanted.exists():
            with _alone(self._lock) as alone:
                if not alone:
                    return
                while self._taken():
                    if not work():
                        return

    def _taken(self) -> bool:
        try:
            self._wanted.unlink()
        except FileNotFoundError:
            return False
        return True

    @property
    def _wanted(self) -> Path:
        return self._folder / f"{self.key}.wanted"

    @property
    def _lock(self) -> Path:
        return self._folder / f"{self.key}.lock"

    @property
    def _folder(self) -> Path:
        return begun_path().with_name("hooks")


@contextlib.contextmanager
def _alone(lock: Path) -> Generator[bool]:
    """Whether no other process holds a lock; it is held inside where none does, and then removed.

    Where the system or the folder has no such locks everybody is alone: two that judge the same
    still ask every question once, by their leases.
    """
    if sys.platform == "win32":
        yield True
        return
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _CLOSED | _NO_FOLLOW, _FILE)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:
                pass
            if not _is_same(descriptor, lock):
                # Whoever held it has removed it meanwhile, and another one may be there.
                continue
            try:
                yield True
            finally:
                with contextlib.suppress(FileNotFoundError):
                    lock.unlink()
            return
        finally:
            os.close(descriptor)


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
