"""The generic event list: objects with a kind, and a text, or a tool with input and output.

Names are taken tolerantly, since every framework spells them differently. Whatever else an object
says is kept in the event's text; only ids, times and the agent's name are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.base import Format
from longjudge.sessions.formats.generic_shapes import Shape, join
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.keeper import RecordKeeper
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.gather import Gathering
    from longjudge.sessions.index import IndexBuilder
    from longjudge.sessions.notes import Notes

Record = dict[str, object]

_SYNONYMS: dict[EventKind, str] = {
    EventKind.USER_MESSAGE: "user human user_message human_message user_prompt user_input prompt",
    EventKind.ASSISTANT_MESSAGE: (
        "assistant ai model bot agent assistant_message ai_message agent_message model_message"
    ),
    EventKind.THINKING: "thinking reasoning thought agent_reasoning",
    EventKind.TOOL_CALL: (
        "tool_call tool_use function_call custom_tool_call tool_invocation action call"
    ),
    EventKind.TOOL_RESULT: (
        "tool_result tool observation function_call_output custom_tool_call_output function_result"
        " function_response tool_output tool_response function tool_use_result"
    ),
    EventKind.SYSTEM: "system developer system_message notice",
    EventKind.ERROR: "error exception failure",
}
_KINDS = {word: kind for kind, words in _SYNONYMS.items() for word in words.split()}
_KIND_KEYS = ("kind", "type", "event", "event_type", "role")
_NOT_ACTING = (EventKind.USER_MESSAGE, EventKind.SYSTEM)
_ENVELOPES = frozenset({"message", "event", "item", "entry"})

_TOOL_KEYS = ("tool", "tool_name", "toolName", "name", "function", "function_name")
_INPUT_KEYS = ("input", "args", "arguments", "parameters", "tool_input", "params")
_OUTPUT_KEYS = ("output", "result", "response", "tool_response", "observation", "tool_output")
_TEXT_KEYS = ("text", "content", "message", "body")
_STRONG_ID_KEYS = ("call_id", "tool_call_id", "tool_use_id", "callId", "toolCallId")
_TIME_KEYS = ("timestamp", "ts", "time", "created_at", "createdAt")
_AGENT_KEYS = ("agent", "agent_id", "agent_name", "agentId")
_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "thread_id")
_ERROR_KEYS = ("is_error", "isError")
_LEFT_OUT = frozenset(
    {
        *_STRONG_ID_KEYS,
        *_TIME_KEYS,
        *_AGENT_KEYS,
        *_SESSION_KEYS,
        *_ERROR_KEYS,
        *("id", "uuid", "event_id", "message_id", "parent_id", "parentId", "parentUuid"),
        *("trace_id", "span_id", "run_id", "request_id", "requestId", "updated_at"),
        *("started_at", "ended_at", "start_time", "end_time", "cache_control"),
    }
)
# What makes more of an object depend on its values than its kind.
_SHAPELESS = frozenset({*_KIND_KEYS[1:], "name", "function", "function_name", "error"})
_MAX_SHAPES = 512
# The first of these keys that an object has is the body of such an event.
_BODY_KEYS: dict[EventKind, tuple[str, ...]] = {
    EventKind.USER_MESSAGE: (*_TEXT_KEYS, "prompt", "input"),
    EventKind.ASSISTANT_MESSAGE: (*_TEXT_KEYS, *_OUTPUT_KEYS),
    EventKind.THINKING: ("text", "thinking", "reasoning", "thought", *_TEXT_KEYS, "summary"),
    EventKind.TOOL_CALL: (*_INPUT_KEYS, *_TEXT_KEYS),
    EventKind.TOOL_RESULT: (*_OUTPUT_KEYS, "content", "text", "message", "body"),
    EventKind.SYSTEM: _TEXT_KEYS,
    EventKind.ERROR: (*_TEXT_KEYS, "error", *_OUTPUT_KEYS),
}
_CALLS_INSIDE = ("tool_calls", "toolCalls", "function_call")
_CALL_BLOCKS = re.compile(r"tool[_-]?(?:use|result|call)|function_?call|functionResponse", re.I)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_decode = msgspec.json.Decoder(dict[str, object]).decode


class GenericEvents(Format[Record]):
    """Reads lists of event objects."""

    name = "events"

    def fits(self, record: Record) -> bool:
        """An object whose kind is known, or that at least has a kind and a text."""
        if _kind_of(record)[0] is not None:
            return True
        return isinstance(record.get("kind"), str) and _first(record, _TEXT_KEYS) is not None

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """The share of objects that name a kind, provided that one of them fits."""
        if not any(map(self.fits, head)):
            return 0.0
        named = (any(isinstance(record.get(key), str) for key in _KIND_KEYS) for record in head)
        return sum(named) / len(head)

    def decode(self, line: bytes) -> Record:
        """Decode a sound record."""
        return _decode(line)

    def convert(self, value: Record) -> Record:
        """Any object will do."""
        return value

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, ...], Shape | None] = {}

    def record_events(self, record: Record) -> list[Event]:
        """The event of an object; a call with its result in one object are two events."""
        word = record.get("kind")
        if isinstance(word, str):
            keys = (word, *record)
            if keys not in self._shapes:
                if len(self._shapes) >= _MAX_SHAPES:
                    self._shapes.clear()
                self._shapes[keys] = _shape_of(word, record)
            shape = self._shapes[keys]
            if shape is not None and None not in record.values() and (found := shape.event(record)):
                return [found]
        return self.events_by_rules(record)

    def events_by_rules(self, record: Record) -> list[Event]:
        """The same for an object of any shape."""
        kind, used = _kind_of(record)
        if "kind" not in record:
            _refuse_message_list(record)
        tool_key, tool = _tool_of(record, kind)
        has_input = _first(record, _INPUT_KEYS) is not None
        has_output = _first(record, _OUTPUT_KEYS) is not None
        if kind is None or (kind is EventKind.TOOL_RESULT and has_input and not has_output):
            if tool and (has_input or not has_output):
                kind = EventKind.TOOL_CALL
            elif tool:
                kind = EventKind.TOOL_RESULT
        both = has_input and has_output and (tool or kind is EventKind.TOOL_CALL)
        if both and kind in (None, EventKind.TOOL_CALL, EventKind.TOOL_RESULT):
            return self._call_and_result(record, tool, {*used, tool_key})
        if kind is None:
            kind, used = EventKind.SYSTEM, set[str]()
            if _first(record, _TEXT_KEYS) is None and not has_input and not has_output:
                return []
        is_tool = kind in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
        body_key = _body_key(record, kind)
        if body_key is None and not (is_tool and (tool or has_output)):
            return []
        used |= {body_key or "", tool_key if is_tool else ""}
        body = join(_body(record, kind, body_key), _extras(record, used))
        return [_event(kind, body, tool if is_tool else None, record)]

    def keepers(self) -> Sequence[type[RecordKeeper[Record]]]:
        """All events in one thread."""
        return (AllEvents,)

    def _call_and_result(self, record: Record, tool: str | None, used: set[str]) -> list[Event]:
        input_key = _first(record, _INPUT_KEYS) or ""
        output_key = _first(record, _OUTPUT_KEYS) or ""
        used = used | {input_key, output_key}
        call = join(_body(record, EventKind.TOOL_CALL, input_key), _extras(record, used))
        result = _body(record, EventKind.TOOL_RESULT, output_key)
        return [
            _event(EventKind.TOOL_CALL, call, tool, record),
            _event(EventKind.TOOL_RESULT, result, tool, record, weak_id=True),
        ]


def _shape_of(word: str, record: Record) -> Shape | None:
    """The shape of an object; None for one that the rules have to look at each time."""
    kind = _KINDS.get(word) or _KINDS.get(_normal(word))
    if kind is None or kind is EventKind.ERROR or not _SHAPELESS.isdisjoint(record):
        return None
    has_input, has_output = (
        any(key in record for key in keys) for keys in (_INPUT_KEYS, _OUTPUT_KEYS)
    )
    if has_input and (has_output or kind is EventKind.TOOL_RESULT):
        return None
    body_key = next((key for key in _BODY_KEYS[kind] if key in record), None)
    if body_key is None or body_key in ("message", "arguments"):
        return None
    is_call = kind is EventKind.TOOL_CALL
    is_tool = is_call or kind is EventKind.TOOL_RESULT
    tool_key = next((key for key in _TOOL_KEYS if is_tool and key in record), None)
    used = {"kind", body_key, tool_key}
    ids = (*_STRONG_ID_KEYS, "id") if is_call else _STRONG_ID_KEYS
    return Shape(
        kind,
        body_key,
        tool_key,
        next((key for key in ids if key in record), None),
        next((key for key in _TIME_KEYS if key in record), None),
        [] if is_call else [key for key in _ERROR_KEYS if key in record],
        [key for key in record if key not in used and key not in _LEFT_OUT],
    )


class AllEvents(RecordKeeper[Record]):
    """Keeps every event, by agent, and learns the session's id, title and times."""

    goes_on = True

    def __init__(self, gathering: Gathering, notes: Notes) -> None:
        super().__init__(gathering, notes)
        self._main = self.session.thread()
        self._first_agent: str | None = None

    def keep(
        self, record: Record, position: int, event: Event, digest: bytes, line: int
    ) -> IndexBuilder | None:
        """Every event is kept: in `main`, or in the thread of its agent.

        Events that name no agent are `main`, and so are those of the first agent named, unless an
        agent without a name has acted before it.
        """
        facts = self.facts
        if facts.id is None and (key := _first(record, _SESSION_KEYS)):
            facts.id = render_value(record[key])
        facts.learn(event)
        agent = text_or_none(record.get(_first(record, _AGENT_KEYS) or ""))
        if agent is None or agent == MAIN_THREAD:
            if self._first_agent is None and (agent or event.kind not in _NOT_ACTING):
                self._first_agent = MAIN_THREAD
            return self._main
        if self._first_agent is None:
            self._first_agent = agent
        return self._main if agent == self._first_agent else self.session.thread(agent)

    def pass_over(self, record: Record, line: int) -> bool:
        """An object that says nothing is skipped and counted."""
        return True


