"""The rendering of inputs and outputs: what the judge reads of an event.

Every verdict key depends on these functions (`model.RENDERING_VERSION` names them), so they are
deterministic and leave out what is no content: ids, times, encodings. Encoded media become a
placeholder that keeps type and size; any other text stays as it is, however odd it looks.
"""

from __future__ import annotations

import re
from json import JSONEncoder

from longjudge.sessions.values import is_array, is_object
from longjudge.text import without_surrogates

_compact = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_DATA_URI = re.compile(
    r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[\w.+-]*)*;base64,([A-Za-z0-9+/_=%-]*)", re.ASCII
)
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,100}", re.ASCII)
_MEDIA_TYPE_KEYS = ("media_type", "mimeType", "mime_type", "mediaType")
_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_BLOCK_IDS = frozenset(
    {"id", "uuid", "tool_use_id", "tool_call_id", "call_id", "cache_control", "encrypted_content"}
)
_MAX_DEPTH = 60

PLACEHOLDER = "[image/png audio video document data, kB MB] nested too deeply"
"""Every word that a placeholder may have beside a size and a type that the record names."""

MAX_NESTING = 200
"""A value nested deeper is not rendered. Python's own limit depends on who calls."""


def render_input(value: object) -> str:
    """Render the input of a call: one `key: value` line per entry, strings as they are."""
    if is_object(value):
        return elide_media(
            "\n".join(
                [
                    f"{key}: {item if isinstance(item, str) else compact_json(item)}"
                    for key, item in value.items()
                ]
            )
        )
    return render_value(value)


def render_content(value: object) -> str:
    """Render a message or an output: a string, or a list of blocks one below the other."""
    if isinstance(value, str):
        return elide_media(value)
    if is_array(value):
        return "\n".join([render_block(block) for block in value])
    return render_block(value)


def render_value(value: object) -> str:
    """Render any value: a string as it is, nothing as nothing, else compact JSON."""
    if isinstance(value, str):
        return elide_media(value)
    return "" if value is None else elide_media(compact_json(value))


def render_block(block: object) -> str:
    """Render one content block: its text, a placeholder for media, else compact JSON."""
    if not is_object(block):
        return render_value(block)
    text, type_ = block.get("text"), block.get("type", "text")
    if isinstance(text, str) and isinstance(type_, str) and type_ in _TEXT_BLOCKS:
        return elide_media(text)
    if placeholder := media_placeholder(block):
        return placeholder
    source = block.get("source")
    if is_object(source) and source.get("type") == "text" and isinstance(source.get("data"), str):
        return render_value(source["data"])
    return render_value({key: item for key, item in block.items() if key not in _BLOCK_IDS})


def compact_json(value: object) -> str:
    """A value as JSON without spaces or escapes, encoded media in it replaced.

    Raises:
        RecursionError: nested more than `MAX_NESTING` deep.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _nested_beyond(value, MAX_NESTING):
        raise RecursionError(f"nested more than {MAX_NESTING} deep")
    text = _compact(value)
    if '"data":' in text or '"blob":' in text or '"base64":' in text:
        text = _compact(_without_media(value, 0))
    return without_surrogates(text) if not text.isascii() else text


def _nested_beyond(value: object, limit: int) -> bool:
    """Whether a value holds containers more than `limit` deep; walks level by level."""
    level: list[object] = [value]
    for _ in range(limit):
        inner: list[object] = []
        for item in level:
            if is_object(item):
                inner += item.values()
            elif is_array(item):
                inner += item
        level = [item for item in inner if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def elide_media(text: str) -> str:
    """Replace every `data:...;base64,...` URI in a text by its placeholder."""
    if ";base64," not in text:
        return text
    return _DATA_URI.sub(lambda match: _placeholder(match[1], match[2]), text)


def media_placeholder(block: dict[str, object]) -> str | None:
    """`[image/png, 473 kB]` for a block that carries encoded media, else None."""
    source = block.get("source")
    if is_object(source):
        data = source.get("data")
        if isinstance(data, str) and source.get("type", "base64") == "base64":
            return _placeholder(_media_type(source) or _kind(block), data)
    base64 = block.get("base64")
    if isinstance(base64, str):
        return _placeholder(_media_type(block) or _kind(block), base64)
    media_type = _media_type(block)
    data = block.get("blob", block.get("data"))
    if media_type and isinstance(data, str):
        encoded = block.get("type") == "base64" or "blob" in block
        if encoded or not media_type.startswith("text/"):
            return _placeholder(media_type, data)
    return None


def _media_type(block: dict[str, object]) -> str | None:
    for key in (*_MEDIA_TYPE_KEYS, "type"):
        value = block.get(key)
        if isinstance(value, str) and _MEDIA_TYPE.fullmatch(value):
            return value
    return None


def _kind(block: dict[str, object]) -> str:
    kind = block.get("type")
    return kind if kind in ("image", "audio", "video", "document") else "data"


def _placeholder(media_type: str | None, encoded: str) -> str:
    if encoded.startswith("data:") and (match := _DATA_URI.match(encoded)):
        media_type, encoded = match[1] or media_type, match[2]
    size = len(encoded.rstrip("=")) * 3 // 4
    if size < 1000:
        amount = f"{size} B"
    elif size < 1_000_000:
        amount = f"{(size + 500) // 1000} kB"
    else:
        tenths = (size + 50_000) // 100_000
        amount = f"{tenths // 10}.{tenths % 10} MB"
    return f"[{media_type or 'data'}, {amount}]"


def _without_media(value: object, depth: int) -> object:
    if depth > _MAX_DEPTH:
        return "[nested too deeply]"
    if is_object(value):
        return media_placeholder(value) or {
            key: _without_media(item, depth + 1) for key, item in value.items()
        }
    if is_array(value):
        return [_without_media(item, depth + 1) for item in value]
    return value
