"""Documents of any size, walked in slices: damaged ones give up all that is whole in them.

Behind a damaged element the walk goes on at the next one that begins like those before it; what
lies between is kept as one element, which the reading of records then reports.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from longjudge.sessions.layout import SMALL_BYTES, Document, Layout, plain_value
from longjudge.sessions.scanning import DamagedError, Scanner
from longjudge.sessions.values import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    Ended = Callable[[int], bool]

TRAILING = "something follows the end of the document"
BEHIND = "the document is cut or damaged behind its events"

_MAX_DAMAGED_BYTES = 1 << 16
_MAX_ROW_BYTES = 16 << 20
_MAX_KEY_BYTES = 10_000
_SAMPLES = 20
_MAX_SIGNATURES = 64
_MAX_RESTARTS = 20_000
_ALIKE = 0.6
_LOOKED_AT = 8
_MORE_BYTES = 1 << 20
_BEFORE_BYTES = 64
_START = re.compile(rb'\{([ \t\r\n]{0,64}+)"([^"\\]{1,64}+)"[ \t\r\n]*+:')
_ROW_START = re.compile(rb"\n[{\[]")

_Signature = tuple[bytes, bytes, bytes]


def walk_document(scanner: Scanner, start: int, lists: Collection[str]) -> Document | None:
    """Walk the array or object that begins at `start`; None when nothing in it is whole."""
    walk = _Walk(scanner, start, lists)
    if scanner.byte_at(start) == b"[":
        return walk.array()
    return walk.object()


class _CutError(Exception):
    """The list that is read never ends; its fault was told."""


class _Walk:
    def __init__(self, scanner: Scanner, start: int, lists: Collection[str]) -> None:
        self._scanner = scanner
        self._start = start
        self._layout = Layout(lists)
        self._signatures: set[_Signature] = set()
        self._samples: list[tuple[int, int]] = []
        self._keys: set[str] = set()
        self._restarts = 0

    def array(self) -> Document:
        """The document is an array."""
        layout = self._layout
        try:
            end = self._elements(self._start, lambda position: position >= self._scanner.size)
            if self._scanner.after_fill(end) < self._scanner.size:
                layout.document.fault = TRAILING
        except _CutError:
            pass
        layout.close("")
        layout.document.wrapper = ""
        return layout.document

    def object(self) -> Document | None:
        """The document is an object; something may follow it."""
        document = self._layout.document
        size = self._scanner.size
        try:
            end = self._object(self._start, "", document.around)
        except DamagedError:
            if not len(self._layout) and not self._list_behind_damage():
                return self._rows()
            document.fault = document.fault or BEHIND
            end = size
        except _CutError:
            end = size
        if self._scanner.after_fill(end) < size:
            if end - self._start <= _MAX_ROW_BYTES:
                rows = self._rows()
                if rows is not None and (len(rows.starts) > 1 or not len(self._layout)):
                    return rows
            document.fault = document.fault or TRAILING
        return self._layout.finish(self._start, end)

    def _object(self, position: int, prefix: str, around: dict[str, object]) -> int:
        scanner = self._scanner
        position = scanner.after_space(position + 1)
        while scanner.byte_at(position) != b"}":
            named = position
            name, position = self._name(position)
            end = self._value(position, prefix + name, name, around)
            if not prefix:
                first = scanner.bytes_at(position, min(end - position, 8))
                self._layout.entry(named, end, name, first)
            position = scanner.after_space(end)
            byte = scanner.byte_at(position)
            if byte == b",":
                position = scanner.after_space(position + 1)
            elif byte != b"}":
                raise DamagedError(position, is_end=not byte)
        return position + 1

    def _name(self, position: int) -> tuple[str, int]:
        """A name, and where its value begins."""
        scanner = self._scanner
        if scanner.byte_at(position) != b'"':
            raise DamagedError(position)
        end = scanner.string_end(position)
        data = scanner.bytes_at(position, min(end - position, _MAX_KEY_BYTES))
        name = plain_value(data)
        colon = scanner.after_space(end)
        if not isinstance(name, str) or scanner.byte_at(colon) != b":":
            raise DamagedError(position)
        return name, scanner.after_space(colon + 1)

    def _value(self, position: int, path: str, name: str, around: dict[str, object]) -> int:
        scanner, layout = self._scanner, self._layout
        first = scanner.byte_at(position)
        if first == b"[" and path in layout.lists:
            try:
                depth = path.count(".")
                end = self._elements(position, lambda at: self._is_behind_list(at, depth))
            except _CutError:
                around[name] = "list"
                raise
            finally:
                layout.close(path)
        elif first == b"{" and path in layout.parents:
            inside: dict[str, object] = {}
            around[name] = inside
            return self._object(position, path + ".", inside)
        else:
            end = scanner.value_end(position)
        size = end - position
        value = scanner.bytes_at(position, size if size <= SMALL_BYTES else 1)
        layout.around(around, name, value, size)
        return end

    def _is_behind_list(self, position: int, depth: int) -> bool:
        """Whether an object `depth` entries deep goes on at a position, or ends there."""
        scanner = self._scanner
        byte = scanner.byte_at(position)
        if byte == b'"':
            return True
        if byte != b"}":
            return False
        after = scanner.byte_at(scanner.after_space(position + 1))
        return after in ((b",", b"}") if depth else (b"", b"{", b"[", b"\0"))

    def _elements(self, position: int, ended: Ended) -> int:
        """Add the elements of an array; return the position after it."""
        scanner, layout = self._scanner, self._layout
        begun = len(layout)
        position += 1
        while True:
            position = self._scanner.after_fill(position)
            byte = scanner.byte_at(position)
            try:
                if byte == b"]":
                    if ended(self._scanner.after_fill(position + 1)):
                        return position + 1
                    raise DamagedError(position)
                end = self._element_end(position)
            except DamagedError as damage:
                following = self._next_element(position, ended)
                if following is not None:
                    layout.element(position, self._damaged_end(position, following))
                    position = following
                    continue
                if byte == b"]":
                    return position + 1
                found = len(layout) - begun
                layout.document.fault = f"the document is cut or damaged after element {found}"
                raise _CutError from damage
            layout.element(position, end)
            self._learn(position, end)
            position = end

    def _damaged_end(self, position: int, following: int) -> int:
        """Where what is damaged ends, without the blanks and commas before the next element."""
        end = min(following, position + _MAX_DAMAGED_BYTES)
        before = max(position, end - _BEFORE_BYTES)
        data = self._scanner.bytes_behind(before, end)
        return max(position + 1, before + len(data.rstrip(b" \t\r\n,")))

    def _element_end(self, position: int) -> int:
        scanner = self._scanner
        end = scanner.value_end(position)
        after = self._scanner.after_fill(end)
        if scanner.byte_at(after) in (b"]", b"{", b""):
            return end
        if b"," in scanner.bytes_at(end, after - end):
            return end
        raise DamagedError(end)

    def _learn(self, position: int, end: int) -> None:
        """How elements begin, so that another one can be found behind damage."""
        if len(self._samples) < _SAMPLES:
            self._samples.append((position, end))
        elif len(self._layout) % 100:
            return
        if len(self._signatures) < _MAX_SIGNATURES:
            self._sign(position)

    def _sign(self, position: int) -> None:
        match = _START.match(self._scanner.bytes_at(position, 256))
        if match is not None:
            self._signatures.add((self._indent(position), match[1], match[2]))

    def _indent(self, position: int) -> bytes:
        """The blanks before a position, as far as they stand on a line of their own."""
        before = max(0, position - _BEFORE_BYTES)
        data = self._scanner.bytes_behind(before, position)
        _, newline, blanks = data.rpartition(b"\n")
        return newline + blanks if newline and not blanks.strip(b" \t") else b""

    def _next_element(self, damaged: int, ended: Ended) -> int | None:
        """Where the next whole element begins behind one that is damaged."""
        if not self._signatures:
            self._sign(damaged)
        for position in self._starts(damaged):
            if self._is_enough():
                return None
            try:
                end = self._element_end(position)
            except DamagedError:
                continue
            if self._is_alike(position, end) and self._is_followed(end, ended):
                return position
        return None

    def _is_enough(self) -> bool:
        """Whether so much was looked at in vain that the rest is given up."""
        self._restarts += 1
        scanner = self._scanner
        return self._restarts > _MAX_RESTARTS or scanner.scanned > 2 * scanner.size + _MORE_BYTES

    def _is_followed(self, position: int, ended: Ended) -> bool:
        """Whether elements go on up to the end of the list, as far as is looked.

        A list inside an element ends where the list of the elements cannot.
        """
        for _ in range(_LOOKED_AT):
            position = self._scanner.after_fill(position)
            if self._scanner.byte_at(position) == b"]":
                return ended(self._scanner.after_fill(position + 1))
            try:
                position = self._element_end(position)
            except DamagedError:
                break
        return True

    def _starts(self, damaged: int) -> Iterator[int]:
        """Positions behind one where something begins as elements do."""
        for base, match in self._scanner.search(_START, damaged + 1):
            position = base + match.start()
            if (self._indent(position), match[1], match[2]) in self._signatures:
                yield position

    def _is_alike(self, position: int, end: int) -> bool:
        """Whether a value has the names that elements have, as far as any are known."""
        if not self._keys:
            for start, stop in self._samples:
                self._keys.update(self._names(start, stop))
        names = self._names(position, end)
        if not self._keys or not names:
            return not self._keys
        return len(names & self._keys) >= _ALIKE * len(names)

    def _names(self, start: int, end: int) -> set[str]:
        if end - start > SMALL_BYTES:
            return set()
        value = plain_value(self._scanner.bytes_at(start, end - start))
        return set(value) if is_object(value) else set()

    def _list_behind_damage(self) -> bool:
        """Find the first list behind a damaged entry, and read it."""
        names = sorted({re.escape(name.rpartition(".")[2]) for name in self._layout.lists})
        if not names:
            return False
        pattern = re.compile(
            rb'"(' + "|".join(names).encode() + rb')"[ \t\r\n]*+:[ \t\r\n]*+\[(?=[ \t\r\n]*+\{)'
        )
        for base, match in self._scanner.search(pattern, self._start):
            if self._is_enough():
                return False
            named = base + match.start()
            if self._scanner.bytes_behind(max(0, named - 1), named) == b"\\":
                continue
            begin = base + match.end() - 1
            name = match[1].decode()
            path = next(n for n in sorted(self._layout.lists) if n.rpartition(".")[2] == name)
            self._elements_if_any(begin, path)
            if len(self._layout):
                self._layout.close(path)
                self._layout.document.fault = f"the document is damaged before its `{name}`"
                return True
        return False

    def _elements_if_any(self, begin: int, path: str) -> None:
        depth = path.count(".")
        with suppress(_CutError):
            self._elements(begin, lambda at: self._is_behind_list(at, depth))

    def _rows(self) -> Document | None:
        """Objects one behind the other, each a record; None where not one is whole."""
        scanner = self._scanner
        document = Document(wrapper=None)
        whole, position = 0, self._start
        while position < scanner.size:
            try:
                if scanner.byte_at(position) not in (b"{", b"["):
                    raise DamagedError(position)
                end = scanner.value_end(position)
                whole += 1
            except DamagedError:
                following = self._next_row(position)
                if following is None:
                    document.fault = f"the document is cut or damaged after object {whole}"
                    break
                end, after = self._damaged_end(position, following), following
            else:
                after = self._scanner.after_fill(end)
            document.starts.append(position)
            document.ends.append(end)
            position = after
        document.runs = [("", len(document.starts))]
        return document if whole else None

    def _next_row(self, damaged: int) -> int | None:
        """Where the next whole object begins on a line of its own."""
        for base, match in self._scanner.search(_ROW_START, damaged):
            if self._is_enough():
                return None
            position = base + match.start() + 1
            try:
                self._scanner.value_end(position)
            except DamagedError:
                continue
            return position
        return None
