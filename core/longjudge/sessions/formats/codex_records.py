"""Codex's records, and the parts of them that several modules read: texts, inputs and outputs."""

from __future__ import annotations

import re

import msgspec

from longjudge.sessions.render import elide_media, render_block, render_input, render_value
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none

Item = dict[str, object]

_decode = msgspec.json.Decoder(dict[str, object]).decode

BARE_ITEMS = frozenset(
    {
        *("message", "reasoning", "function_call", "function_call_output", "local_shell_call"),
        *("local_shell_call_output", "custom_tool_call", "custom_tool_call_output"),
        *("web_search_call", "function_result", "tool_call", "tool_result", "ghost_snapshot"),
    }
)
"""Items that older versions write as records of their own, without an envelope."""

_META_KEYS = ("instructions", "git", "cwd", "originator", "cli_version")
ENCRYPTED = "[encrypted]"

# What the program puts into messages under the user's name.
_INJECTED = frozenset(
    {
        *("environmentcontext", "userinstructions", "permissions", "instructions", "skill"),
        *("collaborationmode", "turnaborted", "usershellcommand", "recommendedplugins"),
        *("skillsinstructions", "appsinstructions", "pluginsinstructions", "useraction"),
        *("subagentnotification", "hookprompt", "modelswitch", "personalityspec", "apps"),
        *("plugins", "skills", "realtimeconversation", "codexinternalcontext", "goalcontext"),
        *("tokenbudget", "subagentcontext", "environmentsinstructions", "developerinstructions"),
    }
)
_OPENING = re.compile(r"\s*<([A-Za-z][\w-]{0,60})[^<>\n]{0,200}>")
_AGENTS_FILE = re.compile(r"\s*#+ AGENTS\.md\b")
_HEADING = re.compile(r"\s*# \S")
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.M)
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})[ \t]*$", re.M)
_EXIT_HEAD = 300


class CodexRecord(msgspec.Struct, gc=False):
    """One record; `payload` is the record itself where it has no envelope."""

    type: str
    payload: Item
    timestamp: str | None = None


_decode_enveloped = msgspec.json.Decoder(CodexRecord).decode


def decode(line: bytes) -> CodexRecord:
    """Decode a sound record."""
    try:
        return _decode_enveloped(line)
    except msgspec.ValidationError:
        return as_record(_decode(line))


def as_record(value: Item) -> CodexRecord:
    """Make a record of any JSON object."""
    kind, payload = value.get("type"), value.get("payload")
    time = text_or_none(value.get("timestamp"))
    if is_object(payload):
        return CodexRecord(kind if isinstance(kind, str) else "", payload, time)
    time = time or text_or_none(value.get("created_at"))
    if is_bare_item(value):
        return CodexRecord("response_item", value, time)
    if is_bare_meta(value):
        return CodexRecord("session_meta", value, time)
    if isinstance(kind, str):
        return CodexRecord(kind, value, time)
    return CodexRecord(f"{text_or_none(value.get('record_type')) or ''}", value, time)


def is_bare_item(value: Item) -> bool:
    """Whether a record is an item without envelope."""
    kind = value.get("type")
    if kind is None:
        return isinstance(value.get("role"), str)
    return isinstance(kind, str) and kind in BARE_ITEMS


def is_bare_meta(value: Item) -> bool:
    """Whether a record is what older versions begin a file with."""
    return (
        "type" not in value
        and "role" not in value
        and isinstance(value.get("id"), str)
        and isinstance(value.get("timestamp"), str)
        and any(key in value for key in _META_KEYS)
    )


def text_blocks(content: object) -> list[str]:
    """The content of a message, block by block, as it is rendered."""
    if isinstance(content, str):
        return [elide_media(content)] if content else []
    blocks = content if is_array(content) else [content]
    return [text for text in map(_block, blocks) if text]


def _block(block: object) -> str:
    if not is_object(block):
        return render_value(block)
    kind = block.get("type")
    if isinstance(text := block.get("text"), str):
        return elide_media(text)
    if isinstance(kind, str) and "image" in kind.lower():
        return image(block.get("image_url") or block.get("url") or block.get("path"))
    if kind == "encrypted_content" or "encrypted_content" in block:
        return ENCRYPTED
    return render_block(block)


def image(source: object) -> str:
    """A placeholder for an image, with its size or where it lies."""
    if is_object(source):
        source = source.get("url")
    if not isinstance(source, str) or not source:
        return ""
    if source.startswith("data:"):
        return elide_media(source)
    return f"[image: {source[:300]}]"


def split_injected(text: str) -> tuple[str, str]:
    """What the program put before a prompt, and the prompt itself."""
    start = 0
    while True:
        if opening := _OPENING.match(text, start):
            tag = opening[1]
            if tag.lower().replace("_", "").replace("-", "") not in _INJECTED:
                break
            end = text.find(f"</{tag}", opening.end())
        elif _AGENTS_FILE.match(text, start):
            end = text.find("</INSTRUCTIONS>", start)
        else:
            break
        end = text.find(">", end) if end >= 0 else -1
        if end < 0:
            return text, ""
        start = end + 1
    marker = _REQUEST.search(text, start)
    if marker and (not text[start : marker.start()].strip() or _HEADING.match(text, start)):
        return text[: marker.start()].strip(), text[marker.end() :].strip()
    return (text[:start].strip(), text[start:].strip()) if start else ("", text)


def arguments_text(value: object) -> str:
    """The input of a call: a JSON string is read, whatever else a string holds stays as it is."""
    if isinstance(value, str):
        parsed = _parsed(value)
        return elide_media(value) if parsed is None else render_input(parsed)
    return render_input(value)


def arguments_of(item: Item) -> Item:
    """The input of a call as an object, empty where it is none."""
    value = item.get("arguments", item.get("input"))
    if isinstance(value, str):
        return _parsed(value) or {}
    return value if is_object(value) else {}


def output_text(value: object) -> tuple[str, bool | None]:
    """The output of a call, and whether it failed where the output says so."""
    if isinstance(value, str):
        parsed = _parsed(value)
        if parsed is not None and "output" in parsed and "metadata" in parsed:
            return output_text(parsed)
        return elide_media(value), _failed_by_text(value)
    if not is_object(value):
        text = "\n".join(text_blocks(value)) if value is not None else ""
        return text, _failed_by_text(text)
    failed = failure(value)
    for key in ("output", "content"):
        if key in value and set(value) <= {key, "metadata", "success", "isError", "_meta"}:
            text = "\n".join(text_blocks(value[key]))
            return text, _failed_by_text(text) if failed is None else failed
    if "type" in value:
        return "\n".join(text_blocks(value)), failed
    return render_input(value), failed


def failure(value: Item) -> bool | None:
    """Whether an outcome is a failure, by its exit code or by what it says of its success."""
    metadata = value.get("metadata")
    for facts in (value, metadata if is_object(metadata) else {}):
        for key in ("exit_code", "exitCode"):
            code = facts.get(key)
            if isinstance(code, int) and not isinstance(code, bool):
                return code != 0
    success = bool_or_none(value.get("success"))
    if success is not None:
        return not success
    return bool_or_none(value.get("isError", value.get("is_error")))


def _failed_by_text(text: str) -> bool | None:
    code = _EXIT_CODE.search(text[:_EXIT_HEAD].partition("\nOutput:")[0])
    return int(code[1]) != 0 if code else None


def _parsed(text: str) -> Item | None:
    """The object that a string holds, None where it holds none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return _decode(text.encode())
    except (ValueError, RecursionError):
        return None
