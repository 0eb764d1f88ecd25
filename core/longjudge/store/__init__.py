"""The SQLite file that keeps verdicts and judgments."""

from __future__ import annotations

from longjudge.store.store import KeptVerdict, Provenance, Store, StoreWriteError

__all__ = ["KeptVerdict", "Provenance", "Store", "StoreWriteError"]
