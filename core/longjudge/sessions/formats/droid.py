"""Factory's Droid: sessions with Anthropic's messages inside, and what `droid exec` streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.claude_code import ClaudeCode
from longjudge.sessions.formats.claude_records import convert
from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import bool_or_none, is_object, text_or_none, word

if TYPE_CHECKING:
    from longjudge.sessions.formats.retold import Telling

    Record = dict[str, object]

_TYPES = frozenset(
    {
        *("session_start", "message", "todo_state", "session_end", "compaction_state"),
        *("tool_call", "tool_result", "completion", "system", "error", "reasoning"),
    }
)
_ROLES = {
    "user": EventKind.USER_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
    "system": EventKind.SYSTEM,
}
_messages = ClaudeCode()


class Droid(OneByOne):
    """Reads the sessions in `~/.factory/sessions`, and the stream of a run."""

    name = "droid"

    def surely(self, record: Record) -> bool:
        """The start of a session, or a call as its stream has it."""
        if record.get("type") == "session_start":
            return isinstance(record.get("id"), str)
        return record.get("type") == "tool_call" and "toolName" in record

    def fits(self, record: Record) -> bool:
        """One of its types."""
        return word(record.get("type")) in _TYPES

    def session(self, record: Record) -> str | None:
        """The start names it."""
        start = record.get("type") == "session_start"
        return text_or_none(record.get("id")) if start else None

    def facts(self, record: Record, session: str, telling: Telling) -> None:
        """The start names the session."""
        if record.get("type") == "session_start":
            title = text_or_none(record.get("sessionTitle"))
            if title == "New Session":
                title = None
            telling.facts(
                session=session,
                id=text_or_none(record.get("id")),
                title=title or text_or_none(record.get("title")),
            )
        elif record.get("type") == "system":
            telling.facts(session=session, id=text_or_none(record.get("session_id")))

    def record_events(self, record: Record) -> list[Event]:
        """The events of one record."""
        type_, time = word(record.get("type")), iso_time(record.get("timestamp"), "ms")
        message = record.get("message")
        if type_ == "message" and is_object(message):
            role = message.get("role")
            return _messages.record_events(
                convert({"type": role, "message": message, "timestamp": time})
            )
        if type_ in ("message", "reasoning", "error"):
            return _text(record, type_, time)
        call_id = text_or_none(record.get("toolCallId")) or text_or_none(record.get("id"))
        tool = text_or_none(record.get("toolName"))
        if type_ == "tool_call":
            given = render_input(read_arguments(record.get("parameters")))
            return [Event(EventKind.TOOL_CALL, given, tool, call_id, None, time)]
        if type_ == "tool_result":
            failed = bool_or_none(record.get("isError"))
            value = record.get("value", record.get("error"))
            body = render_content(value) if value is not None else ""
            return [Event(EventKind.TOOL_RESULT, body, tool, call_id, failed, time)]
        return []


def _text(record: Record, type_: str, time: str | None) -> list[Event]:
    """A message of the stream, which has its text at its top."""
    said = record.get("text", record.get("message", record.get("content")))
    body = render_content(said) if said else ""
    kind = _ROLES.get(word(record.get("role")), EventKind.SYSTEM)
    if type_ == "error":
        kind = EventKind.ERROR
    elif type_ == "reasoning":
        kind = EventKind.THINKING
    return [Event(kind, body, timestamp=time)] if body else []
