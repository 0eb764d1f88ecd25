"""Kimi Code's wire log: prompts, and the steps of the loop that answers them.

A prompt is logged when it is typed and again when it joins the context; the context is where what
the program adds is found as well, so it is the one that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.kimi_wire import WireMessages, inner_message, is_wire_message
from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import bool_or_none, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_STARTS = (
    *("metadata", "config.", "tools.", "turn.", "context.", "llm.", "usage.", "permission."),
    *("plan_mode.", "full_compaction.", "goal.", "session.", "subagent.", "task."),
)
_SURE = ("context.append_", "turn.prompt")
_PROMPT = "turn.prompt"
_APPENDED = "context.append_message"


class Kimi(RetoldFormat):
    """Reads `wire.jsonl`, of Kimi Code and of the CLI before it."""

    name = "kimi"

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """The share of its dotted types, or of its wire messages."""
        wire = any(map(is_wire_message, head))
        if not wire and not any(word(each.get("type")).startswith(_SURE) for each in head):
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass; a prompt waits for its copy in the context."""
        wires: dict[str, WireMessages] = {}
        waiting: list[tuple[list[Event], int]] = []
        for given in records:
            record = given.value
            with passing_over(telling, given.number):
                if is_wire_message(record):
                    _tell_wire(record, given.number, wires, telling)
                    continue
                events = record_events(record)
                if record.get("type") == _PROMPT:
                    waiting.append((events, given.number))
                    continue
                if record.get("type") == _APPENDED and _same(waiting, events):
                    waiting.pop(0)
                elif waiting and events:
                    _tell_waiting(waiting, telling)
                for event in events:
                    telling.event(event, given.number)
                if not events:
                    telling.note(
                        f"{kind_name(record.get('type'))} records, no events", given.number
                    )
        _tell_waiting(waiting, telling)
        for thread, wire in wires.items():
            for event in wire.rest():
                telling.event(event, max(len(records) - 1, 0), thread=thread)


def _tell_wire(
    record: Record, number: int, wires: dict[str, WireMessages], telling: Telling
) -> None:
    """A wire message goes to the thread of its agent."""
    message, agent, call_id = inner_message(record)
    thread = f"agent-{agent}" if agent else MAIN_THREAD
    wire = wires.setdefault(thread, WireMessages(main=not agent))
    events = wire.events({**record, "message": message})
    for event in events:
        telling.event(event, number, thread=thread)
    if agent and call_id and events:
        telling.starts(thread, call_id=call_id)


def _fits(record: Record) -> bool:
    return word(record.get("type")).startswith(_STARTS) or is_wire_message(record)


def _same(waiting: list[tuple[list[Event], int]], events: list[Event]) -> bool:
    """Whether a message of the context is the prompt that waits for it."""
    if not waiting:
        return False
    return [event.body for event in waiting[0][0]] == [event.body for event in events]


def _tell_waiting(waiting: list[tuple[list[Event], int]], telling: Telling) -> None:
    for events, number in waiting:
        for event in events:
            telling.event(event, number)
    waiting.clear()


def record_events(record: Record) -> list[Event]:
    """The events of one record."""
    type_, time = record.get("type"), iso_time(record.get("time"), "ms")
    if type_ == _PROMPT:
        return _message({"content": record.get("input"), "origin": record.get("origin")}, time)
    message, event = record.get("message"), record.get("event")
    if type_ == _APPENDED and is_object(message):
        return _message(message, time)
    if type_ == "context.append_loop_event" and is_object(event):
        return _loop_event(event, time)
    if type_ == "context.apply_compaction" and (summary := record.get("summary")):
        return [Event(EventKind.SYSTEM, f"compaction\n{render_value(summary)}", timestamp=time)]
    return []


def _message(message: Record, time: str | None) -> list[Event]:
    content, origin = message.get("content"), message.get("origin")
    body = render_content(content) if content else ""
    if not body:
        return []
    by_user = not is_object(origin) or origin.get("kind") == "user"
    if message.get("role", "user") == "assistant":
        kind = EventKind.ASSISTANT_MESSAGE
    elif by_user and message.get("role", "user") == "user":
        kind = EventKind.USER_MESSAGE
    else:
        kind = EventKind.SYSTEM
    return [Event(kind, body, timestamp=time)]


def _loop_event(event: Record, time: str | None) -> list[Event]:
    type_ = event.get("type")
    call_id = text_or_none(event.get("toolCallId")) or text_or_none(event.get("uuid"))
    if type_ == "content.part":
        part = event.get("part")
        if not is_object(part):
            return []
        if part.get("type") == "think":
            body = render_value(part.get("think"))
            return [Event(EventKind.THINKING, body, timestamp=time)] if body else []
        body = render_content([part])
        return [Event(EventKind.ASSISTANT_MESSAGE, body, timestamp=time)] if body else []
    if type_ == "tool.call":
        given = render_input(read_arguments(event.get("args")))
        tool = text_or_none(event.get("name"))
        return [Event(EventKind.TOOL_CALL, given, tool, call_id, None, time)]
    if type_ == "tool.result":
        result = event.get("result")
        output = result.get("output") if is_object(result) else result
        failed = bool_or_none(result.get("isError")) if is_object(result) else None
        body = render_content(output) if output is not None else ""
        return [Event(EventKind.TOOL_RESULT, body, None, call_id, failed, time)]
    return []
