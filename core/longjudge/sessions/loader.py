"""From a path to the sessions in the file.

Loading blocks, so callers run it in a thread. It works in small slices, between which it tells its
progress and may be stopped, and no step holds the interpreter for a whole JSONL file.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING

from longjudge.errors import (
    CopiedSessionError,
    LoadCancelledError,
    NotASessionError,
    SessionError,
)
from longjudge.sessions.archives import SeveralFilesError, load_members
from longjudge.sessions.choosing import choose_session
from longjudge.sessions.companions import Companions, IndexedCompanions, RetoldCompanions
from longjudge.sessions.documents import WRAPPERS, Document, read_document
from longjudge.sessions.finished import finished_sessions, no_event
from longjudge.sessions.formats import retold_formats
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import Gathering
from longjudge.sessions.given import FileRecords
from longjudge.sessions.growing import growth_of
from longjudge.sessions.head import (
    HEAD_BYTES,
    first_spans,
    read_head,
    refuse_text,
)
from longjudge.sessions.inner_lists import split_large
from longjudge.sessions.joining import join_torn, note_joined
from longjudge.sessions.lines import (
    index_lines,
    read_line_blocks,
    read_range,
    read_record,
    read_span_blocks,
    refuse_oversized,
    refuse_shortened,
    unfinished_line,
)
from longjudge.sessions.notes import Notes
from longjudge.sessions.recognise import (
    is_surely,
    recognise,
    recognise_enveloped,
    recognise_other,
)
from longjudge.sessions.record_lines import lines_of_records
from longjudge.sessions.refusals import refuse_by_first_bytes
from longjudge.sessions.retelling import Retelling, RetoldSource, Spool
from longjudge.sessions.scanning import Scanner
from longjudge.sessions.sources import FilePart, FileSource
from longjudge.sessions.unpack import FIRST_BYTES, open_plain
from longjudge.text import clean_line

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import Reading, SessionFormat, SessionReader
    from longjudge.sessions.model import Session

    ProgressListener = Callable[[int, int], bool]

_PROGRESS_SECONDS = 0.05


def load_sessions(
    path: Path,
    on_progress: ProgressListener | None = None,
    read_before: set[int] | None = None,
) -> list[Session]:
    """Read every session of a file, with the files of the subagents that a session started.

    Args:
        path: a file; its format is recognised by its content.
        on_progress: called with (bytes done, bytes in all) about every 50 ms; false stops.
        read_before: what `Copies` knows of files that begin alike; those events are left out.

    Raises:
        CopiedSessionError: nothing is left of the file then.
        NotASessionError: the file holds no session that can be read.
        SessionError: the file cannot be read.
        LoadCancelledError: `on_progress` returned false.
    """

    def load(member: str | None) -> list[Session]:
        return _load(path, on_progress, read_before, member)

    try:
        return load(None)
    except SeveralFilesError as error:
        return load_members(clean_line(str(path)), error, load)


def _load(
    path: Path,
    on_progress: ProgressListener | None,
    read_before: set[int] | None,
    member: str | None,
) -> list[Session]:
    name = clean_line(str(path))
    descriptors: list[int] = []
    try:
        return _FileLoad(path, name, descriptors, on_progress, read_before, member).load()
    except BaseException as error:
        for descriptor in descriptors:
            os.close(descriptor)
        told_apart = isinstance(error, SeveralFilesError | LoadCancelledError)
        if isinstance(error, SessionError) and not told_apart and not str(error).startswith(name):
            raise type(error)(f"{name}: {error}") from None
        if isinstance(error, OSError):
            raise SessionError(f"{name}: cannot be read: {error.strerror}") from error
        if isinstance(error, MemoryError):
            raise SessionError(
                f"{name}: too large for the memory of this computer; split it into smaller files"
            ) from error
        raise


def load_session(
    path: Path, on_progress: ProgressListener | None = None, session: str | None = None
) -> Session:
    """Read the session of a file, or the one with an id in a file with many.

    Raises:
        SessionError: as for `load_sessions`; also where the file holds several sessions and none
            was named, or none has the id.
    """
    return choose_session(load_sessions(path, on_progress), session)


class _FileLoad:
    """The steps of reading one file; every file it opens is added to `descriptors`."""

    def __init__(
        self,
        path: Path,
        name: str,
        descriptors: list[int],
        on_progress: ProgressListener | None,
        read_before: set[int] | None,
        member: str | None,
    ) -> None:
        self._path = path
        self._read_before = read_before
        self._name = name
        self._stem = PurePosixPath(member).stem if member else path.stem
        self._descriptors = descriptors
        self._on_progress = on_progress
        self._told = 0.0
        # Most formats look at the same elements of a document.
        self._heads: dict[tuple[tuple[int, int], ...], list[dict[str, object]]] = {}
        self._size = 1
        self._plain = open_plain(path, lambda: self._tell(0), member)
        self._descriptor, self._size = self._plain.descriptor, self._plain.size
        descriptors.append(self._descriptor)
        inside = self._plain.inside
        self._shown = f"{name}/{clean_line(inside, 200)}" if inside else name

    def load(self) -> list[Session]:
        plain = self._plain
        if plain.starts is not None and plain.ends is not None:
            unpacked = Document(plain.starts, plain.ends, plain.around, wrapper=None)
            return self._load_document(unpacked)
        refuse_by_first_bytes(read_range(self._descriptor, 0, min(self._size, FIRST_BYTES)))
        lists = {*WRAPPERS, *(name for each in retold_formats() for name in each.lists)}
        document = read_document(self._descriptor, self._size, lists, lambda: self._tell(0))
        if document is None:
            return self._load_lines()
        inner = {name: each.inner for each in retold_formats() if each.inner for name in each.lists}
        scanner = Scanner(self._descriptor, self._size, lambda: self._tell(0))
        return self._load_document(split_large(document, inner, scanner))

    def _load_lines(self) -> list[Session]:
        lines = index_lines(self._descriptor, self._size, lambda: self._tell(0))
        head = read_head(read_line_blocks(self._descriptor, lines), lambda: self._tell(0))
        if not head:
            refuse_text(self._descriptor, self._size)
        format_ = recognise(head, len(lines))
        if isinstance(format_, RetoldFormat):
            return self._retell(format_, lines, None)
        return self._index(format_, lines, None)

    def _load_document(self, document: Document) -> list[Session]:
        first = document.first(WRAPPERS, self._size)
        around = first.around
        head = self._document_head(first)
        if not head:
            refuse_oversized(first.ends[0] - first.starts[0])
            refuse_text(self._descriptor, self._size)
        format_ = recognise_enveloped(head, around)
        if format_ is None:
            for retold in retold_formats():
                spans = document.select(retold.lists, self._size)
                beside = None if spans.whole else spans.around or None
                if is_surely(retold, self._document_head(spans), beside):
                    return self._retell(retold, spans.ends, spans)
            if first.whole and document.is_line:
                return self._load_lines()
            format_ = recognise_other(head, around, len(first.starts))
        spans = first.with_entries(format_.before, format_.after)
        return self._index(format_, spans.ends, spans)

    def _document_head(self, document: Document) -> list[dict[str, object]]:
        """The first elements; of a large document that is one element, what is known already."""
        if document.whole and self._size > HEAD_BYTES:
            return [document.around]
        spans = tuple(first_spans(document.starts, document.ends))
        if spans not in self._heads:
            lines = [read_record(self._descriptor, *span) for span in spans]
            self._heads[spans] = read_head([(0, lines)], lambda: self._tell(0))
        return self._heads[spans]

    def _retell(
        self,
        format_: RetoldFormat,
        ends: array[int],
        document: Document | None,
        joined: Sequence[int] = (),
    ) -> list[Session]:
        self._heads.clear()
        if document is not None and document.whole:
            refuse_oversized(self._size)
        notes, spool = self._notes(document.starts if document else None), Spool()
        try:
            gathering = Gathering(notes)
            telling = Retelling(gathering, notes, spool)
            records = FileRecords(
                self._descriptor,
                document.starts if document else None,
                ends,
                document.runs if document else [],
                notes=notes,
                unfinished=self._plain.unfinished if document else self._unfinished(ends),
                tell=self._tell,
            )
            around = document.around if document else {}
            format_.retell(records, around, telling)
            if document is None and not joined:
                found = join_torn(self._descriptor, ends, notes.torn)
                if found:
                    spool.close()
                    return self._retell(format_, ends, document, found)
            note_joined(notes, joined)
            more = Companions(notes, self._descriptors, self._tell_size)
            others: list[FilePart] = []
            if gathering.sessions() == [only := gathering.session()]:
                find = partial(format_.companions, self._path, only.facts.id)
                others = more.read(find, RetoldCompanions(format_, telling, only), len(ends))
            telling.finish()
            skipped = records.skipped + telling.skipped + more.skipped
            skipped += self._note_fault(document, notes)
            if not len(gathering):
                raise NotASessionError(no_event(notes))
            starts = document.starts if document else None
            part = FilePart(self._shown, self._descriptor, None, starts, ends, self._plain.bytes)
            lines = self._plain.lines
            # From here on the sources own the files.
            self._descriptors.clear()
            sessions = finished_sessions(
                self._path,
                self._stem,
                gathering.sessions(),
                lambda: RetoldSource(spool, part, lines, others, records.checksums),
                format_=format_.name,
                size=sum(each.size for each in (part, *others)),
                notes=notes,
                skipped=skipped,
                around=around,
            )
            sessions[0].beside = more.files
            return sessions
        except BaseException:
            spool.close()
            raise

    def _index(
        self, format_: SessionFormat, ends: array[int], document: Document | None
    ) -> list[Session]:
        self._heads.clear()
        starts = document.starts if document else None
        first, *others = format_.readings()
        reading, gathering, notes = self._pass(first, starts, ends)
        for reader in others:
            if len(gathering) or gathering.copied:
                break
            reading, gathering, notes = self._pass(reader, starts, ends)
        skipped = reading.skipped + self._note_fault(document, notes)
        if not len(gathering) and not gathering.copied:
            raise NotASessionError(no_event(notes))
        main = FilePart(self._shown, self._descriptor, format_, starts, ends, self._plain.bytes)
        # A session that another file continues may still have subagents that no other has.
        found = gathering.sessions() or [gathering.session()]
        parts = [main]
        more = Companions(notes, self._descriptors, self._tell_size)
        if len(found) == 1:
            find = partial(format_.companions, self._path, found[0].facts.id)
            parts += more.read(find, IndexedCompanions(format_, gathering), len(ends))
            skipped += more.skipped
        if not len(gathering):
            raise CopiedSessionError("all of it stands in another file that continues it")
        growth = growth_of(self._path, parts, reading, gathering, notes)
        # From here on the sources own the files.
        self._descriptors.clear()
        sessions = finished_sessions(
            self._path,
            self._stem,
            found,
            lambda: FileSource(parts),
            format_=format_.name,
            size=sum(part.size for part in parts),
            notes=notes,
            skipped=skipped,
            around=document.around if document else {},
        )
        sessions[0].growth, sessions[0].beside = growth, more.files
        return sessions

    def _pass(
        self, reader: SessionReader, starts: array[int] | None, ends: array[int]
    ) -> tuple[Reading, Gathering, Notes]:
        """Read all records, and once more where some of them stand on several lines."""
        joined: list[int] = []
        while True:
            notes = self._notes(starts)
            gathering = Gathering(notes, self._read_before)
            unfinished = self._unfinished(ends) if starts is None else None
            reading = reader.start(gathering, notes, base=0, unfinished=unfinished)
            blocks = (
                read_line_blocks(self._descriptor, ends)
                if starts is None
                else read_span_blocks(self._descriptor, starts, ends)
            )
            for number, lines in blocks:
                reading.read(lines, number)
                self._tell(ends[number + len(lines) - 1])
            if starts is None and not joined:
                joined = join_torn(self._descriptor, ends, notes.torn)
                if joined:
                    continue
            reading.finish()
            note_joined(notes, joined)
            return reading, gathering, notes

    def _notes(self, starts: array[int] | None) -> Notes:
        notes = Notes(lines_of_records(self._plain, starts))
        for reason, severity, count in self._plain.notes:
            notes.add(reason, None, severity, count)
        return notes

    def _unfinished(self, ends: array[int]) -> int | None:
        return unfinished_line(self._descriptor, self._size, ends)

    def _note_fault(self, document: Document | None, notes: Notes) -> int:
        refuse_shortened(self._descriptor, self._size)
        if document is None or not document.fault:
            return 0
        notes.add(document.fault, None)
        return 1

    def _tell_size(self) -> None:
        self._tell(self._size)

    def _tell(self, done: int) -> None:
        if self._on_progress is None:
            return
        now = monotonic()
        if now - self._told < _PROGRESS_SECONDS and done < self._size:
            return
        self._told = now
        if not self._on_progress(done, self._size):
            raise LoadCancelledError(f"{self._name}: stopped before it was read to its end")
