"""Leases: who is asking which question, so that no two processes pay for the same one.

A lease goes with the commit of its verdict, in one transaction. What a dead owner left is taken
over by whoever wants it, or swept.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.owner import Owner, lives, this_process
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longjudge.store.file import StoreFile

_REGISTER: Final = """
    INSERT OR REPLACE INTO owners
        (id, host, boot, pid, started, since, beat, beat_monotonic, doing)
    VALUES (?,?,?,?,?,?,?,?,?)
"""
_BEAT: Final = "UPDATE owners SET beat = ?, beat_monotonic = ? WHERE id = ?"
AHEAD_SECONDS = 60.0
"""How far the clock of another machine may be ahead."""

# What is from even later was not given since then, by whatever clock, unless any moment will do.
_SINCE: Final = "created >= ? AND (? OR created <= ?)"
# In one statement, since another process may take them, or answer, between two.
_TAKE: Final = f"""
    INSERT INTO leases (key, owner, taken, detail)
    SELECT json_extract(wanted.value, '$[0]'), ?, ?, json_extract(wanted.value, '$[1]')
    FROM json_each(?) AS wanted
    WHERE NOT EXISTS (
        SELECT 1 FROM verdicts
        WHERE key = json_extract(wanted.value, '$[0]') AND {_SINCE}
    ) AND NOT EXISTS (
        SELECT 1 FROM batch_items WHERE key = json_extract(wanted.value, '$[0]') AND outcome = ''
    )
    ON CONFLICT (key) DO UPDATE SET taken = excluded.taken, detail = excluded.detail
        WHERE leases.owner = excluded.owner
    RETURNING key
"""
_RELEASE: Final = """
    DELETE FROM leases WHERE owner = ? AND key IN (SELECT value FROM json_each(?))
"""
_RELEASE_ALL: Final = "DELETE FROM leases WHERE owner = ?"
_FORGET: Final = "DELETE FROM owners WHERE id = ?"
# A store is only a file: what cannot have been written here is held by nobody, and found again by
# its bytes, be they text or not.
_HELD: Final = """
    SELECT leases.key, leases.owner, CAST(leases.key AS BLOB), CAST(leases.owner AS BLOB),
        taken, detail, host, boot, pid, started, beat, beat_monotonic, doing
    FROM leases LEFT JOIN owners ON owners.id = leases.owner
"""
_OWNERS: Final = """
    SELECT CAST(id AS BLOB), host, boot, pid, started, beat, beat_monotonic FROM owners
"""
_TAKE_OVER: Final = """
    DELETE FROM leases WHERE key IN (CAST(?1 AS TEXT), ?1) AND CAST(owner AS BLOB) = ?2
"""
_FORGET_DEAD: Final = """
    DELETE FROM owners WHERE id IN (CAST(?1 AS TEXT), ?1)
    AND NOT EXISTS (SELECT 1 FROM leases WHERE owner IN (CAST(?1 AS TEXT), ?1))
    AND NOT EXISTS (
        SELECT 1 FROM batches WHERE owner IN (CAST(?1 AS TEXT), ?1)
        AND state IN ('intent', 'submitted', 'ended')
    )
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """One question that is being asked. `owner` is None where nobody knows who asks it.

    `holder` is the id that the owner took it under: its judgment's. `taken` is in seconds since
    1970, `detail` says what it is about and `doing` what its owner does, both as they were written.
    `row` is key and holder byte by byte.
    """

    key: str
    holder: str
    taken: float
    detail: str
    owner: Owner | None
    alive: bool
    doing: str
    row: tuple[bytes, bytes]


async def register(store: StoreFile, holder: str, doing: str) -> None:
    """Say who takes leases under the id `holder`; comes before the first of them.

    Raises:
        StoreWriteError: nothing was written.
    """
    process = this_process()
    await store.write(
        _REGISTER,
        (
            holder,
            without_surrogates(process.host),
            process.boot,
            process.pid,
            process.started,
            time.time(),
            time.time(),
            time.monotonic(),
            without_surrogates(doing),
        ),
    )


async def beat(store: StoreFile, holder: str) -> bool:
    """Say that the holder is still there; False where it was given up for dead meanwhile.

    Raises:
        StoreWriteError: nothing was written.
    """
    return await store.write(_BEAT, (time.time(), time.monotonic(), holder)) == 1


async def take(
    store: StoreFile, holder: str, wanted: Sequence[tuple[str, str]], since: float
) -> set[str]:
    """Take leases on questions, each a key and what it is about; the keys of those taken.

    Another holds the others, or their verdict is there; verdicts from before `since` (seconds since
    1970) count as none. What the holder has already, and was about to give back, is taken anew.

    Raises:
        StoreWriteError: nothing was written.
    """
    questions = [(key, without_surrogates(detail)) for key, detail in wanted]
    json = msgspec.json.encode(questions).decode()
    rows = await store.write_returning(_TAKE, (holder, time.time(), json, *_since(since)))
    return {row[0] for row in rows}


