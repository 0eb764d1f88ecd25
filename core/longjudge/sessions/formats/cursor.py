"""Cursor's agent transcripts: a role and a message a line, calls without ids or results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content
from longjudge.sessions.values import is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

NO_RESULTS = "Cursor's transcripts hold no results of tools"

_QUERY, _QUERY_END = "<user_query>", "</user_query>"


class Cursor(OneByOne):
    """Reads the transcripts in `~/.cursor/projects`; older ones, of text, are unpacked before."""

    name = "cursor"

    def surely(self, record: Record) -> bool:
        """A role with a message that has only content, and nothing else beside them."""
        message = record.get("message")
        return (
            record.keys() <= {"role", "message", "timestamp"}
            and record.get("role") in ("user", "assistant", "system")
            and is_object(message)
            and "content" in message
            and "role" not in message
        )

    def fits(self, record: Record) -> bool:
        """Such a message, or the end of a turn."""
        return self.surely(record) or record.get("type") == "turn_ended"

    def record_events(self, record: Record) -> list[Event]:
        """The events of a message; a turn that failed is an error."""
        message = record.get("message")
        if not is_object(message):
            return _end_of_turn(record)
        if record.get("role") == "user":
            return _user_events(message, record)
        return message_events({**message, "role": record.get("role")}, _time(record))

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass; that results are missing is said where calls are there."""
        calls = results = 0
        for given in records:
            with passing_over(telling, given.number):
                events = self.record_events(given.value)
                for event in events:
                    calls += event.kind is EventKind.TOOL_CALL
                    results += event.kind is EventKind.TOOL_RESULT
                    telling.event(event, given.number)
                if not events:
                    telling.note(self.label(given.value), given.number)
        if calls and not results:
            telling.note(NO_RESULTS, None)


def _time(record: Record) -> str | None:
    return text_or_none(record.get("timestamp"))


def _end_of_turn(record: Record) -> list[Event]:
    error = record.get("error")
    return [Event(EventKind.ERROR, render_content(error))] if error else []


def _user_events(message: Record, record: Record) -> list[Event]:
    """The query, and before it what the editor put around it."""
    events = message_events({**message, "role": "user"}, _time(record))
    told: list[Event] = []
    for event in events:
        before, marked, asked = event.body.partition(_QUERY)
        if event.kind is not EventKind.USER_MESSAGE or not marked:
            told.append(event)
            continue
        query, _, behind = asked.partition(_QUERY_END)
        rest = (before + behind).strip()
        if rest:
            told.append(Event(EventKind.SYSTEM, rest, timestamp=event.timestamp))
        told.append(Event(EventKind.USER_MESSAGE, query.strip(), timestamp=event.timestamp))
    return told
