"""Messages that were read before: a trace repeats each of them with every later request.

Reading is pure, so what was read is the same for all; only small messages are kept, and not many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.foreign_messages import foreign_message
from longjudge.sessions.formats.message_events import message_events

if TYPE_CHECKING:
    from longjudge.sessions.model import Event

    Message = dict[str, object]

_LARGEST = 64_000
_ALL_BYTES = 8_000_000
_encode = msgspec.json.Encoder().encode


class KnownMessage(dict[str, object]):
    """A message with its events, once they were wanted: by itself, and behind a call."""

    events: tuple[list[Event] | None, list[Event] | None] = (None, None)


class _Known:
    """The messages that were read last; all are forgotten when they get too large together."""

    def __init__(self) -> None:
        self._messages: dict[bytes, KnownMessage] = {}
        self._bytes = 0

    def read(self, value: object) -> Message | None:
        """The message that a value is, None where it is none."""
        try:
            key = _encode(value)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return foreign_message(value)
        known = self._messages.get(key)
        if known is not None:
            return known
        message = foreign_message(value)
        if message is None or len(key) > _LARGEST:
            return message
        self._bytes += len(key)
        if self._bytes > _ALL_BYTES:
            self._messages, self._bytes = {}, len(key)
        known = self._messages[key] = KnownMessage(message)
        return known


_known = _Known()


def known_message(value: object) -> Message | None:
    """What `foreign_message` gives, remembered."""
    return _known.read(value)


def known_events(message: Message, after_call: bool) -> list[Event]:
    """What `message_events` gives, remembered with its message."""
    if not isinstance(message, KnownMessage):
        return message_events(message, None, after_call)
    known = message.events[after_call]
    if known is None:
        known = message_events(message, None, after_call)
        alone, behind = message.events
        message.events = (alone, known) if after_call else (known, behind)
    return known
