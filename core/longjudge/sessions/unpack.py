"""From a path to plain bytes: what is packed, or no text of records at all, is written out first.

Everything that a container holds goes to a file without a name, which is gone with the process.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import msgspec

from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions.archives import SeveralFilesError
from longjudge.sessions.compressed import COMPRESSED, WideText
from longjudge.sessions.formats.aider_text import AiderText
from longjudge.sessions.formats.cursor_text import CursorText
from longjudge.sessions.formats.inspect_archive import InspectArchive
from longjudge.sessions.formats.managed_lines import ManagedLines
from longjudge.sessions.formats.opencode_database import OpenCodeDatabase
from longjudge.sessions.formats.opencode_stream import OpenCodeStream
from longjudge.sessions.formats.opencode_tree import OpenCodeTree
from longjudge.sessions.formats.openhands_folder import OpenHandsFolder
from longjudge.sessions.lines import open_regular, read_range
from longjudge.sessions.model import Severity
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.unnamed import append, open_unnamed
from longjudge.sessions.zipped import ARCHIVE, Zipped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIRST_BYTES = 4096
"""How much of a file an unpacker sees to tell whether it is one of its kind."""

_BUFFER_BYTES = 1 << 20
_MAX_LAYERS = 3

_NESTED = "an archive within an archive holds several sessions; unpack the outer one first"

_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Plain:
    """An open file of records, and where it is from.

    `starts` and `ends` are the spans of the records where a container told them; both are None
    for bytes whose lines or document have still to be looked for. `lines` holds the line (from 1,
    0 for none) of each record in the file as it was named. `bytes` is the size of that file, and
    `inside` names the file in it that the records are from, where it is an archive.
    `unfinished` is the number of a last record that may still be written.
    """

    descriptor: int
    size: int
    bytes: int
    starts: array[int] | None = None
    ends: array[int] | None = None
    lines: array[int] | None = None
    unfinished: int | None = None
    around: dict[str, object] = field(default_factory=dict[str, object])
    notes: list[tuple[str, Severity, int]] = field(default_factory=list[tuple[str, Severity, int]])
    inside: str = ""


class Unpacker(Protocol):
    """Reads one kind of container.

    One that reads `folders` is asked about folders as well, with no first bytes and -1 for a
    descriptor.
    """

    name: str
    folders: bool

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a file begins like one of this kind, whatever it is called."""
        ...

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write out what the container holds: bytes as they are, or records one by one.

        Raises:
            NotASessionError: there is no session in it; says what there is instead.
            SessionError: it cannot be read.
        """
        ...


class Unpacking:
    """What comes out of a container: either bytes (`write`) or records (`add`), never both.

    `around` holds what the container says about all of its records. `packed` is its size in bytes,
    `outer` that of the file around all layers. `member` names the file that is wanted of an archive
    of several.
    """

    def __init__(
        self, packed: int, outer: int, tell: Callable[[], None], member: str | None = None
    ) -> None:
        self._file = open_unnamed()
        self.packed = packed
        self.outer = outer
        self.member = member
        self.inside = ""
        self.written = 0
        self.around: dict[str, object] = {}
        self.notes: list[tuple[str, Severity, int]] = []
        self._starts: array[int] = array("Q")
        self._ends: array[int] = array("Q")
        self._lines: array[int] = array("I")
        self._unfinished: int | None = None
        self._buffer = bytearray()
        self.tell = tell

    def write(self, data: bytes) -> None:
        """Append bytes; called with about a megabyte at a time, so that loading can be stopped.

        Raises:
            SessionError: there is no room for them.
        """
        self._buffer += data
        self.written += len(data)
        if len(self._buffer) >= _BUFFER_BYTES:
            self._flush()
            self.tell()

    def add(
        self, record: bytes | dict[str, object], line: int | None = None, *, ended: bool = True
    ) -> None:
        """Append one record: a JSON object, or its bytes as they stand.

        One that has not `ended` is the last line of a file, and may still be written.
        """
        self._unfinished = None if ended else len(self._starts)
        try:
            data = record if isinstance(record, bytes) else _encode(record)
        except RecursionError:
            self.note(TOO_DEEP, Severity.WARNING)
            data = b"{}"
        start = self.written
        self.write(data)
        self._starts.append(start)
        self._ends.append(self.written)
        self._lines.append(line or 0)
        self.write(b"\n")

    def note(self, reason: str, severity: Severity = Severity.INFO, count: int = 1) -> None:
        """Say what was odd, where it was met at all. A warning says that something may be lost."""
        if count > 0:
            self.notes.append((reason, severity, count))

    def finish(self) -> Plain:
        """Everything was written; the descriptor is the caller's from now on."""
        self._flush()
        descriptor = os.dup(self._file.fileno())
        self._file.close()
        plain = Plain(descriptor, self.written, self.packed, notes=self.notes, around=self.around)
        plain.inside = self.inside
        if self._starts:
            plain.starts, plain.ends = self._starts, self._ends
            plain.lines = self._lines if any(self._lines) else None
            plain.unfinished = self._unfinished
        return plain

    def close(self) -> None:
        """Give the room back."""
        self._file.close()

    def _flush(self) -> None:
        append(self._file.fileno(), self._buffer, self.written, "what it holds does")
        self._buffer = bytearray()


