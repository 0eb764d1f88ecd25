"""Keeps the garbage collector from holding up frames, and lets go of what is gone."""

from __future__ import annotations

import gc

from textual._styles_cache import StylesCache

THRESHOLDS = (20_000, 20, 100)


def spare_pauses() -> None:
    """Look at what stands no more, and at what is new less often.

    A program that draws makes many short-lived objects and few cycles; a full collection over all
    that was imported takes longer than several frames. Call it once all of that is there.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


MOST_COLOURS = 200


def let_go() -> None:
    """Empty the toolkit's store of colours, by which widgets that are gone keep all their lines."""
    if StylesCache.get_inner_outer.cache_info().currsize > MOST_COLOURS:
        StylesCache.get_inner_outer.cache_clear()
