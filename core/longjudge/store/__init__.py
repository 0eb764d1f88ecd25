"""The SQLite file that keeps verdicts, judgments and marks."""

from __future__ import annotations

from longjudge.store.file import StoreWriteError
from longjudge.store.past import PastJudgment, real_path
from longjudge.store.store import KeptVerdict, KeyParts, Provenance, Store
from longjudge.store.upkeep import Origin

__all__ = [
    "KeptVerdict",
    "KeyParts",
    "Origin",
    "PastJudgment",
    "Provenance",
    "Store",
    "StoreWriteError",
    "real_path",
]
