"""One message, content block or item of the models' interfaces becomes events.

The dialects differ in names only and are mixed in the wild, by gateways above all, so one reader
takes them all; which of them a file is written in decides no more than the format's name.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.text_calls import TextCall, read_text_result, split_text_calls
from longjudge.sessions.model import Event, EventKind, lengthen
from longjudge.sessions.render import (
    PLACEHOLDER,
    media_placeholder,
    render_block,
    render_content,
    render_input,
    render_value,
)
from longjudge.sessions.values import (
    bool_or_none,
    first_of,
    is_array,
    is_object,
    text_or_none,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    Message = dict[str, object]

ROLES: dict[str, EventKind] = {
    "system": EventKind.SYSTEM,
    "developer": EventKind.SYSTEM,
    "user": EventKind.USER_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
    "tool": EventKind.TOOL_RESULT,
    "function": EventKind.TOOL_RESULT,
}
CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
THINKING_BLOCKS = frozenset({"thinking", "redacted_thinking"})
ITEM_CALLS = frozenset(
    {
        *("function_call", "custom_tool_call", "mcp_call", "web_search_call", "file_search_call"),
        *("code_interpreter_call", "computer_call", "local_shell_call", "shell_call"),
        *("apply_patch_call", "image_generation_call", "tool_search_call"),
    }
)
_OTHER_ITEMS = frozenset(
    {"reasoning", "compaction", "mcp_approval_request", "mcp_approval_response"}
)
NO_EVENTS = frozenset({"mcp_list_tools", "item_reference"})
"""Items that say nothing of what happened."""

_REDACTED = "[redacted]"
_HIDDEN = ("redacted_thinking", "signature", "encrypted_content")
MADE = {
    _REDACTED: _HIDDEN,
    "[audio]": ("input_audio",),
    PLACEHOLDER: ("image_generation_call",),
    "queries: null": ("file_search_call",),
    "prompt: null": ("image_generation_call",),
}
"""What events say that no record does, and what stands in the records that make them say it."""
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
_TIME_KEYS = ("timestamp", "ts", "created_at", "created", "createdAt", "time")
_TEXT_KEYS = ("text", "content", "summary", "reason")
_INPUT_KEYS = ("arguments", "input", "args", "action", "operation", "code", "queries", "parameters")
_OUTPUT_KEYS = ("output", "outputs", "results", "result")
_MAX_DEPTH = 4
_MILLISECONDS = 100_000_000_000
_LAST_SECOND = 253_402_300_800

_decode_arguments = msgspec.json.Decoder(dict[str, object]).decode
_decode_string = msgspec.json.Decoder(str).decode


def is_result_block(kind: object) -> bool:
    """Whether a block's type names a result: `tool_result`, `web_search_tool_result` and more."""
    return isinstance(kind, str) and kind.endswith("tool_result")


def message_events(
    message: Message, time: str | None = None, after_call: bool = False
) -> list[Event]:
    """The events of a message or an item.

    `time` counts where it names none; `after_call` says that the message before it ended with a
    call that was written as text.
    """
    time = time_of(message) or time
    role = message.get("role")
    kind = ROLES.get(role) if isinstance(role, str) else None
    if kind is None:
        return _item_events(message, time)
    if kind is EventKind.TOOL_RESULT and not _holds_results(message.get("content")):
        return [_result(message, message.get("content"), time, text_or_none(message.get("name")))]
    events = _reasoning_events(message, time)
    if kind is EventKind.TOOL_RESULT:
        kind = EventKind.USER_MESSAGE
    events += _content_events(message, kind, time, after_call, bool(events))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        events.append(Event(EventKind.ASSISTANT_MESSAGE, render_value(refusal), timestamp=time))
    audio = message.get("audio")
    if is_object(audio) and (transcript := text_or_none(audio.get("transcript"))):
        events.append(Event(kind, render_value(transcript), timestamp=time))
    return events + _calls_beside(message, events, time)


