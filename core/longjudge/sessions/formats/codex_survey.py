"""A first pass over a Codex file: what is told twice, and where its own history begins.

Codex writes a conversation as items and tells its screen the same texts and calls again; which of
the two a version leaves out differs by role. So texts are counted: an item stands for itself, and
a notice stands for what no item says. Where a file begins with the history of the session that it
was forked from, its own history begins with its own first turn.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.codex_items import reasoning_parts
from longjudge.sessions.formats.codex_notices import ITEM_DONE
from longjudge.sessions.formats.codex_records import (
    CodexRecord,
    as_record,
    decode,
    split_injected,
    text_blocks,
)
from longjudge.sessions.model import EventKind
from longjudge.sessions.records import DECODE_ERRORS, decode_records
from longjudge.sessions.values import is_array, is_object, word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.model import Event
    from longjudge.sessions.notes import Notes

    Spots = list[tuple[int, int]]

_LEVELS = 4
_POSITION_BITS = 32
_PARTED = {
    "reasoning": EventKind.THINKING,
    "user": EventKind.USER_MESSAGE,
    "usermessage": EventKind.USER_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
    "agentmessage": EventKind.ASSISTANT_MESSAGE,
}
_TOOL_KINDS = (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
_PLAIN_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_PLAIN_RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
)
_SILENT = frozenset({"token_count", "ghost_snapshot"})
_IMAGE_LINES = re.compile(r"^(?:\[(?:image|data)\b[^\n]*\]|</?image\b[^\n]*>)$", re.M)
_TIMED_ID = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-")
_MANY = 200
_PAUSE = 1000


class _Facts(msgspec.Struct, gc=False):
    """What of a payload is looked at in every record."""

    type: object = None
    id: object = None
    call_id: object = None
    turn_id: object = None
    started_at: object = None
    timestamp: object = None
    forked_from_id: object = None
    parent_thread_id: object = None
    source: object = None


class _Head(msgspec.Struct, gc=False):
    type: object = None
    timestamp: object = None
    payload: _Facts | None = None


_head = msgspec.json.Decoder(_Head).decode


def level_of(record: CodexRecord) -> int:
    """How near to the conversation a record is: 0 for its items, more for what repeats them."""
    if record.type != "event_msg":
        return 0
    kind = record.payload.get("type")
    if kind == ITEM_DONE:
        return 1
    return 3 if kind in ("task_complete", "turn_complete") else 2


class Survey:
    """The pass itself; afterwards it tells what to leave out. Lines are counted from 1."""

    skipped = 0
    kept = 0
    goes_on = False

    def __init__(self, record_events: Callable[[CodexRecord], list[Event]]) -> None:
        self._record_events = record_events
        # By hash, and most of them with one spot, packed: a list or a tuple for each text would
        # have the garbage collector stop everything for a third of a second.
        self._texts: dict[int, int | list[int]] = {}
        # By hash: the ids themselves would take more room than the index.
        self._ids: dict[int, int] = {}
        self._copies: set[tuple[int, int]] = set()
        self._history = _History()

    def start(
        self, gathering: Gathering, notes: Notes, *, base: int, unfinished: int | None
    ) -> Survey:
        """Begin the pass; it gathers nothing."""
        return self

    def read(self, lines: Sequence[bytes], first: int) -> None:
        """Take note of some lines."""
        for line, data in enumerate(lines, first + 1):
            try:
                head = _head(data)
            except DECODE_ERRORS:
                head = None
            if head is None or head.payload is None or not self._is_plain(head, line):
                self._read_whole(data, line, noted=head is not None and head.payload is not None)

    def finish(self) -> None:
        """All lines were read: decide which texts are copies."""
        self._history.finish()
        for spots in self._texts.values():
            # What is told once is no copy.
            if isinstance(spots, list):
                self._compare([self._own(level) for level in _unpacked(spots)])
        self._texts.clear()

    def is_inherited(self, line: int) -> bool:
        """Whether a line repeats the history of the session that this one was forked from."""
        return self._history.first <= line < self._history.end

    def is_copy(self, record: CodexRecord, line: int, position: int, event: Event) -> bool:
        """Whether an event is told again elsewhere in the file, by a record that goes before."""
        if (line, position) in self._copies:
            return True
        if event.kind not in _TOOL_KINDS or not event.call_id:
            return False
        level = level_of(record)
        return self._ids.get(hash((event.kind, event.call_id)), level) < level

    def _is_plain(self, head: _Head, line: int) -> bool:
        """Take note of a record by its head, where that is enough."""
        facts = head.payload or _Facts()
        kind = facts.type if isinstance(facts.type, str) else ""
        self._history.note(head.type, facts, head.timestamp, line)
        if head.type == "response_item":
            if kind in _PLAIN_CALLS:
                self._note_id(EventKind.TOOL_CALL, facts.call_id or facts.id, 0)
                return True
            if kind in _PLAIN_RESULTS:
                self._note_id(EventKind.TOOL_RESULT, facts.call_id, 0)
                return True
            return kind in _SILENT
        return head.type != "event_msg" or kind in _SILENT

    def _read_whole(self, data: bytes, line: int, *, noted: bool) -> None:
        position = 0
        for record in decode_records(data, decode, as_record):
            if not noted:
                self._history.note(record.type, _facts(record), record.timestamp, line)
            try:
                events = self._record_events(record)
            except RecursionError:
                continue
            level = level_of(record)
            for event in events:
                self._note_event(event, line, position, level)
                position += 1
            if events and level < 2:
                self._note_parts(record, line, level)

    def _note_event(self, event: Event, line: int, position: int, level: int) -> None:
        if event.kind in _TOOL_KINDS:
            self._note_id(event.kind, event.call_id, level)
            if event.tool != "web_search":
                return
        self._note_text(event.kind, event.body, (line, position), level)

    def _note_parts(self, record: CodexRecord, line: int, level: int) -> None:
        """Each part of a text counts as well: it may be told part by part."""
        item = record.payload.get("item") if level else record.payload
        if not is_object(item):
            return
        kind = _PARTED.get(word(item.get("role") or item.get("type")).lower())
        if kind is EventKind.THINKING:
            parts = reasoning_parts(item)
        elif kind is not None and is_array(content := item.get("content")):
            parts = [split_injected(each)[1] for each in text_blocks(content)]
        else:
            return
        for part in parts if len(parts) > 1 else ():
            if part.strip():
                self._note_text(kind, part, (line, -1), level)

    def _note_text(self, kind: EventKind, text: str, spot: tuple[int, int], level: int) -> None:
        plain = _IMAGE_LINES.sub("", text) if "image" in text else text
        key, packed = hash((kind, " ".join(plain.split()))), _packed(spot, level)
        before = self._texts.get(key)
        if before is None:
            self._texts[key] = packed
        elif isinstance(before, list):
            before.append(packed)
        else:
            self._texts[key] = [before, packed]

    def _note_id(self, kind: EventKind, id_: object, level: int) -> None:
        if isinstance(id_, str) and id_:
            key = hash((kind, id_))
            self._ids[key] = min(level, self._ids.get(key, level))

    def _own(self, spots: Spots) -> Spots:
        return [spot for spot in spots if not self.is_inherited(spot[0])]

    def _compare(self, levels: list[Spots]) -> None:
        """Of each text as many are kept as the level says that has it most often."""
        kept = levels[0]
        for spots in levels[1:]:
            copies = spots
            if len(spots) > len(kept):
                copies = _nearest(spots, kept)
                kept = spots
            self._copies.update(spot for spot in copies if spot[1] >= 0)


def _packed(spot: tuple[int, int], level: int) -> int:
    """A line, a position from -1 on, and a level as one number."""
    line, position = spot
    return (line << _POSITION_BITS | (position + 1)) * _LEVELS + level


def _unpacked(packed: list[int]) -> list[Spots]:
    """The spots of each level, in their order."""
    levels: list[Spots] = [[] for _ in range(_LEVELS)]
    for each in packed:
        spot, level = divmod(each, _LEVELS)
        line, position = spot >> _POSITION_BITS, spot & ((1 << _POSITION_BITS) - 1)
        levels[level].append((line, position - 1))
    return levels


def _nearest(spots: Spots, kept: Spots) -> Spots:
    """For each that is kept the spot nearest to it, each once."""
    if len(spots) > _MANY:
        return spots[: len(kept)]
    left = list(spots)
    for line, _ in kept:
        left.remove(min(left, key=lambda spot: abs(spot[0] - line)))
    return [spot for spot in spots if spot not in left]


class _History:
    """Which lines repeat another session's history: from `first` on, before `end`.

    They are the lines between the second session's head and the first turn of this session: one
    whose id, or whose beginning, is no older than this session. Where nothing says when turns
    began, the copy ends with the first pause of the writer.
    """

    def __init__(self) -> None:
        self.first = self.end = 0
        self._id: str | None = None
        self._created: int | None = None
        self._is_child = self._is_fork = self._talked = False
        self._turns: list[tuple[int, bool | None]] = []
        self._stamp: int | None = None
        self._pause = 0
        self._last = 0

    def note(self, kind: object, facts: _Facts, timestamp: object, line: int) -> None:
        """Take note of a record."""
        self._last = line
        if kind == "session_meta":
            self._note_session(facts, timestamp, line)
        elif kind == "event_msg" and facts.type in ("task_started", "turn_started"):
            self._turns.append((line, self._is_own(facts)))
        self._talked = self._talked or kind in ("response_item", "event_msg")
        if self._is_fork and not self._pause:
            stamp = _milliseconds(timestamp)
            if stamp is not None and self._stamp is not None and stamp - self._stamp > _PAUSE:
                self._pause = line
            self._stamp = self._stamp if stamp is None else stamp

    def finish(self) -> None:
        """Decide where the copy begins and ends."""
        if not self.first:
            # Without a second head, only turns that are surely older show a copy.
            if not (self._is_fork and self._turns and self._turns[0][1] is False):
                return
            self.first = 1
        turns = [turn for turn in self._turns if turn[0] > self.first]
        own = [line for line, is_own in turns if is_own]
        if own:
            self.end = own[0]
        elif turns and all(is_own is False for _, is_own in turns):
            self.end = self._last + 1
        else:
            self.end = self._by_pause([line for line, is_own in turns if is_own is None])

    def _by_pause(self, turns: list[int]) -> int:
        before = [line for line in turns if not self._pause or line < self._pause]
        if before and (self._is_child or not self._pause):
            return before[-1]
        return self._pause or self.first

    def _note_session(self, facts: _Facts, timestamp: object, line: int) -> None:
        id_ = facts.id if isinstance(facts.id, str) else ""
        if self._id is None:
            self._id = id_
            self._created = _time_of_id(id_) or _milliseconds(facts.timestamp or timestamp)
            is_subagent = is_object(facts.source) and "subagent" in facts.source
            self._is_child = bool(facts.parent_thread_id) or is_subagent
            self._is_fork = self._is_child or bool(facts.forked_from_id)
        elif id_ != self._id and not self._talked and not self.first:
            self.first, self._is_fork = line, True

    def _is_own(self, facts: _Facts) -> bool | None:
        if self._created is None:
            return None
        begun = _time_of_id(facts.turn_id)
        if begun is not None:
            return begun >= self._created
        begun = _milliseconds(facts.started_at)
        return None if begun is None else begun >= self._created // 1000 * 1000


def _facts(record: CodexRecord) -> _Facts:
    names = _Facts.__struct_fields__
    return _Facts(**{name: record.payload.get(name) for name in names})


def _time_of_id(value: object) -> int | None:
    """When an id was made, in milliseconds, where it tells (UUID version 7)."""
    match = _TIMED_ID.match(value) if isinstance(value, str) else None
    return int(match[1] + match[2], 16) if match else None


def _milliseconds(value: object) -> int | None:
    """A time since 1970, written as seconds or as a date."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e11:
        return int(value * 1000)
    if not isinstance(value, str):
        return None
    try:
        return int(datetime.fromisoformat(value).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
