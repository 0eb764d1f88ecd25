"""From a path to the sessions in the file.

Loading blocks, so callers run it in a thread. It works in small slices, between which it tells its
progress and may be stopped, and no step holds the interpreter for a whole JSONL file.
"""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING

from longjudge.errors import (
    CopiedSessionError,
    LoadCancelledError,
    NotASessionError,
    SessionError,
    SeveralSessionsError,
)
from longjudge.sessions.companions import Companions
from longjudge.sessions.documents import Document, read_document
from longjudge.sessions.gather import DistinctNames, Gathering
from longjudge.sessions.lines import (
    BLOCK_BYTES,
    index_lines,
    open_regular,
    read_line_blocks,
    read_range,
    unfinished_line,
)
from longjudge.sessions.model import Session, short_title
from longjudge.sessions.notes import Notes
from longjudge.sessions.recognise import (
    HEAD_RECORDS,
    recognise,
    refuse_by_first_bytes,
)
from longjudge.sessions.records import NOT_JSON, parse_line, wrap_array
from longjudge.sessions.sources import FilePart, FileSource
from longjudge.text import clean_line

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.base import Reading, SessionFormat
    from longjudge.sessions.gather import SessionRows

    ProgressListener = Callable[[int, int], bool]
    Blocks = Iterable[tuple[int, Sequence[bytes]]]

_FIRST_BYTES = 4096
_HEAD_BYTES = 4 << 20
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
    name = clean_line(str(path))
    descriptors: list[int] = []
    try:
        return _FileLoad(path, name, descriptors, on_progress, read_before).load()
    except BaseException as error:
        for descriptor in descriptors:
            os.close(descriptor)
        if isinstance(error, NotASessionError):
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


def choose_session(sessions: list[Session], wanted: str | None) -> Session:
    """The session with an id, or the only one; the others are closed.

    Raises:
        SessionError: there are several and none was named, or none has the id.
    """
    name = clean_line(sessions[0].name)
    fitting = [each for each in sessions if wanted in (None, each.id)]
    if len(fitting) == 1:
        for each in sessions:
            if each is not fitting[0]:
                each.close()
        return fitting[0]
    for each in sessions:
        each.close()
    ids = ", ".join(each.id for each in sessions[:5]) + (", …" if len(sessions) > 5 else "")
    if wanted is None:
        raise SeveralSessionsError(
            f"{name}: holds {len(sessions)} sessions; choose one with --session: {ids}"
        )
    raise SessionError(f"{name}: no session {clean_line(wanted, 80)} in it; it holds: {ids}")


