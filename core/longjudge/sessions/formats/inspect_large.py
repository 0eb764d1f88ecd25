"""A large sample taken apart: the same chunks that a sample in chunks is kept in.

The sample is walked in slices, so that no more than a chunk of it is ever in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.inspect_samples import (
    CONVERSATION,
    ITEMS,
    NAMES,
    PART,
    PREFIX,
    SHELL,
    START,
)
from longjudge.sessions.records import DECODE_ERRORS
from longjudge.sessions.scanning import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.sessions.scanning import Scanner

_CHUNK_BYTES = 2 << 20
_SHELL_BYTES = 1 << 20
_ITEM_BYTES = 256 << 20
_MAX_NAME = 10_000

# Where the lists of a sample stand, and the sequences that they become.
_SEQUENCES = {
    "messages": CONVERSATION,
    "events": "events",
    "attachments": "attachments",
    "message_pool": "messages",
    "events_data.messages": "messages",
    "transcript.events": "events",
    "transcript.content": "attachments",
}
_PARENTS = ("events_data", "transcript")

_encode = msgspec.json.Encoder().encode
_name = msgspec.json.Decoder(str).decode


def take_apart(scanner: Scanner, prefix: str, add: Callable[[bytes], None]) -> bool:
    """Add the records of the sample that a file holds; false where it is cut or damaged.

    What stands before the damage is kept, and what is large and no part of a conversation left
    out.
    """
    walk = _Walk(scanner, prefix, add)
    try:
        walk.entries(scanner.after_space(0), "")
    except DamagedError:
        return False
    finally:
        walk.finish()
    return True


class _Walk:
    def __init__(self, scanner: Scanner, prefix: str, add: Callable[[bytes], None]) -> None:
        self._scanner = scanner
        self._prefix = prefix
        self._add = add
        self._shell: list[bytes] = []
        self._starts: dict[str, int] = {}
        self._sequence = ""
        self._items: list[bytes] = []
        self._names: list[str] = []
        self._size = 0

    def entries(self, position: int, above: str) -> int:
        """Walk an object, take its lists apart, and keep what is small for the shell."""
        scanner = self._scanner
        position = self._opened(position, b"{")
        while scanner.byte_at(position) != b"}":
            named = position
            name, position = self._key(position)
            path = above + name
            sequence = _SEQUENCES.get(path)
            first = scanner.byte_at(position)
            if sequence is not None and first in (b"[", b"{"):
                position = self._list(position, sequence, is_named=first == b"{")
            elif path in _PARENTS and first == b"{":
                position = self.entries(position, f"{path}.")
            else:
                position = scanner.value_end(position)
                if not above and position - named <= _SHELL_BYTES:
                    self._shell.append(scanner.bytes_at(named, position - named))
            position = self._scanner.next_behind(position, b"}")
        return position + 1

    def finish(self) -> None:
        """Add what is left, and the shell behind it."""
        self._flush()
        head = self._head(SHELL, 0)
        self._add(head + b"{" + b",".join(self._shell) + b"}}")

    def _list(self, position: int, sequence: str, *, is_named: bool) -> int:
        """The items of a list, or the values of an object with their names."""
        scanner = self._scanner
        self._flush()
        self._sequence = sequence
        closer = b"}" if is_named else b"]"
        position = scanner.after_space(position + 1)
        while scanner.byte_at(position) != closer:
            name = None
            if is_named:
                name, position = self._key(position)
            end = scanner.value_end(position)
            if end - position <= _ITEM_BYTES:
                self._item(scanner.bytes_at(position, end - position), name)
            else:
                self._item(b"null", name)
            position = self._scanner.next_behind(end, closer)
        self._flush()
        return position + 1

    def _item(self, item: bytes, name: str | None) -> None:
        self._items.append(item)
        if name is not None:
            self._names.append(name)
        self._size += len(item)
        if self._size >= _CHUNK_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._items:
            start = self._starts.get(self._sequence, 0)
            head = self._head(self._sequence, start, self._names)
            self._add(head + b"[" + b",".join(self._items) + b"]}")
            self._starts[self._sequence] = start + len(self._items)
        self._items, self._names, self._size = [], [], 0

    def _head(self, part: str, start: int, names: list[str] | None = None) -> bytes:
        fields: dict[str, object] = {PART: part, PREFIX: self._prefix, START: start}
        if names:
            fields[NAMES] = names
        return _encode(fields)[:-1] + b',"' + ITEMS.encode() + b'":'

    def _opened(self, position: int, opener: bytes) -> int:
        if self._scanner.byte_at(position) != opener:
            raise DamagedError(position)
        return self._scanner.after_space(position + 1)

    def _key(self, position: int) -> tuple[str, int]:
        """A name, and where its value begins."""
        scanner = self._scanner
        if scanner.byte_at(position) != b'"':
            raise DamagedError(position)
        end = scanner.string_end(position)
        try:
            name = _name(scanner.bytes_at(position, min(end - position, _MAX_NAME)))
        except DECODE_ERRORS:
            raise DamagedError(position) from None
        colon = scanner.after_space(end)
        if scanner.byte_at(colon) != b":":
            raise DamagedError(colon)
        return name, scanner.after_space(colon + 1)
