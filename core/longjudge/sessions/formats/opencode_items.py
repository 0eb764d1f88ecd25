"""Single statements about OpenCode's sessions, as its records are brought to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

Value = dict[str, object]


class What(Enum):
    """What an item says."""

    SESSION = "a session"
    MESSAGE = "a message without its parts"
    PART = "a part"
    PIECE = "text that comes behind a part's"
    LATER = "a message of the later schema, with its parts"
    ERROR = "an error of a session"
    REMOVED = "a message or a part is taken away"
    NOTED = "something that is not told, with the reason"


@dataclass(frozen=True, slots=True)
class Item:
    """One statement of a record; ids are empty where it names none.

    `role` says whose message it is in, where an event of the later kind tells it: a server may
    tell the same in earlier events as well.
    """

    what: What
    value: Value
    session: str = ""
    message: str = ""
    id: str = ""
    time: str | None = None
    role: str = ""


def item_of(what: What, value: Value, time: str | None = None) -> Item:
    """An item by the ids that stand in its value."""
    if what is What.SESSION:
        return Item(what, value, session=text_of(value.get("id")), time=time)
    session, id_ = text_of(value.get("sessionID")), text_of(value.get("id"))
    if what in (What.MESSAGE, What.LATER):
        return Item(what, value, session=session, message=id_, time=time)
    return Item(what, value, session, text_of(value.get("messageID")), id_, time)


def text_of(value: object) -> str:
    """The value, where it is a text."""
    return value if isinstance(value, str) else ""
