"""OpenCode's database: its sessions, messages and parts as one record for each row.

The database is only read. One that a program has open is read beside it, as SQLite lets readers;
what was not yet moved from the log beside it (`-wal`) is read too, in a copy where nobody has it
open. All of the SQL stands here: names of tables and columns that a file brings are never put
into it.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import LongjudgeError, NotASessionError, SessionError
from longjudge.sessions.formats.sqlite_files import (
    ALONE,
    MAGIC,
    address_of,
    beside,
    copied,
    has_bytes,
    state_of,
)
from longjudge.sessions.lines import CHANGED
from longjudge.sessions.model import Severity
from longjudge.sessions.records import DECODE_ERRORS
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions.unpack import Unpacking

    Row = dict[str, object]

_COLUMNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "session": (
        ("id",),
        ("parent_id", "project_id", "directory", "title", "version", "revert", "time_created"),
    ),
    "message": (("id", "session_id", "data"), ("time_created",)),
    "part": (("id", "message_id", "data"), ("session_id", "time_created")),
    "session_message": (("id", "session_id", "type", "data"), ("seq", "time_created")),
    "sessions": (("id",), ("parent_session_id", "title", "created_at")),
    "messages": (("id", "session_id", "role", "parts"), ("created_at",)),
}
"""The columns of each table that must be there, and those that may be."""

_ORDER = {
    "session": ("time_created", "id"),
    "message": ("session_id", "time_created", "id"),
    "part": ("message_id", "id"),
    "session_message": ("session_id", "seq", "time_created", "id"),
    "sessions": ("created_at", "id"),
    "messages": ("session_id", "created_at", "rowid"),
}
_OTHERS: tuple[tuple[str, str], ...] = (
    ("cursorDiskKV", "a database of Cursor; export the chat from Cursor first"),
    ("ItemTable", "a database of VS Code; export the chat from VS Code first"),
    ("spans", "a database of trace spans; export the traces as OTLP JSON first"),
    ("blobs", "a chat store of Cursor; export the chat from Cursor first"),
)
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
_JSON = {"data": "{", "parts": "["}
"""The columns of JSON, and what it begins with."""

_SPOKEN = frozenset({"part", "session_message", "messages"})
_STEPS = 200_000
_BUSY_SECONDS = 2.0

_check_json = msgspec.json.Decoder(msgspec.Raw).decode


class OpenCodeDatabase:
    """Unpacks a database into rows; the only reader of databases, so it says what others are."""

    name = "opencode-database"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether a file is a database of SQLite."""
        return start.startswith(MAGIC)

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write one record for each row, sessions first.

        Raises:
            NotASessionError: the database holds no session of OpenCode.
            SessionError: it cannot be read.
        """
        with tempfile.TemporaryDirectory(prefix="longjudge-") as scratch:
            stopped: list[LongjudgeError] = []
            address, state = address_of(path), state_of(path)
            try:
                if address is not None:
                    try:
                        _read(address, into, stopped)
                    except sqlite3.OperationalError as error:
                        # Its log may only be shared, and a change that was broken off undone, by
                        # those who may write to it.
                        left = has_bytes(beside(path, "-wal"), beside(path, "-journal"))
                        if stopped or into.written or _is_busy(error) or not left:
                            raise
                    else:
                        if address.endswith(ALONE) and state_of(path) != state:
                            raise SessionError(CHANGED)
                        return
                copy = copied(path, descriptor, Path(scratch), into)
                _read(copy, into, stopped, Path(scratch))
            except _FAULTS as error:
                if stopped:
                    raise stopped[0] from None
                if address is not None and address.endswith(ALONE) and state_of(path) != state:
                    raise SessionError(CHANGED) from error
                raise _unreadable(error) from error


def _unreadable(error: Exception) -> SessionError:
    reason = _reason(error)
    if _is_busy(error):
        return SessionError(
            f"the database is in use ({reason}); close the program that has it open"
        )
    return NotASessionError(
        f"an SQLite database that cannot be read ({reason}); copy it again, or export the session"
        " from it"
    )


def _is_busy(error: Exception) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _reason(error: Exception) -> str:
    # SQLite quotes what is damaged, which may be no text.
    return clean_line(str(error), 100) if isinstance(error, sqlite3.Error) else "malformed schema"


def _read(
    address: str,
    into: Unpacking,
    stopped: list[LongjudgeError],
    scratch: Path | None = None,
) -> None:
    """Read a database; what stops the loading meanwhile is put into `stopped`.

    A copy loses its name in its folder, `scratch`, once it is open: it may be large, and is gone
    with the process then, however that ends.
    """

    def keep_on() -> int:
        try:
            into.tell()
        except LongjudgeError as error:
            # SQLite lets no exception through; it is raised once the query has ended.
            stopped.append(error)
            return 1
        return 0

    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as database:
        database.text_factory = _text
        database.set_progress_handler(keep_on, _STEPS)
        database.execute("PRAGMA query_only = 1")
        database.execute("PRAGMA trusted_schema = 0")
        database.execute("PRAGMA cell_size_check = 1")
        # One moment of the database, whatever is written to it meanwhile.
        database.execute("BEGIN")
        found = _tables(database)
        for file in scratch.iterdir() if scratch else ():
            file.unlink()
        _read_tables(database, found, into)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _read_tables(database: sqlite3.Connection, found: Sequence[str], into: Unpacking) -> None:
    present = {name: columns for name in _COLUMNS if (columns := _columns(database, found, name))}
    names = [
        name
        for name, needed in (
            ("session", ()),
            ("message", ()),
            ("part", ("message",)),
            ("session_message", ()),
            ("sessions", ("messages",)),
            ("messages", ()),
        )
        if name in present and all(each in present for each in needed)
    ]
    if not {"message", "session_message", "messages"}.intersection(names):
        raise NotASessionError(_what_else(found))
    reading = _Reading(into)
    for name in names:
        reading.read(database, name, present[name])
    reading.finish()


def _tables(database: sqlite3.Connection) -> list[str]:
    """The tables of rows; a view or a virtual table could compute anything."""
    rows = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
        " ORDER BY name"
    )
    return [name for (name,) in rows if isinstance(name, str)]


def _columns(database: sqlite3.Connection, found: Sequence[str], table: str) -> list[str]:
    """The columns to read of a table, none where it is not as it should be."""
    if table not in found:
        return []
    rows = database.execute("SELECT name FROM pragma_table_info(?)", (table,))
    has = {name for (name,) in rows}
    needed, wanted = _COLUMNS[table]
    if not has.issuperset(needed):
        return []
    return [*needed, *(name for name in wanted if name in has)]


def _what_else(found: Sequence[str]) -> str:
    for table, what in _OTHERS:
        if table in found:
            return f"this is {what}"
    tables = clean_line(", ".join(found[:6]), 120) or "none"
    return (
        f"this is an SQLite database without sessions of OpenCode (tables: {tables}); export the"
        " session from it first"
    )


class _Reading:
    """Reads table after table, and remembers which sessions the earlier schema holds."""

    def __init__(self, into: Unpacking) -> None:
        self._into = into
        self._last: dict[object, object] = {}
        self._unsound = 0
        self._empty = 0
        self._read = 0
        self._told = 0
        self._damage: Exception | None = None

    def read(self, database: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
        """Add the rows of a table; a damaged page ends it, and what came before counts."""
        # Only names that are written in this module; a table brings none of its own.
        order = [name for name in _ORDER[table] if name in columns or name == "rowid"]
        sql = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(order)}"
        try:
            for values in database.execute(sql):
                self._add(table, dict(zip(columns, values, strict=True)))
        except _FAULTS as error:
            if not self._read or "interrupted" in str(error):
                raise
            self._damage = self._damage or error
            self._into.note(
                f"the database is damaged: rows of {table} were left out ({_reason(error)})",
                Severity.WARNING,
            )

    def finish(self) -> None:
        """Say what was odd.

        Raises:
            sqlite3.Error: not one message could be read.
        """
        if self._damage is not None and not self._told:
            raise self._damage
        for count, reason in (
            (self._unsound, "rows whose data is no sound JSON"),
            (self._empty, "rows whose data is nothing that OpenCode writes"),
        ):
            self._into.note(reason, Severity.WARNING, count)

    def _add(self, table: str, row: Row) -> None:
        session = row.get("session_id")
        if table == "message":
            self._last[session] = row.get("time_created")
        elif table == "session_message" and self._is_older(session, row.get("time_created")):
            # The later schema repeats what the earlier one holds.
            return
        record: Row = {"table": table}
        for name, value in row.items():
            record[name] = self._json(name, value) if name in _JSON else _plain(value)
        self._read += 1
        self._told += table in _SPOKEN
        self._into.add(record)

    def _is_older(self, session: object, time: object) -> bool:
        if session not in self._last:
            return False
        last = self._last[session]
        if isinstance(time, int | float) and isinstance(last, int | float):
            return time <= last
        return True

    def _json(self, name: str, value: object) -> object:
        """JSON as it stands, so that it is shown as it was written; unsound JSON as a text."""
        text = _plain(value)
        if not isinstance(text, str) or text.lstrip()[:1] != _JSON[name]:
            self._empty += 1
            return text
        try:
            return _check_json(text.encode("utf-8", "replace"))
        except DECODE_ERRORS:
            self._unsound += 1
            return text


def _plain(value: object) -> object:
    return _text(value) if isinstance(value, bytes) else value
