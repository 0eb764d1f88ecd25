"""The SQLite file that keeps verdicts, judgments, marks and versions of rubrics."""

from __future__ import annotations

from longjudge.store.damage import DamagedStoreError
from longjudge.store.earlier import EarlierVerdict, earlier_verdicts
from longjudge.store.file import StoreWriteError
from longjudge.store.gap_replies import Asked, GapReply, Stretch, last_gap, read_gap_replies
from longjudge.store.owed import OwedVerdict
from longjudge.store.past import PastJudgment, real_path
from longjudge.store.rubric_versions import (
    RubricVersion,
    note_rubric,
    rubric_of_version,
    rubric_versions,
)
from longjudge.store.store import KeptVerdict, KeyParts, Provenance, Store
from longjudge.store.token_factors import learn_tokens, token_factor, token_factors
from longjudge.store.unrecorded import UnrecordedCost, unrecorded_cost
from longjudge.store.upkeep import Origin

__all__ = [
    "Asked",
    "DamagedStoreError",
    "EarlierVerdict",
    "GapReply",
    "KeptVerdict",
    "KeyParts",
    "Origin",
    "OwedVerdict",
    "PastJudgment",
    "Provenance",
    "RubricVersion",
    "Store",
    "StoreWriteError",
    "Stretch",
    "UnrecordedCost",
    "earlier_verdicts",
    "last_gap",
    "learn_tokens",
    "note_rubric",
    "read_gap_replies",
    "real_path",
    "rubric_of_version",
    "rubric_versions",
    "token_factor",
    "token_factors",
    "unrecorded_cost",
]