async def release(store: StoreFile, holder: str, keys: Sequence[str]) -> int:
    """Give leases back; how many of them were still held.

    Raises:
        StoreWriteError: nothing was written.
    """
    return await store.write(_RELEASE, (holder, _json(keys)))


async def release_all(store: StoreFile, holder: str) -> None:
    """Give back every lease of a holder, and forget it.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write_together((_RELEASE_ALL, [(holder,)]), (_FORGET, [(holder,)]))


async def take_over(store: StoreFile, lease: Lease) -> bool:
    """Release a lease whose owner is dead; False where somebody else has meanwhile.

    Raises:
        StoreWriteError: nothing was written.
    """
    return await store.write(_TAKE_OVER, lease.row) == 1


async def leases(store: StoreFile, keys: Sequence[str] | None = None) -> list[Lease]:
    """All leases, or those on `keys`, oldest first.

    Raises:
        StoreError: the store cannot be read.
    """
    if keys is None:
        rows = await store.read(f"{_HELD} ORDER BY taken, leases.key")
    else:
        sql = f"{_HELD} WHERE leases.key IN (SELECT value FROM json_each(?)) ORDER BY taken"
        rows = await store.read(sql, (_json(keys),))
    found = _Found()
    return [_lease(row, found) for row in rows]


@dataclass(frozen=True, slots=True)
class Holder:
    """Who takes things under an id: `owner` is None where nobody knows, `beat` is its last word.

    `beat` is in seconds since 1970.
    """

    owner: Owner | None
    alive: bool
    beat: float


async def find_holders(store: StoreFile, ids: Sequence[str]) -> dict[str, Holder]:
    """Who is behind ids of holders; an id that nobody has is left out.

    Raises:
        StoreError: the store cannot be read.
    """
    found, holders = _Found(), dict[str, Holder]()
    rows = await store.read(
        "SELECT id, host, boot, pid, started, beat, beat_monotonic FROM owners"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (_json(ids),),
    )
    for id, *facts in rows:
        owner, alive = found.owner(facts)
        beat = facts[4] if isinstance(facts[4], float) else 0.0
        holders[str(id)] = Holder(owner, alive, beat)
    return holders


async def answered(store: StoreFile, keys: Sequence[str], since: float) -> set[str]:
    """Which of the questions have a verdict from `since` on.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(
        f"SELECT key FROM verdicts WHERE {_SINCE} AND key IN (SELECT value FROM json_each(?))",
        (*_since(since), _json(keys)),
    )
    return {row[0] for row in rows}


async def forget(store: StoreFile, holder: str) -> None:
    """Forget a holder that holds nothing any more.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write(_FORGET, (holder,))


async def forget_dead_owners(store: StoreFile) -> None:
    """Forget who is dead and holds nothing any more.

    Raises:
        StoreError: the store cannot be read or written.
    """
    found = _Found()
    for id, *facts in await store.read(_OWNERS):
        _, alive = found.owner(facts)
        if not alive:
            await store.write(_FORGET_DEAD, (id,))


class _Found:
    """Whether owners live, each looked at once."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], tuple[Owner | None, bool]] = {}

    def owner(self, facts: Iterable[object]) -> tuple[Owner | None, bool]:
        """The owner that a row names, and whether it lives; what does not read is nobody."""
        row = tuple(facts)
        if row not in self._found:
            self._found[row] = self._look(row)
        return self._found[row]

    def _look(self, row: tuple[object, ...]) -> tuple[Owner | None, bool]:
        host, boot, pid, started, beat, silent_since = row
        if not (isinstance(host, str) and isinstance(boot, str) and isinstance(started, str)):
            return None, False
        if not (isinstance(pid, int) and pid > 0 and isinstance(beat, float)):
            return None, False
        owner = Owner(host, boot, pid, started)
        return owner, isinstance(silent_since, float) and lives(owner, beat, silent_since)


def _lease(row: Iterable[object], found: _Found) -> Lease:
    key, holder, key_bytes, holder_bytes, taken, detail, *facts, doing = row
    owner, alive = found.owner(facts)
    return Lease(
        str(key),
        str(holder),
        taken if isinstance(taken, float) and taken > 0 else 0.0,
        str(detail),
        owner,
        alive,
        doing if isinstance(doing, str) else "",
        (_bytes(key_bytes), _bytes(holder_bytes)),
    )


def _since(since: float) -> tuple[float, bool, float]:
    return since, since == -math.inf, time.time() + AHEAD_SECONDS


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""


def _json(keys: Sequence[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()