def _kind_of(record: Record) -> tuple[EventKind | None, set[str]]:
    """The first known kind, and the keys that have nothing more to say."""
    found: EventKind | None = None
    used: set[str] = set()
    for key in _KIND_KEYS:
        word = record.get(key)
        if not isinstance(word, str):
            continue
        kind = _KINDS.get(word) or _KINDS.get(_normal(word))
        if kind is not None and (found is None or found is kind):
            found = kind
            used.add(key)
        elif word in _ENVELOPES:
            used.add(key)
    return found, used


def _normal(word: str) -> str:
    return _HUMP.sub("_", word[:60]).lower().replace("-", "_").replace(" ", "_").replace(".", "_")


def _first(record: Record, keys: Sequence[str]) -> str | None:
    for key in keys:
        if record.get(key) is not None:
            return key
    return None


def _tool_of(record: Record, kind: EventKind | None) -> tuple[str, str | None]:
    """The key that names the tool, and its name."""
    for key in _TOOL_KEYS:
        value = record.get(key)
        if is_object(value):
            value = value.get("name")
        if isinstance(value, str) and value:
            # Outside of tool events a name is a person's, or the event's own.
            if key == "name" and kind not in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT):
                continue
            return key, value
    return "", None


def _body_key(record: Record, kind: EventKind) -> str | None:
    if kind is EventKind.TOOL_CALL and is_object(function := record.get("function")):
        return "function" if "arguments" in function else _first(record, _BODY_KEYS[kind])
    for key in _BODY_KEYS[kind]:
        value = record.get(key)
        if value is None or (kind is EventKind.ERROR and isinstance(value, bool)):
            continue
        # A message inside a message is another format's envelope, not a text.
        if key == "message" and is_object(value) and "role" in value:
            continue
        return key
    return None


