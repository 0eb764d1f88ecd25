"""Answers that a stream writes several times: what of them is a copy, and what only a part.

A provider's answer goes by one message id and is written block by block, again and again, or in
growing snapshots. Of each block the last state counts, once.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from longjudge.sessions.model import EventKind

if TYPE_CHECKING:
    from longjudge.sessions.model import Event

_DIGIT = re.compile(r"[1-9]")
_GROWING = frozenset({EventKind.ASSISTANT_MESSAGE, EventKind.THINKING})


class AnswersInParts:
    """Told of every event of an answer in a first pass, knows in a second one which to leave out.

    Holds digests only. A message id without a digit is a placeholder and says nothing.
    """

    def __init__(self) -> None:
        self._texts: dict[int, list[tuple[EventKind, int, bytes, int]]] = {}
        self._calls: dict[int, tuple[bytes, int]] = {}
        self._seen: set[int] = set()
        self._left_out: set[int] = set()

    def survey(self, message_id: str | None, event: Event, ordinal: int) -> None:
        """Take note of an event; `ordinal` numbers the events of all answers in order."""
        if not message_id or not _DIGIT.search(message_id):
            return
        digest = _digest(event.body)
        key = hash((message_id, event.kind, event.tool, event.call_id, digest))
        if key in self._seen:
            self._left_out.add(ordinal)
            return
        self._seen.add(key)
        if event.kind is EventKind.TOOL_CALL and event.call_id:
            call = hash((message_id, event.tool, event.call_id))
            if call in self._calls:
                # The input grew while it was streamed.
                self._left_out.add(self._calls[call][1])
            self._calls[call] = (digest, ordinal)
        elif event.kind in _GROWING:
            self._grow(hash(message_id), event, digest, ordinal)

    def is_left_out(self, ordinal: int) -> bool:
        """Whether an event is a copy, or a part of one that is told."""
        return ordinal in self._left_out

    def __len__(self) -> int:
        return len(self._left_out)

    def _grow(self, message: int, event: Event, digest: bytes, ordinal: int) -> None:
        known = self._texts.setdefault(message, [])
        body = event.body
        for kind, length, before, earlier in known:
            if kind is event.kind and length < len(body) and _digest(body[:length]) == before:
                self._left_out.add(earlier)
        known.append((event.kind, len(body), digest, ordinal))


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()[:12]
