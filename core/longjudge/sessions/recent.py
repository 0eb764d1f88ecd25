"""Which sessions are recent: by their last event, else by the time of their file.

A file's own time says little: a checkout makes old sessions new, a restored archive or a copy that
keeps times may make new ones old. So the last event counts, which for most files stands at the end.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.sessions.formats import CLAUDE_CODE, CODEX, GENERIC
from longjudge.sessions.head import read_head
from longjudge.sessions.lines import open_regular, read_range
from longjudge.sessions.recognise import recognise
from longjudge.sessions.records import DECODE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.sessions.find import SessionFile
    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.model import Session

HEAD_BYTES = 1 << 14
MOST_HEAD_BYTES = 1 << 17
HEAD_RECORDS = 3
TAIL_BYTES = 1 << 12
MOST_TAIL_BYTES = 1 << 20

_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]*)?")
_PER_SECOND = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (float("inf"), 1e9))
"""Up to which number a time counts seconds, milliseconds, microseconds, nanoseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Since:
    """Sessions whose last event is no older than `moment`, in seconds since 1970."""

    moment: float

    def holds(self, session: Session, file: SessionFile) -> bool:
        """Whether a session that was read is one of them.

        Its last event is what `ended` says. Where that is no time, the file's is taken.
        """
        ended = moment_of(session.ended) if session.ended else None
        return (file.modified if ended is None else ended) >= self.moment

    def may_hold(self, file: SessionFile) -> bool:
        """Whether a file has to be read to know; False where its sessions are older for sure.

        Read are the first `HEAD_BYTES`, or `MOST_HEAD_BYTES` where no line ends in them, of which
        the first `HEAD_RECORDS` lines have to be of a format that writes one session to a file,
        record after record (Claude Code, Codex, the generic event list), and the last
        `TAIL_BYTES`. False is said only where an event with a time stands there, and every one
        that does is older; where none does, four times as much is read, up to `MOST_TAIL_BYTES`.
        Every other file is True: packed ones, documents, databases, folders, other formats, and
        what cannot be read, so that whoever reads it says why.
        """
        try:
            descriptor, size = open_regular(file.path)
        except (SessionError, OSError):
            return True
        try:
            return self._may_hold(descriptor, size)
        except (*DECODE_ERRORS, SessionError, OSError):
            return True
        finally:
            os.close(descriptor)

    def _may_hold(self, descriptor: int, size: int) -> bool:
        format_ = _format_of(descriptor, size)
        if format_ is None:
            return True
        length = TAIL_BYTES
        while True:
            seen = False
            for time in _times(format_, descriptor, max(0, size - length), size):
                seen, moment = True, moment_of(time)
                if moment is None or moment >= self.moment:
                    return True
            if seen:
                return False
            if length >= min(size, MOST_TAIL_BYTES):
                return True
            length *= 4


def moment_of(time: str) -> float | None:
    """The seconds since 1970 that a session's time stands for; None where it is none.

    RFC 3339 and what is close to it, or a count since 1970 in a unit that its size tells. A time
    without a zone is local or UTC, whichever is later: then nothing recent is taken for old.
    """
    text = time.strip()
    if _NUMBER.fullmatch(text):
        count = float(text)
        return next(count / per for below, per in _PER_SECOND if count < below)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.timestamp()
        return max(moment.timestamp(), moment.replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _format_of(descriptor: int, size: int) -> SessionFormat | None:
    """The format of a file of lines, where its end tells when its only session ended."""
    start = read_range(descriptor, 0, min(size, HEAD_BYTES))
    if b"\n" not in start:
        start += read_range(descriptor, len(start), min(size, MOST_HEAD_BYTES))
    if not start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return None
    lines = start.split(b"\n", HEAD_RECORDS)[:-1]
    head = read_head([(0, lines)], lambda: None)
    if not head:
        return None
    format_ = recognise(head)
    found = [each for each in (CLAUDE_CODE, CODEX, GENERIC) if each is format_]
    return found[0] if found else None


def _times(format_: SessionFormat, descriptor: int, start: int, end: int) -> Iterator[str]:
    """The times of the events in the complete lines of a stretch, the last one first."""
    lines = read_range(descriptor, start, end).split(b"\n")
    for line in reversed(lines[1:] if start else lines):
        if not line:
            continue
        try:
            events = format_.line_events(line)
        except DECODE_ERRORS:
            continue
        for event in reversed(events):
            if event.timestamp:
                yield event.timestamp
