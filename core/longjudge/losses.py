"""In words, what became of verdicts that a store did not take."""

from __future__ import annotations

import re

_SOME = re.compile(r"; [0-9,]+ of [0-9,]+ verdicts were not kept$")


def store_error_words(problem: str, missing: int, judged: int) -> str:
    """Why verdicts are missing from the store, and how many where some are there."""
    if missing >= judged:
        return problem
    return f"{problem}; {missing:,} of {judged:,} verdicts were not kept"


def how_much(store_error: str) -> str:
    """How much is not kept where a result has such a `store_error`: `nothing` or `not all`."""
    return "not all" if _SOME.search(store_error) else "nothing"
