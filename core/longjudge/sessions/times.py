"""Times of other units as the RFC 3339 text that sessions are dated by."""

from __future__ import annotations

from datetime import UTC, datetime

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_LATEST = 253_402_300_800


def iso_time(value: object, unit: str) -> str | None:
    """A count since 1970 in `s`, `ms`, `us` or `ns` as RFC 3339 in UTC; a text as it stands.

    A count may stand in a text, as in OTLP. None for what is no time, and for zero, which stands
    for an unknown one.
    """
    if isinstance(value, str):
        text = value.strip()
        if not text.isdecimal() or len(text) > 25:
            return text[:60] or None
        value = int(text)
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        return None
    per_second = _PER_SECOND[unit]
    # A whole number may be too large to divide.
    if not 0 < value < _LATEST * per_second:
        return None
    seconds = value / per_second
    if not 0 < seconds < _LATEST:
        return None
    moment = datetime.fromtimestamp(seconds, UTC)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return text.replace("+00:00", "Z")
