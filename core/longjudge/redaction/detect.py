"""Puts together what was found in a text, and gives each secret its placeholder."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from longjudge.redaction.contexts import BASIC, CONTEXT_KINDS, secrets_in_context
from longjudge.redaction.redacted import Replacement
from longjudge.redaction.runs import Secret, secrets_in_runs
from longjudge.redaction.shapes import SHAPED_KINDS
from longjudge.redaction.values import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WINDOW = 1 << 18
"""So many characters are searched at a time: a search is not interrupted by other threads."""

_OVERLAP = 64
_SHORTEST = 10
_OPENING = "[redacted "
_PLACEHOLDER = re.compile(
    rf"\[redacted (?:{'|'.join(sorted(SHAPED_KINDS | CONTEXT_KINDS))})(?: [0-9a-f]{{4}})?\]"
)
_PLACEHOLDER_CHARS = 60
_REPEATED_CHARS = 12
_REPEATED_SECRETS = 64
_REPEATED_WINDOW = 1 << 22
_GUESSABLE = frozenset({PASSWORD, BASIC})
"""Kinds that may be guessed: digits of their hash would tell a guess right."""


def find(text: str, stopped: Callable[[], bool]) -> tuple[Replacement, ...]:
    """The secrets of a text in order, each with its placeholder."""
    if len(text) < _SHORTEST:
        return ()
    found = [each for each in _found(text, stopped) if not _touches_placeholder(text, each)]
    if not found:
        return ()
    merged = _merged(found)
    if repeated := list(_repeated(text, merged, stopped)):
        merged = _merged([*merged, *repeated])
    return tuple(_replacement(text, secret) for secret in merged)


def _found(text: str, stopped: Callable[[], bool]) -> Iterator[Secret]:
    for start in range(0, len(text), WINDOW):
        if stopped():
            return
        low = max(0, start - _OVERLAP)
        raw = text[low : start + WINDOW + _OVERLAP].encode("ascii", "replace")
        yield from secrets_in_runs(text, raw, low)
        yield from secrets_in_context(text, raw.lower(), low)


def _merged(found: Iterable[Secret]) -> list[Secret]:
    """In order; what overlaps is one secret, of the kind that begins first and reaches furthest."""
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            if secret.end > last.end:
                merged[-1] = last._replace(end=secret.end)
            elif last.kind in _NAMELESS and (secret.start, secret.end) == (last.start, last.end):
                merged[-1] = secret
        else:
            merged.append(secret)
    return merged


_NAMELESS = frozenset({"secret", PASSWORD})


def _repeated(text: str, found: list[Secret], stopped: Callable[[], bool]) -> Iterator[Secret]:
    """Where a secret that is known by its name stands again without it."""
    values = {
        text[secret.start : secret.end]: secret.kind
        for secret in found
        if secret.kind == "secret" and secret.end - secret.start >= _REPEATED_CHARS
    }
    for value, kind in list(values.items())[:_REPEATED_SECRETS]:
        for low in range(0, len(text), _REPEATED_WINDOW):
            if stopped():
                return
            high = low + _REPEATED_WINDOW + len(value) - 1
            here = text.find(value, low, high)
            while here >= 0:
                end = here + len(value)
                inside = text[max(0, here - 1) : here] + text[end : end + 1]
                if not any(map(str.isalnum, inside)):
                    yield Secret(here, end, kind)
                here = text.find(value, end, high)


def _touches_placeholder(text: str, secret: Secret) -> bool:
    """Whether a stretch reaches into a placeholder that stands there already.

    What only begins like one is none: a text must not keep its secrets by writing around them.
    """
    start, end, _ = secret
    here = text.find(_OPENING, max(0, start - _PLACEHOLDER_CHARS), end + len(_OPENING))
    while 0 <= here < end:
        placeholder = _PLACEHOLDER.match(text, here)
        if placeholder is not None and placeholder.end() > start:
            return True
        here = text.find(_OPENING, here + 1, end + len(_OPENING))
    return False


def _replacement(text: str, secret: Secret) -> Replacement:
    start, end, kind = secret
    digits = ""
    if kind not in _GUESSABLE:
        digest = sha256(text[start:end].encode("utf-8", "surrogatepass")).hexdigest()
        digits = f" {digest[:4]}"
    return Replacement(start, end, kind, f"{_OPENING}{kind}{digits}]")
