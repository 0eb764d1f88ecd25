"""What keeps a store in order: counts, deletions, the space they free, and why a verdict is none.

Every deletion is one short transaction, so that processes that are judging meanwhile never wait
long. The file shrinks only while nobody else has it open.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from longjudge.settings import MAX_TIME_LIMIT
from longjudge.store.connect import TRY_SECONDS
from longjudge.store.names import log_of, uri
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.store.file import StoreFile

K = TypeVar("K")

DELETE_ROWS = 500
"""Verdicts deleted in one transaction."""

VACUUM_SECONDS = 20.0
"""How long the file may be written anew; what takes longer is left as it was."""

MEASURED_JUDGMENTS = 50
"""Judgments of a model that its expected duration is taken from, the newest ones."""

# A store is only a file: what no judgment can have taken measures nothing.
_MEASURES = f"""
    typeof(asked) = 'integer' AND asked > 0
    AND typeof(asked_seconds) IN ('real', 'integer')
    AND asked_seconds BETWEEN 0 AND asked * {MAX_TIME_LIMIT}
"""
_PROGRESS_STEPS = 1_000
_LOOKUP_DIGESTS = 5_000

_COLUMNS = {
    "model": "model",
    "endpoint": "endpoint",
    "parameters": "parameters",
    "prompt": "prompt",
    "rendering": "rendering",
    "redactor": "redactor",
    "rubric": "rubric_version",
}


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How many verdicts a store holds, by model and by rubric (name and version); its size.

    `earlier` are answers that newer ones have replaced; they are counted nowhere else.
    """

    verdicts: int
    earlier: int
    bytes: int
    by_model: dict[str, int]
    by_rubric: dict[tuple[str, str], int]
    judgments: int
    marks: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which verdicts are meant: all conditions that are set hold. `rubric` is name or version."""

    before: float | None = None
    rubric: str | None = None
    model: str | None = None
    endpoint: str | None = None

    def where(self) -> tuple[str, list[object]]:
        """The condition and its values."""
        conditions, values = ["1"], list[object]()
        if self.before is not None:
            conditions.append("created < ?")
            values.append(self.before)
        if self.rubric is not None:
            conditions.append("(rubric = ? OR rubric_version = ?)")
            values += [without_surrogates(self.rubric)] * 2
        if self.model is not None:
            conditions.append("model = ?")
            values.append(without_surrogates(self.model))
        if self.endpoint is not None:
            conditions.append("endpoint = ?")
            values.append(without_surrogates(self.endpoint))
        return " AND ".join(conditions), values


@dataclass(frozen=True, slots=True)
class Counts:
    """Verdicts that count, and earlier answers that they have replaced."""

    verdicts: int
    earlier: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Everything a verdict's key is made of but the text, by the name of each part."""

    parts: dict[str, str]
    created: float = 0.0

    def differs(self, other: Origin) -> list[str]:
        """Names of the parts in which the two are not the same."""
        return [name for name, value in self.parts.items() if other.parts.get(name) != value]


async def stats(store: StoreFile) -> StoreStats:
    """Count what the store holds."""
    rows = await store.read(
        "SELECT model, rubric, rubric_version, count(*) FROM verdicts GROUP BY 1, 2, 3"
    )
    by_model: dict[str, int] = {}
    by_rubric: dict[tuple[str, str], int] = {}
    for *names, count in rows:
        # A store is only a file: what was written here is text.
        model, rubric, version = map(str, names)
        by_model[model] = by_model.get(model, 0) + count
        by_rubric[rubric, version] = by_rubric.get((rubric, version), 0) + count
    [(judgments, marks, earlier)] = await store.read(
        "SELECT (SELECT count(*) FROM judgments), (SELECT count(*) FROM marks),"
        " (SELECT count(*) FROM earlier_verdicts)"
    )
    return StoreStats(
        verdicts=sum(by_model.values()),
        earlier=earlier,
        bytes=file_bytes(store.path),
        by_model=_largest_first(by_model),
        by_rubric=_largest_first(by_rubric),
        judgments=judgments,
        marks=marks,
    )


