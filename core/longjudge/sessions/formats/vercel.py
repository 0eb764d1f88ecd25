"""Messages of the AI SDK: those of its screens, with parts, and those that models are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_messages import foreign_message
from longjudge.sessions.formats.message_events import message_events, time_of
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.told_once import ToldOnce
from longjudge.sessions.formats.trace_events import call_event, result_event
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.render import media_placeholder, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Message = dict[str, object]

_KINDS = {
    "user": EventKind.USER_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
    "system": EventKind.SYSTEM,
}
_PLAIN_PARTS = frozenset({"step-start", "source", "source-url", "source-document"})
_PARTS = frozenset({"text", "reasoning", "file", "dynamic-tool", "tool-invocation", *_PLAIN_PARTS})
_CALL_BLOCKS = frozenset({"tool-call", "tool-result", "tool-error", "tool-approval-request"})
_ID_KEYS = ("chatId", "chat_id", "sessionId", "session_id", "id")
_DENIED = "denied"


class VercelMessages(RetoldFormat):
    """Reads lists of messages, and conversations of them; a part may be a call and its result."""

    name = "vercel-ai"
    lists = ("messages",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are such messages, where one shows whose they are."""
        messages = [message for record in head for message in _messages(record)]
        if not messages or not any(_has_parts(each) or _has_calls(each) for each in messages):
            return 0.0
        return sum(map(_is_message, messages)) / len(messages)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell every message; a conversation that a later record repeats is told once."""
        told: dict[str, ToldOnce] = {}
        conversations = 0
        for given in records:
            messages = _conversation(given.value)
            if messages is None:
                teller = _teller(told, "", telling)
                teller.answer(_events(given.value, given.number, telling), given.number)
                continue
            conversations += 1
            id_ = _id(given.value)
            session = id_ or f"conversation {conversations}"
            teller = _teller(told, session, telling)
            events = [
                event for message in messages for event in _events(message, given.number, telling)
            ]
            teller.request(events, given.number)
            telling.facts(session=session, id=id_, title=text_or_none(given.value.get("title")))


def _teller(told: dict[str, ToldOnce], session: str, telling: Telling) -> ToldOnce:
    if session not in told:
        told[session] = ToldOnce(
            lambda event, record: telling.event(event, record, session=session)
        )
    return told[session]


def _events(message: Message, record: int, telling: Telling) -> list[Event]:
    if not _is_message(message):
        telling.skip("entries of the list that are no messages", record)
        return []
    try:
        events = _message_events(message)
    except RecursionError:
        telling.skip(TOO_DEEP, record)
        return []
    if not events:
        telling.note("messages without content", record)
    return events


def _message_events(message: Message) -> list[Event]:
    parts = message.get("parts")
    if is_array(parts):
        return list(_of_parts(message, parts))
    read = foreign_message(message)
    events = [*message_events(read), *_approvals(message)] if read else []
    return [*events, *_legacy_calls(message)]


def _of_parts(message: Message, parts: list[object]) -> Iterator[Event]:
    """The events of a message's parts; texts that follow each other are one."""
    kind = _KINDS.get(str(message.get("role")), EventKind.ASSISTANT_MESSAGE)
    time = time_of(message)
    texts: list[str] = []
    for part in parts:
        if not is_object(part):
            continue
        type_ = str(part.get("type"))
        if type_ == "text" or type_ == "file" or type_.startswith("data-"):
            if body := _body(part, type_):
                texts.append(body)
            continue
        if texts and type_ not in _PLAIN_PARTS:
            yield Event(kind, "\n".join(texts), timestamp=time)
            texts = []
        if type_ == "reasoning":
            body = render_value(part.get("text", part.get("reasoning")))
            if body:
                yield Event(EventKind.THINKING, body, timestamp=time)
        elif type_ not in _PLAIN_PARTS:
            yield from tool_part(part, time)
    if texts:
        yield Event(kind, "\n".join(texts), timestamp=time)


def _body(part: Message, type_: str) -> str:
    if type_ == "text":
        return render_value(part.get("text"))
    if type_ == "file":
        data = part.get("url", part.get("data"))
        media = {"media_type": part.get("mediaType", part.get("mimeType")), "data": data}
        is_link = isinstance(data, str) and data.startswith(("http:", "https:", "file:"))
        return render_value(data) if is_link else media_placeholder(media) or "[file]"
    return "" if part.get("transient") else render_value(part.get("data"))


