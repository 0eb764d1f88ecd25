"""The call and the result that a tool's own record stands for, and other events of traces."""

from __future__ import annotations

from longjudge.sessions.formats.foreign_blocks import result_block
from longjudge.sessions.formats.foreign_messages import foreign_message, is_foreign_message
from longjudge.sessions.formats.message_events import block_events, message_events
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_input, render_value
from longjudge.sessions.values import is_object, text_or_none


def call_event(tool: str, call_id: str | None, given: object, time: str | None) -> Event:
    """The call of a tool."""
    return Event(EventKind.TOOL_CALL, render_input(given), tool, call_id, None, time)


def result_event(
    tool: str, call_id: str | None, output: object, failure: str | None, time: str | None
) -> Event | None:
    """The result of a tool, None where none was recorded.

    An output may be a whole message of the role `tool`, which names its call.
    """
    failed = True if failure is not None else None
    if output is None or output == "":
        if failure is None:
            return None
        return Event(EventKind.TOOL_RESULT, render_value(failure), tool, call_id, failed, time)
    found = _message_result(output)
    if found is None:
        block = result_block({"output": output, "is_error": failed})
        found = block_events(block, time)[0]
    return Event(
        EventKind.TOOL_RESULT,
        found.body,
        tool,
        call_id or found.call_id,
        failed or found.is_error,
        time,
    )


def result_call_id(output: object) -> str | None:
    """The id of the call that an output names."""
    value = unpacked(output)
    if not is_object(value):
        return None
    inner = value.get("kwargs")
    source = inner if "lc" in value and is_object(inner) else value
    return text_or_none(source.get("tool_call_id"))


def failure_event(failure: str | None, time: str | None) -> Event | None:
    """An error with what is said of it."""
    if failure is None:
        return None
    return Event(EventKind.ERROR, render_value(failure), timestamp=time)


def _message_result(output: object) -> Event | None:
    value = unpacked(output)
    if is_object(value) and "content" in value and value.get("tool_call_id"):
        value = {"role": "tool", **value}
    if not is_object(value) or not is_foreign_message(value):
        return None
    message = foreign_message(value)
    events = message_events(message) if message and message.get("role") == "tool" else []
    results = [event for event in events if event.kind is EventKind.TOOL_RESULT]
    return results[0] if results else None
