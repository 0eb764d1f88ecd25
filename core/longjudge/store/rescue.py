"""What can still be read of a damaged store, copied into a new one.

SQLite reads each table from both ends, up to what it cannot read. Where that leaves anything out,
the pages themselves are read. Every row is checked before it is taken: what does not read as what
it should be is left behind. Everything here blocks and runs in a thread.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import msgspec

from longjudge.marks import Mark
from longjudge.store.damage import is_damage
from longjudge.store.migrations import MIGRATIONS, SCHEMA_VERSION
from longjudge.store.names import log_of, uri
from longjudge.store.pages import Pages, records
from longjudge.store.past import known_real_path
from longjudge.store.rubric_versions import is_rubric
from longjudge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from longjudge.store.pages import Value

    Row = tuple[Value, ...]

_ROWS = 500
"""Rows between two looks at whether somebody wants to leave."""

_FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What SQLite says of what it cannot read, as far as Python can tell its words."""

_LEAST_ROW = 16
"""Bytes that no row is smaller than; more rows than that are a circle."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """How much is in the new store; `whole` where nothing was met that could not be read."""

    verdicts: int
    judgments: int
    marks: int
    whole: bool
    rubrics: int = 0


@dataclass(frozen=True, slots=True)
class _Table:
    """A table's columns in their order, each with its kind, and what else makes a row usable.

    Kinds: text, integer, real, `?` for a real number or none. `old` is how many columns there were
    at other times; `filled` makes the others.
    """

    name: str
    key: str
    columns: dict[str, str]
    usable: Callable[[Sequence[Value]], bool] = lambda row: True
    filled: Callable[[Sequence[Value]], Sequence[Value]] = lambda row: row
    old: tuple[int, ...] = ()

    @property
    def lengths(self) -> set[int]:
        """How many values a row may have."""
        return {len(self.columns), *self.old}

    def row(self, values: Sequence[Value]) -> Row | None:
        """The row as it goes into the new store; None where it is no usable one."""
        if len(values) not in self.lengths:
            return None
        values = self.filled(values)
        row = [_fit(value, kind) for value, kind in zip(values, self.columns.values(), strict=True)]
        if any(fits is _NO for fits in row):
            return None
        fitting = cast("list[Value]", row)
        try:
            return tuple(fitting) if self.usable(fitting) else None
        except (ValueError, TypeError, RecursionError):
            return None


class _Unfit:
    pass


_NO = _Unfit()


def _fit(value: Value, kind: str) -> Value | _Unfit:
    match kind:
        case "text":
            return value if isinstance(value, str) and _is_text(value) else _NO
        case "integer":
            return value if isinstance(value, int) else _NO
        case "real":
            # A whole number is kept as one, even in a column of real numbers.
            return float(value) if isinstance(value, int | float) and math.isfinite(value) else _NO
        case _:
            return None if value is None else _fit(value, "real")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _columns(text: str) -> dict[str, str]:
    return {word.partition(":")[0]: word.partition(":")[2] or "text" for word in text.split()}


def _full_verdict(row: Sequence[Value]) -> Sequence[Value]:
    # What a verdict cost is noted by itself: who asked would have it noted once more.
    return [*row, *[""] * (len(_VERDICT_COLUMNS) - len(row))][: len(_VERDICT_COLUMNS)]


def _full_judgment(row: Sequence[Value]) -> Sequence[Value]:
    if len(row) == len(_JUDGMENT_COLUMNS):
        return row
    result, path = row[7], row[1]
    summary = ""
    if isinstance(result, str):
        with contextlib.suppress(ValueError, RecursionError):
            members = msgspec.json.decode(result, type=dict[str, object])
            members.pop("parts", None)
            summary = msgspec.json.encode(members).decode()
    real = known_real_path(path) if isinstance(path, str) else ""
    return [*row, real, "[]", summary, 0, 0.0]


def _is_verdict(row: Sequence[Value]) -> bool:
    Verdict.from_json(cast("str", row[1]))
    return bool(row[0])


def _is_judgment(row: Sequence[Value]) -> bool:
    msgspec.json.decode(cast("str", row[7]), type=dict[str, object])
    msgspec.json.decode(cast("str", row[10]), type=list[str])
    return bool(row[0])


def _is_mark(row: Sequence[Value]) -> bool:
    Mark(row[2])
    return bool(bytes.fromhex(cast("str", row[0])))


_VERDICT_COLUMNS = _columns(
    "key verdict raw_reply disagrees:integer model endpoint rubric rubric_version"
    " input_tokens:integer output_tokens:integer cache_read_tokens:integer"
    " cache_write_tokens:integer cost_usd:? created:real chunk_digest parameters prompt rendering"
    " redactor"
)
_ITEM_COLUMNS = _columns(
    "batch key judgment part:integer chunk_digest disputed:integer outcome problem reply usage"
    " cost_usd:? counted:integer"
)
_JUDGMENT_COLUMNS = _columns(
    "id path session_id rubric rubric_version model status result created:real real_path digests"
    " summary asked:integer asked_seconds:real"
)

_TABLES = (
    _Table("verdicts", "key", _VERDICT_COLUMNS, _is_verdict, _full_verdict, old=(14, 20)),
    _Table("judgments", "id", _JUDGMENT_COLUMNS, _is_judgment, _full_judgment, old=(9,)),
    _Table("marks", "digest", _columns("digest criterion mark created:real"), _is_mark),
    _Table("gap_replies", "judgment", _columns("judgment part:integer problem reply")),
    _Table(
        "unrecorded_costs",
        "judgment",
        _columns("judgment batch key answers:integer unpriced:integer cost_usd:real last:real"),
        lambda row: cast("str", row[0]).startswith("j_"),
    ),
    _Table(
        "token_factors",
        "model",
        _columns("model format factor:real deviation:real answers:integer changed:real"),
    ),
    _Table(
        "rubric_versions",
        "version",
        _columns("version name label toml first_used:real last_used:real"),
        lambda row: is_rubric(cast("str", row[0]), cast("str", row[3])),
    ),
    _Table(
        "batches",
        "id",
        _columns(
            "id provider_id endpoint profile model state cancel cancel_sent:integer count:integer"
            " created:real submitted:real ended:real deadline:real owner problem rubric"
            " rubric_version rubric_toml parameters prompt rendering redactor price"
        ),
    ),
    _Table("batch_items", "batch", _ITEM_COLUMNS),
)
_EARLIER = _Table(
    "earlier_verdicts",
    "rowid",
    {"rowid": "integer", **_VERDICT_COLUMNS, "replaced": "real"},
    lambda row: _is_verdict(row[1:]),
)


def open_damaged(path: Path, held: contextlib.ExitStack) -> sqlite3.Connection | None:
    """A connection that keeps other writers away where it can; None where SQLite reads nothing.

    Until `held` closes it, and while the file has its name, nothing takes the log into the file.

    Raises:
        sqlite3.OperationalError: another process is writing.
    """
    if not path.stat().st_size:
        # SQLite removes the log of an empty file.
        return None
    connection = sqlite3.connect(f"{uri(path)}?mode=rw", uri=True, isolation_level=None, timeout=0)
    held.callback(connection.close)
    try:
        # What is no text must not end a whole table.
        connection.text_factory = _any_text
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN IMMEDIATE")
    except _FAULTS as error:
        if not is_damage(error):
            raise
    return connection


def _any_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def rescue(
    damaged: Path,
    source: sqlite3.Connection | None,
    target: Path,
    go_on: Callable[[], None],
    held: contextlib.ExitStack,
) -> Rescued:
    """Fill the new file `target` with what can be read; `go_on` may raise.

    What is opened of the damaged store stays open until `held` is closed: closing any of its files
    would give up the locks of `source`.

    Raises:
        sqlite3.Error: the new store cannot be written.
    """
    with contextlib.closing(
        sqlite3.connect(f"{uri(target)}?mode=rw", uri=True, isolation_level=None)
    ) as new:
        new.execute("PRAGMA journal_mode = MEMORY")
        new.execute("PRAGMA synchronous = OFF")
        new.create_function("known_real_path", 1, known_real_path)
        new.execute("BEGIN")
        for statements in MIGRATIONS:
            for statement in statements:
                new.execute(statement)
        new.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")
        whole = source is not None
        if source is not None:
            most = damaged.stat().st_size // _LEAST_ROW + _log_bytes(damaged) // _LEAST_ROW
            tables = [_copy_table(source, new, table, go_on, most) for table in _TABLES]
            _copy_table(source, new, _EARLIER, go_on, most)
            whole = all(tables)
        if not whole:
            _copy_pages(damaged, new, go_on, held)
        counts = {
            table.name: new.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]
            for table in _TABLES
        }
        new.execute("COMMIT")
    return Rescued(
        counts["verdicts"],
        counts["judgments"],
        counts["marks"],
        whole,
        counts["rubric_versions"],
    )


def _copy_table(
    source: sqlite3.Connection,
    new: sqlite3.Connection,
    table: _Table,
    go_on: Callable[[], None],
    most: int,
) -> bool:
    """Copy the rows of a table that can be read; whether that were all of them."""
    try:
        found = source.execute("SELECT name FROM pragma_table_info(?)", (table.name,)).fetchall()
        names = [name for (name,) in found]
    except _FAULTS:
        return False
    if not names:
        # An older schema has no such table, and a damaged one hides it.
        return _reads_well(source)
    columns = [name for name in table.columns if name in names or name == "rowid"]
    if len(columns) not in table.lengths:
        # The list of tables itself is damaged: no row of it would be whole.
        return False
    for way in ("ASC", "DESC"):
        order = f"{table.key} {way}"
        sql = f"SELECT {', '.join(columns)} FROM {table.name} NOT INDEXED ORDER BY {order}"
        try:
            _insert(new, table, _readable(source, sql, most), go_on)
        except _SourceError:
            continue
        return True
    return False


class _SourceError(Exception):
    """The damaged store can be read no further."""


def _readable(source: sqlite3.Connection, sql: str, most: int) -> Iterator[Row]:
    try:
        rows = source.execute(sql)
        for _ in range(most):
            row = rows.fetchone()
            if row is None:
                return
            yield row
    except _FAULTS as error:
        raise _SourceError from error
    raise _SourceError


def _reads_well(source: sqlite3.Connection) -> bool:
    try:
        source.execute("SELECT count(*) FROM sqlite_master").fetchall()
        return bool(source.execute("SELECT 1 FROM pragma_table_info('verdicts')").fetchall())
    except _FAULTS:
        return False


def _insert(
    new: sqlite3.Connection,
    table: _Table,
    rows: Iterable[Sequence[Value]],
    go_on: Callable[[], None],
) -> None:
    names = list(table.columns)
    marks = ", ".join("?" * len(names))
    statement = f"INSERT OR IGNORE INTO {table.name} ({', '.join(names)}) VALUES ({marks})"
    if table.name == "verdicts":
        # A page that nothing leads to any more may hold what stood there before.
        renewed = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        statement = statement.replace(" OR IGNORE", "") + (
            f" ON CONFLICT (key) DO UPDATE SET {renewed} WHERE excluded.created > verdicts.created"
        )
    for number, values in enumerate(rows):
        if number % _ROWS == 0:
            go_on()
        if (row := table.row(values)) is not None:
            new.execute(statement, row)


def _copy_pages(
    damaged: Path,
    new: sqlite3.Connection,
    go_on: Callable[[], None],
    held: contextlib.ExitStack,
) -> None:
    by_length: dict[int, list[_Table]] = {}
    for table in _TABLES:
        for length in table.lengths:
            by_length.setdefault(length, []).append(table)
    log = log_of(damaged)
    pages = Pages(
        held.enter_context(damaged.open("rb")),
        held.enter_context(log.open("rb")) if log.is_file() else None,
    )
    for record in records(pages, go_on):
        for table in by_length.get(len(record), ()):
            if table.row(record) is not None:
                _insert(new, table, [record], go_on)
                break


def _log_bytes(path: Path) -> int:
    log = log_of(path)
    return log.stat().st_size if log.is_file() else 0
