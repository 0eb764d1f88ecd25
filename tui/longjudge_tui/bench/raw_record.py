"""The record behind an event as it stands in the file: JSON laid out, anything else as it is."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import SessionError

if TYPE_CHECKING:
    from longjudge.sessions import Session

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


class RawRecords:
    """Reads the records of a session in a thread, one at a time; `close` ends that."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._held: tuple[int, RawRecord | SessionError] | None = None
        self._wanted: int | None = None
        self._task: asyncio.Task[None] | None = None

    def get(self, event: int) -> RawRecord | None:
        """The record of an event; None where it is being read from now on.

        Raises:
            SessionError: the file cannot be read.
        """
        if self._held is None or self._held[0] != event:
            self._wanted = event
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._read())
            return None
        if isinstance(self._held[1], SessionError):
            raise self._held[1]
        return self._held[1]

    def at_hand(self, event: int) -> bool:
        """Whether a record can be had at once."""
        return self._held is not None and self._held[0] == event

    def close(self) -> None:
        """Wait for no record any more."""
        self._wanted = None
        if self._task is not None:
            self._task.cancel()

    async def _read(self) -> None:
        while (event := self._wanted) is not None:
            self._wanted = None
            try:
                self._held = event, await asyncio.to_thread(self._record, event)
            except SessionError as error:
                self._held = event, error

    def _record(self, event: int) -> RawRecord:
        return raw_record(self._session.raw(event))