async def count(store: StoreFile, selection: Selection) -> Counts:
    """How many verdicts are meant."""
    where, values = selection.where()
    [(verdicts, earlier)] = await store.read(
        f"SELECT (SELECT count(*) FROM verdicts WHERE {where}),"
        f" (SELECT count(*) FROM earlier_verdicts WHERE {where})",
        [*values, *values],
    )
    return Counts(verdicts, earlier)


async def delete(store: StoreFile, selection: Selection) -> Counts:
    """Delete the verdicts that are meant, and return how many there were.

    Raises:
        StoreWriteError: not all of them were deleted.
    """
    there = await count(store, selection)
    return Counts(
        await _delete(store, "verdicts", "key", selection, there.verdicts),
        await _delete(store, "earlier_verdicts", "rowid", selection, there.earlier),
    )


async def _delete(store: StoreFile, table: str, key: str, selection: Selection, left: int) -> int:
    """Delete rows a few at a time; those that others commit meanwhile do not keep it busy."""
    where, values = selection.where()
    deleted = 0
    while left > 0:
        gone = await store.write(
            f"DELETE FROM {table} WHERE {key} IN"
            f" (SELECT {key} FROM {table} WHERE {where} LIMIT {DELETE_ROWS:d})",
            values,
        )
        if not gone:
            break
        deleted += gone
        left -= gone
    return deleted


def shrink(path: Path, seconds: float = VACUUM_SECONDS) -> str | None:
    """Give a store's free space back; None, or why it was not.

    Blocks, and must find no connection of this process open.
    """
    try:
        if _is_open_elsewhere(path):
            return "another process has the store open"
        with contextlib.closing(_connect(path)) as connection:
            end = time.monotonic() + seconds
            connection.set_progress_handler(lambda: time.monotonic() > end, _PROGRESS_STEPS)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "interrupted" in text:
            return f"it takes longer than {seconds:g} seconds"
        return "another process is writing" if "locked" in text else text
    return None


async def origins(store: StoreFile, chunk_digests: Sequence[str]) -> dict[str, list[Origin]]:
    """The verdicts about texts, by the hexadecimal digest of the chunk."""
    found: dict[str, list[Origin]] = {}
    columns = ", ".join(_COLUMNS.values())
    for start in range(0, len(chunk_digests), _LOOKUP_DIGESTS):
        digests = list(chunk_digests[start : start + _LOOKUP_DIGESTS])
        rows = await store.read(
            f"SELECT chunk_digest, created, {columns} FROM verdicts"
            " WHERE chunk_digest IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(digests).decode(),),
        )
        for digest, created, *values in rows:
            parts = dict(zip(_COLUMNS, values, strict=True))
            moment = created if isinstance(created, float) else 0.0
            found.setdefault(digest, []).append(Origin(parts, moment))
    return found


async def verdicts_of_unknown_text(store: StoreFile) -> int:
    """How many verdicts were kept before the store noted what they are about."""
    [(number,)] = await store.read("SELECT count(*) FROM verdicts WHERE chunk_digest = ''")
    return number


async def durations(store: StoreFile, model: str) -> list[tuple[int, float]]:
    """Of each of a model's last judgments: chunks that were asked, and their seconds together."""
    rows = await store.read(
        f"SELECT asked, asked_seconds FROM judgments WHERE model = ? AND {_MEASURES}"
        " ORDER BY created DESC LIMIT ?",
        (without_surrogates(model), MEASURED_JUDGMENTS),
    )
    return [(asked, float(seconds)) for asked, seconds in rows]


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{uri(path)}?mode=rw", uri=True, isolation_level=None, timeout=TRY_SECONDS
    )


def _is_open_elsewhere(path: Path) -> bool:
    """Whether any other connection exists: each holds a shared lock as long as it is open."""
    with contextlib.closing(_connect(path)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            return True
        connection.execute("ROLLBACK")
    return False


def file_bytes(path: Path) -> int:
    """Bytes of the file and of its log."""
    total = 0
    for file in (path, log_of(path)):
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def _largest_first(counts: dict[K, int]) -> dict[K, int]:
    return dict(sorted(counts.items(), key=lambda item: -item[1]))
