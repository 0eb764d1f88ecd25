"""The observed token factors in the store: one row per model and session format.

Several processes may learn at once. A row is only replaced as it was read, so that none of them
writes over what another has learned meanwhile.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from longjudge.factors import MOST, ObservedFactor, learned
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.store.file import StoreFile

TRIES = 5
"""How often a row that changed meanwhile is read again; after that nothing is learned."""

# A store is only a file: what cannot have been learned is no factor, and is written over.
_USABLE = f"""
    typeof(factor) = 'real' AND factor BETWEEN {1 / MOST} AND {MOST}
    AND typeof(deviation) = 'real' AND deviation BETWEEN 0 AND {MOST}
    AND typeof(answers) = 'integer' AND answers > 0
"""
_ALL = f"SELECT model, format, factor, deviation, answers FROM token_factors WHERE {_USABLE}"
_READ = f"""
    SELECT factor, deviation, answers FROM token_factors
    WHERE model = ? AND format = ? AND {_USABLE}
"""
_NEW = f"""
    INSERT INTO token_factors (factor, deviation, answers, changed, model, format)
    VALUES (?,?,?,?,?,?)
    ON CONFLICT (model, format) DO UPDATE SET
        factor = excluded.factor, deviation = excluded.deviation,
        answers = excluded.answers, changed = excluded.changed
    WHERE NOT coalesce({_USABLE}, 0)
"""
_CHANGE = """
    UPDATE token_factors SET factor = ?, deviation = ?, answers = ?, changed = ?
    WHERE model = ? AND format = ? AND factor = ? AND answers = ?
"""


async def token_factor(store: StoreFile, model: str, format: str) -> ObservedFactor | None:
    """What was seen of a model in sessions of a format; None where nothing usable was.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(_READ, _key(model, format))
    return ObservedFactor(*rows[0]) if rows else None


async def token_factors(store: StoreFile) -> dict[tuple[str, str], ObservedFactor]:
    """All that was seen, by model and format of session.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(_ALL)
    return {(model, format): ObservedFactor(*seen) for model, format, *seen in rows}


async def learn_tokens(
    store: StoreFile, model: str, format: str, ratios: Sequence[float]
) -> ObservedFactor | None:
    """Commit what a judgment has seen, and return what stands then; None where nothing does.

    Raises:
        StoreError: the store cannot be read, or nothing was written.
    """
    key = _key(model, format)
    for _ in range(TRIES):
        before = await token_factor(store, model, format)
        after = learned(before, ratios)
        if after is None:
            return None
        values = (after.factor, after.deviation, after.answers, time.time(), *key)
        if before is None:
            changed = await store.write(_NEW, values)
        else:
            changed = await store.write(_CHANGE, (*values, before.factor, before.answers))
        if changed == 1:
            return after
    return None


def _key(model: str, format: str) -> tuple[str, str]:
    return without_surrogates(model), without_surrogates(format)
