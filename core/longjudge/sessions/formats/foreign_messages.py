"""Messages of other interfaces as the messages that `message_events` reads.

LangChain writes a constructor, a type with data, or a flat object; Gemini, OpenTelemetry and the
AI SDK write parts; OpenInference puts a message inside a message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_blocks import call_block, foreign_block, result_content
from longjudge.sessions.formats.message_events import is_item
from longjudge.sessions.formats.unpacked import printed_text, unpacked
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    Message = dict[str, object]

ROLES: dict[str, str] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "toolmessagechunk": "tool",
    "humanmessagechunk": "user",
    "systemmessagechunk": "system",
    "function": "tool",
}
_CLASSES = {
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
    "ChatMessage": "",
}
_KEPT = ("reasoning_content", "reasoning", "refusal", "audio", "timestamp", "created_at")
_MESSAGE_KEYS = ("content", "parts", "tool_calls", "toolCalls", "function_call", "text", "contents")
_REPR = re.compile(
    r"role='(\w+)' content=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|None)(?: name=|, name=)", re.S
)
_REPR_CALL = re.compile(r" tool_call_id='([^']{1,200})'")
_REPR_CHARS = 400_000


def foreign_message(value: object) -> Message | None:
    """A message of any interface under the names that are read; None where it is none."""
    if not is_object(value):
        return _printed(value) if isinstance(value, str) else None
    message = _unwrapped(value)
    role = role_of(message)
    if role is None:
        return message if is_response_item(message) else None
    found: Message = {"role": role}
    for key in _KEPT:
        if message.get(key):
            found[key] = message[key]
    extra = message.get("additional_kwargs")
    if is_object(extra) and extra.get("reasoning_content"):
        found.setdefault("reasoning_content", extra["reasoning_content"])
    content = _content(message)
    if role == "tool":
        return _tool_message(message, found, content)
    found["content"] = content
    if calls := _calls(message):
        found["tool_calls"] = calls
    return found


def is_foreign_message(value: object) -> bool:
    """Whether a value is a message by its role and by what it holds."""
    if not is_object(value):
        return False
    message = _unwrapped(value)
    return role_of(message) is not None and any(key in message for key in _MESSAGE_KEYS)


def is_response_item(value: object) -> bool:
    """Whether a value is an item of the Responses interface, which has no role."""
    if not is_object(value) or not is_item(value.get("type")):
        return False
    if value.get("type") == "reasoning":
        return "summary" in value or "encrypted_content" in value
    return not value.get("content")


def class_of(value: Message) -> str | None:
    """The class that LangChain's constructor form names, without its path."""
    path = value.get("id")
    if value.get("lc") is None or not is_array(path) or not path:
        return None
    return text_or_none(path[-1])


def _unwrapped(value: Message) -> Message:
    """The message inside a constructor, beside its type, or under `message`."""
    if (name := class_of(value)) is not None and is_object(inner := value.get("kwargs")):
        role = _CLASSES.get(name.removesuffix("Chunk"))
        return {**inner, "role": role} if role else inner
    inner = value.get("kwargs")
    if is_object(inner) and "content" in inner and "role" not in value and "content" not in value:
        return inner
    data, type_ = value.get("data"), value.get("type")
    if is_object(data) and isinstance(type_, str) and type_.lower() in ROLES:
        return {**data, "role": data.get("role") or type_}
    inner = value.get("message")
    if is_object(inner) and "role" not in value and ("role" in inner or class_of(inner)):
        return _unwrapped(inner) if class_of(inner) else inner
    if "message.role" in value:
        return {
            key.removeprefix("message."): item
            for key, item in value.items()
            if key.startswith("message.")
        }
    return value


def role_of(message: Message) -> str | None:
    """The role of a message: `system`, `user`, `assistant` or `tool`; None where it is none."""
    for key in ("role", "type"):
        name = message.get(key)
        if not isinstance(name, str):
            continue
        if (role := ROLES.get(name.lower())) is not None:
            return role
        if key == "role" and name and "content" in message:
            # A role of one's own: an agent's name.
            return "assistant"
    return None


def _content(message: Message) -> object:
    content = next(
        (message[key] for key in ("content", "parts", "contents", "text") if message.get(key)), None
    )
    if is_object(content) and "parts" in content:
        content = content["parts"]
    if is_array(content):
        return [foreign_block(_inner(part)) for part in content]
    if is_object(content):
        return [foreign_block(content)]
    return content


def _inner(part: object) -> object:
    """A part inside the wrapper that OpenInference puts around it."""
    inner = part.get("message_content") if is_object(part) else None
    return inner if is_object(inner) else part


def _calls(message: Message) -> list[Message]:
    """The calls beside the content, of the first list that holds any."""
    extra = message.get("additional_kwargs")
    found: list[Message] = []
    for source in (message, extra):
        if not is_object(source):
            continue
        for key in ("tool_calls", "toolCalls", "invalid_tool_calls"):
            calls = unpacked(source.get(key))
            for entry in calls if is_array(calls) else []:
                inner = entry.get("tool_call", entry) if is_object(entry) else None
                if is_object(inner):
                    found.append(_call(inner))
        legacy = source.get("function_call")
        if is_object(legacy) and not found:
            found.append(_call(legacy))
        if found:
            break
    return found


def _call(entry: Message) -> Message:
    dotted = {
        key.rpartition(".")[2]: item for key, item in entry.items() if key.startswith("tool_call.")
    }
    block = call_block(dotted or entry)
    return {
        "id": block["id"],
        "type": "function",
        "function": {"name": block["name"], "arguments": block["input"]},
    }


def _tool_message(message: Message, found: Message, content: object) -> Message | None:
    """The result that a message of the role `tool` is; None where it describes a tool."""
    if is_object(raw := message.get("content")) and is_object(raw.get("function")):
        return None
    if is_array(content) and any(
        is_object(block) and block.get("type") in ("tool_result", "tool_use") for block in content
    ):
        return {**found, "content": content}
    found["content"] = result_content(message.get("content") if message.get("content") else content)
    found["tool_call_id"] = next(
        (
            message[key]
            for key in ("tool_call_id", "toolCallId", "tool_use_id", "id")
            if message.get(key)
        ),
        None,
    )
    found["name"] = message.get("name") or message.get("tool_name")
    if message.get("status") == "error" or message.get("is_error") is True:
        found["is_error"] = True
    return found


def _printed(text: str) -> Message | None:
    """A message that a library printed: `role='user' content='…' name=None …`."""
    if not text.startswith("role='") or len(text) > _REPR_CHARS:
        return None
    match = _REPR.match(text)
    if match is None:
        return None
    content = None if match[2] == "None" else printed_text(match[2])
    found: Message = {"role": ROLES.get(match[1], "user"), "content": content}
    if found["role"] == "tool" and (call := _REPR_CALL.search(text, match.end())):
        found["tool_call_id"] = call[1]
    return found
