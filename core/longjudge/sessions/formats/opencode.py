"""OpenCode sessions: exports, its server's events, printed runs, its storage folder and databases.

A part is told in its last state, a message where it was first seen. A session with a parent is
the thread of a subagent of it; the call that started it names it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.opencode_items import Item, What
from longjudge.sessions.formats.opencode_parts import (
    Author,
    child_session,
    created,
    error_text,
    holds_words,
    later_message_events,
    message_error,
    part_events,
    unknown_parts,
)
from longjudge.sessions.formats.opencode_records import (
    Shape,
    items_of,
    session_parent,
    shape_of,
)
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Severity
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.values import is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling
    from longjudge.sessions.model import Event

_UNNAMED = ("New session - ", "Child session - ")
_MAX_PARENTS = 100
_FRAGMENT = (
    "one file of an OpenCode storage folder; open the folder that holds `session`, `message` and"
    " `part` instead"
)


class OpenCode(RetoldFormat):
    """Sessions of OpenCode, however they were kept."""

    name = "opencode"
    lists = ("messages",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that fit, where one at least is about a session."""
        shapes = [shape_of(record) for record in head]
        if not any(
            shape is not None and (shape is not Shape.EVENT or items_of(record))
            for shape, record in zip(shapes, head, strict=True)
        ):
            return 0.0
        return sum(shape is not None for shape in shapes) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell every part of every message, session by session."""
        kept = _Kept(telling)
        if is_object(info := around.get("info")):
            kept.learn_session(info)
        shapes: Counter[Shape | None] = Counter()
        for given in records:
            shape = shape_of(given.value)
            shapes[shape] += 1
            if shape is None:
                telling.note("records that are none of OpenCode", given.number)
            kept.learn(given, shape)
        if shapes == {Shape.FRAGMENT: 1}:
            raise NotASessionError(_FRAGMENT)
        if shapes[Shape.RUN]:
            telling.note("a printed run does not hold what the user asked", None)
        told = _Tales(records, kept, telling).tell()
        if not told and kept.sessions:
            count = len(kept.sessions)
            raise NotASessionError(f"{count} OpenCode sessions in it, and no message of them")


class _Part:
    """Where the last state of a part stands, and the records with text that came behind it."""

    __slots__ = ("at", "number", "pieces")

    def __init__(self) -> None:
        self.number = -1
        self.at = 0
        self.pieces: array[int] | None = None


class _Message:
    """What is known of a message beside its parts."""

    __slots__ = (
        *("at", "ended", "error", "later", "number", "parts", "role"),
        *("session", "summary", "time", "what"),
    )

    def __init__(self, session: str, *, later: bool) -> None:
        self.session = session
        self.later = later
        self.role: str | None = None
        self.summary = False
        self.time: str | None = None
        self.what = What.MESSAGE
        self.error = self.ended = False
        self.number = -1
        self.at = 0
        self.parts: dict[str, _Part] = {}


class _Kept:
    """Every session, message and part by its id; texts stay in the records."""

    def __init__(self, telling: Telling) -> None:
        self.sessions: dict[str, str | None] = {}
        self.titles: dict[str, str] = {}
        self.began: dict[str, str] = {}
        self.messages: dict[str, _Message] = {}
        self.failures: set[tuple[str, int]] = set()
        self.tools: dict[tuple[str, str], str] = {}
        self._telling = telling
        self._made = 0

    def learn(self, given: Given, shape: Shape | None) -> None:
        """Take what a record says."""
        items = items_of(given.value, shape)
        key = ""
        for at, item in enumerate(items):
            if item.what is What.SESSION:
                self.learn_session(item.value)
                continue
            if item.what is What.NOTED:
                self._note(item.value, given.number)
                continue
            if shape is Shape.EXPORT:
                # Each of them is whole; its ids need not differ from those of others.
                if item.what is not What.PART:
                    self._made += 1
                    key = f"export {self._made}"
            else:
                # Some schemas of a part name its message only.
                key = item.message or f"of {item.session}"
                key = f"later {key}" if item.role else key
            self._learn_item(item, key, given.number, at, shape)

    def learn_session(self, info: dict[str, object]) -> None:
        """Take what is said about a session."""
        id_ = text_or_none(info.get("id"))
        if id_ is None:
            return
        self.sessions[id_] = session_parent(info) or self.sessions.get(id_)
        title = text_or_none(info.get("title"))
        if title and not title.startswith(_UNNAMED):
            self.titles[id_] = title
        if began := created(info):
            self.began[id_] = began
        if info.get("revert"):
            reason = "the last messages were undone by the user, and are kept here"
            self._telling.note(reason, None)

    def home(self, session: str) -> tuple[str, str]:
        """The session that a session belongs to, and the thread of it that it is."""
        root = session
        for _ in range(_MAX_PARENTS):
            parent = self.sessions.get(root)
            if parent is None or parent not in self.sessions:
                return root, MAIN_THREAD if root == session else session
            root = parent
        # A ring of parents has no beginning.
        return session, MAIN_THREAD

    def _learn_item(self, item: Item, key: str, number: int, at: int, shape: Shape | None) -> None:
        if item.what is What.REMOVED:
            self._remove(item, key)
            return
        if item.what is What.ERROR:
            self._made += 1
            key = f"error {self._made}"
        message = self.messages.get(key)
        if message is None:
            message = self.messages[key] = _Message(item.session, later=bool(item.role))
            message.time, message.role = item.time, item.role or None
        if item.session or item.what is not What.PART:
            self.sessions.setdefault(item.session, None)
        if item.what in (What.PART, What.PIECE):
            if shape is Shape.RUN:
                message.role = "assistant"
            self._learn_part(item, message, number, at, alone=shape is Shape.EXPORT)
            return
        message.what, message.number, message.at = item.what, number, at
        message.session = item.session or message.session
        value = item.value
        message.role = text_or_none(value.get("role")) or message.role
        message.summary = value.get("summary") is True
        message.time = created(value) or message.time
        message.error = bool(value.get("error"))
        time = value.get("time")
        message.ended = is_object(time) and bool(time.get("completed"))
        if message.error and item.what is What.MESSAGE:
            self.failures.add((item.session, hash(error_text(value["error"]))))

    def _learn_part(
        self, item: Item, message: _Message, number: int, at: int, *, alone: bool
    ) -> None:
        self._made += 1
        key = item.id if item.id and not alone else f"part {self._made}"
        part = message.parts.get(key)
        if part is None:
            part = message.parts[key] = _Part()
        if item.what is What.PIECE:
            if part.pieces is None:
                part.pieces = array("I")
            part.pieces.append(number)
            return
        part.number, part.at, part.pieces = number, at, None
        if item.role and (tool := text_or_none(item.value.get("name"))):
            self.tools[item.session, _call_of(item.value)] = tool
        child = child_session(item.value)
        session = item.session or message.session
        if child and child != session:
            self.sessions[child] = self.sessions.get(child) or session

    def _note(self, said: dict[str, object], number: int) -> None:
        if said["lost"]:
            self._telling.skip(str(said["reason"]), number)
        else:
            self._telling.note(str(said["reason"]), number)

    def _remove(self, item: Item, key: str) -> None:
        if item.id:
            message = self.messages.get(key)
            if message is not None and message.parts.pop(item.id, None):
                self._telling.note("parts taken away again", None)
        elif self.messages.pop(key, None):
            self._telling.note("messages taken away again", None)


class _Tales:
    """Tells what is kept, message by message in the order that they were first seen."""

    def __init__(self, records: Records, kept: _Kept, telling: Telling) -> None:
        self._records = records
        self._kept = kept
        self._telling = telling
        self._held: tuple[int, list[Item]] = (-1, [])
        self._told = 0

    def tell(self) -> int:
        """Tell everything; how many events there were."""
        for session in self._kept.sessions:
            root, thread = self._kept.home(session)
            if thread == MAIN_THREAD:
                title, began = self._kept.titles.get(root), self._kept.began.get(root)
                self._telling.facts(session=root, id=root or None, title=title, started=began)
        strays = copies = 0
        empty: Counter[str | None] = Counter()
        spoken = self._spoken()
        for message in self._kept.messages.values():
            root, thread = self._kept.home(message.session)
            if message.later and not spoken.isdisjoint(_spoken_as(message)):
                copies += 1
                continue
            plain = message.what is What.MESSAGE
            strays += message.role is None and plain
            if plain and not message.parts and not message.error:
                empty[message.role if message.ended or message.role == "user" else None] += 1
            for part in message.parts.values():
                self._tell_part(part, message, root, thread)
            if message.error or message.what is not What.MESSAGE:
                self._tell_message(message, root, thread)
        for count, reason, severity in (
            (strays, "messages whose author is not named, taken for the agent's", Severity.INFO),
            (copies, "messages that later events tell once more", Severity.INFO),
            (empty["user"], "messages of the user without a part of theirs", Severity.WARNING),
            (empty["assistant"], "answers without a part of theirs", Severity.WARNING),
            (empty[None], "answers that were begun and have no part yet", Severity.INFO),
            (self._forks(), "sessions that begin with the messages of another", Severity.INFO),
        ):
            if count:
                self._telling.note(reason, None, severity, count)
        return self._told

    def _forks(self) -> int:
        """How many sessions are copies of another one, at least in their beginning."""
        begun: dict[str, list[tuple[str | None, str | None]]] = {}
        for message in self._kept.messages.values():
            if message.time and self._kept.home(message.session)[1] == MAIN_THREAD:
                begun.setdefault(message.session, []).append((message.role, message.time))
        # One message of a moment may be chance.
        firsts = [tuple(said[:2]) for said in begun.values() if len(said) > 1]
        return len(firsts) - len(set(firsts))

    def _spoken(self) -> set[tuple[str, str | None]]:
        """Whose messages stand in which session, by what is no later event."""
        return {
            (message.session, message.role)
            for message in self._kept.messages.values()
            if not message.later and message.parts
        }

    def _tell_part(self, part: _Part, message: _Message, root: str, thread: str) -> None:
        number = part.number
        more = ""
        if part.pieces is not None:
            more = "".join(self._piece(each) for each in part.pieces)
            number = number if number >= 0 else part.pieces[0]
        item = self._item(part.number, part.at) if part.number >= 0 else None
        value = item.value if item else {"type": self._type(part), "text": ""}
        if message.later and not value.get("name") and (id_ := _call_of(value)):
            value = {**value, "name": self._kept.tools.get((message.session, id_))}
        time = message.time or (item.time if item else None)
        author = Author(message.role or "assistant", message.summary, time)
        try:
            events = part_events(value, author, more)
        except RecursionError:
            self._telling.skip(TOO_DEEP, number)
            return
        if events is None:
            self._telling.note(f"parts of type {value.get('type')}", number)
        self._tell_events(events or [], number, root, thread)
        child, call = child_session(value), text_or_none(value.get("callID")) or _call_of(value)
        if child and call and self._kept.home(child) == (root, child):
            self._telling.starts(child, call_id=call, session=root, parent=thread)

    def _tell_message(self, message: _Message, root: str, thread: str) -> None:
        item = self._item(message.number, message.at)
        if item is None:
            return
        value = item.value
        try:
            if message.what is What.LATER:
                events = later_message_events(value)
            else:
                events = message_error(value.get("error"), message.time or item.time)
        except RecursionError:
            self._telling.skip(TOO_DEEP, message.number)
            return
        if message.what is What.ERROR:
            known = (message.session, hash(error_text(value.get("error"))))
            events = [] if known in self._kept.failures else events
        if events is None:
            lose = self._telling.skip if holds_words(value) else self._telling.note
            lose(f"messages of type {value.get('type')}", message.number)
        for type_ in unknown_parts(value) if message.what is What.LATER else ():
            self._telling.note(f"parts of type {type_}", message.number)
        self._tell_events(events or [], message.number, root, thread)

    def _tell_events(self, events: Sequence[Event], number: int, root: str, thread: str) -> None:
        for event in events:
            self._told += 1
            self._telling.event(event, number, session=root, thread=thread)

    def _type(self, part: _Part) -> object:
        """What a part is that came in pieces only: later events say so in each of them."""
        items = self._items(part.pieces[0]) if part.pieces else []
        found = (item.value.get("type") for item in items if item.what is What.PIECE)
        return next(found, None) or "text"

    def _piece(self, number: int) -> str:
        items = self._items(number)
        return "".join(
            text
            for item in items
            if item.what is What.PIECE and isinstance(text := item.value.get("delta"), str)
        )

    def _item(self, number: int, at: int) -> Item | None:
        items = self._items(number)
        return items[at] if at < len(items) else None

    def _items(self, number: int) -> list[Item]:
        """What a record says, read again; the last one is held, which may be a whole session."""
        if self._held[0] != number:
            items = [item for each in self._records.at(number) for item in items_of(each.value)]
            self._held = (number, items)
        return self._held[1]


def _call_of(part: dict[str, object]) -> str:
    """The id of the call that a part of a later event is, or answers."""
    return text_or_none(part.get("tool_call_id")) or text_or_none(part.get("id")) or ""


def _spoken_as(message: _Message) -> list[tuple[str, str | None]]:
    """What would tell the same as a message of later events: what is put in may be anyone's."""
    roles = ("user", "assistant") if message.role == "system" else (message.role,)
    return [(message.session, role) for role in roles]