def time_of(message: Mapping[str, object]) -> str | None:
    """When a message says that it was sent; numbers are taken for Unix time."""
    for key in _TIME_KEYS:
        value = message.get(key)
        if isinstance(value, str) and value:
            return render_value(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A whole number may be too large to divide.
            value = max(0, min(value, 1000 * _LAST_SECOND))
            seconds = value / 1000 if value > _MILLISECONDS else float(value)
            if 0 < seconds < _LAST_SECOND:
                moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
                return moment.replace("+00:00", "Z")
    return None


def read_arguments(value: object) -> object:
    """The input of a call, which may be JSON in a string, and not always sound."""
    for _ in range(2):
        if not isinstance(value, str):
            return value
        try:
            return _decode_arguments(value.encode())
        except (ValueError, RecursionError):
            pass
        try:
            value = _decode_string(value.encode())
        except (ValueError, RecursionError):
            return value
    return value


def _holds_results(content: object) -> bool:
    return is_array(content) and any(
        is_object(block) and is_result_block(block.get("type")) for block in content
    )


def _result(source: Message, content: object, time: str | None, tool: str | None = None) -> Event:
    failed = bool_or_none(source.get("is_error"))
    if failed is None and is_object(content) and word(content.get("type")).endswith("_error"):
        failed = True
    call_id: object = None
    for key in ("tool_call_id", "tool_use_id", "call_id"):
        call_id = call_id or source.get(key)
    body = "\n".join(map(_block_text, content)) if is_array(content) else render_content(content)
    return Event(EventKind.TOOL_RESULT, body, tool, text_or_none(call_id), failed, time)


def _reasoning_events(message: Message, time: str | None) -> list[Event]:
    for key in _REASONING_KEYS:
        value = message.get(key)
        body = _text_of(value) if is_object(value) else render_content(value) if value else ""
        if body:
            return [Event(EventKind.THINKING, body, timestamp=time)]
    return []


def _content_events(
    message: Message, kind: EventKind, time: str | None, after_call: bool, reasoned: bool
) -> list[Event]:
    content = message.get("content")
    if isinstance(content, str):
        return _text_events(render_content(content), message, kind, time, after_call)
    blocks = content if is_array(content) else [content] if content is not None else []
    events: list[Event] = []
    more: dict[int, list[str]] = {}
    joins = False
    for block in blocks:
        type_ = block.get("type") if is_object(block) else None
        if is_object(block) and _is_own_event(type_):
            if not (reasoned and type_ in THINKING_BLOCKS):
                events += block_events(block, time)
            joins = False
            continue
        body = _block_text(block)
        if not body:
            continue
        # The texts and images of one message are one event, however many blocks they came in.
        if joins:
            more.setdefault(len(events) - 1, []).append(body)
        else:
            events.append(Event(kind, body, timestamp=time))
        joins = True
    events = lengthen(events, more)
    if len(events) == 1 and events[0].kind is kind:
        return _text_events(events[0].body, message, kind, time, after_call)
    return events


def _is_own_event(type_: object) -> bool:
    if not isinstance(type_, str):
        return False
    return type_ in CALL_BLOCKS or type_ in THINKING_BLOCKS or is_result_block(type_)


def block_events(block: Message, time: str | None) -> list[Event]:
    """The event of a block that is one by itself: thinking, a call or a result."""
    type_ = block.get("type")
    if type_ in CALL_BLOCKS:
        return [
            Event(
                EventKind.TOOL_CALL,
                render_input(read_arguments(block.get("input"))),
                text_or_none(block.get("name")),
                text_or_none(block.get("id")),
                None,
                time,
            )
        ]
    if type_ in THINKING_BLOCKS:
        hidden = type_ == "redacted_thinking" or bool(block.get("signature"))
        body = render_value(block.get("thinking")) or (_REDACTED if hidden else "")
        return [Event(EventKind.THINKING, body, timestamp=time)] if body else []
    return [_result(block, block.get("content"), time, text_or_none(block.get("name")))]


def _text_events(
    text: str, message: Message, kind: EventKind, time: str | None, after_call: bool
) -> list[Event]:
    """The events of a text, in which calls and results may be written out."""
    if not text:
        return []
    if kind is EventKind.USER_MESSAGE and (result := read_text_result(text, after_call)):
        return [Event(EventKind.TOOL_RESULT, result.body, result.tool, timestamp=time)]
    if kind is not EventKind.ASSISTANT_MESSAGE or message.get("tool_calls"):
        return [Event(kind, text, timestamp=time)]
    return [
        Event(EventKind.TOOL_CALL, render_input(piece.input), piece.tool, timestamp=time)
        if isinstance(piece, TextCall)
        else Event(kind, piece, timestamp=time)
        for piece in split_text_calls(text)
    ]


def _block_text(block: object) -> str:
    if not is_object(block):
        return render_value(block)
    content = block.get("content")
    if block.get("type") == "file" and isinstance(content, str):
        return f"{render_value(block.get('path'))}\n{render_value(content)}"
    if block.get("type") == "refusal":
        return render_value(block.get("refusal"))
    sound = block.get("input_audio")
    if is_object(sound) and isinstance(sound.get("data"), str):
        media = {"media_type": f"audio/{sound.get('format')}", "data": sound["data"]}
        return media_placeholder(media) or "[audio]"
    return render_block(block)


def _calls_beside(message: Message, events: list[Event], time: str | None) -> list[Event]:
    """The calls that stand beside the content, unless the content holds them too."""
    calls = message.get("tool_calls")
    entries = calls if is_array(calls) else []
    legacy = message.get("function_call")
    if not entries and is_object(legacy):
        entries = [{"function": legacy}]
    known = {event.call_id for event in events if event.kind is EventKind.TOOL_CALL} - {None}
    found: list[Event] = []
    for entry in entries:
        if not is_object(entry) or text_or_none(entry.get("id")) in known:
            continue
        inner = entry.get("function", entry.get("custom"))
        called = inner if is_object(inner) else entry
        found.append(
            Event(
                EventKind.TOOL_CALL,
                render_input(read_arguments(first_of(called, _INPUT_KEYS))),
                text_or_none(called.get("name")),
                text_or_none(entry.get("id")),
                None,
                time,
            )
        )
    return found


def is_item(type_: object) -> bool:
    """Whether a type names an item of the Responses interface that is no message."""
    return isinstance(type_, str) and (
        type_ in _OTHER_ITEMS or type_ in NO_EVENTS or type_.removesuffix("_output") in ITEM_CALLS
    )


def _item_events(item: Message, time: str | None) -> list[Event]:
    type_ = item.get("type")
    if not isinstance(type_, str) or type_ in NO_EVENTS:
        return []
    if _is_own_event(type_):
        return block_events(item, time)
    if type_ == "reasoning":
        return _reasoning_item(item, time)
    if type_.endswith("_output"):
        output = item.get("output")
        return [_result(item, output, time, text_or_none(item.get("name")))]
    if type_.endswith("_call"):
        return _call_item(item, type_, time)
    if type_.startswith("mcp_approval"):
        said = {key: value for key, value in item.items() if key not in ("id", "type")}
        said.pop("approval_request_id", None)
        return [Event(EventKind.SYSTEM, f"{type_}\n{render_input(said)}", timestamp=time)]
    body = _text_of(item)
    return [Event(EventKind.SYSTEM, body, timestamp=time)] if body else []


def _reasoning_item(item: Message, time: str | None) -> list[Event]:
    bodies = [_text_of({"text": item.get(key)}) for key in ("summary", "content")]
    body = "\n".join(filter(None, bodies))
    body = body or (_REDACTED if item.get("encrypted_content") else "")
    return [Event(EventKind.THINKING, body, timestamp=time)] if body else []


def _call_item(item: Message, type_: str, time: str | None) -> list[Event]:
    """A call, and its result where the provider ran the tool and put both into one item."""
    named = text_or_none(item.get("name"))
    tool = named or type_.removesuffix("_call")
    call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
    given = read_arguments(first_of(item, _INPUT_KEYS))
    output = first_of(item, _OUTPUT_KEYS)
    if not named and (code := item.get("code")) is not None:
        given = {"code": code}
    elif type_ == "file_search_call":
        given = {"queries": item.get("queries")}
    elif type_ == "image_generation_call":
        given = {"prompt": item.get("revised_prompt")}
        if isinstance(output, str):
            output = media_placeholder({"media_type": "image/png", "data": output})
    call = Event(EventKind.TOOL_CALL, render_input(given), tool, call_id, None, time)
    error = item.get("error")
    if output is None and not error:
        return [call]
    failed = True if error else None
    body = render_content(output if output is not None else error)
    return [call, Event(EventKind.TOOL_RESULT, body, tool, call_id, failed, time)]


def _text_of(source: Message, depth: int = 0) -> str:
    """The texts of an object, one below the other."""
    value = first_of(source, _TEXT_KEYS)
    if is_array(value) and depth < _MAX_DEPTH:
        texts = [
            _text_of(part, depth + 1) if is_object(part) else render_value(part) for part in value
        ]
        return "\n".join(filter(None, texts))
    return render_value(value)
