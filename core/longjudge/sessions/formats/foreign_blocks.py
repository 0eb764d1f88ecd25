"""Content blocks of other interfaces as the blocks that `message_events` reads.

Gemini, Bedrock, the AI SDK and OpenTelemetry's conventions name the same four things in their own
ways: a text, a thought, a call, a result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import CALL_BLOCKS, THINKING_BLOCKS, is_result_block
from longjudge.sessions.formats.unpacked import printed_text, unpacked
from longjudge.sessions.values import first_of, is_array, is_object, text_or_none

if TYPE_CHECKING:
    Block = dict[str, object]

_CALL_TYPES = frozenset({"tool-call", "tool_call", "toolCall", "function_call", "functionCall"})
_RESULT_TYPES = frozenset(
    {
        *("tool-result", "tool_call_response", "toolResult", "tool_response", "tool-error"),
        *("function_response", "functionResponse", "function_call_output"),
    }
)
_THOUGHT_TYPES = frozenset({"reasoning", "thought", "thinking", "redacted-reasoning"})
_CALL_KEYS = ("functionCall", "function_call", "toolUse", "toolCall", "tool_call")
_RESULT_KEYS = ("functionResponse", "function_response", "toolResult", "tool_call_response")
_MEDIA_KEYS = ("inlineData", "inline_data", "blob")
_ID_KEYS = ("id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "call_id", "callId")
_NAME_KEYS = ("name", "toolName", "tool_name")
_INPUT_KEYS = ("input", "args", "arguments", "parameters", "rawInput")
_OUTPUT_KEYS = ("output", "result", "response", "content", "error")
_PRINTED_CALL = re.compile(
    r"ResponseFunctionToolCall\(arguments=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"),"
    r" call_id='([^']{1,200})', name='([^']{1,200})',",
    re.S,
)
_WRAPPED = ("result", "output", "error")


def foreign_block(part: object) -> Block:
    """A content block of any interface under the names that are read."""
    if not is_object(part):
        return {"type": "text", "text": part} if isinstance(part, str) else {"value": part}
    type_ = part.get("type")
    kind = type_ if isinstance(type_, str) else ""
    if kind in _CALL_TYPES:
        return call_block(part)
    if kind in _RESULT_TYPES:
        return result_block(part)
    if kind in _THOUGHT_TYPES and not _is_read(part, kind):
        return _thought(part)
    if kind in CALL_BLOCKS or kind in THINKING_BLOCKS or is_result_block(kind):
        return part
    return _by_key(part, kind)


def _is_read(part: Block, kind: str) -> bool:
    return kind in THINKING_BLOCKS and "thinking" in part


def _by_key(part: Block, kind: str) -> Block:
    """A block that says by the name of its one entry what it is."""
    for key in _CALL_KEYS:
        if is_object(inner := part.get(key)):
            return call_block(inner)
    for key in _RESULT_KEYS:
        if is_object(inner := part.get(key)):
            return result_block(inner)
    reasoning = part.get("reasoningContent")
    if is_object(reasoning):
        return _thought(reasoning)
    text = part.get("text")
    if part.get("thought") is True and isinstance(text, str):
        return _thought(part)
    for key in _MEDIA_KEYS:
        if is_object(inner := part.get(key)):
            return {"type": "image", **inner}
    content = part.get("content")
    if kind in ("text", "") and isinstance(content, str) and text is None:
        return _printed_call(content) or {"type": "text", "text": content}
    if isinstance(text, str) and kind in ("text", "", "input_text", "output_text"):
        return {"type": "text", "text": text}
    if kind == "blob" and isinstance(content, str):
        return {"type": "image", "media_type": part.get("mime_type"), "data": content}
    image = part.get("image")
    if kind == "image" and isinstance(image, str):
        media_type = first_of(part, ("mediaType", "mimeType"))
        return {"type": "image", "media_type": media_type, "data": image}
    return part


def _printed_call(text: str) -> Block | None:
    """A call that a library printed into the text: `ResponseFunctionToolCall(arguments='…', …)`."""
    match = _PRINTED_CALL.match(text) if text.startswith("ResponseFunctionToolCall(") else None
    if match is None:
        return None
    given = printed_text(match[1])
    return {"type": "tool_use", "id": match[2], "name": match[3], "input": given}


def _thought(part: Block) -> Block:
    inner = part.get("reasoningText")
    source = inner if is_object(inner) else part
    text = first_of(source, ("text", "content", "reasoning", "thinking"))
    block: Block = {"type": "thinking", "thinking": text}
    if source.get("signature") or part.get("redactedContent") or part.get("data"):
        block["signature"] = True
    return block


def call_block(part: Block) -> Block:
    """A call, whatever its id, name and input are called."""
    inner = part.get("function")
    named = inner if is_object(inner) else part
    return {
        "type": "tool_use",
        "id": text_or_none(first_of(part, _ID_KEYS)),
        "name": text_or_none(first_of(named, _NAME_KEYS)),
        "input": first_of(named, _INPUT_KEYS),
    }


def result_block(part: Block) -> Block:
    """A result; what wraps its content (`{"type": "json", "value": …}`) is taken off."""
    content = first_of(part, _OUTPUT_KEYS)
    failed: object = part.get("is_error", part.get("isError"))
    if part.get("status") == "error" or part.get("type") == "tool-error":
        failed = True
    if is_object(content):
        kind = content.get("type")
        if isinstance(kind, str) and "value" in content:
            failed = True if kind.startswith("error") else failed
            content = content["value"]
        elif len(content) == 1 and (key := next(iter(content))) in _WRAPPED:
            failed = True if key == "error" else failed
            content = content[key]
    return {
        "type": "tool_result",
        "tool_use_id": text_or_none(first_of(part, _ID_KEYS)),
        "name": text_or_none(first_of(part, _NAME_KEYS)),
        "content": result_content(content),
        "is_error": failed,
    }


def result_content(value: object) -> object:
    """The content of a result: a text, or blocks; anything else as it is."""
    inner = unpacked(value)
    if is_object(inner) and set(inner) <= {"content", "isError", "is_error", "structuredContent"}:
        inner = inner.get("content")
    if is_array(inner) and inner and all(map(_is_plain_block, inner)):
        return [_plain_block(block) for block in inner]
    return value if not is_array(value) else [value]


def _is_plain_block(block: object) -> bool:
    if not is_object(block):
        return False
    kind = block.get("type")
    if kind in ("text", "image", "audio", "resource", "document", "tool_reference"):
        return True
    return kind is None and ("text" in block or "json" in block) and len(block) == 1


def _plain_block(block: object) -> object:
    if is_object(block) and set(block) == {"json"}:
        return block["json"]
    return foreign_block(block)
