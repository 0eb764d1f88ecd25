"""Lists of messages as the models' interfaces take them, and files of many conversations.

A record is one message, or a whole conversation; each conversation of a file is a session. A log
of requests repeats what was said before with every request: there the longest one counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.base import Format
from longjudge.sessions.formats.conversations import (
    RESPONSE_KEYS,
    SYSTEM_KEYS,
    Conversation,
    is_answer,
    read_conversation,
    read_entry,
)
from longjudge.sessions.formats.generic import GenericEvents
from longjudge.sessions.formats.message_events import (
    CALL_BLOCKS,
    MADE,
    NO_EVENTS,
    ROLES,
    THINKING_BLOCKS,
    is_item,
    is_result_block,
    message_events,
    time_of,
)
from longjudge.sessions.keeper import RecordKeeper
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.records import parse_line, wrap_array
from longjudge.sessions.render import render_value
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.gather import Gathering, SessionRows
    from longjudge.sessions.index import IndexBuilder
    from longjudge.sessions.notes import Notes

    Message = dict[str, object]

COPIES = "conversations that another one repeats and continues, left out"
REPEATED = "what stands beside the messages and among them, counted once"
LOST_THINKING = "thinking that the later, longer requests no longer hold, left out"
FURTHER_ANSWERS = "further answers to the same request, left out"

_SAMPLE = 200
_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "thread_id", "chat_id")
_ROW_KEYS = ("instance_id", "custom_id", "traj_id", "task_id", "id", "uuid", "request_id")
_GENERIC_KEYS = (
    *("kind", "parts", "tool", "tool_name", "toolName", "input", "output", "text"),
    *("event", "event_type", "agent", "agent_id", "agent_name", "agentId"),
)
_BESIDE_CONTENT = ("tool_calls", "function_call", "reasoning_content", "refusal", "audio")
_FOREIGN_BLOCKS = frozenset({"tool-call", "tool-result", "toolCall", "function_call"})
_FOREIGN_BLOCK_KEYS = ("toolUse", "toolResult", "functionCall", "functionResponse", "toolUseID")

_decode = msgspec.json.Decoder(dict[str, object]).decode
_generic = GenericEvents()


class Dialect(Enum):
    """What a message shows of the interface that it was written for."""

    ANY = "any"
    CHAT = "chat"
    BLOCKS = "blocks"
    ITEMS = "items"


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message or an item, or the conversation that a record holds.

    `is_entry` marks what stands beside the messages of a document and belongs to them.
    """

    value: dict[str, object]
    conversation: Conversation | None
    is_entry: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """What the first messages of a file are: the share that are any, and their dialects."""

    share: float
    dialects: frozenset[Dialect]
    messages: Sequence[Message]


class MessageList(Format[MessageRecord]):
    """Reads messages and conversations; its heirs know which interface they were written for."""

    before: Sequence[str] = SYSTEM_KEYS
    after: Sequence[str] = RESPONSE_KEYS
    made: Mapping[str, Sequence[str]] = MADE

    def fits(self, record: Message) -> bool:
        """A message, or a conversation of messages."""
        return survey([record]).share == 1.0

    def decode(self, line: bytes) -> MessageRecord:
        """Decode a record: an object, an array of messages, or an entry beside a document's.

        Such an entry is a name, a colon and a value.
        """
        if line.startswith(b'"'):
            entry = _patiently(b"{" + line + b"}")
            return MessageRecord(entry, read_entry(entry), is_entry=True)
        if line.startswith(b"["):
            return self.convert(_patiently(wrap_array(line)))
        return self.convert(_decode(line))

    def convert(self, value: Message) -> MessageRecord:
        """Make a record of any JSON object."""
        return MessageRecord(value, read_conversation(value))

    def record_events(self, record: MessageRecord) -> list[Event]:
        """The events of a record, in order."""
        if record.conversation is not None:
            return record.conversation.events()
        return message_events(record.value)

    def keepers(self) -> Sequence[type[RecordKeeper[MessageRecord]]]:
        """Messages are one session, each conversation is one of its own."""
        return (Conversations,)


