"""Answers that a stream writes several times: what of them is a copy, and what only a part.

A provider's answer goes by one message id and is written block by block, again and again, or in
growing snapshots. Of each block the last state counts, once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.model import EventKind

if TYPE_CHECKING:
    from longjudge.sessions.model import Event

    _Text = tuple[EventKind, int, int, int, int]

_DIGIT = re.compile(r"[1-9]")
# Answers of agents at work side by side mix; far more than ever run at once.
_ANSWERS = 4096
_TEXTS = 32
_GROWING = frozenset({EventKind.ASSISTANT_MESSAGE, EventKind.THINKING})


class _Answer:
    """What is known of one answer: its texts, and the last state of each call."""

    __slots__ = ("calls", "texts")

    def __init__(self) -> None:
        self.texts: list[_Text] = []
        self.calls: dict[str, tuple[int, int]] = {}


class AnswersInParts:
    """Told of every event of an answer in a first pass, knows in a second one which to leave out.

    Holds digests only, and of the latest answers only what they may still grow by. A message id
    without a digit is a placeholder and says nothing.
    """

    def __init__(self) -> None:
        self._latest: dict[str, _Answer] = {}
        self._seen: set[int] = set()
        self._left_out: set[int] = set()

    def survey(self, message_id: str | None, event: Event, ordinal: int, record: int) -> None:
        """Take note of an event; `ordinal` numbers the events of all answers in order.

        Blocks of one `record` stand side by side: neither is a part of the other.
        """
        if not message_id or not _DIGIT.search(message_id):
            return
        digest = hash(event.body)
        key = hash((message_id, event.kind, event.tool, event.call_id, digest))
        if key in self._seen:
            self._left_out.add(ordinal)
            return
        self._seen.add(key)
        answer = self._latest.get(message_id)
        if answer is None:
            if len(self._latest) >= _ANSWERS:
                del self._latest[next(iter(self._latest))]
            answer = self._latest[message_id] = _Answer()
        if event.kind is EventKind.TOOL_CALL and event.call_id:
            earlier, before = answer.calls.get(event.call_id, (-1, record))
            if before != record:
                # The input grew while it was streamed.
                self._left_out.add(earlier)
            answer.calls[event.call_id] = (ordinal, record)
        elif event.kind in _GROWING:
            self._grow(answer, event, digest, (ordinal, record))

    def is_left_out(self, ordinal: int) -> bool:
        """Whether an event is a copy, or a part of one that is told."""
        return ordinal in self._left_out

    def __len__(self) -> int:
        return len(self._left_out)

    def _grow(self, answer: _Answer, event: Event, digest: int, place: tuple[int, int]) -> None:
        body = event.body
        kept: list[_Text] = []
        for text in answer.texts:
            kind, length, part, earlier, before = text
            alike = kind is event.kind and length < len(body) and before != place[1]
            if alike and hash(body[:length]) == part:
                self._left_out.add(earlier)
            else:
                kept.append(text)
        # What was left out is a part of this one: what it may grow into, this one does too.
        answer.texts = kept[-_TEXTS:]
        answer.texts.append((event.kind, len(body), digest, *place))
