"""Reads on in a file that has grown since it was read: only what is new is read.

This can be done where no later record changes what an earlier one means, and the session has one
thread in one file. Everywhere else the whole file is read again.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LoadCancelledError, SessionError
from longjudge.sessions.columns import joined
from longjudge.sessions.index import extend_index
from longjudge.sessions.lines import BLOCK_BYTES, open_regular, read_range
from longjudge.sessions.model import EventIndex, Session, short_title, text_digest
from longjudge.sessions.records import DECODE_ERRORS
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import Reading, SessionFormat
    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.notes import Notes
    from longjudge.sessions.sources import FilePart

MOST_EVENTS = 1_500_000
"""What reading on needs is not held for a session with more: it may take as much as the index."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What was read of the new end of a file: `events` more in `lines`, up to byte `size`."""

    events: EventIndex
    ends: array[int]
    size: int


class Growth:
    """What reading on needs: who has read the file, and how far.

    `read` is called in a thread and changes nothing that stands; `take` puts what it has read in
    its place. Once either fails nothing more can be read on, and `read` says so by None.
    """

    def __init__(
        self,
        path: Path,
        part: FilePart,
        reading: Reading,
        gathering: Gathering,
        notes: Notes,
    ) -> None:
        self._path = path
        self._part = part
        self._reading = reading
        self._gathering = gathering
        self._notes = notes
        self._usable = True

    @property
    def size(self) -> int:
        """How far the file was read."""
        return self._part.size

    def read(
        self, session: Session, on_progress: Callable[[int, int], bool] = lambda done, total: True
    ) -> Grown | None:
        """Read the complete lines that stand behind what was read.

        None where the file is another one by now, or where what is new does not simply stand
        behind what there is: then all of it has to be read again.

        Raises:
            SessionError: the file cannot be read.
            LoadCancelledError: `on_progress` returned false.
        """
        rows = self._gathering.session().only_main()
        if not self._usable or rows is None:
            return None
        # Whoever stops in the middle has read records that stand nowhere.
        self._usable, torn = False, len(self._notes.torn)
        try:
            descriptor, size = open_regular(self._path)
            try:
                if not self._is_same(descriptor, size, session):
                    return None
                events, ends = rows.go_on(), array("I" if size < 1 << 31 else "Q")
                for lines in _new_lines(descriptor, self.size, size, ends):
                    self._reading.read(lines, len(self._part.ends) + len(ends) - len(lines))
                    if not on_progress(ends[-1], size):
                        raise LoadCancelledError(f"{clean_line(str(self._path))}: stopped")
                self._reading.finish()
            finally:
                os.close(descriptor)
        except OSError as error:
            name = clean_line(str(self._path))
            raise SessionError(f"{name}: cannot be read: {error.strerror}") from error
        # A record that is spread over lines is put together only where all of them are read.
        if len(self._notes.torn) > torn or self._has_companions():
            return None
        # What is new may be the whole of an answer whose beginning was read as an event.
        if rows.rewritten:
            return None
        if self._gathering.session().only_main() is not rows:
            return None
        return Grown(events, ends, ends[-1] if ends else self.size)

    def take(self, grown: Grown, session: Session) -> None:
        """Put what was read behind the events of the session; its chunks are planned anew."""
        index, facts = session.index, self._gathering.session().facts
        extend_index(index, grown.events)
        index.seal_more(grown.events)
        self._part.ends = joined(self._part.ends, grown.ends)
        self._part.size = session.bytes = grown.size
        session.title = short_title(facts.title) or session.title
        session.ended = facts.ended
        session.skipped_lines = self._reading.skipped
        session.diagnostics = self._notes.diagnostics()
        self._usable = True

    def _is_same(self, descriptor: int, size: int, session: Session) -> bool:
        """Whether the file still is the one that was read, with something more behind it."""
        ours, theirs = os.fstat(self._part.descriptor), os.fstat(descriptor)
        if (ours.st_dev, ours.st_ino) != (theirs.st_dev, theirs.st_ino) or size < self.size:
            return False
        if read_range(descriptor, self.size - 1, self.size) != b"\n":
            return False
        return all(self._stands(session, event) for event in (0, len(session.index) - 1))

    def _stands(self, session: Session, event: int) -> bool:
        """Whether the file still has the text of an event; what is held of it says nothing."""
        index = session.index
        try:
            data = session.source.record_bytes(index.records[event])
            events = _format_of(self._part).line_events(data)
            text = events[index.positions[event]].text
        except (*DECODE_ERRORS, IndexError, SessionError):
            return False
        return text_digest(text) == index.digest(event)

    def _has_companions(self) -> bool:
        facts = self._gathering.session().facts
        return bool(_format_of(self._part).companions(self._path, facts.id))


def growth_of(
    path: Path,
    parts: Sequence[FilePart],
    reading: Reading,
    gathering: Gathering,
    notes: Notes,
) -> Growth | None:
    """What reads on in a file of lines that was read once from its beginning to its end.

    None where that is not to be had.
    """
    sessions = gathering.sessions()
    plain = len(parts) == 1 and parts[0].starts is None and gathering.elsewhere is None
    if not plain or len(sessions) != 1 or not reading.goes_on:
        return None
    rows = sessions[0]
    if rows is not gathering.session() or rows.only_main() is None or len(rows) > MOST_EVENTS:
        return None
    return Growth(path, parts[0], reading, gathering, notes)


def _format_of(part: FilePart) -> SessionFormat:
    assert part.format is not None
    return part.format


def _new_lines(descriptor: int, start: int, size: int, ends: array[int]) -> Iterator[list[bytes]]:
    """The complete lines between two places, block by block; where each ends goes to `ends`."""
    length = BLOCK_BYTES
    while start < size:
        data = read_range(descriptor, start, min(size, start + length))
        last = data.rfind(b"\n")
        if last < 0:
            if start + length >= size:
                return
            length *= 2
            continue
        lines = data[:last].split(b"\n")
        for line in lines:
            start += len(line) + 1
            ends.append(start)
        length = BLOCK_BYTES
        yield lines
