"""The records in which OpenCode keeps or prints a session, brought to sessions, messages, parts.

Read are: messages with their parts (an export), the events of its server, what `opencode run
--format json` prints, the files of its storage folder, and rows of its databases, which name
their table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.sessions.formats.opencode_parts import QUIET_MESSAGES
from longjudge.sessions.records import parse_line
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    Value = dict[str, object]

_EVENTS = (
    *("session.", "message.", "server.", "file.", "storage.", "permission.", "lsp.", "todo."),
    *("installation.", "ide.", "pty.", "tui.", "vcs.", "project.", "mcp.", "question."),
    *("command.", "worktree.", "global.", "workspace.", "plugin.", "catalog."),
)
_RUN = frozenset({"step_start", "step_finish", "tool_use", "text", "reasoning", "error", "done"})
_LATER = QUIET_MESSAGES | {"user", "assistant", "synthetic", "system", "shell", "compaction"}
_TABLES = frozenset({"session", "message", "part", "session_message", "sessions", "messages"})


class What(Enum):
    """What an item says."""

    SESSION = "a session"
    MESSAGE = "a message without its parts"
    PART = "a part"
    PIECE = "text that comes behind a part's"
    LATER = "a message of the later schema, with its parts"
    ERROR = "an error of a session"
    REMOVED = "a message or a part is taken away"


@dataclass(frozen=True, slots=True)
class Item:
    """One statement of a record; ids are empty where it names none."""

    what: What
    value: Value
    session: str = ""
    message: str = ""
    id: str = ""
    time: str | None = None


class Shape(Enum):
    """In which way a record is kept."""

    EXPORT = "export"
    EVENT = "event"
    RUN = "run"
    FRAGMENT = "fragment"
    ROW = "row"


def shape_of(value: Value) -> Shape | None:
    """How a record is kept, None where it is none of OpenCode."""
    if _text(value.get("table")) in _TABLES:
        return Shape.ROW
    if is_object(info := value.get("info")) and (
        is_array(value.get("parts")) or is_array(value.get("messages"))
    ):
        known = "role" in info or "sessionID" in info or "directory" in info or "projectID" in info
        return Shape.EXPORT if known else None
    if _event_of(value):
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
        return _event_items(value)
    what = _fragment(value)
    return [] if what is None else [_item(what, value)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _item(what: What, value: Value, time: str | None = None) -> Item:
    """An item by the ids that stand in its value."""
    if what is What.SESSION:
        return Item(what, value, session=_text(value.get("id")), time=time)
    session, id_ = _text(value.get("sessionID")), _text(value.get("id"))
    if what in (What.MESSAGE, What.LATER):
        return Item(what, value, session=session, message=id_, time=time)
    return Item(what, value, session, _text(value.get("messageID")), id_, time)


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
        yield _item(What.SESSION, info)
        for message in messages:
            if is_object(message):
                yield from _exported({"session": info.get("id"), **message})
        return
    session = _text(info.get("sessionID", value.get("session")))
    if "parts" not in value:
        if isinstance(type_ := value.get("type"), str) and type_ in _LATER:
            yield Item(What.LATER, value, session=session, message=_text(value.get("id")))
        return
    id_ = _text(info.get("id"))
    yield Item(What.MESSAGE, info, session=session, message=id_)
    parts = value.get("parts")
    for part in parts if is_array(parts) else []:
        if is_object(part):
            yield Item(What.PART, part, session, id_, _text(part.get("id")))


def _event_of(value: Value) -> tuple[str, Value] | None:
    """The type and the properties of a server's event, however it is wrapped."""
    for holder in (value, value.get("event"), value.get("payload")):
        if not is_object(holder):
            continue
        type_, properties = holder.get("type"), holder.get("properties")
        if isinstance(type_, str) and is_object(properties) and type_.startswith(_EVENTS):
            return type_, properties
    return None


def _event_items(value: Value) -> list[Item]:
    event = _event_of(value)
    if event is None:
        return []
    type_, properties = event
    session = _text(properties.get("sessionID"))
    ids = _text(properties.get("messageID")), _text(properties.get("partID"))
    if type_ == "message.part.delta":
        # By far the most of a log.
        said = properties.get("field") == "text"
        return [Item(What.PIECE, properties, session, *ids)] if said else []
    time = iso_time(value.get("timestamp"), "ms")
    info, part = properties.get("info"), properties.get("part")
    if type_ in ("session.created", "session.updated") and is_object(info):
        return [_item(What.SESSION, info, time)]
    if type_ == "message.updated" and is_object(info):
        return [_item(What.MESSAGE, info, time)]
    if type_ == "message.part.updated" and is_object(part):
        return [_item(What.PART, part, time)]
    if type_ == "session.error":
        return [Item(What.ERROR, properties, session=session, time=time)]
    if type_ in ("message.removed", "message.part.removed"):
        return [Item(What.REMOVED, properties, session, *ids, time)]
    return []


def _run_items(value: Value) -> list[Item]:
    session, time = _text(value.get("sessionID")), iso_time(value.get("timestamp"), "ms")
    part = value.get("part")
    if not is_object(part):
        failed = value.get("type") == "error"
        return [Item(What.ERROR, value, session=session, time=time)] if failed else []
    session = session or _text(part.get("sessionID"))
    ids = _text(part.get("messageID")), _text(part.get("id"))
    return [Item(What.PART, part, session, *ids, time)]


def _row_items(value: Value) -> list[Item]:
    table, id_ = value.get("table"), _text(value.get("id"))
    session = _text(value.get("session_id"))
    made = {"created": value.get("time_created", value.get("created_at"))}
    if table in ("session", "sessions"):
        parent = value.get("parent_id", value.get("parent_session_id"))
        return [_item(What.SESSION, {**value, "parentID": parent, "time": made})]
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
    return [Item(What.PART, data, session, _text(value.get("message_id")), id_)]


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