def _body(record: Record, kind: EventKind, key: str | None) -> str:
    value = record.get(key) if key else None
    if kind is not EventKind.TOOL_CALL:
        return "" if value is None else render_content(value)
    if key == "function" and is_object(value):
        value = value.get("arguments")
        key = "arguments"
    if key == "arguments" and isinstance(value, str):
        try:
            value = _decode(value.encode())
        except (ValueError, RecursionError):
            return render_value(value)
    return render_input(value)


def _extras(record: Record, used: set[str]) -> str:
    return render_input(
        {
            key: value
            for key, value in record.items()
            if key not in used and key not in _LEFT_OUT and value is not None
        }
    )


def _event(
    kind: EventKind, body: str, tool: str | None, record: Record, *, weak_id: bool = False
) -> Event:
    """An event; a plain `id` names a call, but beside a result it is the event's own."""
    id_key = _first(record, _STRONG_ID_KEYS)
    if id_key is None and (kind is EventKind.TOOL_CALL or weak_id):
        id_key = "id"
    call_id = record.get(id_key) if id_key else None
    is_error = None
    for key in _ERROR_KEYS:
        is_error = bool_or_none(record.get(key)) if is_error is None else is_error
    error = record.get("error")
    if is_error is None and kind is EventKind.TOOL_RESULT and error:
        is_error = True
    time_key = _first(record, _TIME_KEYS)
    return Event(
        kind,
        body,
        tool,
        render_value(call_id) or None,
        is_error if kind is not EventKind.TOOL_CALL else None,
        render_value(record[time_key]) if time_key else None,
    )


def _refuse_message_list(record: Record) -> None:
    """Refuse model messages that carry calls inside: their calls would be lost in a text.

    Raises:
        NotASessionError: the record is such a message.
    """
    content = record.get("content")
    blocks = content if is_array(content) else []
    inside = any(
        is_object(block)
        and (_CALL_BLOCKS.search(word(block.get("type"))) or any(map(_CALL_BLOCKS.match, block)))
        for block in blocks
    )
    if inside or any(record.get(key) for key in _CALLS_INSIDE):
        raise NotASessionError(
            "a list of model messages with tool calls inside, in a form that is not read yet;"
            " convert it to the generic event list"
        )