UNPACKERS: tuple[Unpacker, ...] = (
    InspectArchive(),
    Zipped(),
    *COMPRESSED,
    WideText(),
    AiderText(),
    CursorText(),
    ManagedLines(),
    OpenCodeDatabase(),
    OpenCodeStream(),
    OpenCodeTree(),
    OpenHandsFolder(),
)
"""Every container that is read, the more particular one first."""


def open_plain(path: Path, tell: Callable[[], None], member: str | None = None) -> Plain:
    """Open a file, or a folder that is one session or several; unpack it where it is packed.

    `tell` is called between slices and may raise to stop. `member` names the file that is wanted
    of an archive of several.

    Raises:
        NotASessionError: it is no file and no such folder, or a container without a session.
        SessionError: it cannot be unpacked.
        OSError: it cannot be opened.
    """
    if path.is_dir():
        for unpacker in UNPACKERS:
            if unpacker.folders and unpacker.fits(b"", path):
                return _unpacked(unpacker, path, Plain(-1, 0, 0), tell)
    descriptor, size = open_regular(path)
    plain = Plain(descriptor, size, size)
    in_archive = False
    try:
        for layer in range(_MAX_LAYERS + 1):
            start = read_range(plain.descriptor, 0, min(plain.size, FIRST_BYTES))
            unpacker = next((each for each in UNPACKERS if each.fits(start, path)), None)
            if unpacker is None or plain.starts is not None:
                return plain
            if layer == _MAX_LAYERS:
                raise NotASessionError(f"packed more than {layer} times over; unpack it first")
            try:
                plain = _unpacked(unpacker, path, plain, tell, None if in_archive else member)
            except SeveralFilesError as error:
                if in_archive:
                    raise SessionError(_NESTED) from error
                raise
            in_archive = in_archive or start.startswith(ARCHIVE)
    except BaseException:
        os.close(plain.descriptor)
        raise
    raise AssertionError("the last layer returns or raises")


def _unpacked(
    unpacker: Unpacker,
    path: Path,
    packed: Plain,
    tell: Callable[[], None],
    member: str | None = None,
) -> Plain:
    into = Unpacking(packed.size, packed.bytes, tell, member)
    try:
        unpacker.unpack(path, packed.descriptor, into)
        plain = into.finish()
    except BaseException:
        into.close()
        raise
    if packed.descriptor >= 0:
        os.close(packed.descriptor)
        plain.bytes = packed.bytes
    else:
        plain.bytes = plain.size
    plain.notes = [*packed.notes, *plain.notes]
    plain.inside = plain.inside or packed.inside
    return plain
