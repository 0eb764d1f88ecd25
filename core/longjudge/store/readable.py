"""Reads around what cannot be read in a damaged store, so that the rest is not paid for again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from longjudge.store.damage import DamagedStoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from longjudge.store.file import StoreFile

_PAGE = 100
_KEYS = "SELECT key FROM verdicts NOT INDEXED"


async def rows_of_keys(store: StoreFile, sql: str, keys: Sequence[str]) -> list[sqlite3.Row]:
    """The rows of a query about a JSON list of keys, without those that cannot be read."""
    try:
        return await store.read(sql, (msgspec.json.encode(list(keys)).decode(),))
    except DamagedStoreError:
        if len(keys) < 2:
            return []
    half = len(keys) // 2
    first = await rows_of_keys(store, sql, keys[:half])
    return first + await rows_of_keys(store, sql, keys[half:])


async def all_keys(store: StoreFile) -> set[str]:
    """Every key in the store; of a damaged one, those before and behind what cannot be read."""
    try:
        return {row[0] for row in await store.read("SELECT key FROM verdicts")}
    except DamagedStoreError:
        rising = await _keys(store, f"{_KEYS} WHERE key > ? ORDER BY key LIMIT {_PAGE}", "")
        last = "\U0010ffff"
        falling = f"{_KEYS} WHERE key < ? ORDER BY key DESC LIMIT {_PAGE}"
        return rising | await _keys(store, falling, last)


async def _keys(store: StoreFile, sql: str, start: str) -> set[str]:
    found: set[str] = set()
    try:
        while rows := await store.read(sql, (start,)):
            keys = [row[0] for row in rows]
            if keys[-1] in found or not isinstance(keys[-1], str):
                break
            found.update(keys)
            start = keys[-1]
    except DamagedStoreError:
        pass
    return found
