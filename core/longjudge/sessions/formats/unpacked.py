"""Values that tracing and training tools write as text: JSON in a string, once or twice over."""

from __future__ import annotations

import ast
import json

from longjudge.sessions.records import DECODE_ERRORS

_DECODINGS = 2
_LITERAL_CHARS = 100_000
_LITERAL_STARTS = ("{'", '{"', "[{'", "['")
_LITERAL_DEPTH = 100
_patient = json.JSONDecoder(strict=False, parse_constant=str)


def unpacked(value: object) -> object:
    """What a string holds where it is a JSON object, array or string, at most twice; else itself.

    A text that only looks like JSON stays the text that it is.
    """
    for _ in range(_DECODINGS):
        if not isinstance(value, str):
            return value
        text = value.strip()
        if text[:1] not in ("{", "[", '"'):
            return value
        try:
            value = _patient.decode(text)
        except DECODE_ERRORS:
            return _literal(text, value)
    return value


def _literal(text: str, otherwise: str) -> object:
    """A value that was written by Python's `repr`, as tools that print their inputs do."""
    if not text.startswith(_LITERAL_STARTS) or len(text) > _LITERAL_CHARS or _is_deep(text):
        return otherwise
    try:
        found: object = ast.literal_eval(text)
        json.dumps(found)
    except (*DECODE_ERRORS, SyntaxError, TypeError):
        return otherwise
    return found


def _is_deep(text: str) -> bool:
    """Whether brackets are nested so deeply that Python's own parser must not see them."""
    depth = 0
    for char in text:
        if char in "([{":
            depth += 1
            if depth > _LITERAL_DEPTH:
                return True
        elif char in ")]}":
            depth -= 1
    return "----" in text or "~~~~" in text or "++++" in text or "not not" in text
