"""The messages inside what a tracing tool recorded as the input or the output of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_blocks import foreign_block
from longjudge.sessions.formats.foreign_messages import (
    foreign_message,
    is_foreign_message,
    is_response_item,
)
from longjudge.sessions.formats.known_messages import known_message
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    Message = dict[str, object]

REQUEST_KEYS = (
    *("messages", "input_messages", "all_messages", "contents", "prompts", "prompt", "input"),
    *("inputs", "request", "kwargs", "question", "query", "user_prompt", "task", "goal"),
)
RESPONSE_KEYS = (
    *("choices", "generations", "candidates", "output_messages", "messages", "message", "output"),
    *("outputs", "response", "content", "text", "completion", "result", "raw", "answer"),
    *("final_output", "return_values", "completions"),
)
_SYSTEM_KEYS = ("system", "system_prompt", "instructions", "system_instruction")
_PLAIN = ("prompt", "input", "question", "query", "user_prompt", "task", "goal", "inputs")
_ALTERNATIVES = ("choices", "generations", "candidates", "completions")
_NOTHING = ("", "null", "None", "undefined")
_MAX_DEPTH = 6


def held_messages(value: object, role: str) -> list[Message]:
    """The messages that a value holds; `role` is that of a text without one.

    Anything that holds none gives an empty list, and is no conversation.
    """
    return _held(value, role, REQUEST_KEYS if role == "user" else RESPONSE_KEYS, 0)


def is_structured(messages: Sequence[Message], value: object) -> bool:
    """Whether messages were written as such, and are not the one text that a value is."""
    return bool(messages) and not isinstance(unpacked(value), str)


def text_message(text: str, role: str) -> list[Message]:
    """The message that a text is, none where it is blank or stands for nothing."""
    return [{"role": role, "content": text}] if text.strip() not in _NOTHING else []


def _held(value: object, role: str, keys: Sequence[str], depth: int) -> list[Message]:
    value = unpacked(value)
    if isinstance(value, str):
        printed = foreign_message(value)
        return [printed] if printed else text_message(value, role)
    if depth > _MAX_DEPTH:
        return []
    if is_array(value):
        return _of_list(value, role, keys, depth)
    if not is_object(value):
        return []
    if is_foreign_message(value):
        message = foreign_message(value)
        return [message] if message else []
    return _of_object(value, role, keys, depth)


def _of_list(values: list[object], role: str, keys: Sequence[str], depth: int) -> list[Message]:
    if not values:
        return []
    if is_array(values[0]):
        return _held(values[0], role, keys, depth + 1)
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        printed = [foreign_message(text) for text in texts]
        if all(printed):
            return [message for message in printed if message]
        return text_message("\n".join(texts), role)
    if any(is_foreign_message(value) or is_response_item(value) for value in values):
        found = [known_message(value) for value in values]
        return [message for message in found if message]
    objects = [value for value in values if is_object(value)]
    if all(_is_call(value) for value in objects):
        return [{"role": role, "content": [foreign_block(_typed(value)) for value in objects]}]
    if all(_is_block(value) for value in objects):
        return [{"role": role, "content": [foreign_block(value) for value in objects]}]
    # Further answers to one request are no part of what happened.
    return _held(values[0], role, keys, depth + 1) if role == "assistant" else []


def _of_object(value: Message, role: str, keys: Sequence[str], depth: int) -> list[Message]:
    if role == "assistant" and (found := _of_answer(value)):
        return found
    for key in keys:
        if key not in value or value[key] in (None, "", [], {}):
            continue
        inner = _first_answer(value[key]) if key in _ALTERNATIVES else value[key]
        if isinstance(inner, str) and role == "user" and key not in _PLAIN:
            inner = unpacked(inner)
            if isinstance(inner, str):
                continue
        found = _held(inner, role, keys, depth + 1)
        if found:
            return [*_system(value, found), *found] if role == "user" else found
    return []


def _first_answer(value: object) -> object:
    """The first of several answers to one request; the others are no part of what happened."""
    value = unpacked(value)
    while is_array(value) and value and is_array(value[0]):
        value = value[0]
    return value[:1] if is_array(value) else value


def _of_answer(value: Message) -> list[Message]:
    """A bare call, a block, or an answer beside its calls."""
    if _is_call(value):
        return [{"role": "assistant", "content": [foreign_block(_typed(value))]}]
    calls = unpacked(value.get("toolCalls", value.get("tool_calls")))
    if is_array(calls) and calls:
        text = value.get("text", value.get("content"))
        message = foreign_message({"role": "assistant", "content": text, "tool_calls": calls})
        return [message] if message else []
    parts = value.get("content")
    if is_object(parts) and is_array(parts.get("parts")):
        message = foreign_message({"role": "model", **parts})
        return [message] if message else []
    if _is_block(value) and "type" in value:
        return [{"role": "assistant", "content": [foreign_block(value)]}]
    return []


def _system(value: Message, found: Sequence[Message]) -> list[Message]:
    config = value.get("config")
    for source in (value, config):
        if not is_object(source):
            continue
        for key in _SYSTEM_KEYS:
            said = unpacked(source.get(key))
            if is_object(said) and "parts" in said:
                said = said["parts"]
            if is_array(said):
                said = [foreign_block(part) for part in said]
            if said and isinstance(said, str | list) and found[0].get("role") != "system":
                return [{"role": "system", "content": said}]
    return []


def _is_call(value: Message) -> bool:
    named = "toolName" in value or ("name" in value and value.get("type") == "tool_use")
    return named and ("input" in value or "args" in value)


def _typed(value: Message) -> Message:
    return value if "type" in value else {"type": "tool-call", **value}


def _is_block(value: Message) -> bool:
    kind = value.get("type")
    if isinstance(kind, str):
        known = ("text", "thinking", "tool_use", "tool_result", "image", "reasoning", "tool-call")
        return kind in known or kind in ("tool_call", "tool-result", "tool_call_response")
    return (
        any(
            key in value
            for key in ("text", "toolUse", "toolResult", "functionCall", "function_call")
        )
        and len(value) <= 3
    )
