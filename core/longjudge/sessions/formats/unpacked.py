"""Values that tracing and training tools write as text: JSON in a string, once or twice over.

Some print Python's values instead; those are read by their own rules, never evaluated.
"""

from __future__ import annotations

import json
import re

import msgspec

from longjudge.sessions.records import DECODE_ERRORS

_DECODINGS = 2
_PRINTED_CHARS = 1_000_000
_PRINTED_STARTS = ("{'", '{"', "[{'", "['", "[{}")
_WORDS = {"None": "null", "True": "true", "False": "false"}
_TOKEN = re.compile(
    r"(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<word>None|True|False)"
    r"|[\[\]{}:,]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\s+",
    re.S,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U000([0-9a-fA-F]{5})|([\\'\"nrt]))")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

_fast = msgspec.json.Decoder().decode
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
            value = _decoded(text)
        except DECODE_ERRORS:
            return _printed(text, value)
    return value


def _decoded(text: str) -> object:
    try:
        return _fast(text)
    except DECODE_ERRORS:
        return _patient.decode(text)


def printed_text(literal: str) -> str:
    """The text that a literal of Python stands for, quotes included."""
    return _ESCAPE.sub(_unescaped, literal[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[4], match[4])


def _printed(text: str, otherwise: str) -> object:
    """A value that Python printed, its strings, numbers and names written as JSON."""
    if not text.startswith(_PRINTED_STARTS) or len(text) > _PRINTED_CHARS:
        return otherwise
    pieces: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return otherwise
        if (literal := match["text"]) is not None:
            pieces.append(json.dumps(printed_text(literal)))
        elif (word := match["word"]) is not None:
            pieces.append(_WORDS[word])
        else:
            pieces.append(match[0])
        position = match.end()
    try:
        return _patient.decode("".join(pieces))
    except DECODE_ERRORS:
        return otherwise
