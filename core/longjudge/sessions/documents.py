"""Whole JSON documents: where each element of the one array that matters begins and ends.

The array may be the document itself, or stand in it under a name such as `events`. A small sound
array is split by the fast decoder; any other is walked, and gives up its complete elements.
"""

from __future__ import annotations

import json
import re
from array import array
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.values import is_array

if TYPE_CHECKING:
    from collections.abc import Sequence

WRAPPERS = ("events", "messages", "steps", "trajectory", "data", "items")

_MESSAGES = "messages"

TRAILING = "something follows the end of the document"

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_BYTES = re.compile(rb"[ \t\r\n]*")
_SMALL = 100_000
_FAST_BYTES = 16 << 20

_raw_array = msgspec.json.Decoder(list[msgspec.Raw])
_patient = json.JSONDecoder(strict=False, parse_constant=str)


@dataclass(slots=True)
class Document:
    """Byte spans of the elements, the other entries around them, and what was wrong.

    `wrapper` is the name that the array stands under, empty where the array is the document, and
    None where the elements are objects, one behind the other, and nothing is around them.
    `entries` holds the span of each entry around the array, its name included. A `whole` document
    is one element.
    """

    starts: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("Q"))
    around: dict[str, object] = field(default_factory=dict[str, object])
    entries: dict[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    wrapper: str | None = ""
    fault: str | None = None
    whole: bool = False

    def select(self, lists: Sequence[str], size: int) -> Document:
        """The document as the elements of some of its lists; without one it is one element.

        A plain array, and objects one behind the other, are their elements for everyone.
        """
        if not self.wrapper or self.wrapper in lists:
            return self
        return replace(
            self, starts=array("Q", [0]), ends=array("Q", [size]), wrapper=None, whole=True
        )

    @property
    def runs(self) -> list[tuple[str, int]]:
        """How many elements, in order, stand in which list; a plain array has no name."""
        return [(self.wrapper or "", len(self.starts))]

    def with_entries(self, before: Sequence[str], after: Sequence[str]) -> Document:
        """The document with entries beside its messages for further elements around them."""
        if self.wrapper != _MESSAGES:
            return self
        ahead = [self.entries[name] for name in before if name in self.entries][:1]
        behind = [self.entries[name] for name in after if name in self.entries][:1]
        if not ahead and not behind:
            return self
        starts = array("Q", [start for start, _ in ahead]) + self.starts
        ends = array("Q", [end for _, end in ahead]) + self.ends
        starts.extend(start for start, _ in behind)
        ends.extend(end for _, end in behind)
        return replace(self, starts=starts, ends=ends)


def read_document(data: bytes) -> Document | None:
    """Find the elements of a document; None when the bytes are no array and wrap none."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    start = _skip(data, start)
    if data[start : start + 1] == b"[":
        # The fast decoder holds the interpreter for the whole document; a large one is walked.
        fast = _sound_array(data, start) if len(data) <= _FAST_BYTES else None
        return fast or _salvaged(data, start, Document())
    if data[start : start + 1] == b"{":
        return _wrapped(data, start)
    return None


def _skip(data: bytes, position: int) -> int:
    match = _SPACE_BYTES.match(data, position)
    return match.end() if match else position


def _sound_array(data: bytes, start: int) -> Document | None:
    """The spans of an array that fills the rest of the data, None when it is not sound."""
    try:
        elements = _raw_array.decode(memoryview(data)[start:])
    except DECODE_ERRORS:
        return None
    document = Document()
    position = start + 1
    for element in elements:
        position = _skip(data, position)
        end = position + memoryview(element).nbytes
        document.starts.append(position)
        document.ends.append(end)
        position = _skip(data, end) + 1
    return document


def _wrapped(data: bytes, start: int) -> Document | None:
    """Walk the entries of an object up to the array of events, and then the entries after it.

    The text is decoded as Latin-1, so that one character is one byte and every position counts
    in both; strings come out garbled, structure does not.
    """
    text = data.decode("latin-1")
    document: Document | None = None
    around: dict[str, object] = {}
    entries: dict[str, tuple[int, int]] = {}
    trailing: str | None = None
    position = start + 1
    try:
        while True:
            position = _after_space(text, position)
            if text[position : position + 1] == "}":
                break
            named = position
            key, position = _patient.raw_decode(text, position)
            position = _after_space(text, position)
            if text[position : position + 1] != ":" or not isinstance(key, str):
                raise ValueError(position)
            position = _after_space(text, position + 1)
            if document is None and key in WRAPPERS and text[position : position + 1] == "[":
                document = Document(wrapper=key)
                around[key] = "list"
                position = _walk_array(text, position, document)
                if not document.starts:
                    document = None
            else:
                begin = position
                value, position = _patient.raw_decode(text, position)
                if document is not None and key in WRAPPERS and is_array(value) and value:
                    trailing = f"a second list, `{key}`, was left out"
                # Bodies beside the array are not needed, and garbled strings must not be shown.
                small = position - begin <= _SMALL
                if value:
                    entries[key] = (named, position)
                around[key] = _plain(data[begin:position]) if small else type(value).__name__
            position = _after_space(text, position)
            if text[position : position + 1] == ",":
                position += 1
            elif text[position : position + 1] != "}":
                raise ValueError(position)
    except DECODE_ERRORS:
        if document is None:
            return None
        document.fault = document.fault or "the document is cut or damaged behind its events"
    else:
        if document is None:
            return _objects(text, start)
        if _after_space(text, position + 1) < len(text):
            trailing = trailing or TRAILING
        document.fault = trailing
    document.around = around
    document.entries = entries
    return document


def _objects(text: str, position: int) -> Document:
    """Objects one behind the other, up to the end or to what is none."""
    document = Document(wrapper=None)
    while text[position : position + 1] == "{":
        try:
            _, end = _patient.raw_decode(text, position)
        except DECODE_ERRORS:
            break
        document.starts.append(position)
        document.ends.append(end)
        position = _after_space(text, end)
    if position < len(text):
        document.fault = f"the document is cut or damaged after object {len(document.starts)}"
    return document


def _plain(value: bytes) -> object:
    try:
        return _patient.decode(value.decode("utf-8", "replace"))
    except DECODE_ERRORS:
        return None


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _walk_array(text: str, position: int, document: Document) -> int:
    """Add the spans of an array's elements; return the position after it.

    Raises:
        ValueError: the array is cut; what came before the cut is added.
    """
    position = _after_space(text, position + 1)
    while text[position : position + 1] != "]":
        begin = position
        try:
            _, position = _patient.raw_decode(text, begin)
        except DECODE_ERRORS:
            found = len(document.starts)
            document.fault = f"the document is cut or damaged after element {found}"
            raise
        document.starts.append(begin)
        document.ends.append(position)
        position = _after_space(text, position)
        if text[position : position + 1] == ",":
            position = _after_space(text, position + 1)
        elif text[position : position + 1] != "]":
            document.fault = f"the document is cut or damaged after element {len(document.starts)}"
            raise ValueError(position)
    return position + 1


def _salvaged(data: bytes, start: int, document: Document) -> Document:
    """The complete elements of an array, one after the other, whatever follows them."""
    text = data.decode("latin-1")
    try:
        end = _after_space(text, _walk_array(text, start, document))
        if end < len(text):
            document.fault = TRAILING
    except DECODE_ERRORS:
        pass
    return document
