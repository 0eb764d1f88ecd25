"""Reads the files of the subagents that a session started into the session."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from longjudge.errors import LoadCancelledError, NotASessionError, SessionError
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.given import FileRecords
from longjudge.sessions.joining import join_torn, note_joined, torn_lines
from longjudge.sessions.lines import (
    index_lines,
    open_regular,
    read_line_blocks,
    unfinished_line,
)
from longjudge.sessions.sources import NOT_HELD, FilePart
from longjudge.sessions.thread_telling import ThreadTelling
from longjudge.text import clean_line

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import SessionFormat
    from longjudge.sessions.formats.retold import RetoldFormat
    from longjudge.sessions.gather import Gathering, SessionRows
    from longjudge.sessions.notes import Notes
    from longjudge.sessions.retelling import Retelling

HELD_OPEN = 32
"""Companions of one session that stay open; a process may hold a few hundred files at most."""


@dataclass(frozen=True, slots=True)
class Companion:
    """A companion that was opened: where its lines end, and the number of its first record."""

    path: Path
    descriptor: int
    ends: array[int]
    first: int
    unfinished: int | None
    notes: Notes
    tell: Callable[[], None]


class CompanionReader(Protocol):
    """Reads one companion into its session."""

    format: SessionFormat | None

    def read(self, companion: Companion) -> tuple[int, int]:
        """How many events were kept, and how many records could not be read."""
        ...


class IndexedCompanions:
    """Companions of a format whose records are decoded again whenever a body is wanted."""

    def __init__(self, format_: SessionFormat, gathering: Gathering) -> None:
        self.format: SessionFormat | None = format_
        self._reader = format_.companion_reader
        self._gathering = gathering

    def read(self, companion: Companion) -> tuple[int, int]:
        """Index the records of one."""
        reading = self._reader(companion.path).start(
            self._gathering,
            companion.notes,
            base=companion.first,
            unfinished=companion.unfinished,
        )
        for number, lines in read_line_blocks(companion.descriptor, companion.ends):
            reading.read(lines, number)
            companion.tell()
        reading.finish()
        return reading.kept, reading.skipped


class RetoldCompanions:
    """Companions of a retold format: each is told by itself, as one thread of the session."""

    format: SessionFormat | None = None

    def __init__(self, format_: RetoldFormat, telling: Retelling, session: SessionRows) -> None:
        self._format = format_
        self._telling = telling
        self._session = session

    def read(self, companion: Companion) -> tuple[int, int]:
        """Tell the events of one; when the session ended is for its own file to say."""
        records = FileRecords(
            companion.descriptor,
            None,
            companion.ends,
            [],
            notes=companion.notes,
            unfinished=companion.unfinished,
            tell=lambda _: companion.tell(),
        )
        name = self._format.companion_thread(companion.path)
        if name == MAIN_THREAD:
            name = companion.path.name
        telling = ThreadTelling(self._telling, companion.notes, name, companion.first)
        ended = self._session.facts.ended
        try:
            self._format.retell(records, {}, telling)
        except LoadCancelledError:
            raise
        except (OSError, SessionError) as error:
            if not telling.told:
                raise
            companion.notes.add(f"not read to its end: {_fault(error)}", None)
        self._session.facts.ended = ended
        return telling.told, records.skipped + telling.skipped


class CompanionFiles:
    """The companions of a session as files: which `find` gives, and how long each was when read."""

    def __init__(self, find: Callable[[], Sequence[Path]]) -> None:
        self._find = find
        self._read: dict[Path, int] = {}

    def note(self, path: Path) -> None:
        """One is read now, whatever comes of it."""
        self._read[path] = _length(path)

    def growth(self) -> int:
        """By how many bytes there is more in them by now, those among them that are new."""
        return sum(max(0, _length(path) - self._read.get(path, 0)) for path in self._find())


class Companions:
    """Reads companions one after the other; one that cannot be read is named and left out.

    `files` tells later whether there is more of them, None where none were looked for. `skipped`
    counts records of theirs that could not be read. Every file that stays open is added to
    `descriptors`; `tell` is called between slices and may raise to stop.
    """

    def __init__(self, notes: Notes, descriptors: list[int], tell: Callable[[], None]) -> None:
        self.files: CompanionFiles | None = None
        self.skipped = 0
        self._notes = notes
        self._descriptors = descriptors
        self._tell = tell

    def read(
        self, find: Callable[[], Sequence[Path]], reader: CompanionReader, first: int
    ) -> list[FilePart]:
        """Read the files that `find` gives; records are numbered from `first` on.

        Raises:
            LoadCancelledError: `tell` stopped it.
        """
        parts: list[FilePart] = []
        self.files = files = CompanionFiles(find)
        for companion in find():
            name = clean_line(companion.name, 100)
            files.note(companion)
            held = len(self._descriptors)
            try:
                part = self._read_one(companion, reader, first)
            except LoadCancelledError:
                raise
            except (OSError, SessionError) as error:
                while len(self._descriptors) > held:
                    os.close(self._descriptors.pop())
                words = f"the subagent's file {name} was left out: {_fault(error)}"
                self._notes.add(words, None)
                continue
            if part is not None:
                parts.append(part)
                first += len(part.ends)
        return parts

    def _read_one(self, path: Path, reader: CompanionReader, first: int) -> FilePart | None:
        descriptor, size = open_regular(path)
        self._descriptors.append(descriptor)
        if not size:
            raise NotASessionError("it is empty")
        ends = index_lines(descriptor, size, self._tell)
        notes = self._notes.about(clean_line(path.name, 100))
        note_joined(notes, join_torn(descriptor, ends, torn_lines(descriptor, ends)))
        unfinished = unfinished_line(descriptor, size, ends)
        companion = Companion(path, descriptor, ends, first, unfinished, notes, self._tell)
        kept, skipped = reader.read(companion)
        self.skipped += skipped
        if not kept or len(self._descriptors) > HELD_OPEN:
            self._descriptors.remove(descriptor)
            os.close(descriptor)
            descriptor = NOT_HELD
        if not kept:
            return None
        return FilePart(
            clean_line(str(path)),
            descriptor,
            reader.format,
            None,
            ends,
            size=size,
            first=first,
            path=path,
        )


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def _fault(error: OSError | SessionError) -> str:
    return error.strerror or "unknown" if isinstance(error, OSError) else str(error)