def _patiently(data: bytes) -> Message:
    """The one object that the data is.

    Raises:
        ValueError: it is anything else.
    """
    found = parse_line(data)
    if len(found.objects) != 1 or found.fault:
        raise ValueError("not one object")
    return found.objects[0]


class Conversations(RecordKeeper[MessageRecord]):
    """Keeps each conversation as a session, unless another one repeats it."""

    def __init__(self, gathering: Gathering, notes: Notes) -> None:
        super().__init__(gathering, notes)
        self._recent: set[bytes] = set()
        self._current: _Current | None = None
        self._known: set[int] = set()
        self._complete: dict[int, _Current] = {}
        self._count = 0

    def keep(
        self, record: MessageRecord, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """The thread of the session that the record belongs to."""
        if record.conversation is not None and not record.is_entry:
            current = self._conversation(record, line)
            current.add(event, digest)
            rows = current.rows
        else:
            if self._is_repeated(record, event, digest):
                self.notes.add(REPEATED, None, Severity.INFO)
                return None
            rows = self.session
            if not position:
                self._take_id(rows, record.value, _SESSION_KEYS)
        rows.facts.learn(event)
        return rows.thread()

    def pass_over(self, record: MessageRecord, line: int) -> bool:
        """What never says anything is no loss; the rest counts as skipped."""
        value = record.value
        type_, role = text_or_none(value.get("type")), text_or_none(value.get("role"))
        if record.is_entry:
            return False
        if type_ in NO_EVENTS or is_item(type_):
            self.notes.add(f"{type_} items, no events", line, Severity.INFO)
            return False
        if role in ROLES:
            self.notes.add("messages without content", line, Severity.INFO)
            return False
        return True

    def finish(self) -> None:
        """The last conversation is read."""
        self._close()

    def _is_repeated(self, record: MessageRecord, event: Event, digest: bytes) -> bool:
        """Whether a system prompt or response beside the messages is one of them, too."""
        if event.kind is EventKind.SYSTEM:
            known, self._recent = self._recent, {digest} if record.is_entry else set()
            return digest in known
        if record.is_entry:
            return digest in self._recent
        if is_answer(event):
            self._recent.add(digest)
        else:
            self._recent.clear()
        return False

    def _conversation(self, record: MessageRecord, line: int) -> _Current:
        current = self._current
        if current is not None and current.record is record:
            return current
        self._close()
        self._count += 1
        key = f"conversation {self._count}"
        rows = self.gathering.session(key)
        self._take_id(rows, record.value, (*_SESSION_KEYS, *_ROW_KEYS))
        facts = rows.facts
        facts.title = text_or_none(record.value.get("title"))
        facts.started = facts.ended = time_of(record.value)
        if record.conversation and record.conversation.left_out:
            self.notes.add(FURTHER_ANSWERS, line, count=record.conversation.left_out)
        self._current = _Current(record, key, rows, line)
        return self._current

    def _close(self) -> None:
        """Decide which conversations the one that was just read makes superfluous, or itself."""
        current, self._current = self._current, None
        if current is None or not current.chain:
            return
        if current.chain[-1] in self._known:
            self._leave_out(current, current.thinking)
            return
        for state in current.chain:
            if earlier := self._complete.pop(state, None):
                self._leave_out(earlier, earlier.thinking - current.thinking)
                facts = current.rows.facts
                facts.started = earlier.rows.facts.started or facts.started
        self._known.update(current.chain)
        self._complete[current.chain[-1]] = current
        current.let_go()

    def _leave_out(self, copy: _Current, thinking: int) -> None:
        self.notes.add(COPIES, copy.line, Severity.INFO)
        if thinking > 0:
            self.notes.add(LOST_THINKING, copy.line, count=thinking)
        self.gathering.drop(copy.key)

    @staticmethod
    def _take_id(rows: SessionRows, value: Message, keys: Sequence[str]) -> None:
        if rows.facts.id is None:
            for key in keys:
                name = value.get(key)
                if isinstance(name, str | int) and not isinstance(name, bool) and name != "":
                    rows.facts.id = render_value(name)
                    return


class _Current:
    """A conversation while it is read.

    `chain` has a state for each of its events, which stands for all events up to it. Thinking is
    no part of it: requests often leave out what the answer before them thought.
    """

    __slots__ = ("chain", "key", "line", "record", "rows", "thinking")

    def __init__(self, record: MessageRecord, key: str, rows: SessionRows, line: int) -> None:
        self.record: MessageRecord | None = record
        self.key = key
        self.rows = rows
        self.line = line
        self.chain: list[int] = []
        self.thinking = 0

    def add(self, event: Event, digest: bytes) -> None:
        """One more event."""
        if event.kind is EventKind.THINKING:
            self.thinking += 1
        else:
            self.chain.append(hash((self.chain[-1] if self.chain else 0, digest)))

    def let_go(self) -> None:
        """Only what a later conversation is compared with is kept."""
        self.record = None
        self.chain = []


def survey(records: Sequence[Message], around: Mapping[str, object] | None = None) -> Survey:
    """Look at the first messages of a file."""
    messages: list[Message] = []
    fitting = 0
    dialects: set[Dialect] = set()
    if around is not None and _is_anthropic_request(around):
        dialects.add(Dialect.BLOCKS)
    for message in _messages_of(records, dialects):
        if len(messages) >= _SAMPLE:
            break
        dialect = dialect_of(message)
        # A list with events of the generic kind in it is one of these.
        if dialect is None and ("kind" in message or _generic.fits(message)):
            return Survey(0.0, frozenset(), ())
        messages.append(message)
        if dialect is not None:
            fitting += 1
            dialects.add(dialect)
    share = fitting / len(messages) if messages else 0.0
    return Survey(share, frozenset(dialects), messages)


def _messages_of(records: Sequence[Message], dialects: set[Dialect]) -> Iterator[Message]:
    for record in records:
        conversation = read_conversation(record)
        if conversation is None:
            yield record
        else:
            request = record.get("request")
            if _is_anthropic_request(request if is_object(request) else record):
                dialects.add(Dialect.BLOCKS)
            yield from conversation.messages


def _is_anthropic_request(around: Mapping[str, object]) -> bool:
    return bool(around.get("system")) or "anthropic_version" in around or "stop_sequences" in around


def dialect_of(message: Message) -> Dialect | None:
    """Which interface a message or an item was written for; None where it is neither."""
    type_, role = message.get("type"), message.get("role")
    if any(key in message for key in _GENERIC_KEYS) and not is_item(type_):
        return None
    if role is None:
        return Dialect.ITEMS if _is_whole_item(message) else None
    if not isinstance(role, str) or role not in ROLES or type_ not in (None, "message"):
        return None
    content = message.get("content")
    beside = any(message.get(key) for key in _BESIDE_CONTENT)
    if "content" not in message and not beside:
        return None
    blocks = content if is_array(content) else []
    named = (block.get("type") for block in blocks if is_object(block))
    types: set[object] = {type_ for type_ in named if isinstance(type_, str)}
    if _is_foreign(blocks, types):
        return None
    if beside or role in ("tool", "function", "developer"):
        return Dialect.CHAT
    if any(t in CALL_BLOCKS or t in THINKING_BLOCKS or is_result_block(t) for t in types):
        return Dialect.BLOCKS
    if types & {"input_text", "output_text"}:
        return Dialect.ITEMS
    return Dialect.ANY


def _is_foreign(blocks: Sequence[object], types: set[object]) -> bool:
    """Whether calls stand in blocks of an interface that is not read."""
    if types & _FOREIGN_BLOCKS:
        return True
    return any(
        is_object(block) and any(key in block for key in _FOREIGN_BLOCK_KEYS) for block in blocks
    )


def _is_whole_item(item: Message) -> bool:
    """Whether an item has what its interface always gives it."""
    type_ = item.get("type")
    if not is_item(type_) or "kind" in item:
        return False
    if type_ in ("function_call", "custom_tool_call"):
        return "call_id" in item and "name" in item
    if type_ == "reasoning":
        return "summary" in item or "encrypted_content" in item
    return "id" in item or "call_id" in item
