"""Earlier answers to a question whose newest one counts: its history."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from longjudge.store.store import KeptVerdict
from longjudge.text import without_surrogates
from longjudge.verdict import Verdict

if TYPE_CHECKING:
    from longjudge.store.file import StoreFile

# A store is only a file: what cannot have been written here is left out.
_READ: Final = """
    SELECT verdict, raw_reply, disagrees, model, created, replaced, cost_usd FROM earlier_verdicts
    WHERE key = ? AND typeof(verdict) = 'text' AND typeof(raw_reply) = 'text'
        AND typeof(model) = 'text' AND typeof(created) = 'real' AND typeof(replaced) = 'real'
        AND typeof(cost_usd) IN ('real', 'integer', 'null')
    ORDER BY created DESC, rowid DESC
"""


@dataclass(frozen=True, slots=True)
class EarlierVerdict:
    """An answer that a newer one has replaced; `created` and `replaced` in seconds since 1970."""

    kept: KeptVerdict
    model: str
    created: float
    replaced: float
    cost_usd: float | None


async def earlier_verdicts(store: StoreFile, key: str) -> list[EarlierVerdict]:
    """What was answered under a key before the answer that counts, newest first.

    Raises:
        StoreError: the store cannot be read.
    """
    found: list[EarlierVerdict] = []
    rows = await store.read(_READ, (without_surrogates(key),))
    for verdict, raw_reply, disagrees, *facts in rows:
        with contextlib.suppress(ValueError):
            kept = KeptVerdict(Verdict.from_json(verdict), raw_reply, bool(disagrees))
            found.append(EarlierVerdict(kept, *facts))
    return found
