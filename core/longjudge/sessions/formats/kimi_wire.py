"""The wire messages of Kimi CLI: one message with its payload a line, calls in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import bool_or_none, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Record = dict[str, object]

_MAX_DEPTH = 20
_CALL_KEYS = ("parent_tool_call_id", "task_tool_call_id", "tool_call_id")
_TYPES = frozenset(
    {
        *("TurnBegin", "TurnEnd", "StepBegin", "StepInterrupted", "CompactionBegin"),
        *("CompactionEnd", "StatusUpdate", "ContentPart", "ToolCall", "ToolCallPart"),
        *("ToolResult", "SubagentEvent", "ApprovalRequest", "ApprovalResponse", "SteerInput"),
    }
)


def is_wire_message(record: Mapping[str, object]) -> bool:
    """Whether a record is one: a time, and a message of a known type with its payload."""
    message = record.get("message")
    return is_object(message) and word(message.get("type")) in _TYPES and "payload" in message


def inner_message(record: Record) -> tuple[object, str | None, str | None]:
    """A message taken out of the subagents' events it is wrapped in: it, the agent, the call."""
    message, agent, call_id = record.get("message"), None, None
    for _ in range(_MAX_DEPTH):
        payload = message.get("payload") if is_object(message) else None
        if not is_object(message) or message.get("type") != "SubagentEvent":
            break
        if not is_object(payload):
            break
        named = [text_or_none(payload.get(key)) for key in _CALL_KEYS]
        call_id = next(filter(None, named), call_id)
        agent = text_or_none(payload.get("agent_id")) or call_id or agent or "subagent"
        message = payload.get("event")
    return message, agent, call_id


class WireMessages:
    """Reads one agent's in order; a call is told once all pieces of its arguments are there.

    What begins a turn is a person's word in the `main` agent only.
    """

    def __init__(self, *, main: bool) -> None:
        self._speaker = EventKind.USER_MESSAGE if main else EventKind.SYSTEM
        self._call: tuple[str | None, str | None, str | None] | None = None
        self._pieces: list[str] = []

    def events(self, record: Record) -> list[Event]:
        """The events that a message completes."""
        message = record.get("message")
        payload = message.get("payload") if is_object(message) else None
        if not is_object(message) or not is_object(payload):
            return list(self.rest())
        type_, time = message.get("type"), iso_time(record.get("timestamp"), "s")
        if type_ == "ToolCallPart":
            self._pieces.append(text_or_none(payload.get("arguments_part")) or "")
            return []
        events = list(self.rest())
        if type_ == "ToolCall":
            inner = payload.get("function")
            function = inner if is_object(inner) else payload
            tool = text_or_none(function.get("name"))
            self._call = (tool, text_or_none(payload.get("id")), time)
            self._pieces.append(text_or_none(function.get("arguments")) or "")
            return events
        if type_ in ("TurnBegin", "SteerInput"):
            said = payload.get("user_input")
            body = render_content(said) if said else ""
            return [*events, Event(self._speaker, body, timestamp=time)] if body else events
        return events + _whole(word(type_), payload, time)

    def rest(self) -> Iterator[Event]:
        """The call that is still open."""
        if self._call is not None:
            tool, call_id, time = self._call
            given = render_input(read_arguments("".join(self._pieces)))
            yield Event(EventKind.TOOL_CALL, given, tool, call_id, None, time)
        self._call = None
        self._pieces.clear()


def _whole(type_: str, payload: Record, time: str | None) -> list[Event]:
    if type_ == "ContentPart":
        if thought := text_or_none(payload.get("think")):
            return [Event(EventKind.THINKING, render_value(thought), timestamp=time)]
        body = render_content([payload]) if payload.get("type") != "think" else ""
        return [Event(EventKind.ASSISTANT_MESSAGE, body, timestamp=time)] if body else []
    if type_ == "ToolResult":
        value = payload.get("return_value", payload.get("result"))
        value = value if is_object(value) else {"output": value}
        output = value.get("output") or value.get("message")
        failed = bool_or_none(value.get("is_error"))
        call_id = text_or_none(payload.get("tool_call_id"))
        body = render_content(output) if output else ""
        return [Event(EventKind.TOOL_RESULT, body, None, call_id, failed, time)]
    return []
