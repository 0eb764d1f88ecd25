"""What was paid for answers that no recorded judgment counts.

Such are those of a process that was killed, of a batch that came home after its judgment had ended,
of a chunk tried by itself, and of what is being judged right now.

What a live answer cost is noted with its verdict, in one commit, or by itself where it is none, and
dropped with the record of the judgment that asked: its result has the cost from then on. A batch's
questions keep theirs, and each is marked as counted with the record of the judgment that took it
in.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.store.file import StoreFile

_UNCOUNTED: Final = "outcome != '' AND NOT counted AND cost_usd IS NOT 0.0"
# A store may hold anything: what cannot be a count or a price is one answer of unknown price.
_MOST: Final = "1e9"
_PRICED: Final = f"(typeof(cost_usd) = 'real' AND cost_usd BETWEEN 0.0 AND {_MOST})"
_READS: Final = (
    f"({_PRICED} AND typeof(answers) = 'integer' AND typeof(unpriced) = 'integer'"
    f" AND answers BETWEEN 1 AND {_MOST} AND unpriced BETWEEN 0 AND answers)"
)
_ENDED: Final = "coalesce((SELECT max(ended, created) FROM batches WHERE id = batch), 0.0)"

_DROP: Final = "DELETE FROM unrecorded_costs WHERE judgment = ? AND batch = ''"
_COUNT: Final = """
    UPDATE batch_items SET counted = 1
    WHERE judgment = ? AND outcome != '' AND (batch, key) IN (
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)
    )
"""
# A judgment may be recorded late, or by a process that was taken for dead meanwhile.
_TAKE_BACK: Final = """
    DELETE FROM unrecorded_costs
    WHERE judgment = ? AND (batch, key) IN (
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)
    )
"""
_NOTE: Final = """
    INSERT INTO unrecorded_costs (judgment, batch, key, answers, unpriced, cost_usd, last)
    SELECT ?1, '', '', 1, ?2 IS NULL, coalesce(?2, 0.0), ?3
    WHERE NOT EXISTS (SELECT 1 FROM judgments WHERE id = ?1)
    ON CONFLICT (judgment, batch, key) DO UPDATE SET
        answers = answers + 1,
        unpriced = unpriced + excluded.unpriced,
        cost_usd = cost_usd + excluded.cost_usd,
        last = max(last, excluded.last)
"""
_ADD_UP: Final = """
    INSERT INTO unrecorded_costs (judgment, batch, key, answers, unpriced, cost_usd, last)
    SELECT judgment, batch, '', sum(answers), sum(unpriced), total(cost_usd), max(last)
    FROM unrecorded_costs WHERE key != '' AND last < ? GROUP BY judgment, batch
    ON CONFLICT (judgment, batch, key) DO UPDATE SET
        answers = answers + excluded.answers,
        unpriced = unpriced + excluded.unpriced,
        cost_usd = cost_usd + excluded.cost_usd
"""
_DROP_ADDED_UP: Final = "DELETE FROM unrecorded_costs WHERE key != '' AND last < ?"
_SUM: Final = f"""
    SELECT total(answers), total(unpriced), total(cost_usd) FROM (
        SELECT iif({_READS}, answers, 1) AS answers, iif({_READS}, unpriced, 1) AS unpriced,
            iif({_READS}, cost_usd, 0.0) AS cost_usd
        FROM unrecorded_costs WHERE last >= ?1
        UNION ALL
        SELECT 1, NOT {_PRICED}, iif({_PRICED}, cost_usd, 0.0) FROM batch_items
        WHERE {_UNCOUNTED} AND {_ENDED} >= ?1
    )
"""


@dataclass(frozen=True, slots=True)
class UnrecordedCost:
    """How many answers were paid for, and `cost_usd` for all but those `unpriced`."""

    answers: int = 0
    unpriced: int = 0
    cost_usd: float = 0.0


def recorded(
    judgment: str, batched: Sequence[tuple[str, str]]
) -> tuple[tuple[str, Sequence[Sequence[str]]], ...]:
    """The statements, each with its values, that go with the record of a judgment.

    `batched` are the batch and the key of every answer in a batch that it counts.
    """
    count = [(judgment, msgspec.json.encode(list(batched)).decode())] if batched else []
    return (_DROP, [(judgment,)]), (_COUNT, count), (_TAKE_BACK, count)


def kept_of(items: str) -> str:
    """The statement that keeps what is not counted of the `items` that are about to be dropped.

    `items` is a condition on the rows of questions.
    """
    return f"""
        INSERT OR IGNORE INTO unrecorded_costs
            (judgment, batch, key, answers, unpriced, cost_usd, last)
        SELECT judgment, batch, key, 1, NOT {_PRICED}, iif({_PRICED}, cost_usd, 0.0), {_ENDED}
        FROM batch_items WHERE {items} AND {_UNCOUNTED}
    """


async def note_cost(store: StoreFile, judgment: str, cost_usd: float | None) -> None:
    """Note what a live answer of a judgment cost that is no verdict.

    Raises:
        StoreWriteError: nothing was written.
    """
    await store.write(_NOTE, (judgment, cost_usd, time.time()))


def added_up_before(moment: float) -> tuple[tuple[str, Sequence[Sequence[float]]], ...]:
    """The statements that make one row of each batch's questions that nobody counts any more.

    They are from before `moment` (seconds since 1970): no judgment is recorded so late.
    """
    return (_ADD_UP, [(moment,)]), (_DROP_ADDED_UP, [(moment,)])


async def unrecorded_cost(store: StoreFile, since: float | None = None) -> UnrecordedCost:
    """What was paid for since then (seconds since 1970) and stands in no recorded judgment.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(_SUM, (since if since is not None else float("-inf"),))
    answers, unpriced, cost = rows[0]
    return UnrecordedCost(int(answers), int(unpriced), cost)
