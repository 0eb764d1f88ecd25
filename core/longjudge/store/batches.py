"""Batches in the store: what was sent to a provider's queue, by whom, and what came of it.

A row stands here before anything is sent, with all of its questions, so that whatever a process
leaves behind at the provider can be found again. While a question has no outcome it stands like a
lease in the way of everyone else who would ask it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.store import unrecorded
from longjudge.store.batch_rows import (
    KEPT,
    Batch,
    BatchItem,
    CancelCause,
    ItemOutcome,
    from_row,
    outcome_from_row,
    to_row,
    usage_json,
)
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longjudge.store.file import StoreFile

REMEMBERED_DAYS: Final = 30
"""How long a batch that is over is remembered: results are there for 29 days after its creation
[the provider's documents], and one that is known is taken for nobody else's."""

LOOKUP_KEYS: Final = 5_000

_COLUMNS: Final = (
    "id, provider_id, endpoint, profile, model, state, cancel, cancel_sent, count, created,"
    " submitted, ended, deadline, owner, problem, rubric, rubric_version, rubric_toml, parameters,"
    " prompt, rendering, redactor, price"
)
_LIVE: Final = "state IN ('intent', 'submitted', 'ended')"
_INSERT: Final = f"INSERT INTO batches ({_COLUMNS}) VALUES ({', '.join('?' * 23)})"
_INSERT_AGAIN: Final = f"{_INSERT} ON CONFLICT (id) DO NOTHING"
# In one statement, since another process may take them, or answer, between two.
_INSERT_ITEMS: Final = """
    INSERT OR IGNORE INTO batch_items
        (batch, key, judgment, part, chunk_digest, disputed, outcome, problem, reply, usage)
    SELECT ?1, json_extract(item.value, '$[0]'), json_extract(item.value, '$[1]'),
        json_extract(item.value, '$[2]'), json_extract(item.value, '$[3]'),
        json_extract(item.value, '$[4]'), '', '', '', ''
    FROM json_each(?2) AS item
    WHERE NOT EXISTS (
        SELECT 1 FROM verdicts WHERE key = json_extract(item.value, '$[0]') AND created >= ?3
    ) AND NOT EXISTS (
        SELECT 1 FROM batch_items WHERE key = json_extract(item.value, '$[0]') AND outcome = ''
    ) AND NOT EXISTS (
        SELECT 1 FROM leases WHERE key = json_extract(item.value, '$[0]') AND owner != ?4
    )
"""
_COUNT: Final = """
    UPDATE batches SET count = (SELECT count(*) FROM batch_items WHERE batch = ?1) WHERE id = ?1
"""
_OUTCOME: Final = """
    UPDATE batch_items SET outcome = ?, problem = ?, reply = ?, usage = ?, cost_usd = ?
    WHERE batch = ? AND key = ? AND outcome = ''
"""
SUBMITTED: Final = """
    UPDATE batches SET provider_id = ?1, submitted = ?2, state = 'submitted'
    WHERE id = ?3 AND provider_id = '' AND state = 'intent'
"""
"""Values: the provider's id, seconds since 1970, the batch. No row where another has noted it."""

WANT_CANCEL: Final = f"""
    UPDATE batches SET cancel = ?1
    WHERE id IN (SELECT value FROM json_each(?2)) AND cancel = '' AND {_LIVE}
"""
"""Values: why, the ids of batches as JSON. The first reason counts."""

# Whatever another process has found out of a batch meanwhile is not taken back.
_NOTE: Final = f"""
    UPDATE batches SET provider_id = ?1, state = ?2, cancel_sent = ?3,
        submitted = CASE ?4 WHEN 0 THEN submitted ELSE ?4 END, ended = ?5, problem = ?6
    WHERE id = ?7 AND provider_id IN ('', ?1) AND {_LIVE}
"""
_UNSENT: Final = "state = 'intent' AND provider_id = '' AND owner = ?2"
_WITHDRAW_ITEMS: Final = f"""
    DELETE FROM batch_items WHERE batch = ?1
    AND EXISTS (SELECT 1 FROM batches WHERE id = ?1 AND {_UNSENT})
"""
_WITHDRAW: Final = f"DELETE FROM batches WHERE id = ?1 AND {_UNSENT}"


async def begin(
    store: StoreFile, batch: Batch, items: Sequence[BatchItem], *, since: float, holder: str
) -> set[str]:
    """Note what is about to be sent, safe from a loss of power; the keys that may be sent.

    The others have a verdict from `since` on, or somebody else asks them: leases of `holder` do
    not count. Without any the batch is not noted either.

    Raises:
        StoreError: nothing was written, or the store cannot be read.
    """
    await store.write_together(
        (_INSERT, [to_row(batch)]),
        (_INSERT_ITEMS, [(batch.id, _items_json(items), since, holder)]),
        (_COUNT, [(batch.id,)]),
        ("DELETE FROM batches WHERE id = ? AND count = 0", [(batch.id,)]),
        durably=True,
    )
    taken = await store.read("SELECT key FROM batch_items WHERE batch = ?", (batch.id,))
    return {row[0] for row in taken}


async def note_accepted(
    store: StoreFile, batch: Batch, items: Sequence[BatchItem], *, since: float, holder: str
) -> int:
    """Note under the provider's name a batch that it has accepted, be it withdrawn meanwhile.

    Of its questions those stand again that nobody else asks by now; how many have no answer.

    Raises:
        StoreError: nothing was written, or the store cannot be read.
    """
    await store.write_together(
        (_INSERT_AGAIN, [to_row(batch)]),
        (_INSERT_ITEMS, [(batch.id, _items_json(items), since, holder)]),
        (SUBMITTED, [(batch.provider_id, batch.submitted, batch.id)]),
    )
    return len(await open_items(store, batch.id))


async def withdraw(store: StoreFile, batch: Batch) -> bool:
    """Forget a batch that never reached the provider; False where another knows better by now.

    Raises:
        StoreError: nothing was written, or the store cannot be read.
    """
    await store.write_together(
        (_WITHDRAW_ITEMS, [(batch.id, batch.owner)]), (_WITHDRAW, [(batch.id, batch.owner)])
    )
    return await find(store, batch.id) is None


async def note(store: StoreFile, batch: Batch) -> None:
    """Note how far a batch is; why it is cancelled, and who follows it, is noted elsewhere.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write(
        _NOTE,
        (
            batch.provider_id,
            batch.state.value,
            int(batch.cancel_sent),
            batch.submitted,
            batch.ended,
            without_surrogates(batch.problem),
            batch.id,
        ),
    )


async def note_outcomes(store: StoreFile, id: str, outcomes: Iterable[ItemOutcome]) -> None:
    """Note what came of questions; the first outcome of each counts.

    Raises:
        StoreWriteError: nothing was written.
    """
    rows = [
        (
            each.reason or KEPT,
            without_surrogates(each.problem),
            without_surrogates(each.reply),
            usage_json(each),
            each.cost_usd,
            id,
            each.key,
        )
        for each in outcomes
    ]
    await store.write_together((_OUTCOME, rows))


async def take_over(store: StoreFile, batch: Batch, owner: str) -> Batch | None:
    """Follow a batch in its owner's place: the batch as it is now, None where another was faster.

    Raises:
        StoreWriteError: nothing was written.
    """
    rows = await store.write_returning(
        f"UPDATE batches SET owner = ? WHERE id = ? AND owner = ? AND {_LIVE} RETURNING {_COLUMNS}",
        (owner, batch.id, batch.owner),
    )
    return from_row(tuple(rows[0])) if rows else None


async def give_back(store: StoreFile, id: str, holder: str, owner: str) -> None:
    """Let a batch that is not to be cancelled belong to the owner that it had before.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write(
        f"UPDATE batches SET owner = ? WHERE id = ? AND owner = ? AND cancel = '' AND {_LIVE}",
        (owner, id, holder),
    )


async def leave_running(store: StoreFile, owner: str) -> None:
    """Let go of all batches that are to run on; those to be cancelled stay their owner's.

    Of one that nobody knows to be accepted it is noted when its sender was last heard of.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write(
        "UPDATE batches SET owner = '',"
        " submitted = CASE WHEN submitted = 0 AND state = 'intent' THEN ? ELSE submitted END"
        f" WHERE owner = ? AND cancel = '' AND {_LIVE}",
        (time.time(), owner),
    )


async def want_cancel(store: StoreFile, id: str, cause: CancelCause) -> None:
    """Note that the provider is to end a batch; the first reason counts.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write(WANT_CANCEL, want_cancel_values([id], cause))


def want_cancel_values(ids: Sequence[str], cause: CancelCause) -> tuple[str, str]:
    """The values of `WANT_CANCEL`."""
    return cause.value, _json(ids)


async def find(store: StoreFile, id: str) -> Batch | None:
    """The batch of that id, be it over or not; None where there is none.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(f"SELECT {_COLUMNS} FROM batches WHERE id = ?", (id,))
    return from_row(tuple(rows[0])) if rows else None


async def live_batches(store: StoreFile, ids: Sequence[str] | None = None) -> list[Batch]:
    """All batches that are held, or those of `ids`, oldest first.

    Raises:
        StoreError: the store cannot be read.
    """
    sql = f"SELECT {_COLUMNS} FROM batches WHERE {_LIVE}"
    if ids is None:
        rows = await store.read(f"{sql} ORDER BY created, id")
    else:
        only = f"{sql} AND id IN (SELECT value FROM json_each(?)) ORDER BY created, id"
        rows = await store.read(only, (_json(ids),))
    return [batch for row in rows if (batch := from_row(tuple(row))) is not None]


async def known_ids(store: StoreFile) -> set[str]:
    """The provider's ids of all batches that the store knows of, those that are over included.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read("SELECT provider_id FROM batches WHERE provider_id != ''")
    return {row[0] for row in rows}


async def open_items(store: StoreFile, id: str) -> dict[str, BatchItem]:
    """The questions of a batch that have no outcome yet, by key.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(
        "SELECT key, judgment, part, chunk_digest, disputed FROM batch_items"
        " WHERE batch = ? AND outcome = ''",
        (id,),
    )
    return {row[0]: BatchItem(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows}


async def on_the_way(store: StoreFile, keys: Sequence[str]) -> dict[str, str]:
    """Which of the questions are in a batch and have no outcome yet: the batch of each.

    Raises:
        StoreError: the store cannot be read.
    """
    found: dict[str, str] = {}
    for start in range(0, len(keys), LOOKUP_KEYS):
        rows = await store.read(
            "SELECT key, batch FROM batch_items"
            " WHERE outcome = '' AND key IN (SELECT value FROM json_each(?))",
            (_json(keys[start : start + LOOKUP_KEYS]),),
        )
        found.update((row[0], row[1]) for row in rows)
    return found


async def outcomes_of(store: StoreFile, judgment: str) -> dict[str, ItemOutcome]:
    """What came of the questions of one judgment, by key; those without an outcome are left out.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(
        "SELECT key, outcome, problem, reply, usage, cost_usd, batch FROM batch_items"
        " WHERE judgment = ? AND outcome != ''",
        (judgment,),
    )
    return {row[0]: replace(outcome_from_row(tuple(row)), batch=str(row[6])) for row in rows}


async def unanswered(store: StoreFile, judgment: str) -> set[str]:
    """The questions of one judgment that are in a batch and have no outcome yet.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(
        "SELECT key FROM batch_items WHERE judgment = ? AND outcome = ''", (judgment,)
    )
    return {row[0] for row in rows}


async def forget_over(store: StoreFile, holder: str | None = None) -> None:
    """Drop the questions of batches that are over, of `holder` or of nobody who lives.

    What came of them is in verdicts and judgments by then, and what is in no judgment of what they
    cost is kept. The batches themselves are remembered for a while, and so long each question's
    cost by itself.

    Raises:
        StoreError: the store cannot be read or written.
    """
    if holder is not None:
        gone = f"batch IN (SELECT id FROM batches WHERE NOT {_LIVE} AND owner = ?)"
    else:
        # A damaged file may come back without some rows.
        gone = (
            f"(batch NOT IN (SELECT id FROM batches) OR batch IN (SELECT id FROM batches"
            f" WHERE NOT {_LIVE} AND owner NOT IN (SELECT id FROM owners)))"
        )
    values = () if holder is None else (holder,)
    if not await store.read(f"SELECT 1 FROM batch_items WHERE {gone} LIMIT 1", values):
        return
    remembered = time.time() - REMEMBERED_DAYS * 86_400
    await store.write_together(
        (unrecorded.kept_of(gone), [values]),
        (f"DELETE FROM batch_items WHERE {gone}", [values]),
        *unrecorded.added_up_before(remembered),
    )
    await store.write(
        f"DELETE FROM batches WHERE NOT {_LIVE} AND created < ?"
        " AND NOT EXISTS (SELECT 1 FROM batch_items WHERE batch = batches.id)",
        (remembered,),
    )


def _json(keys: Sequence[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()


def _items_json(items: Sequence[BatchItem]) -> str:
    rows = [
        [each.key, each.judgment, each.part, each.chunk_digest, each.disputed] for each in items
    ]
    return msgspec.json.encode(rows).decode()
