"""The record behind an event as it stands in the file: JSON laid out, anything else as it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

MAX_LAID_OUT_BYTES = 8_000_000
"""A longer record is shown as it is: parsing it would hold up the screen."""

MAX_STRING_CHARS = 20_000
MAX_ENCODED_CHARS = 64
MAX_INDENT = 40

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_ENCODED = re.compile(r'"(?:data:[^",]{0,100},)?[A-Za-z0-9+/_\-\\]{256,}={0,2}"')


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record: its bytes in number, and as a text; `is_json` says that it was laid out."""

    text: str
    bytes: int
    is_json: bool


def raw_record(data: bytes) -> RawRecord:
    """A record for the eye. Nothing is decoded: escapes and numbers stay as they are written."""
    try:
        text = data.decode("utf-8")
        if len(data) <= MAX_LAID_OUT_BYTES:
            json.loads(text)
            return RawRecord(_laid_out(text), len(data), is_json=True)
    except (ValueError, RecursionError):
        text = data.decode("utf-8", "backslashreplace")
    return RawRecord(text, len(data), is_json=False)


def _laid_out(text: str) -> str:
    """Valid JSON with one entry a line; long strings are cut, and say by how much."""
    parts: list[str] = []
    depth = 0
    before = ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "}]":
            depth -= 1
            if before not in "{[":
                parts.append(_new_line(depth))
        elif before in ("{", "[", ","):
            parts.append(_new_line(depth))
        parts.append(_bounded(token) if token[0] == '"' else token)
        if token in "{[":
            depth += 1
        elif token == ":":
            parts.append(" ")
        before = token
    return "".join(parts)


def _new_line(depth: int) -> str:
    return "\n" + "  " * min(depth, MAX_INDENT)


def _bounded(string: str) -> str:
    limit = MAX_ENCODED_CHARS if _ENCODED.fullmatch(string) else MAX_STRING_CHARS
    left_out = len(string) - 2 - limit
    if left_out <= 0:
        return string
    return f'{string[: limit + 1]}…" ({left_out:,} characters left out)'
