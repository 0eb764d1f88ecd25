"""Makes sessions to try things with: long, believable, and with problems planted in them."""

from __future__ import annotations

from longjudge.sample.maker import (
    MAX_EVENTS,
    MIN_EVENTS,
    SAMPLE_VERSION,
    Planted,
    Sample,
    make_sample,
)

__all__ = ["MAX_EVENTS", "MIN_EVENTS", "SAMPLE_VERSION", "Planted", "Sample", "make_sample"]
