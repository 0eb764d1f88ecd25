"""The records in which OpenCode keeps or prints a session, brought to sessions, messages, parts.

Read are: messages with their parts (an export), the events of its server, what `opencode run
--format json` prints, the files of its storage folder, and rows of its databases, which name
their table.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from longjudge.sessions.formats.opencode_events import event_items, server_event
from longjudge.sessions.formats.opencode_items import Item, What, item_of, text_of
from longjudge.sessions.formats.opencode_parts import QUIET_MESSAGES
from longjudge.sessions.records import parse_line
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.sessions.formats.opencode_items import Value

_RUN = frozenset({"step_start", "step_finish", "tool_use", "text", "reasoning", "error", "done"})
_LATER = QUIET_MESSAGES | {
    "user",
    "assistant",
    "synthetic",
    "system",
    "skill",
    "shell",
    "compaction",
}
_TABLES = frozenset({"session", "message", "part", "session_message", "sessions", "messages"})


class Shape(Enum):
    """In which way a record is kept."""

    EXPORT = "export"
    EVENT = "event"
    RUN = "run"
    FRAGMENT = "fragment"
    ROW = "row"


def shape_of(value: Value) -> Shape | None:
    """How a record is kept, None where it is none of OpenCode."""
    if text_of(value.get("table")) in _TABLES:
        return Shape.ROW
    if is_object(info := value.get("info")) and (
        is_array(value.get("parts")) or is_array(value.get("messages"))
    ):
        known = "role" in info or "sessionID" in info or "directory" in info or "projectID" in info
        return Shape.EXPORT if known else None
    if server_event(value):
        return Shape.EVENT
    type_ = value.get("type")
    if isinstance(type_, str) and type_ in _RUN and "messageID" not in value:
        part = value.get("part")
        if is_object(part):
            return Shape.RUN if "messageID" in part else None
        ended = "error" in value or type_ == "done"
        return Shape.RUN if ended and "sessionID" in value else None
    return Shape.FRAGMENT if _fragment(value) else None


def items_of(value: Value, shape: Shape | None = None) -> list[Item]:
    """Everything that a record says, in order; `shape` where it is known."""
    shape = shape or shape_of(value)
    if shape is Shape.EXPORT:
        return list(_exported(value))
    if shape is Shape.ROW:
        return _row_items(value)
    if shape is Shape.RUN:
        return _run_items(value)
    if shape is Shape.EVENT:
        return event_items(value)
    what = _fragment(value)
    return [] if what is None else [item_of(what, value)]


def _fragment(value: Value) -> What | None:
    """What a file of the storage folder is."""
    if "messageID" in value and isinstance(value.get("type"), str):
        return What.PART
    if "sessionID" in value and value.get("role") in ("user", "assistant"):
        return What.MESSAGE
    if is_object(value.get("time")) and "id" in value:
        if "title" in value and (
            "directory" in value or "projectID" in value or "version" in value
        ):
            return What.SESSION
        type_ = value.get("type")
        if "sessionID" in value and isinstance(type_, str) and type_ in _LATER:
            return What.LATER
    return None


def _exported(value: Value) -> Iterator[Item]:
    """A message with its parts, or a session with its messages."""
    info = value.get("info")
    info = info if is_object(info) else {}
    messages = value.get("messages")
    if is_array(messages):
        yield item_of(What.SESSION, info)
        for message in messages:
            if is_object(message):
                yield from _exported({"session": info.get("id"), **message})
        return
    session = text_of(info.get("sessionID", value.get("session")))
    if "parts" not in value:
        if isinstance(type_ := value.get("type"), str) and type_ in _LATER:
            yield Item(What.LATER, value, session=session, message=text_of(value.get("id")))
        return
    id_ = text_of(info.get("id"))
    yield Item(What.MESSAGE, info, session=session, message=id_)
    parts = value.get("parts")
    for part in parts if is_array(parts) else []:
        if is_object(part):
            yield Item(What.PART, part, session, id_, text_of(part.get("id")))


def _run_items(value: Value) -> list[Item]:
    session, time = text_of(value.get("sessionID")), iso_time(value.get("timestamp"), "ms")
    part = value.get("part")
    if not is_object(part):
        failed = value.get("type") == "error"
        return [Item(What.ERROR, value, session=session, time=time)] if failed else []
    session = session or text_of(part.get("sessionID"))
    ids = text_of(part.get("messageID")), text_of(part.get("id"))
    return [Item(What.PART, part, session, *ids, time)]


def _row_items(value: Value) -> list[Item]:
    table, id_ = value.get("table"), text_of(value.get("id"))
    session = text_of(value.get("session_id"))
    made = {"created": value.get("time_created", value.get("created_at"))}
    if table in ("session", "sessions"):
        parent = value.get("parent_id", value.get("parent_session_id"))
        return [item_of(What.SESSION, {**value, "parentID": parent, "time": made})]
    if table == "messages":
        return _old_message(value, id_, session)
    data = value.get("data")
    if isinstance(data, str):
        # What the database holds is no sound JSON; what can be made of it is told.
        found = parse_line(data.encode("utf-8", "replace")).objects
        data = found[0] if found else None
    if not is_object(data):
        return []
    data = {"time": made, **data}
    if table == "session_message":
        later = {**data, "id": id_, "type": value.get("type")}
        return [Item(What.LATER, later, session=session, message=id_)]
    if table == "message":
        return [Item(What.MESSAGE, data, session=session, message=id_)]
    return [Item(What.PART, data, session, text_of(value.get("message_id")), id_)]


def _old_message(value: Value, id_: str, session: str) -> list[Item]:
    """A message of the first program named OpenCode, which holds its parts in one column."""
    made = value.get("created_at")
    # Seconds in some versions, milliseconds in others.
    seconds = isinstance(made, int | float) and made < 100_000_000_000
    time = iso_time(made, "s" if seconds else "ms")
    items = [Item(What.MESSAGE, {"role": value.get("role")}, session, id_, time=time)]
    parts = value.get("parts")
    if isinstance(parts, str):
        found = parse_line(b'{"parts":' + parts.encode("utf-8", "replace") + b"}").objects
        parts = found[0].get("parts") if found else None
    for number, part in enumerate(parts if is_array(parts) else []):
        data = part.get("data") if is_object(part) else None
        if is_object(part) and is_object(data):
            told = {"text": data.get("thinking"), **data, "type": part.get("type")}
            items.append(Item(What.PART, told, session, id_, str(number), time))
    return items


def session_parent(info: Value) -> str | None:
    """The session that started this one."""
    return text_or_none(info.get("parentID"))
