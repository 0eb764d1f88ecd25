"""Where an event can be opened in an editor: its file at its line, else a copy of its record."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from longjudge.text import clean_line
from longjudge_tui.bench.raw_record import raw_record

if TYPE_CHECKING:
    from collections.abc import Generator

    from longjudge.sessions import Session

_PACKED: Final = (
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"PK\x03\x04",
    b"SQLite format 3\x00",
)
"""How files begin that no editor shows as the text that was read from them."""

HEAD_BYTES = 16


@dataclass(frozen=True, slots=True)
class Opened:
    """A file to edit, at a line where it has one; `why` says why it is only a copy."""

    path: str
    line: int | None = None
    why: str = ""


@contextlib.contextmanager
def event_file(session: Session, event: int) -> Generator[Opened]:
    """Inside, what shows an event in an editor; a copy is read-only, and gone afterwards.

    Raises:
        SessionError: the file no longer holds what was read.
        OSError: no copy can be written.
    """
    name, line = _file_of(session, event), session.line(event)
    why = _why_not(name, line)
    if name is not None and not why:
        yield Opened(os.path.abspath(name), line)
        return
    with record_copy(session.raw(event), event) as path:
        yield Opened(str(path), None, why)


@contextlib.contextmanager
def record_copy(data: bytes, event: int) -> Generator[Path]:
    """A private, read-only file with a record as it is shown; it is gone afterwards."""
    record = raw_record(data)
    with tempfile.TemporaryDirectory(prefix="longjudge-") as folder:
        path = Path(folder) / f"event-{event}.{'json' if record.is_json else 'txt'}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
        with open(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(f"{record.text}\n")
        yield path


def _file_of(session: Session, event: int) -> str | None:
    """The file that an event stands in, by its real name where that is known: others are safe."""
    name, own = session.file(event), session.path
    return str(own) if own is not None and name == clean_line(str(own)) else name


def _why_not(name: str | None, line: int | None) -> str:
    """Why the file itself is of no use to an editor; empty where it is."""
    if name is None:
        return "the events are in memory only"
    path = Path(name)
    try:
        if not path.exists():
            return f"{clean_line(path.name, 60)} is gone"
        if not path.is_file():
            return f"{clean_line(path.name, 60)} is no file by itself"
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        return f"{clean_line(path.name, 60)}: {error.strerror}"
    if any(head.startswith(each) for each in _PACKED):
        return f"{clean_line(path.name, 60)} is packed, or a database"
    return "" if line is not None else "the event has no line of its own in its file"