def tool_part(part: Message, time: str | None) -> Iterator[Event]:
    """A call with what became of it: an approval, an output, an error."""
    inner = part.get("toolInvocation")
    source = inner if is_object(inner) else part
    type_ = str(part.get("type"))
    named = text_or_none(source.get("toolName"))
    tool = named or type_.removeprefix("tool-")
    call_id = text_or_none(source.get("toolCallId"))
    given = next((source[key] for key in ("input", "args", "rawInput") if key in source), None)
    yield call_event(tool, call_id, given, time)
    state = str(source.get("state"))
    approval = source.get("approval")
    yield from approval_events(tool, state, approval if is_object(approval) else {}, time)
    failure = None
    if state == "output-error":
        failure = text_or_none(source.get("errorText")) or "failed"
    elif state == "output-denied":
        failure = _DENIED
    output = source.get("output", source.get("result"))
    result = result_event(tool, call_id, output, failure, time)
    if result is None and state in ("output-available", "result"):
        result = Event(EventKind.TOOL_RESULT, "", tool, call_id, None, time)
    if result is not None:
        yield result


def approval_events(tool: str, state: str, approval: Message, time: str | None) -> Iterator[Event]:
    """What was asked of a person before a call was run, and what the person said."""
    if state == "approval-requested":
        yield Event(EventKind.SYSTEM, f"approval requested: {tool}", timestamp=time)
    decided = approval.get("approved")
    if isinstance(decided, bool):
        word = "approved" if decided else _DENIED
        reason = text_or_none(approval.get("reason"))
        said = f"{word}: {tool}" + (f"\n{render_value(reason)}" if reason else "")
        yield Event(EventKind.SYSTEM, said, timestamp=time)


def _approvals(message: Message) -> list[Event]:
    """Approvals among the blocks of a message for models."""
    content = message.get("content")
    found: list[Event] = []
    for block in content if is_array(content) else []:
        if not is_object(block):
            continue
        if block.get("type") == "tool-approval-request":
            found += approval_events("a call", "approval-requested", {}, None)
        elif block.get("type") == "tool-approval-response":
            found += approval_events("a call", "", block, None)
    return found


def _legacy_calls(message: Message) -> list[Event]:
    calls = message.get("toolInvocations")
    return [
        event
        for call in (calls if is_array(calls) else [])
        if is_object(call)
        for event in tool_part({"toolInvocation": call}, None)
    ]


def _messages(record: Message) -> list[Message]:
    conversation = _conversation(record)
    return [record] if conversation is None else conversation


def _conversation(record: Message) -> list[Message] | None:
    """The messages of a record that holds a conversation, None for one that is a message."""
    listed = record.get("messages")
    if "role" in record or not is_array(listed) or not listed:
        return None
    messages = [message for message in listed if is_object(message)]
    return messages if len(messages) == len(listed) else None


def _is_message(record: Message) -> bool:
    if record.get("role") not in (*_KINDS, "tool", "data"):
        return False
    if "parts" in record:
        return _has_parts(record) or record["parts"] == []
    return "content" in record and "kind" not in record


def _has_parts(record: Message) -> bool:
    parts = record.get("parts")
    if word(record.get("role")) not in _KINDS or not is_array(parts) or not parts:
        return False
    return all(is_object(part) and _is_part(part) for part in parts)


def _is_part(part: Message) -> bool:
    type_ = part.get("type")
    if not isinstance(type_, str):
        return False
    if type_ == "text":
        return "text" in part
    return type_ in _PARTS or (type_.startswith(("tool-", "data-")) and len(type_) > 5)


def _has_calls(record: Message) -> bool:
    content = record.get("content")
    if record.get("toolInvocations") and "role" in record:
        return True
    blocks = content if is_array(content) else []
    return any(is_object(block) and word(block.get("type")) in _CALL_BLOCKS for block in blocks)


def _id(record: Message) -> str | None:
    return next((found for key in _ID_KEYS if (found := text_or_none(record.get(key)))), None)
