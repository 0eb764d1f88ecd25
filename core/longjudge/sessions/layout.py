"""What is found in a JSON document: its lists' elements, and the entries that stand around them."""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.values import is_object

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

SMALL_BYTES = 100_000
"""Up to this size an entry around the lists is decoded."""

_MESSAGES = "messages"
_MAX_ENTRIES = 1000
_MAX_AROUND_BYTES = 4 << 20
_TYPES = {b"{": "dict", b"[": "list", b'"': "str", b"t": "bool", b"f": "bool", b"n": "NoneType"}
_EMPTY = (b"{}", b"[]", b'""', b"null", b"false", b"0")

_patient = json.JSONDecoder(strict=False, parse_constant=str)


def _no_spans() -> array[int]:
    return array("Q")


@dataclass(slots=True)
class Document:
    """Byte spans of the elements of its lists, in the order of the file, and what was wrong.

    `runs` says how many elements, in order, stand in which list; `a.b` names the list `b` inside
    the entry `a`. `wrapper` is the first list's name, empty where the array is the document, and
    None where the elements are the whole document, or several, one behind the other. `around`
    holds the other entries: small ones decoded, of large ones the name of their type. `entries`
    holds the span of each top entry that is not empty, its name included. A `whole` document is one
    element although lists stand in it. `is_line` says that the file is one line, which may be a
    record like those of any JSONL file.
    """

    starts: array[int] = field(default_factory=_no_spans)
    ends: array[int] = field(default_factory=_no_spans)
    around: dict[str, object] = field(default_factory=dict[str, object])
    entries: dict[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    wrapper: str | None = ""
    fault: str | None = None
    runs: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    whole: bool = False
    is_line: bool = False

    def select(self, lists: Collection[str], size: int) -> Document:
        """The document as the elements of some of its lists; without one it is one element.

        A plain array, and documents one behind the other, are their elements for everyone.
        """
        if not self.wrapper:
            return self
        chosen = [run for run in self._runs() if run[0] in lists]
        if not chosen:
            starts, ends = array("Q", [0]), array("Q", [size])
            runs = [("", 1)]
            return replace(self, starts=starts, ends=ends, wrapper=None, runs=runs, whole=True)
        return self._only(chosen)

    def first(self, lists: Sequence[str], size: int) -> Document:
        """The document as the elements of the first of some lists; the others are left out."""
        chosen = self.select(lists, size)
        if not chosen.wrapper or len(chosen.runs) < 2:
            return chosen
        left_out = next((n for n, _ in chosen.runs if n != chosen.wrapper), None)
        first = self._only([run for run in self._runs() if run[0] == chosen.wrapper])
        if left_out is not None:
            first.fault = first.fault or f"a second list, `{left_out}`, was left out"
        return first

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
        return replace(self, starts=starts, ends=ends, runs=[("", len(starts))])

    def _runs(self) -> Iterator[tuple[str, int, int]]:
        first = 0
        for name, count in self.runs:
            yield name, first, first + count
            first += count

    def _only(self, chosen: Sequence[tuple[str, int, int]]) -> Document:
        starts, ends = self.starts, self.ends
        if len(chosen) < len(self.runs):
            starts, ends = array("Q"), array("Q")
            for _, first, end in chosen:
                starts += self.starts[first:end]
                ends += self.ends[first:end]
        around = self.around
        for name, _, _ in chosen:
            around = _marked(around, name.split("."))
        return replace(
            self,
            starts=starts,
            ends=ends,
            around=around,
            wrapper=chosen[0][0],
            runs=[(name, end - first) for name, first, end in chosen],
        )


def _marked(around: dict[str, object], path: Sequence[str]) -> dict[str, object]:
    """The entries, with `list` for the one whose elements stand by themselves."""
    name, *inner = path
    inside = around.get(name)
    if inner and is_object(inside):
        return {**around, name: _marked(inside, inner)}
    return {**around, ".".join(path): "list"}


class Layout:
    """A document in the making; `lists` names the lists that are looked for."""

    def __init__(self, lists: Collection[str]) -> None:
        self.document = Document()
        self.lists = frozenset(lists)
        self.parents = frozenset(
            ".".join(parts[:count])
            for parts in (name.split(".") for name in lists)
            for count in range(1, len(parts))
        )
        self._count = 0
        self._decoded = 0

    def __len__(self) -> int:
        return len(self.document.starts)

    def element(self, start: int, end: int) -> None:
        """One more element of the list that is open."""
        self.document.starts.append(start)
        self.document.ends.append(end)

    def close(self, name: str) -> None:
        """All elements that came since the list before belong to this one."""
        count = len(self) - self._count
        if count:
            self.document.runs.append((name, count))
        self._count = len(self)

    def entry(self, named: int, end: int, name: str, value: bytes) -> None:
        """A top entry from its name to the end of its value; `value` may be cut, if it is long."""
        if value not in _EMPTY and len(self.document.entries) < _MAX_ENTRIES:
            self.document.entries[name] = (named, end)

    def around(self, into: dict[str, object], name: str, value: bytes, size: int) -> None:
        """Keep an entry: decoded when it is small, else the name of its type."""
        if len(into) >= _MAX_ENTRIES:
            return
        if size <= SMALL_BYTES and self._decoded + size <= _MAX_AROUND_BYTES:
            self._decoded += size
            into[name] = plain_value(value)
        else:
            into[name] = _TYPES.get(value[:1], "float")

    def finish(self, start: int, end: int) -> Document:
        """The document that begins and ends there; without a list it is one element."""
        document = self.document
        if document.runs:
            document.wrapper = document.runs[0][0]
        elif document.wrapper is not None and not len(self):
            self.element(start, end)
            document.wrapper = None
            document.runs = [("", 1)]
        return document


def plain_value(value: bytes) -> object:
    """A value decoded with patience; None where it cannot be."""
    try:
        return _patient.decode(value.decode("utf-8", "replace"))
    except DECODE_ERRORS:
        return None
