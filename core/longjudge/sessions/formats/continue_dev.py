"""Continue's sessions: OpenAI's messages, with the results of their calls beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_block, render_content
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_FAILED = frozenset({"errored", "canceled", "cancelled", "error"})
_WITH_RESULT = frozenset({"done", *_FAILED})


class ContinueDev(OneByOne):
    """Reads the sessions in `~/.continue/sessions`."""

    name = "continue"
    lists = ("history",)

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """By the session's id around the history."""
        if around is None or not isinstance(around.get("sessionId"), str):
            return 0.0
        return super().recognise(head, around)

    def surely(self, record: Record) -> bool:
        """A message, with what was given to the model as context or with its calls."""
        message = record.get("message")
        beside = any(key in record for key in ("contextItems", "toolCallStates"))
        return is_object(message) and "role" in message and beside

    def fits(self, record: Record) -> bool:
        """A message with a role."""
        message = record.get("message")
        return is_object(message) and "role" in message

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass."""
        telling.facts(
            id=text_or_none(around.get("sessionId")), title=text_or_none(around.get("title"))
        )
        # A result that is a message of its own too is told there.
        told = {call_id for given in records if (call_id := _answers(given.value))}
        for given in records:
            with passing_over(telling, given.number):
                events = [
                    event
                    for event in self.record_events(given.value)
                    if event.kind is not EventKind.TOOL_RESULT
                    or event.call_id not in told
                    or _answers(given.value)
                ]
                for event in events:
                    telling.event(event, given.number)
                if not events:
                    telling.note(self.label(given.value), given.number)

    def record_events(self, record: Record) -> list[Event]:
        """The context, the message, and what its calls gave."""
        message = record.get("message")
        if not is_object(message):
            return []
        calls = message.get("toolCalls", message.get("tool_calls"))
        told = {**message, "tool_calls": calls}
        if told.get("role") == "thinking":
            told = {"role": "assistant", "content": "", "reasoning": message.get("content")}
        if call_id := message.get("toolCallId"):
            told["tool_call_id"] = call_id
        events = [*_context(record), *message_events(told)]
        for state in _states(record):
            events += _result(state)
        return events

    def label(self, record: Record) -> str:
        """Nothing else is in a history."""
        return "messages without content"


def _answers(record: Record) -> str | None:
    """The call that a message gives the result of."""
    message = record.get("message")
    if not is_object(message) or message.get("role") != "tool":
        return None
    return text_or_none(message.get("toolCallId", message.get("tool_call_id")))


def _states(record: Record) -> list[Record]:
    states = record.get("toolCallStates")
    return list(filter(is_object, states)) if is_array(states) else []


def _context(record: Record) -> list[Event]:
    """Files and snippets that the editor added."""
    items = record.get("contextItems")
    bodies = [
        f"{item.get('name') or 'context'}\n{render_content(item['content'])}"
        for item in filter(is_object, items if is_array(items) else [])
        if item.get("content")
    ]
    return [Event(EventKind.SYSTEM, body) for body in bodies]


def _result(state: Record) -> list[Event]:
    if word(state.get("status")) not in _WITH_RESULT:
        return []
    call, output = state.get("toolCall"), state.get("output")
    inner = call.get("function") if is_object(call) else None
    tool = text_or_none(inner.get("name")) if is_object(inner) else None
    parts = output if is_array(output) else [output] if output else []
    texts = [
        render_content(part["content"])
        if is_object(part) and isinstance(part.get("content"), str)
        else render_block(part)
        for part in parts
    ]
    failed = True if word(state.get("status")) in _FAILED else None
    call_id = text_or_none(state.get("toolCallId"))
    return [Event(EventKind.TOOL_RESULT, "\n".join(texts), tool, call_id, failed)]
