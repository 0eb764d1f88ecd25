"""Says which questions of a session are in batches already, and whose those are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.owner import this_process
from longjudge.report.words import plural
from longjudge.store import batches as rows
from longjudge.store import leases
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.preview import Preview
    from longjudge.store import Store
    from longjudge.store.batch_rows import Batch


async def in_batches_words(store: Store, preview: Preview) -> str:
    """To be added to a preview's line: what of it is waited for and not asked; empty without any.

    Raises:
        StoreError: the store cannot be read.
    """
    if not preview.totals.to_ask:
        return ""
    batches = {batch.id: batch for batch in await rows.live_batches(store)}
    if not batches:
        return ""
    keys = list(dict.fromkeys(key for key in preview.keys if key not in preview.kept))
    counts = Counter((await rows.on_the_way(store, keys)).values())
    known = [batches[id] for id, _ in counts.most_common() if id in batches]
    if not known:
        return ""
    which = await _name(store, known[0])
    if len(known) > 1:
        which = f"{len(known)} batches, such as {which}"
    count = sum(counts[batch.id] for batch in known)
    are, they = ("is", "it is") if count == 1 else ("are", "they are")
    return f"; {plural(count, 'question')} of these {are} in {which}: {they} not asked again"


async def _name(store: Store, batch: Batch) -> str:
    name = f"batch {clean_line(batch.provider_id or batch.id, 80)}"
    if not batch.owner:
        return f"{name} (left running)"
    holder = (await leases.find_holders(store, [batch.owner])).get(batch.owner)
    if holder is None or holder.owner is None or not holder.alive:
        return f"{name} (of a dead process)"
    if holder.owner == this_process():
        return f"{name} (followed from here)"
    return f"{name} (of {clean_line(holder.owner.words, 60)})"
