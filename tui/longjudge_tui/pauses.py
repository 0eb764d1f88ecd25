"""Keeps the garbage collector from holding up frames."""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 100)


def spare_pauses() -> None:
    """Look at what stands no more, and at what is new less often.

    A program that draws makes many short-lived objects and few cycles; a full collection over all
    that was imported takes longer than several frames. Call it once all of that is there.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
