"""Goose's sessions: a line about the session, then a message a line with blocks of its own."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.message_events import block_events, read_arguments
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_block, render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_SPEAKERS = {"user": EventKind.USER_MESSAGE, "assistant": EventKind.ASSISTANT_MESSAGE}
_OWN_BLOCKS = frozenset({"toolRequest", "toolResponse", "contextLengthExceeded"})
_FAILED = {"success": False, "error": True}


class Goose(RetoldFormat):
    """Reads Goose's session files."""

    name = "goose"

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """The share of messages with a time, where a head or a block is nobody else's."""
        if not any(_is_head(each) or _has_own_block(each) for each in head):
            return 0.0
        return sum(_is_head(each) or _is_message(each) for each in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass; every message has its events in itself."""
        any_message = False
        for given in records:
            record, number = given.value, given.number
            if _is_head(record):
                telling.facts(title=text_or_none(record.get("description")))
            elif "role" in record:
                any_message = True
                _tell_message(record, number, telling)
            else:
                telling.note(f"records of {', '.join(record)[:40]}, no events", number)
        if not any_message:
            raise NotASessionError("the first line of a Goose session only, nobody spoke")


def _is_head(record: Record) -> bool:
    return "working_dir" in record and "message_count" in record and "role" not in record


def _is_message(record: Record) -> bool:
    timed = isinstance(record.get("created"), int | float)
    return timed and word(record.get("role")) in _SPEAKERS and is_array(record.get("content"))


def _has_own_block(record: Record) -> bool:
    content = record.get("content")
    return _is_message(record) and any(
        word(block.get("type")) in _OWN_BLOCKS for block in _objects(content)
    )


def _objects(content: object) -> list[Record]:
    return [block for block in content if is_object(block)] if is_array(content) else []


def _tell_message(record: Record, number: int, telling: Telling) -> None:
    """Neighbouring texts and images are one event, any other block is one by itself."""
    content = record.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = _objects(content)
    if not is_array(content) or len(blocks) < len(content):
        telling.skip("content that is no block", number)
    elif not blocks:
        telling.note("messages without content", number)
    time = iso_time(record.get("created"), "s")
    speaker = _SPEAKERS.get(word(record.get("role")), EventKind.SYSTEM)
    for are_words, run in groupby(blocks, _is_words):
        if are_words:
            with passing_over(telling, number):
                if body := "\n".join(filter(None, map(render_block, run))):
                    telling.event(Event(speaker, body, timestamp=time), number)
            continue
        for block in run:
            with passing_over(telling, number):
                _tell_block(block, time, number, telling)


def _is_words(block: Record) -> bool:
    type_ = block.get("type")
    return type_ == "image" or (type_ == "text" and isinstance(block.get("text"), str))


def _tell_block(block: Record, time: str | None, number: int, telling: Telling) -> None:
    type_ = word(block.get("type"))
    event: Event | None = None
    if type_ == "toolRequest":
        event = _call(block, time, number)
    elif type_ == "toolResponse":
        event = _result(block, time)
    elif type_ == "contextLengthExceeded":
        event = Event(EventKind.SYSTEM, render_value(block.get("msg")) or type_, timestamp=time)
    elif type_ == "thinking":
        event = next(iter(block_events(block, time)), None)
    elif type_ != "text":
        telling.note(f"{kind_name(block.get('type'))} blocks, no events", number)
        return
    if event is None:
        telling.skip(f"{type_} blocks that cannot be read", number)
    else:
        telling.event(event, number)


def _call(block: Record, time: str | None, number: int) -> Event | None:
    """A call; where the model wrote none that could be made, the error that it was told."""
    asked = block.get("toolCall")
    if not is_object(asked):
        return None
    call_id = text_or_none(block.get("id"))
    if asked.get("status") == "error":
        body = render_value(asked.get("error"))
        return Event(EventKind.ERROR, body, None, call_id, None, time)
    value = asked.get("value")
    if not is_object(value):
        return None
    body = render_input(read_arguments(value.get("arguments")))
    tool = text_or_none(value.get("name"))
    return Event(EventKind.TOOL_CALL, body, tool, call_id or f"{number}", None, time)


def _result(block: Record, time: str | None) -> Event | None:
    gave = block.get("toolResult")
    if not is_object(gave):
        return None
    failed = _FAILED.get(word(gave.get("status")))
    if failed:
        body = render_value(gave.get("error"))
    else:
        value = gave.get("value")
        body = "" if value is None else render_content(_without_copies(value))
    return Event(EventKind.TOOL_RESULT, body, None, text_or_none(block.get("id")), failed, time)


def _without_copies(value: object) -> object:
    """What a tool gave, without the blocks that show the user what the assistant got."""
    if not is_array(value):
        return value
    # Where all of it is for the user, nothing is a copy.
    return [block for block in value if not _for_the_user(block)] or value


def _for_the_user(block: object) -> bool:
    notes = block.get("annotations") if is_object(block) else None
    return is_object(notes) and notes.get("audience") == ["user"]
