"""Gemini CLI sessions: a JSON document, a log that replaces its own records, a checkpoint.

The log (`session-*.jsonl`) begins with a line about the session. A record with the id of an
earlier one takes its place, `$rewindTo` takes back a message and all that follow, and `$set` holds
what the model is shown from then on. That is a copy, shortened when the conversation is
compressed, so only what it says for the first time is told from it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.gemini_events import (
    MASKED,
    MODEL_TYPES,
    NOTICE_TYPES,
    Paired,
    elements,
    kind_of,
    message_events,
    started_agents,
)
from longjudge.sessions.formats.gemini_files import file_name, subagent_files
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import EventKind, Severity
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Message = dict[str, object]

_LISTS = ("messages", "history", "contents")
_ROLES = frozenset({"user", "model", "gemini", "function"})
_PARTS = frozenset(
    {
        *("text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall"),
        *("functionResponse", "executableCode", "codeExecutionResult", "videoMetadata"),
    }
)
_SAID = frozenset({"content", "parts", "toolCalls", "thoughts", "tokens"})
_FIELDS = ("thoughts", "content", "toolCalls")
_KNOWN = MODEL_TYPES | NOTICE_TYPES | {"user", "function", "tool"}


class GeminiCli(RetoldFormat):
    """Sessions that Gemini CLI records, and its checkpoints of a conversation."""

    name = "gemini-cli"
    lists = _LISTS

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that fit, where one at least can be of no other program."""
        sure = around is not None and _is_meta(around)
        if not sure and not any(map(_is_sure, head)):
            return 0.0
        return sum(map(_fits, head)) / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the messages that stand in the end, in the order that they first came in."""
        _tell_facts(around, telling)
        log = _Log(records)
        for given in records:
            _learn(given, log, telling)
        log.note(telling)
        paired = Paired()
        told = masked = 0
        for number, message in log.messages():
            try:
                events = message_events(message, paired)
            except RecursionError:
                telling.skip(TOO_DEEP, number)
                continue
            for event in events:
                telling.event(event, number)
                told += 1
                masked += event.kind is EventKind.TOOL_RESULT and MASKED in event.body
            for agent, call in started_agents(message):
                telling.starts(file_name(agent), call_id=call, parent=MAIN_THREAD)
            kind = kind_of(message)
            if kind not in _KNOWN:
                telling.note(f"messages of type {kind}", number)
        if not told:
            raise NotASessionError("a Gemini CLI session without a message")
        if masked:
            reason = "outputs that Gemini CLI took out of the session to save room"
            telling.note(reason, None, Severity.WARNING, masked)

    def companions(self, path: Path, session_id: str | None) -> Sequence[Path]:
        """The files of the subagents: a thread each, called as its file is."""
        return subagent_files(path, session_id)


class _Slot:
    """A message: the record that holds it, and where in its list.

    `kept` names the earlier records of what the last one no longer holds.
    """

    __slots__ = ("holds", "kept", "key", "place", "position", "record", "results")

    def __init__(
        self, position: int, key: str, record: int, place: int, message: Message | None
    ) -> None:
        self.position = position
        self.key = key
        self.record = record
        self.place = place
        self.results = _results(message) if message else 0
        self.holds = [name for name in _FIELDS if message and message.get(name)]
        self.kept: dict[str, tuple[int, int]] = {}

    def replace(self, message: Message, record: int, place: int) -> None:
        """Take a later state of the message."""
        for name in _FIELDS:
            if message.get(name):
                self.kept.pop(name, None)
            elif name in self.holds:
                self.kept.setdefault(name, (self.record, self.place))
        self.record, self.place, self.results = record, place, _results(message)
        self.holds = [name for name in _FIELDS if message.get(name)]


class _Log:
    """Which messages stand at the end, in order; holds ids and marks, no texts."""

    def __init__(self, records: Records) -> None:
        self.slots: list[_Slot] = []
        self._records = records
        self._held: list[Given] = []
        self._by_key: dict[str, _Slot] = {}
        self._copies: dict[str, _Slot] = {}
        self._said: Counter[int] = Counter()
        self._said_by: dict[int, _Slot] = {}
        self._marked = 0
        self._replaced = 0
        self._taken_back = 0
        self._unknown_rewinds = 0

    def add(self, message: Message, record: int, place: int = -1) -> None:
        """Take a message; one with a known id is put where that one stands."""
        key = _key(message)
        known = self._by_key.get(key) if key else None
        if known is not None:
            known.replace(message, record, place)
            self._replaced += 1
            if known.position < self._marked:
                self._learn_marks(_marks(message), known)
            return
        slot = _Slot(len(self.slots), key, record, place, message)
        self.slots.append(slot)
        if key:
            self._by_key[key] = slot

    def add_in_order(self, record: int, place: int = -1) -> None:
        """Take a message of a document, which holds each of them once."""
        self.slots.append(_Slot(len(self.slots), "", record, place, None))

    def set_messages(self, messages: Sequence[object], record: int) -> None:
        """Take what is said for the first time in a copy of the conversation."""
        self._mark()
        used: Counter[int] = Counter()
        fresh: list[tuple[int, Message]] = []
        for place, message in enumerate(messages):
            if not is_object(message):
                continue
            known = self._by_key.get(_key(message))
            if known is None:
                fresh.append((place, message))
                continue
            used.update(_marks(message))
            if _results(message) > known.results:
                known.replace(message, record, place)
        for place, message in fresh:
            marks = _marks(message)
            if marks and all(used[mark] < self._said[mark] for mark in marks):
                # The same under a new id, as compression makes one: a rewind may name it.
                self._copies[_key(message)] = self._said_by[marks[0]]
            elif marks:
                self.add(message, record, place)
                self._mark()
            used.update(marks)

    def rewind(self, id_: str) -> None:
        """Take back a message and what follows it; not all of them because one is unknown."""
        keys = [f"{kind} {id_}" for kind in sorted(_KNOWN)]
        slots = [self._by_key.get(key) or self._copies.get(key) for key in keys]
        found = [slot.position for slot in slots if slot and self._stands(slot)]
        if not found:
            self._unknown_rewinds += 1
            return
        position = min(found)
        for slot in self.slots[position:]:
            self._by_key.pop(slot.key, None)
        self._taken_back += len(self.slots) - position
        del self.slots[position:]
        self._marked = min(self._marked, position)

    def note(self, telling: Telling) -> None:
        """Say what was left out on purpose."""
        for count, reason in (
            (self._replaced, "messages written again as they grew; the last state counts"),
            (self._taken_back, "messages taken back by a rewind"),
            (self._unknown_rewinds, "rewinds to a message that is not in the file"),
        ):
            if count:
                telling.note(reason, None, count=count)

    def messages(self) -> Iterator[tuple[int, Message]]:
        """The messages that stand, read again."""
        for slot in self.slots:
            message = self._message(slot.record, slot.place, slot.key)
            if message is None:
                continue
            for name, at in slot.kept.items():
                if earlier := self._message(*at, slot.key):
                    message = {**message, name: earlier.get(name)}
            yield slot.record, message

    def _message(self, record: int, place: int, key: str) -> Message | None:
        """One message; of several records on a damaged line, the one with this key."""
        if not self._held or self._held[0].number != record:
            self._held = self._records.at(record)
        found = (_placed(given.value, place) for given in self._held)
        return next((each for each in found if each and (not key or _key(each) == key)), None)

    def _stands(self, slot: _Slot) -> bool:
        """Whether a message was not taken back since."""
        return slot.position < len(self.slots) and self.slots[slot.position] is slot

    def _mark(self) -> None:
        """Learn what the messages say that came since the last copy."""
        for slot in self.slots[self._marked :]:
            message = self._message(slot.record, slot.place, slot.key)
            self._learn_marks(_marks(message) if message else [], slot)
        self._marked = len(self.slots)

    def _learn_marks(self, marks: list[int], slot: _Slot) -> None:
        self._said.update(marks)
        self._said_by.update(dict.fromkeys(marks, slot))


def _learn(given: Given, log: _Log, telling: Telling) -> None:
    value = given.value
    try:
        if given.entry:
            log.add_in_order(given.number)
        elif is_object(update := value.get("$set")):
            _tell_facts(update, telling)
            if is_array(messages := update.get("messages")):
                log.set_messages(messages, given.number)
        elif isinstance(target := value.get("$rewindTo"), str):
            log.rewind(target)
        elif _is_message(value) or _is_content(value):
            log.add(value, given.number)
        elif messages := _inner(value):
            _tell_facts(value, telling)
            for place, message in enumerate(messages):
                if is_object(message):
                    log.add_in_order(given.number, place)
        elif _is_meta(value) or "sessionId" in value:
            _tell_facts(value, telling)
        elif "text" in value or "content" in value or "message" in value:
            telling.skip("records that are no message of Gemini CLI", given.number)
        else:
            telling.note("records that are no message of Gemini CLI", given.number)
    except RecursionError:
        telling.skip(TOO_DEEP, given.number)


def _placed(value: Message, place: int) -> Message | None:
    if place < 0:
        return value
    update = value.get("$set")
    messages = update.get("messages") if is_object(update) else _inner(value)
    message = messages[place] if is_array(messages) and place < len(messages) else None
    return message if is_object(message) else None


def _inner(value: Mapping[str, object]) -> list[object]:
    """The messages of a document that is one record."""
    for name in _LISTS:
        inner = value.get(name)
        if is_array(inner) and inner:
            return inner
    return []


def _tell_facts(about: Mapping[str, object], telling: Telling) -> None:
    telling.facts(
        id=text_or_none(about.get("sessionId")),
        title=text_or_none(about.get("summary")),
        started=text_or_none(about.get("startTime", about.get("start_time"))),
    )


def _results(message: Message) -> int:
    """How many calls of a message have a result."""
    calls = message.get("toolCalls")
    return sum(1 for c in calls if is_object(c) and c.get("result")) if is_array(calls) else 0


def _key(message: Message) -> str:
    """What a later record replaces: a message and a reply under one id are two."""
    id_ = message.get("id")
    return f"{message.get('type')} {id_}" if isinstance(id_, str) and id_ else ""


def _marks(message: Message) -> list[int]:
    try:
        return elements(message_events(message, Paired()))
    except RecursionError:
        # Told as what it is when its turn comes.
        return [hash(_key(message))]


def _is_meta(record: Mapping[str, object]) -> bool:
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def _is_message(record: Message) -> bool:
    if "id" not in record or "message" in record or "payload" in record or "data" in record:
        return False
    # A message that has no text yet holds what the model thought or used.
    said = not record.keys().isdisjoint(_SAID)
    return said and isinstance(record.get("type"), str)


def _is_content(record: Mapping[str, object]) -> bool:
    """Whether a record is a `Content` of the interface: parts, none of which has a type."""
    parts = record.get("parts")
    if text_or_none(record.get("role")) not in _ROLES or not is_array(parts):
        return False
    return all(
        is_object(part) and "type" not in part and not _PARTS.isdisjoint(part) for part in parts
    )


def _is_sure(record: Message) -> bool:
    if _is_meta(record) or "$rewindTo" in record:
        return True
    if "$set" in record:
        return is_object(record["$set"])
    if _is_message(record):
        return record.get("type") in ("gemini", "qwen")
    return _is_content(record) or _holds_contents(record)


def _holds_contents(record: Mapping[str, object]) -> bool:
    return any(
        is_array(inner := record.get(name)) and any(is_object(c) and _is_content(c) for c in inner)
        for name in ("history", "contents")
    )


def _fits(record: Message) -> bool:
    if _is_message(record):
        return kind_of(record) in _KNOWN
    return _is_sure(record)
