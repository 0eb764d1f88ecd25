"""What a damaged store is, as against the file of somebody else.

Where damage is met in the middle of a run, a note beside the store has the next start look at all
of it; the ends of its tables, and all of a small store, are looked at every time.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, BinaryIO

from longjudge.errors import StoreError
from longjudge.paths import default_store_path
from longjudge.store.migrations import SCHEMA_VERSION
from longjudge.store.names import MAGIC, beside, file_id, log_of
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CHECKED_BYTES = 16_000_000
"""A store of that size is looked at whole whenever it is opened to be written: 15 ms."""

_OURS = b"raw_reply TEXT NOT NULL"
"""Stands in the schema of every store, which a database holds as text."""

_ANYBODYS = b"CREATE TABLE"
_ENDINGS = (".sqlite", ".sqlite3", ".db")
_BLOCK = 1 << 20
_VERSION_AT = 60
_MOST_VERSIONS = 1_000
"""A schema number beyond that is damage and no newer longjudge."""

_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")

ENDS = tuple(
    f"SELECT * FROM {table} ORDER BY {key} {way} LIMIT 1"
    for table, key in (
        ("verdicts", "key"),
        ("verdicts", "chunk_digest"),
        ("verdicts", "model"),
        ("judgments", "id"),
        ("judgments", "created"),
        ("judgments", "real_path"),
        ("judgments", "model"),
        ("marks", "digest"),
        ("gap_replies", "judgment"),
        ("token_factors", "model"),
        ("owners", "id"),
        ("leases", "key"),
        ("leases", "owner"),
        ("earlier_verdicts", "rowid"),
        ("earlier_verdicts", "key"),
    )
    for way in ("ASC", "DESC")
)
"""The first and the last row by every table and every index."""

# What a check also reports, though every page is as it should be.
_ONLY_VALUES = ("NULL value in", "CHECK constraint", "TEXT value in", "NUMERIC value in", "non-")


class DamageFoundError(sqlite3.DatabaseError):
    """A look at the file itself found that it is damaged."""


class DamagedStoreError(StoreError):
    """A store of this program is damaged; `fault` says how."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(
            f"{clean_line(str(path))}: the store is damaged ({clean_line(fault, 200)}); the next"
            " `longjudge judge`, or the app, puts it aside and keeps what can still be read; or"
            " name another with --store"
        )
        self.fault = fault


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file itself is at fault."""
    # Of a list of tables that is no text, SQLite speaks in bytes that Python takes for no words.
    if isinstance(error, DamageFoundError | UnicodeDecodeError):
        return True
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    # By its code alone: what a row holds may be malformed, and the file in order.
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def refusal(path: Path, fault: str) -> StoreError:
    """Why a file that is no database in order is not used: a damaged store, or another's file."""
    try:
        # Opened once: another file may stand there at any moment.
        with path.open("rb") as file:
            begin = file.read(4096)
            newer = _version(begin)
            if SCHEMA_VERSION < newer <= _MOST_VERSIONS:
                return newer_store(path, newer)
            ours = _is_ours(path, file, begin) if begin or log_of(path).is_file() else False
    except OSError as error:
        ours, fault = False, error.strerror or fault
    return DamagedStoreError(path, fault) if ours else no_store(path, fault)


def no_store(path: Path, fault: str) -> StoreError:
    """What is said about the file of somebody else."""
    return StoreError(
        f"{clean_line(str(path))}: not a longjudge store ({clean_line(fault, 200)}); move it away,"
        " or name another with --store"
    )


def newer_store(path: Path, version: int) -> StoreError:
    """What is said about a store that this program does not know."""
    return StoreError(
        f"{clean_line(str(path))}: written by a newer longjudge (schema {version}, this one"
        f" knows {SCHEMA_VERSION}); update longjudge, or name another store with --store"
    )


def fault_in(rows: Iterable[tuple[object, ...]]) -> str | None:
    """The first thing that a check of the whole file found; None where all pages are in order."""
    for (said,) in rows:
        text = str(said)
        if text != "ok" and not text.startswith(_ONLY_VALUES):
            # One of many words, and what stands behind the first of them helps nobody.
            lines = [line for line in text.splitlines() if not line.startswith("***")]
            return lines[0] if lines else text
    return None


def note_damage(path: Path) -> None:
    """Have the next start look at the whole store."""
    with contextlib.suppress(OSError):
        os.close(os.open(_note(path), os.O_CREAT | os.O_WRONLY, 0o600))


def is_noted(path: Path) -> bool:
    """Whether a run met damage in the store."""
    return _note(path).exists()


def forget_damage(path: Path) -> None:
    """Take the note away: the store is in order, or another one stands there."""
    with contextlib.suppress(OSError):
        _note(path).unlink()


def _note(path: Path) -> Path:
    return beside(path, ".look")


def _is_ours(path: Path, file: BinaryIO, begin: bytes) -> bool:
    magic = begin.startswith(MAGIC)
    if begin and not magic and _is_text(begin):
        return False
    if file_id(path) == file_id(default_store_path()):
        return True
    if not magic and _holds(file, MAGIC):
        # A whole store further on: an archive.
        return False
    if _holds(file, _OURS) or _log_holds(path, _OURS):
        return True
    if _holds(file, _ANYBODYS) or _log_holds(path, _ANYBODYS):
        return False
    ending = path.suffix.lower()
    if magic or ending not in _ENDINGS:
        return magic
    # Other programs' databases end in `.db` too, and none of them begins with zeros.
    return ending != ".db" or not any(begin[: len(MAGIC)])


def _version(begin: bytes) -> int:
    if not begin.startswith(MAGIC):
        return 0
    return int.from_bytes(begin[_VERSION_AT : _VERSION_AT + 4], "big")


def _is_text(begin: bytes) -> bool:
    try:
        # Not to its end: the last character may be cut.
        codecs.getincrementaldecoder("utf-8")().decode(begin)
    except UnicodeDecodeError:
        return False
    return all(byte >= 32 or byte in _TEXT_CONTROLS for byte in begin)


def _holds(file: BinaryIO, words: bytes) -> bool:
    """Whether words stand anywhere in a file."""
    file.seek(0)
    end = b""
    while block := file.read(_BLOCK):
        if words in end + block:
            return True
        end = block[-len(words) :]
    return False


def _log_holds(path: Path, words: bytes) -> bool:
    with contextlib.suppress(FileNotFoundError), log_of(path).open("rb") as log:
        return _holds(log, words)
    return False
