"""Sessions of Google's Agent Development Kit: events with an author and Gemini's parts.

Several agents hand one conversation to each other, so it stays one thread. Calls have ids in newer
releases only; without them a result answers the first open call of its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_blocks import foreign_block
from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_INVOCATIONS = ("invocation_id", "invocationId")
_ERRORS = ("error_message", "errorMessage", "error_code", "errorCode")


class GoogleAdk(RetoldFormat):
    """Reads saved sessions, and their events a line each."""

    name = "google-adk"
    lists = ("events",)

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """The share of events with an author and an invocation."""
        return sum(map(_fits, head)) / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass; a streamed answer is told once it is whole."""
        telling.facts(id=text_or_none(around.get("id")))
        names = _CallIds()
        for given in records:
            record = given.value
            with passing_over(telling, given.number):
                if record.get("partial") is True:
                    telling.note("parts of streamed answers", given.number)
                    continue
                events = [names.named(event) for event in record_events(record)]
                for event in events:
                    telling.event(event, given.number)
                if not events:
                    telling.note("events without content", given.number)


def _fits(record: Record) -> bool:
    named = isinstance(record.get("author"), str) and any(key in record for key in _INVOCATIONS)
    return named and "event_type" not in record


class _CallIds:
    """Gives calls without ids one each, and to results that of the call they answer."""

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._count = 0

    def named(self, event: Event) -> Event:
        if event.call_id or event.kind not in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT):
            return event
        waiting = self._open.setdefault(event.tool or "", [])
        if event.kind is EventKind.TOOL_CALL:
            self._count += 1
            waiting.append(f"call#{self._count}")
            return replace(event, call_id=waiting[-1])
        return replace(event, call_id=waiting.pop(0)) if waiting else event


def record_events(record: Record) -> list[Event]:
    """The events of one event of the kit."""
    content, time = record.get("content"), iso_time(record.get("timestamp"), "s")
    parts = content.get("parts") if is_object(content) else None
    blocks = [foreign_block(part) for part in parts] if is_array(parts) else []
    role = "user" if record.get("author") == "user" else "assistant"
    events: list[Event] = []
    if blocks:
        events = message_events({"role": role, "content": blocks, "timestamp": time}, time)
    error = next((record[key] for key in _ERRORS if record.get(key)), None)
    if error:
        events.append(Event(EventKind.ERROR, render_content(error), timestamp=time))
    return events
