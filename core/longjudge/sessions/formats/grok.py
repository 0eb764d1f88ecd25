"""Grok's chat history: OpenAI's messages under types of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_object, text_or_none, word

if TYPE_CHECKING:
    Record = dict[str, object]

_TYPES = frozenset({"system", "user", "assistant", "reasoning", "tool_result", "backend_tool_call"})
_CALL_NO_INPUT = frozenset({"id", "status", "tool_type", "result", "output", "error"})
_ROLES = {"tool_result": "tool"}


class Grok(OneByOne):
    """Reads `chat_history.jsonl`."""

    name = "grok"

    def surely(self, record: Record) -> bool:
        """An answer of a named model, or a tool that ran behind the interface."""
        if record.get("type") == "backend_tool_call":
            return is_object(record.get("kind"))
        return record.get("type") == "assistant" and "content" in record and "model_id" in record

    def fits(self, record: Record) -> bool:
        """One of its types without a message inside."""
        return word(record.get("type")) in _TYPES and "message" not in record

    def record_events(self, record: Record) -> list[Event]:
        """The events of one record."""
        type_, time = word(record.get("type")), iso_time(record.get("timestamp"), "ms")
        kind = record.get("kind")
        if type_ == "backend_tool_call" and is_object(kind):
            return _backend_call(kind, time)
        if type_ == "reasoning":
            return message_events({**record, "timestamp": time}, time)
        message = {**record, "role": _ROLES.get(type_, type_), "timestamp": time}
        events = message_events(message, time)
        if record.get("synthetic_reason"):
            # The program speaks in the user's name.
            events = [Event(EventKind.SYSTEM, each.body, timestamp=time) for each in events]
        return events


def _backend_call(call: Record, time: str | None) -> list[Event]:
    """A call that the provider ran itself; its result is seldom written."""
    action = call.get("action")
    given: object = action
    if not is_object(action):
        given = {key: value for key, value in call.items() if key not in _CALL_NO_INPUT}
    tool, call_id = text_or_none(call.get("tool_type")), text_or_none(call.get("id"))
    events = [Event(EventKind.TOOL_CALL, render_input(given), tool, call_id, None, time)]
    output = call.get("result", call.get("output", call.get("error")))
    if output is not None:
        failed = True if call.get("error") else None
        body = render_content(output)
        events.append(Event(EventKind.TOOL_RESULT, body, tool, call_id, failed, time))
    return events
