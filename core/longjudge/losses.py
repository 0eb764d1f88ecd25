"""In words, what became of verdicts that a store did not take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.store import Store

FORCED = "forced: "
"""What stands before a failure that was forced."""

_SOME = re.compile(r"; [0-9,]+ (of [0-9,]+ )?verdicts? (was|were|is|are) not kept$")


def forced_full_disk(store: Store) -> str:
    """What a store on a full disk says, where that is forced."""
    return f"{FORCED}{clean_line(str(store.path))}: database or disk is full"


def store_error_words(problem: str, missing: int, judged: int) -> str:
    """Why verdicts are missing from the store, and how many where some are there."""
    if missing >= judged:
        return problem
    return f"{problem}; {missing:,} of {judged:,} verdicts were not kept"


def owed_words(problem: str, missing: int) -> str:
    """Why verdicts of any judgments are not in the store yet, and how many."""
    return f"{problem}; {missing:,} {'verdict is' if missing == 1 else 'verdicts are'} not kept"


def how_much(store_error: str) -> str:
    """How much is not kept where a result has such a `store_error`: `nothing` or `not all`."""
    return "not all" if _SOME.search(store_error) else "nothing"
