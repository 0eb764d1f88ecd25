"""Who holds something outside the process, and whether that process still lives.

A process is told by host, boot, number and start time, since its number alone is given out again.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BEAT_SECONDS = 5.0
"""How often who holds something says that it still does."""

LOST_SECONDS = 60.0
"""Who has said nothing for so long holds nothing any more."""

_UNKNOWN = ""
_PROC = Path("/proc")
# On Windows the signal that asks is a pressed Ctrl+C.
_ASKING_STOPS = os.name == "nt"
_DEAD, _STOPPED = frozenset("ZXx"), frozenset("Tt")


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. `boot` tells apart the starts of a machine, and containers that number their own.

    `started` is empty where the system does not say when a process began.
    """

    host: str
    boot: str
    pid: int
    started: str

    @property
    def words(self) -> str:
        """For people."""
        return f"pid {self.pid} on {self.host}"


def this_process() -> Owner:
    """Who this process is."""
    return _process(os.getpid())


@lru_cache(maxsize=1)
def _process(pid: int) -> Owner:
    _, started = _stat(pid) or ("", _UNKNOWN)
    return Owner(socket.gethostname(), _boot(), pid, started)


def lives(owner: Owner, beat: float, beat_monotonic: float) -> bool:
    """Whether an owner still holds what it took.

    On this machine the process itself is looked at; `beat_monotonic` is when it last said that it
    is there. Of another machine nothing is known but `beat`, in seconds since 1970.
    """
    here = this_process()
    if (owner.host, owner.boot) != (here.host, here.boot):
        # The same host under another boot has begun anew since, unless it is another container.
        return _is_recent(time.time() - beat)
    silent = not _is_recent(time.monotonic() - beat_monotonic)
    found = _stat(owner.pid)
    if found is None:
        # It may be hidden from this user, or the system says no more than whether it is there.
        return not silent and _answers(owner.pid)
    state, started = found
    if started != owner.started or state in _DEAD:
        return False
    # Whoever is stopped says nothing, and goes on where it was.
    return state in _STOPPED or not silent


def _is_recent(seconds: float) -> bool:
    """Whether a moment so long ago counts; one that is far ahead was said by no living process."""
    return -LOST_SECONDS < seconds < LOST_SECONDS


def _stat(pid: int) -> tuple[str, str] | None:
    """State and start time of a process, as the kernel has them; None where there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The program's name stands in parentheses, and may hold any character.
    fields = text.rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else None


def _answers(pid: int) -> bool:
    """Whether a process of that number exists, where nothing more is known."""
    if _ASKING_STOPS:
        # What it has said must do.
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _boot() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return _UNKNOWN
