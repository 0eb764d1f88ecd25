"""The beginning of a file: its first records, and what it is where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import msgspec

from longjudge.errors import NotASessionError
from longjudge.sessions.lines import read_range, refuse_oversized
from longjudge.sessions.recognise import HEAD_RECORDS
from longjudge.sessions.records import DECODE_ERRORS, NOT_JSON, parse_line, wrap_array
from longjudge.sessions.refusals import with_way_out
from longjudge.text import clean_line

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Sequence

    Blocks = Iterable[tuple[int, Sequence[bytes]]]

_decode = msgspec.json.Decoder(dict[str, object]).decode

_FIRST_BYTES = 4096
_SHOWN_CHARS = 60
_SLICE_BYTES = 1 << 20
_FILL = b"\xef\xbb\xbf\x00 \t\r\n"
HEAD_BYTES = 4 << 20
"""How much is decoded, at least one record, to recognise a format."""

_NO_RECORD_BYTES = 64
"""What a line without a record costs beside its bytes: a file may have millions of short ones."""


def first_spans(starts: array[int], ends: array[int]) -> list[tuple[int, int]]:
    """The spans of the first elements, up to a number and a size, but one at least."""
    found: list[tuple[int, int]] = []
    size = 0
    for start, end in zip(starts[:HEAD_RECORDS], ends[:HEAD_RECORDS], strict=True):
        found.append((start, end))
        size += end - start
        if size > HEAD_BYTES:
            break
    return found


def read_head(blocks: Blocks, tell: Callable[[], None]) -> list[dict[str, object]]:
    """The first records, up to a number and a size; `tell` is called between blocks."""
    head: list[dict[str, object]] = []
    seen = 0
    for _, lines in blocks:
        for line in lines:
            objects = _objects(line) if line else []
            head += objects
            seen += len(line) + (1 if objects or not line else _NO_RECORD_BYTES)
            if len(head) >= HEAD_RECORDS or seen > HEAD_BYTES:
                return head[:HEAD_RECORDS]
        tell()
    return head


def _objects(line: bytes) -> list[dict[str, object]]:
    try:
        return [_decode(line)]
    except DECODE_ERRORS:
        return parse_line(wrap_array(line)).objects


def _first_line_bytes(descriptor: int, size: int) -> int:
    """How long the first line with something in it is, as far as it may be too long."""
    position = 0
    while position < size and (data := read_range(descriptor, position, position + _SLICE_BYTES)):
        blank = len(data) - len(data.lstrip(_FILL)) if not position else 0
        found = data.find(b"\n", blank)
        if found >= 0:
            return position + found
        position += len(data)
    return position


def refuse_text(descriptor: int, size: int) -> NoReturn:
    """Say what a file without a record is instead.

    Raises:
        NotASessionError: always; without the file's name.
    """
    start = read_range(descriptor, 0, min(size, _FIRST_BYTES))
    if start.lstrip(_FILL)[:1] in (b"{", b"["):
        refuse_oversized(_first_line_bytes(descriptor, size))
    if not start.strip(_FILL):
        raise NotASessionError("only blanks in it; no session was written to it")
    binary = sum(byte < 32 and byte not in b"\t\n\r\x1b\f" for byte in start)
    if binary * 20 > len(start):
        raise NotASessionError(f"this is {with_way_out('binary data, no session')}")
    data = start.lstrip(_FILL)
    inside = data[1:].lstrip()[:1]
    begins = data[:1] in (b"{", b"[") and inside in (b"", b'"', b"{", b"[")
    if begins and parse_line(start).fault == NOT_JSON:
        raise NotASessionError(
            "a JSON document that is cut before its first complete event; export it again"
        )
    words = clean_line(data.partition(b"\n")[0].decode("utf-8", "replace").strip(), _SHOWN_CHARS)
    raise NotASessionError(
        f"no JSON object in it, its first line is: {words}; export the session as JSON or JSONL"
    )
