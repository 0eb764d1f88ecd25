"""How often the same question was answered: the verdict that counts, and those that it replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge.store.file import StoreFile


async def times_asked(store: StoreFile) -> dict[str, int]:
    """By key, of the questions that were answered more than once; from the index alone."""
    rows = await store.read("SELECT key, count(*) + 1 FROM earlier_verdicts GROUP BY key")
    return {str(key): int(count) for key, count in rows}
