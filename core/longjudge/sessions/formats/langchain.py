"""LangChain's messages, and LangGraph's states and checkpoints, which hold lists of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_messages import class_of, foreign_message, role_of
from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.told_once import ToldOnce
from longjudge.sessions.model import Severity
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Message = dict[str, object]

COPIES = "states that another one of the same conversation goes beyond, left out"
DROPPED = "messages of earlier states that the longest one no longer holds, left out"

_MESSAGE_CLASSES = frozenset(
    {
        *("HumanMessage", "AIMessage", "SystemMessage", "ToolMessage", "FunctionMessage"),
        *("ChatMessage", "AIMessageChunk", "HumanMessageChunk", "RemoveMessage"),
    }
)
_OWN_TYPES = frozenset({"human", "ai", "AIMessageChunk", "HumanMessageChunk", "remove"})
_SHARED_TYPES = frozenset({"system", "tool", "function", "chat"})
_STATE_KEYS = ("values", "channel_values", "checkpoint", "payload", "state", "input", "output")
_LIST_KEYS = ("messages", "__root__", "chat_history")
_THREAD_KEYS = ("thread_id", "session_id", "conversation_id")
_MAX_DEPTH = 5


@dataclass(slots=True)
class _States:
    """The states of one conversation: which one is the longest, and all messages in any."""

    record: int
    place: int
    length: int
    messages: set[int]
    states: int = 1
    all_messages: set[int] = field(default_factory=set[int])


class LangChainMessages(RetoldFormat):
    """Reads messages in any of their three shapes; of many states the longest is told."""

    name = "langchain-messages"
    lists = ("messages", "values.messages", "channel_values.messages")

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are messages or states, where one of them surely is."""
        if not head or any("uuid" in record or "kind" in record for record in head):
            return 0.0
        if not any(map(_is_surely_message, (m for r in head for m in _state(r) or [r]))):
            return 0.0
        return sum(_is_message(record) or bool(_state(record)) for record in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the messages, or those of the longest state of each conversation."""
        longest = _longest_states(records)
        told: dict[str, ToldOnce] = {}
        if id_ := _thread_of(around):
            telling.facts(id=id_)
        number, place = -1, 0
        for given in records:
            place = place + 1 if given.number == number else 0
            number = given.number
            messages = _state(given.value)
            if messages is None:
                session, said = "", [given.value]
            else:
                session = _key(given.value, messages)
                if (longest[session].record, longest[session].place) != (number, place):
                    continue
                said = messages
                telling.facts(session=session, id=_thread_of(given.value))
            teller = told.get(session) or told.setdefault(session, _teller(telling, session))
            for message in said:
                _tell(message, number, teller, telling)
        for session, states in longest.items():
            _note_left_out(session, states, telling)


def _teller(telling: Telling, session: str) -> ToldOnce:
    return ToldOnce(lambda event, record: telling.event(event, record, session=session))


def _tell(message: Message, record: int, teller: ToldOnce, telling: Telling) -> None:
    if _class(message) in ("RemoveMessage", "remove"):
        telling.note("messages that remove another one, no events", record)
        return
    read = foreign_message(message)
    try:
        events = message_events(read) if read else []
    except RecursionError:
        telling.skip(TOO_DEEP, record)
        return
    if events:
        teller.answer(events, record)
    elif read:
        telling.note("messages without content", record)
    else:
        telling.skip("entries of the list that are no messages", record)


def _longest_states(records: Records) -> dict[str, _States]:
    """For each conversation the state with the most messages; of equal ones the last."""
    found: dict[str, _States] = {}
    number, place = -1, 0
    for given in records:
        place = place + 1 if given.number == number else 0
        number = given.number
        messages = _state(given.value)
        if messages is None:
            continue
        key = _key(given.value, messages)
        marks = {_mark(message) for message in messages}
        known = found.get(key)
        if known is None:
            found[key] = _States(number, place, len(messages), marks, 1, set(marks))
            continue
        known.states += 1
        known.all_messages |= marks
        if len(messages) >= known.length:
            known.record, known.place, known.length = number, place, len(messages)
            known.messages = marks
    return found


def _note_left_out(session: str, states: _States, telling: Telling) -> None:
    if states.states > 1:
        telling.note(COPIES, states.record, Severity.INFO, states.states - 1)
    if lost := len(states.all_messages - states.messages):
        telling.note(DROPPED, states.record, Severity.WARNING, lost)


def _key(record: Message, messages: Sequence[Message]) -> str:
    """What tells conversations apart: the thread, else the first message."""
    return _thread_of(record) or f"{_mark(messages[0]):x}"


def _thread_of(record: Mapping[str, object]) -> str | None:
    config = record.get("config")
    for source in (record, config, record.get("metadata"), record.get("configurable")):
        inner = source.get("configurable", source) if is_object(source) else None
        for key in _THREAD_KEYS if is_object(inner) else ():
            if is_object(inner) and (found := text_or_none(inner.get(key))):
                return found
    return None


def _mark(message: Message) -> int:
    """What makes two messages the same one: what they say, since ids are given late."""
    read = foreign_message(message)
    try:
        return hash(tuple(event.text for event in message_events(read))) if read else 0
    except RecursionError:
        return 0


def _class(message: Message) -> str:
    return class_of(message) or str(message.get("type"))


def _is_surely_message(record: Message) -> bool:
    """Whether a record is a message that no other format writes so."""
    if class_of(record) in _MESSAGE_CLASSES:
        return True
    type_ = record.get("type")
    if not isinstance(type_, str) or "role" in record:
        return False
    data = record.get("data")
    if is_object(data) and type_ in (_OWN_TYPES | _SHARED_TYPES):
        return "content" in data
    return type_ in _OWN_TYPES and ("content" in record or type_ == "remove")


def _is_message(record: Message) -> bool:
    if _is_surely_message(record):
        return True
    type_ = record.get("type")
    shared = isinstance(type_, str) and type_ in _SHARED_TYPES and "content" in record
    return shared and role_of(record) is not None and "message" not in record


def _state(record: Message, depth: int = 0) -> list[Message] | None:
    """The messages of a state, None for anything else."""
    for key in _LIST_KEYS:
        listed = record.get(key)
        if is_array(listed) and listed:
            messages = [message for message in listed if is_object(message)]
            if len(messages) == len(listed) and all(map(_is_message, messages)):
                return messages
    for key in _STATE_KEYS:
        inner = record.get(key)
        if is_object(inner) and depth < _MAX_DEPTH:
            found = _state(inner, depth + 1)
            if found:
                return found
    return None
