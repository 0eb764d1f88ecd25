"""Qwen Code's chats: the envelope of Claude Code around messages of Gemini's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_blocks import foreign_block
from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.formats.passing_over import kind_name
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from longjudge.sessions.formats.retold import Telling

    Record = dict[str, object]

_ROLES = {"user": "user", "assistant": "assistant", "tool_result": "user"}
_COMPRESSED = "chat_compression"


class QwenCode(OneByOne):
    """Reads the chats in `~/.qwen/projects`."""

    name = "qwen"

    def surely(self, record: Record) -> bool:
        """A typed message of parts under a session's id."""
        return is_qwen_record(record)

    def fits(self, record: Record) -> bool:
        """Such a message, or a note of the program."""
        return is_qwen_record(record)

    def session(self, record: Record) -> str | None:
        """Its id stands in each record."""
        return text_or_none(record.get("sessionId"))

    def facts(self, record: Record, session: str, telling: Telling) -> None:
        """There is its id."""
        telling.facts(session=session, id=self.session(record))

    def label(self, record: Record) -> str:
        """Notes of the program are counted by what they are about."""
        kinds = (kind_name(record.get("type")), word(record.get("subtype"))[:80])
        return f"{' '.join(filter(None, kinds))} records, no events"

    def record_events(self, record: Record) -> list[Event]:
        """The events of a message."""
        time = text_or_none(record.get("timestamp"))
        type_, message = record.get("type"), record.get("message")
        if type_ == "system" or not is_object(message):
            return _system_events(record, time)
        parts = message.get("parts")
        blocks = [foreign_block(part) for part in parts] if is_array(parts) else []
        role = _ROLES.get(word(type_), "system")
        events = message_events({"role": role, "content": blocks, "timestamp": time}, time)
        return [_with_outcome(event, record) for event in events]


def is_qwen_record(record: Record) -> bool:
    """Whether a record is one of Qwen Code's and not of Claude Code's, whose envelope it has."""
    if "sessionId" not in record or "type" not in record:
        return False
    message = record.get("message")
    if is_object(message):
        return is_array(message.get("parts")) and "content" not in message
    return record.get("type") == "system" and "systemPayload" in record


def _with_outcome(event: Event, record: Record) -> Event:
    """A result says beside its message whether the tool failed."""
    outcome = record.get("toolCallResult")
    if event.kind is not EventKind.TOOL_RESULT or not is_object(outcome):
        return event
    if outcome.get("status") != "error" and not outcome.get("error"):
        return event
    return Event(event.kind, event.body, event.tool, event.call_id, True, event.timestamp)


def _system_events(record: Record, time: str | None) -> list[Event]:
    """Only a compression of the chat is a part of it."""
    payload = record.get("systemPayload")
    if record.get("subtype") != _COMPRESSED or not is_object(payload):
        return []
    said = payload.get("summary", payload.get("info"))
    body = render_input(said) if is_object(said) else render_content(said) if said else ""
    return [Event(EventKind.SYSTEM, f"{_COMPRESSED}\n{body}".rstrip(), timestamp=time)]
