"""One line of bytes becomes its records: the fast strict way first, else with patience.

Files in the wild hold cut lines, glued records, NUL runs, bytes of other encodings and lone
surrogates. Whatever can be read is read; what was wrong is said, and never raised.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from longjudge.sessions.lines import OVERSIZED
from longjudge.sessions.values import is_object
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")

DECODE_ERRORS = (ValueError, RecursionError, MemoryError)
"""What decoding of hostile JSON may raise: the strict decoder's errors are ValueErrors too."""

NO_UTF8 = "bytes that are no UTF-8 were replaced"
SEVERAL = "several records on one line"
NOT_JSON = "no complete JSON record"
NOT_OBJECT = "JSON that is no object"
TOO_DEEP = "nested too deeply or too large to decode"
TOO_LONG = "a record that is too long to be read"
UNFINISHED = "the last line has no end: the file is cut, or still being written"

_BOM = b"\xef\xbb\xbf"
_MAX_RESTARTS = 16
_RECORD_START = re.compile(r'\{"(?:parentUuid|timestamp|type|kind|uuid|sessionId|event|role)"')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_MAX_DIGITS = 4000


def _number(digits: str) -> int | str:
    """A whole number; one too long for this language stays the text that it is."""
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


# Numbers that are none become their names, so that they can be written again.
_patient = json.JSONDecoder(strict=False, parse_constant=str, parse_int=_number)


@dataclass(frozen=True, slots=True)
class LineObjects:
    """The objects of one line, what was odd, and what is lost (then the line counts as skipped)."""

    objects: list[dict[str, object]]
    oddities: tuple[str, ...] = ()
    fault: str | None = None


def parse_line(line: bytes) -> LineObjects:
    """Read every complete object of a line, however damaged it is. Never raises."""
    if line == OVERSIZED:
        return LineObjects([], (), TOO_LONG)
    data = line.removeprefix(_BOM).strip(b"\x00 \t\r\n").removeprefix(_BOM)
    if not data:
        return LineObjects([])
    oddities: list[str] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        oddities.append(NO_UTF8)
    values, fault = _values(text)
    objects = [value for value in values if is_object(value)]
    if len(values) > 1:
        oddities.append(SEVERAL)
    if fault is None and len(objects) < len(values):
        fault = NOT_OBJECT
    return LineObjects(objects, tuple(oddities), fault)


def wrap_array(line: bytes) -> bytes:
    """A line that is an array, as an object that holds it.

    Objects become its `messages`; an array that begins with a text is one record's `array`.
    """
    if line.startswith(b"["):
        inside = line[1:].lstrip()[:1]
        name = {b"{": b"messages", b'"': b"array"}.get(inside)
        if name:
            return b'{"' + name + b'":' + line.rstrip(b"\r\n") + b"}"
    return line


def _values(text: str) -> tuple[list[object], str | None]:
    values: list[object] = []
    fault: str | None = None
    position, end, restarts = 0, len(text), 0
    while position < end:
        try:
            value, position = _patient.raw_decode(text, position)
            values.append(_encodable(value))
        except ValueError:
            fault = NOT_JSON
            # A torn write leaves a stub with a whole record glued on: one that ends the line.
            # Anything shorter is a part of the stub, not a record.
            match = _RECORD_START.search(text, position + 1)
            while match and restarts < _MAX_RESTARTS:
                restarts += 1
                if (found := _whole_rest(text, match.start())) is not None:
                    values.append(found)
                    break
                match = _RECORD_START.search(text, match.start() + 1)
            break
        except (RecursionError, MemoryError):
            fault = TOO_DEEP
            break
        while position < end and text[position] in " \t\r\n\x00":
            position += 1
    return values, fault


def _whole_rest(text: str, position: int) -> object:
    try:
        value, stop = _patient.raw_decode(text, position)
        return None if text[stop:].strip(" \t\r\n\x00") else _encodable(value)
    except DECODE_ERRORS:
        return None


def _encodable(value: object) -> object:
    """The value without lone surrogates, in keys as in strings."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return value
    return _patient.decode(without_surrogates(text))


def decode_records(
    line: bytes, decode: Callable[[bytes], R], convert: Callable[[dict[str, object]], R]
) -> list[R]:
    """The records of a line, by the strict decoder where it can, else object by object."""
    try:
        return [decode(line)]
    except DECODE_ERRORS:
        records: list[R] = []
        for value in parse_line(line).objects:
            with suppress(RecursionError):
                records.append(convert(value))
        return records