class _FileLoad:
    """The steps of reading one file; every file it opens is added to `descriptors`."""

    def __init__(
        self,
        path: Path,
        name: str,
        descriptors: list[int],
        on_progress: ProgressListener | None,
        read_before: set[int] | None,
    ) -> None:
        self._path = path
        self._read_before = read_before
        self._name = name
        self._descriptor, self._size = open_regular(path)
        self._descriptors = descriptors
        descriptors.append(self._descriptor)
        self._on_progress = on_progress
        self._told = 0.0

    def load(self) -> list[Session]:
        refuse_by_first_bytes(read_range(self._descriptor, 0, min(self._size, _FIRST_BYTES)))
        lines = index_lines(self._descriptor, self._size, lambda: self._tell(0))
        document = self._document(lines)
        if document is not None:
            spans, data = document
            head = self._head([(0, _elements(data, spans, 0, HEAD_RECORDS))])
            format_ = recognise(head, spans.around)
            spans = spans.with_entries(format_.before, format_.after)
            return self._index(format_, spans.starts, spans.ends, spans, data)
        head = self._head(read_line_blocks(self._descriptor, lines))
        return self._index(recognise(head), None, lines, None, b"")

    def _document(self, ends: array[int]) -> tuple[Document, bytes] | None:
        """The whole file as one document, where its beginning says that it is one."""
        shape = self._shape(ends)
        if not shape:
            return None
        data = read_range(self._descriptor, 0, self._size)
        document = read_document(data)
        if document is None or not len(document.starts):
            return None
        # One line that wraps nothing is a record like any other, and has its line.
        if shape == "line" and document.wrapper is None:
            return None
        return document, data

    def _shape(self, ends: array[int]) -> str:
        """`array`, `object` or `line` where the first line may begin a document, else nothing."""
        start = 0
        for end in ends:
            line = read_range(self._descriptor, start, min(end, start + _FIRST_BYTES))
            line = line.removeprefix(b"\xef\xbb\xbf").strip(b"\x00 \t\r\n")
            if line:
                break
            start = end
        else:
            return ""
        inside = line[1:].lstrip()[:1]
        if not line.startswith((b"[", b"{")):
            return ""
        rest = read_range(self._descriptor, end, min(self._size, end + _FIRST_BYTES)).strip()
        last = read_range(self._descriptor, max(start, end - _FIRST_BYTES), end).rstrip()[-1:]
        if line.startswith(b"["):
            # An array a line: each is a conversation.
            if last == b"]" and rest.startswith(b"["):
                return ""
            return "array" if inside in (b"", b"{", b"]", b"[") else ""
        if not rest:
            return "line"
        return "object" if not inside or last in (b"[", b"{", b",", b":") else ""

    def _head(self, blocks: Blocks) -> list[dict[str, object]]:
        head: list[dict[str, object]] = []
        seen = 0
        for _, lines in blocks:
            for line in lines:
                head += parse_line(wrap_array(line)).objects
                seen += len(line)
                if len(head) >= HEAD_RECORDS or seen > _HEAD_BYTES:
                    return head[:HEAD_RECORDS]
            self._tell(0)
        if not head:
            self._refuse_text()
        return head

    def _refuse_text(self) -> None:
        start = read_range(self._descriptor, 0, min(self._size, _FIRST_BYTES))
        if not start.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
            raise NotASessionError("only blanks in it; no session was written to it")
        binary = sum(byte < 32 and byte not in b"\t\n\r\x1b\f" for byte in start)
        if binary * 20 > len(start):
            raise NotASessionError("this is binary data, no session")
        if start.lstrip()[:1] in (b"{", b"[") and parse_line(start).fault == NOT_JSON:
            raise NotASessionError("a JSON document that is cut before its first complete event")
        raise NotASessionError("no JSON object in it; export the session as JSON or JSONL")

    def _index(
        self,
        format_: SessionFormat,
        starts: array[int] | None,
        ends: array[int],
        document: Document | None,
        data: bytes,
    ) -> list[Session]:
        unfinished = None
        if starts is None:
            unfinished = unfinished_line(self._descriptor, self._size, ends)
        reading, notes = None, Notes()
        gathering = Gathering(notes)
        for reader in format_.readings():
            notes = Notes()
            gathering = Gathering(notes, self._read_before)
            reading = reader.start(gathering, notes, base=0, unfinished=unfinished)
            blocks = (
                read_line_blocks(self._descriptor, ends)
                if document is None
                else _element_blocks(data, document)
            )
            self._read(reading, blocks, ends)
            if len(gathering) or gathering.copied:
                break
        assert reading is not None
        skipped = reading.skipped
        if document is not None and document.fault:
            notes.add(document.fault, None)
            skipped += 1
        if not len(gathering) and not gathering.copied:
            raise NotASessionError(_no_event(notes))
        main = FilePart(self._name, self._descriptor, format_, starts, ends, size=self._size)
        # A session that another file continues may still have subagents that no other has.
        found = gathering.sessions() or [gathering.session()]
        parts = [main]
        if len(found) == 1:
            more = Companions(format_, notes, self._descriptors, self._tell_size)
            parts += more.read(self._path, gathering, found[0], len(ends))
            skipped += more.skipped
        if not len(gathering):
            raise CopiedSessionError("all of it stands in another file that continues it")
        return self._sessions(found, parts, notes, skipped, document.around if document else {})

    def _read(self, reading: Reading, blocks: Blocks, ends: array[int]) -> None:
        for first, lines in blocks:
            reading.read(lines, first)
            self._tell(ends[first + len(lines) - 1])
        reading.finish()

    def _sessions(
        self,
        found: Sequence[SessionRows],
        parts: Sequence[FilePart],
        notes: Notes,
        skipped: int,
        around: Mapping[str, object],
    ) -> list[Session]:
        around_id = _entry(around, "session_id", "sessionId", "id") if len(found) == 1 else None
        around_title = _entry(around, "title", "name") if len(found) == 1 else None
        diagnostics = notes.diagnostics()
        names = DistinctNames()
        sessions: list[Session] = []
        # From here on the sources own the files.
        self._descriptors.clear()
        for number, rows in enumerate(found, 1):
            facts = rows.facts
            fallback = self._path.stem if len(found) == 1 else str(number)
            title = _entry(around, "title") if len(found) == 1 else None
            sessions.append(
                Session(
                    path=self._path,
                    format=parts[0].format.name,
                    id=names.distinct(clean_line(facts.id or around_id or fallback, 200)),
                    title=short_title(title or facts.title or around_title)
                    or clean_line(self._path.name),
                    bytes=sum(part.size for part in parts),
                    index=rows.finish(),
                    source=FileSource(parts),
                    started=facts.started,
                    ended=facts.ended,
                    skipped_lines=skipped,
                    diagnostics=diagnostics,
                    siblings=len(found),
                )
            )
        return sessions

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


def _elements(data: bytes, document: Document, first: int, end: int) -> list[bytes]:
    spans = zip(document.starts[first:end], document.ends[first:end], strict=True)
    return [data[start:stop] for start, stop in spans]


def _element_blocks(data: bytes, document: Document) -> Iterator[tuple[int, list[bytes]]]:
    first, count = 0, len(document.starts)
    while first < count:
        end = first + 1
        limit = document.starts[first] + BLOCK_BYTES
        while end < count and document.ends[end] <= limit:
            end += 1
        yield first, _elements(data, document, first, end)
        first = end


def _entry(around: Mapping[str, object], *keys: str) -> str | None:
    for key in keys:
        value = around.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def _no_event(notes: Notes) -> str:
    seen = [f"{note.reason} ({note.count})" for note in notes.diagnostics()[:4]]
    what = "; ".join(seen) or "no records"
    return f"no session: no message, call or result in it, only: {what}"
