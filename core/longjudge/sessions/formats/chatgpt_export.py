"""Conversations exported from ChatGPT: a tree of messages, of which one path was read on.

The path leads from `current_node` up to the root. What hangs beside it was edited or generated
anew, and is no part of the conversation any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.render import render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Record = dict[str, object]

EMPTY = "conversations without a message, left out"
BROKEN = "conversations whose beginning is not in the export"
DISCARDED = "answers and prompts that were replaced by others, left out"

_THOUGHTS = frozenset({"thoughts", "reasoning_recap"})
_CONTEXT = frozenset({"user_editable_context", "model_editable_context"})
_TEXT_KEYS = ("text", "result", "summary", "content", "user_profile", "user_instructions")
_TYPES = frozenset({"content_type", "language", "response_format_name", "assets"})


class ChatGPTExport(RetoldFormat):
    """Reads one exported conversation, or many."""

    name = "chatgpt-export"

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """Conversations by their tree."""
        if not head:
            return 0.0
        return sum(map(_is_conversation, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell conversation after conversation."""
        for given in records:
            mapping = given.value.get("mapping")
            if is_object(mapping):
                with passing_over(telling, given.number):
                    _tell(given, mapping, telling)


def _is_conversation(record: Record) -> bool:
    mapping = record.get("mapping")
    if not is_object(mapping):
        # Of a large document only the type is known by then.
        return mapping == "dict" and "current_node" in record
    return "current_node" in record or any(
        is_object(node) and "message" in node and "parent" in node for node in mapping.values()
    )


def _tell(given: Given, mapping: Record, telling: Telling) -> None:
    record, key = given.value, str(given.number)
    telling.facts(
        session=key,
        id=text_or_none(record.get("conversation_id")) or text_or_none(record.get("id")),
        title=text_or_none(record.get("title")),
        started=iso_time(record.get("create_time"), "s"),
        ended=iso_time(record.get("update_time"), "s"),
    )
    path = _path(record.get("current_node"), mapping)
    on_path = set(path)
    told = False
    for name in path:
        node = mapping[name]
        message = node.get("message") if is_object(node) else None
        for event in _events(message) if is_object(message) else ():
            telling.event(event, given.number, session=key)
            told = True
    if not told:
        telling.note(EMPTY, given.number)
    first = mapping[path[0]] if path else None
    if is_object(first) and first.get("parent") is not None:
        telling.note(BROKEN, given.number, Severity.WARNING)
    beside = sum(
        name not in on_path and is_object(node) and is_object(node.get("message"))
        for name, node in mapping.items()
    )
    if beside:
        telling.note(DISCARDED, given.number, count=beside)


def _path(current: object, mapping: Record) -> list[str]:
    """The nodes from the root to the current one; to the last one where none is named."""
    name = current if isinstance(current, str) and current in mapping else None
    if name is None:
        name = next(reversed(mapping), None)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(name, str) and name in mapping and name not in seen:
        seen.add(name)
        path.append(name)
        node = mapping[name]
        parent = node.get("parent") if is_object(node) else None
        name = parent if isinstance(parent, str) else None
    return path[::-1]


def _events(message: Record) -> Iterator[Event]:
    author = message.get("author")
    author = author if is_object(author) else {}
    content = message.get("content")
    content = content if is_object(content) else {"text": content}
    type_, role = text_or_none(content.get("content_type")), author.get("role")
    recipient = text_or_none(message.get("recipient"))
    time = iso_time(message.get("create_time"), "s")
    body = _body(content)
    if not body.strip():
        return
    if role == "tool":
        tool = text_or_none(author.get("name"))
        yield Event(EventKind.TOOL_RESULT, body, tool, timestamp=time)
    elif role == "assistant" and type_ in _THOUGHTS:
        yield Event(EventKind.THINKING, body, timestamp=time)
    elif role == "assistant" and recipient not in (None, "all"):
        yield Event(EventKind.TOOL_CALL, _input(body), recipient, timestamp=time)
    elif role == "assistant":
        yield Event(EventKind.ASSISTANT_MESSAGE, body, timestamp=time)
    elif role == "user" and type_ not in _CONTEXT:
        yield Event(EventKind.USER_MESSAGE, body, timestamp=time)
    else:
        yield Event(EventKind.SYSTEM, body, timestamp=time)


def _input(body: str) -> str:
    """The input of a call: JSON to its entries, code as it stands."""
    given = read_arguments(body)
    return render_input(given) if is_object(given) else body


def _body(content: Record) -> str:
    parts = content.get("parts")
    if is_array(parts):
        return "\n".join(filter(None, map(_part, parts)))
    thoughts = content.get("thoughts")
    if is_array(thoughts):
        return "\n".join(filter(None, map(_part, thoughts)))
    texts = [render_value(content[key]) for key in _TEXT_KEYS if content.get(key)]
    if texts:
        return "\n".join(texts)
    rest = {key: value for key, value in content.items() if key not in _TYPES and value}
    return render_value(rest) if rest else ""


def _part(part: object) -> str:
    """One part: a text, a thought, or a placeholder for what is kept elsewhere."""
    if not is_object(part):
        return render_value(part)
    if pointer := part.get("asset_pointer"):
        kind = render_value(part.get("content_type")).removesuffix("_asset_pointer") or "file"
        return f"[{kind} {render_value(pointer)}]"
    texts = [render_value(part[key]) for key in _TEXT_KEYS if part.get(key)]
    return "\n".join(texts) or render_value(part)
