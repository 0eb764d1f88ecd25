"""Reads the files of the subagents that a session started into the session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longjudge.errors import LoadCancelledError, NotASessionError, SessionError
from longjudge.sessions.lines import (
    index_lines,
    open_regular,
    read_line_blocks,
    unfinished_line,
)
from longjudge.sessions.sources import NOT_HELD, FilePart
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.gather import Gathering, SessionRows
    from longjudge.sessions.notes import Notes

HELD_OPEN = 32
"""Companions of one session that stay open; a process may hold a few hundred files at most."""


class Companions:
    """Reads companions one after the other; one that cannot be read is named and left out.

    `skipped` counts records of theirs that could not be read. Every file that stays open is added
    to `descriptors`; `tell` is called between slices and may raise to stop.
    """

    def __init__(
        self,
        format_: SessionFormat,
        notes: Notes,
        descriptors: list[int],
        tell: Callable[[], None],
    ) -> None:
        self.skipped = 0
        self._format = format_
        self._notes = notes
        self._descriptors = descriptors
        self._tell = tell

    def read(
        self, path: Path, gathering: Gathering, session: SessionRows, first: int
    ) -> list[FilePart]:
        """Read what belongs to the session at `path`; records are numbered from `first` on.

        Raises:
            LoadCancelledError: `tell` stopped it.
        """
        parts: list[FilePart] = []
        for companion in self._format.companions(path, session):
            name = clean_line(companion.name, 100)
            held = len(self._descriptors)
            try:
                part = self._read_one(companion, gathering, first)
            except LoadCancelledError:
                raise
            except (OSError, SessionError) as error:
                while len(self._descriptors) > held:
                    os.close(self._descriptors.pop())
                fault = error.strerror if isinstance(error, OSError) else str(error)
                self._notes.add(f"the subagent's file {name} was left out: {fault}", None)
                continue
            if part is not None:
                parts.append(part)
                first += len(part.ends)
        return parts

    def _read_one(self, path: Path, gathering: Gathering, first: int) -> FilePart | None:
        descriptor, size = open_regular(path)
        self._descriptors.append(descriptor)
        if not size:
            raise NotASessionError("it is empty")
        ends = index_lines(descriptor, size, self._tell)
        reading = self._format.companion_reader(path).start(
            gathering,
            self._notes.about(clean_line(path.name, 100)),
            base=first,
            unfinished=unfinished_line(descriptor, size, ends),
        )
        for number, lines in read_line_blocks(descriptor, ends):
            reading.read(lines, number)
            self._tell()
        reading.finish()
        self.skipped += reading.skipped
        if not reading.kept or len(self._descriptors) > HELD_OPEN:
            self._descriptors.remove(descriptor)
            os.close(descriptor)
            descriptor = NOT_HELD
        if not reading.kept:
            return None
        return FilePart(
            clean_line(str(path)),
            descriptor,
            self._format,
            None,
            ends,
            size=size,
            first=first,
            path=path,
        )
