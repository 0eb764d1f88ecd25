"""A record that holds a whole conversation: a request, its response, a row of training data.

Its messages are brought into order: the system prompt that stands beside them, the messages, and
the response that they got. What it says twice is said once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.message_events import message_events, time_of
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    Message = dict[str, object]

SYSTEM_KEYS = ("system", "system_prompt", "systemPrompt", "instructions")
RESPONSE_KEYS = ("response", "completion", "choices", "output")
_MESSAGES_KEYS = ("messages", "conversation", "input", "prompt")
_REQUEST_KEYS = ("request", "body", "request_body")
_ENVELOPE_TYPES = ("response", "request", "conversation", "chat.completion")
_OTHERS = ("kind", "role", "tool", "tool_name", "event", "event_type")
_MAX_DEPTH = 3

_decode_array = msgspec.json.Decoder(list[object]).decode


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in order; the last `answers` of them are the response to the others.

    `left_out` counts further answers to the same request.
    """

    messages: tuple[Message, ...]
    answers: int = 0
    left_out: int = 0
    time: str | None = None

    def events(self) -> list[Event]:
        """The events of all messages."""
        found: list[Event] = []
        request = len(self.messages) - self.answers
        after_call = False
        for message in self.messages[:request]:
            events = message_events(message, None, after_call)
            after_call = bool(events) and events[-1].kind is EventKind.TOOL_CALL
            found += events
        answer: list[Event] = []
        for message in self.messages[request:]:
            answer += message_events(message, self.time)
        return found + without_copies(found, answer)


def without_copies(before: Sequence[Event], answer: list[Event]) -> list[Event]:
    """The events of an answer, without those that the messages before it end with already."""
    said: set[str] = set()
    for event in reversed(before):
        if not is_answer(event):
            break
        said.add(event.text)
    return [event for event in answer if event.text not in said]


def is_answer(event: Event) -> bool:
    """Whether an event may be a part of a model's answer."""
    return event.kind in (EventKind.ASSISTANT_MESSAGE, EventKind.THINKING, EventKind.TOOL_CALL)


def read_conversation(record: Message) -> Conversation | None:
    """The conversation that a record holds; None where it is a message, or something else."""
    return _read(record, 0)


def read_entry(record: Message) -> Conversation:
    """What an entry beside a document's messages adds: a system prompt, or a response."""
    system = _system(record, ())
    answers, left_out, time = _answers(record, plain_output=True)
    return Conversation((*system, *answers), len(answers), left_out, time)


def _read(record: Message, depth: int) -> Conversation | None:
    type_ = record.get("type")
    if isinstance(type_, str) and type_ not in _ENVELOPE_TYPES:
        return None
    if any(key in record for key in _OTHERS):
        return None
    messages = _messages(record)
    answers, left_out, time = _answers(record, plain_output=messages is not None)
    if messages is None:
        inner = _request(record, depth)
        if inner is not None:
            system, asked = (), inner.messages
        elif answers:
            system, asked = _system(record, ()), ()
        else:
            return None
    else:
        system, asked = _system(record, messages), messages
    return Conversation(
        (*system, *asked, *answers), len(answers), left_out, time or time_of(record)
    )


def _request(record: Message, depth: int) -> Conversation | None:
    for key in _REQUEST_KEYS:
        request = _unpacked(record.get(key))
        if is_object(request) and depth < _MAX_DEPTH:
            found = _read(request, depth + 1)
            if found is not None:
                return found
    return None


def _messages(record: Message) -> tuple[Message, ...] | None:
    for key in _MESSAGES_KEYS:
        value = record.get(key)
        if isinstance(value, str):
            # The text of a request; anywhere else a text under this name says nothing of its kind.
            if key == "input" and is_array(record.get("output")):
                return ({"role": "user", "content": value},)
            value = _unpacked(value)
        if is_array(value) and value and all(map(is_object, value)):
            return tuple(item for item in value if is_object(item))
    return None


def _unpacked(value: object) -> object:
    """The value, decoded where it is JSON in a string."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return _decode_array(f"[{value}]".encode())[0]
        except (ValueError, RecursionError, IndexError):
            return None
    return value


def _system(record: Message, messages: Sequence[Message]) -> tuple[Message, ...]:
    for key in SYSTEM_KEYS:
        value = record.get(key)
        known = any(message.get("content") == value for message in messages[:2])
        if value and isinstance(value, str | list) and not known:
            return ({"role": "system", "content": value},)
    return ()


def _answers(record: Message, *, plain_output: bool) -> tuple[tuple[Message, ...], int, str | None]:
    """The messages or items of the response in a record, further answers, and its time.

    `plain_output` says that an output may be a text.
    """
    for key in RESPONSE_KEYS:
        value = record.get(key)
        if value is None:
            continue
        if isinstance(value, str) and (key != "output" or plain_output):
            unpacked = _unpacked(value)
            if is_object(unpacked) or is_array(unpacked):
                value = unpacked
            elif value and key != "choices":
                return ({"role": "assistant", "content": value},), 0, None
        found = _answer(record if key in ("choices", "output") else value, 0)
        if found[0]:
            return found
    return (), 0, None


def _answer(value: object, depth: int) -> tuple[tuple[Message, ...], int, str | None]:
    if is_array(value):
        return tuple(item for item in value if is_object(item)), 0, None
    if not is_object(value) or depth > _MAX_DEPTH:
        return (), 0, None
    time = time_of(value)
    if "role" in value:
        return (value,), 0, time
    choices, output = value.get("choices"), value.get("output")
    if is_array(choices):
        first = choices[0] if choices else None
        message = first.get("message") if is_object(first) else None
        return ((message,) if is_object(message) else ()), max(0, len(choices) - 1), time
    if is_array(output):
        return tuple(item for item in output if is_object(item)), 0, time
    for key in ("message", "body", "response"):
        inner = _unpacked(value.get(key))
        if is_object(inner):
            return _answer(inner, depth + 1)
    return (), 0, time
