"""One message of an Inspect log becomes events.

Long texts and images are kept once for a sample, and referred to by a hash or by their number
(`attachment://...`, `tc://...` in old logs). A reference is resolved before anything is read.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.model import EventKind
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions.model import Event

    Message = dict[str, object]
    Attachments = Callable[[str], str | None]

ATTACHMENT_STARTS = ("attachment://", "tc://")

_MEDIA = ("image", "audio", "video", "document")
_MAX_DEPTH = 40


class Resolver:
    """Puts attachments in the place of references to them, and counts those that are missing."""

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self.missing = 0

    def text(self, text: str) -> str:
        """The attachment that a text refers to, else the text itself."""
        if not text.startswith(ATTACHMENT_STARTS) or len(text) > 100:
            return text
        found = self._attachments(text.partition("://")[2])
        if found is None:
            self.missing += 1
        return text if found is None else found

    def value(self, value: object, depth: int = 0) -> object:
        """A value with every reference in it resolved."""
        if isinstance(value, str):
            return self.text(value)
        if depth >= _MAX_DEPTH:
            return value
        if is_object(value):
            return {key: self.value(item, depth + 1) for key, item in value.items()}
        if is_array(value):
            return [self.value(item, depth + 1) for item in value]
        return value


def events_of(message: Message, resolver: Resolver, time: str | None = None) -> list[Event]:
    """The events of a message.

    Raises:
        RecursionError: it is nested too deeply to be rendered.
    """
    role = message.get("role")
    content = message.get("content")
    plain: Message = {"role": role, "content": resolver.value(content)}
    if is_array(content):
        plain["content"] = [block for each in content for block in _blocks(resolver.value(each))]
    if (reasoning := message.get("reasoning")) is not None:
        plain["reasoning"] = resolver.value(reasoning)
    if role == "tool":
        plain["tool_call_id"] = message.get("tool_call_id")
        plain["name"] = message.get("function") or message.get("tool_name")
        _add_fault(plain, message.get("error") or message.get("tool_error"), resolver)
    calls = message.get("tool_calls")
    if is_array(calls) and calls:
        plain["tool_calls"] = [_call(each, resolver) for each in calls if is_object(each)]
    events = message_events(plain, time)
    metadata = message.get("metadata")
    if role == "user" and is_object(metadata) and metadata.get("summary"):
        # What the agent wrote for itself when its context was compacted is nobody's message.
        return [_as_system(event) for event in events]
    return events


def digest(events: Sequence[Event]) -> str:
    """Tells messages apart that have no id."""
    made = sha256()
    for event in events:
        made.update(f"{event.call_id}\0{event.text}\0".encode())
    return f"#{made.hexdigest()[:32]}"


def _as_system(event: Event) -> Event:
    if event.kind is not EventKind.USER_MESSAGE:
        return event
    return type(event)(EventKind.SYSTEM, event.body, timestamp=event.timestamp)


def _call(call: Message, resolver: Resolver) -> Message:
    name, given = call.get("function"), call.get("arguments")
    return {
        "id": call.get("id"),
        "function": {"name": text_or_none(name), "arguments": resolver.value(given)},
    }


def _add_fault(plain: Message, fault: object, resolver: Resolver) -> None:
    """The fault of a call; the model was shown its message where the tool gave no output."""
    if not fault:
        return
    plain["is_error"] = True
    if not plain.get("content"):
        said = fault.get("message") if is_object(fault) else fault
        plain["content"] = resolver.value(said)


def _blocks(block: object) -> Sequence[object]:
    """A block of content as models' interfaces have it."""
    if not is_object(block):
        return (block,)
    type_ = block.get("type")
    if type_ == "reasoning":
        hidden = block.get("redacted") is True
        said = block.get("summary") if hidden else block.get("reasoning") or block.get("summary")
        return ({"type": "thinking", "thinking": said or "", "signature": hidden},)
    if type_ == "tool_use":
        return _server_tool(block)
    if isinstance(type_, str) and type_ in _MEDIA and isinstance(block.get(type_), str):
        where = str(block[type_])
        return ({"type": "text", "text": where if "," in where else f"[{type_} {where}]"},)
    return (block,)


def _server_tool(block: Message) -> Sequence[object]:
    """What the provider ran itself: a call and its result in one block."""
    fault = block.get("error")
    call = {
        "type": "server_tool_use",
        "id": block.get("id"),
        "name": block.get("name"),
        "input": block.get("arguments"),
    }
    result = {
        "type": "server_tool_result",
        "tool_use_id": block.get("id"),
        "name": block.get("name"),
        "content": block.get("result") or fault,
    }
    if fault:
        result["is_error"] = True
    return (call, result)
