"""One event of a Failproof AI agent becomes events of its thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats.foreign_blocks import foreign_block
from longjudge.sessions.formats.message_events import message_events, read_arguments
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    Payload = dict[str, object]

EARLIER = "earlier messages that a model was given and no event tells of"

_FAILED = frozenset({"failed", "error", "timeout", "rejected"})
_USERS = frozenset({"user", "human"})
_AGENTS = frozenset({"assistant", "ai", "model", "response"})
_SYSTEMS = frozenset({"system", "developer"})
# What every event has, and what says no more than its place.
_ENVELOPE = frozenset(
    {
        *("timestamp", "session_id", "agent_id", "type", "environment", "id", "ts"),
        *("event_type", "parent_id", "hook_id", "pause_id", "input_id", "user_id", "duration_ms"),
        *("request_id", "transcriptPath", "sessionId", "eventType", "cwd"),
    }
)
_NOTES = frozenset(
    {
        *("agent_pause", "agent_resume", "human_wait", "human_pause", "human_interrupt"),
        *("hook_triggered", "hook_completed", "hook_decision"),
    }
)
_PART_KINDS = {
    "text": "text",
    "user-prompt": "text",
    "system-prompt": "text",
    "thinking": "thinking",
    "tool-call": "tool-call",
    "builtin-tool-call": "tool-call",
    "tool-return": "tool-result",
    "builtin-tool-return": "tool-result",
    "retry-prompt": "tool-result",
}


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, whatever it was wrapped in."""

    type: str
    payload: Payload | None
    session: str
    agent: str
    started: str | None
    time: str | None
    summary: str | None
    failed: bool | None
    record: Payload


class FailproofAgent:
    """One agent's thread: knows what of its models' inputs was told before.

    `called` holds the ids of all calls that are events of their own in the session.
    """

    def __init__(self, main: bool, called: set[str]) -> None:
        self._main = main
        self._called = called
        self._tools: set[str] = set()
        self._open: dict[str, None] = {}
        self._told: set[tuple[int, int]] = set()
        self._systems: set[int] = set()
        self._last_prompt: tuple[int, int] | None = None
        self._announced: set[int] = set()
        self._asked = False
        self._notes: list[str] = []

    @property
    def only_open_call(self) -> str | None:
        """The call that waits for its result, where there is exactly one."""
        return next(iter(self._open)) if len(self._open) == 1 else None

    def notes(self) -> list[str]:
        """What was left out since the last time."""
        notes, self._notes = self._notes, []
        return notes

    def events(self, event: Happened) -> list[Event]:
        """The events of one that has a payload."""
        payload, time = event.payload or {}, event.time
        type_ = event.type
        if type_ == "tool_use":
            return [self._call(payload, time)]
        if type_ == "tool_result":
            return [self._result(payload, event)]
        if type_ == "model_request":
            return self._request(payload, time)
        if type_ == "model_response":
            return self._response(payload, time)
        if type_ == "human_input":
            return self._person(payload.get("response"), time)
        if type_ == "agent_start":
            return self._start(payload, time)
        if type_ == "agent_end":
            return self._end(payload, time)
        if type_ == "error":
            return [_error(payload, time)]
        return [_note(type_, payload, time)] if type_ in _NOTES else []

    def _call(self, payload: Payload, time: str | None) -> Event:
        tool, call_id = text_or_none(payload.get("tool_name")), payload.get("tool_call_id")
        self._tools.add(tool or "")
        if isinstance(call_id, str) and call_id:
            self._open[call_id] = None
        given = render_input(read_arguments(payload.get("input")))
        return Event(EventKind.TOOL_CALL, given, tool, text_or_none(call_id), None, time)

    def _result(self, payload: Payload, event: Happened) -> Event:
        tool, call_id = text_or_none(payload.get("tool_name")), payload.get("tool_call_id")
        if isinstance(call_id, str):
            self._open.pop(call_id, None)
        output, error = payload.get("output"), payload.get("error")
        parts = [render_content(each) for each in (output, error) if each is not None]
        failed = True if error or event.failed else None
        body = "\n".join(filter(None, parts))
        return Event(EventKind.TOOL_RESULT, body, tool, text_or_none(call_id), failed, event.time)

    def _person(self, said: object, time: str | None) -> list[Event]:
        body = render_content(said) if said else ""
        self._announced.add(_digest(body))
        return [Event(EventKind.USER_MESSAGE, body, timestamp=time)] if body else []

    def _start(self, payload: Payload, time: str | None) -> list[Event]:
        """The goal is the task: a person's, unless another agent gave it."""
        goal = payload.get("goal")
        if self._main:
            return self._person(goal, time)
        body = render_content(goal) if goal else ""
        self._announced.add(_digest(body))
        return [Event(EventKind.SYSTEM, body, timestamp=time)] if body else []

    def _end(self, payload: Payload, time: str | None) -> list[Event]:
        said = {key: payload.get(key) for key in ("outcome", "summary", "error")}
        said = {key: value for key, value in said.items() if value}
        if not said:
            return []
        failed = word(payload.get("outcome")).lower() in _FAILED or bool(payload.get("error"))
        kind = EventKind.ERROR if failed else EventKind.SYSTEM
        return [Event(kind, f"agent_end\n{render_input(said)}", timestamp=time)]

    def _request(self, payload: Payload, time: str | None) -> list[Event]:
        """What the model is given repeats the conversation: only its new end is told."""
        events: list[Event] = []
        system = payload.get("system")
        if system and _digest(body := render_content(system)) not in self._systems:
            self._systems.add(_digest(body))
            events.append(Event(EventKind.SYSTEM, body, timestamp=time))
        messages = payload.get("messages")
        listed = list(filter(is_object, messages)) if is_array(messages) else []
        omitted = payload.get("fw_messages_omitted", payload.get("messages_omitted"))
        base = omitted if isinstance(omitted, int) else 0
        tail = _trailing(listed)
        if not self._asked and any(_role(message) in _AGENTS for message in listed):
            self._notes.append(EARLIER)
        self._asked = True
        for position, message in enumerate(listed):
            if _role(message) in _SYSTEMS:
                events += self._told_once(_text(message), time)
            elif position >= tail:
                events += self._prompt(message, base + position, time)
        return events

    def _told_once(self, body: str, time: str | None) -> list[Event]:
        if not body or _digest(body) in self._systems:
            return []
        self._systems.add(_digest(body))
        return [Event(EventKind.SYSTEM, body, timestamp=time)]

    def _prompt(self, message: Payload, position: int, time: str | None) -> list[Event]:
        events: list[Event] = []
        for kind, body in _prompts(message):
            if kind is EventKind.SYSTEM:
                events += self._told_once(body, time)
                continue
            digest = _digest(body)
            last, self._last_prompt = self._last_prompt, (digest, len(body))
            if digest in self._announced:
                self._announced.discard(digest)
                self._told.add((digest, position))
                continue
            # A prompt may grow by what the agent did since; what it began with was told.
            grown = (
                last is not None
                and 0 < last[1] < len(body)
                and (_digest(body[: last[1]]) == last[0])
            )
            if grown or (digest, position) in self._told:
                continue
            self._told.add((digest, position))
            kind = EventKind.USER_MESSAGE if self._main else EventKind.SYSTEM
            events.append(Event(kind, body, timestamp=time))
        return events

    def _response(self, payload: Payload, time: str | None) -> list[Event]:
        content = payload.get("content")
        if is_array(content):
            content = [_part(block) for block in content]
        elif is_object(content):
            content = [_part(content)]
        message: Payload = {"role": "assistant", "content": content, "timestamp": time}
        if "tool_calls" in payload:
            message["tool_calls"] = payload["tool_calls"]
        events = [each for each in message_events(message, time) if not self._is_copy(each)]
        if error := payload.get("error"):
            events.append(Event(EventKind.ERROR, render_content(error), timestamp=time))
        return events

    def _is_copy(self, event: Event) -> bool:
        """Whether a call in an answer is told by an event of its own."""
        if event.kind is not EventKind.TOOL_CALL:
            return False
        return event.call_id in self._called or (not event.call_id and bool(self._called))


def _role(message: Payload) -> str:
    return word(message.get("role", message.get("kind", message.get("type"))))


def _trailing(messages: Sequence[Payload]) -> int:
    """Where the messages behind the last answer begin."""
    for position in range(len(messages) - 1, -1, -1):
        if _role(messages[position]) in _AGENTS:
            return position + 1
    return 0


def _text(message: Payload) -> str:
    content = message.get("content")
    return render_content(content) if content else ""


def _prompts(message: Payload) -> list[tuple[EventKind, str]]:
    """What a message of the model's input says in a person's name, or as instruction."""
    parts = message.get("parts")
    if is_array(parts):
        found: list[tuple[EventKind, str]] = []
        for part in filter(is_object, parts):
            kind = part.get("part_kind")
            if kind in ("user-prompt", "system-prompt") and (body := _text(part)):
                person = kind == "user-prompt"
                found.append((EventKind.USER_MESSAGE if person else EventKind.SYSTEM, body))
        return found
    content = message.get("content")
    if _role(message) not in _USERS:
        return []
    if is_array(content):
        # Results of tools come in the user's name; they are events of their own.
        content = [each for each in content if not _is_result(each)]
    body = render_content(content) if content else ""
    return [(EventKind.USER_MESSAGE, body)] if body else []


def _is_result(block: object) -> bool:
    return is_object(block) and word(block.get("type")).endswith("tool_result")


def _part(block: object) -> object:
    """A block of a framework's own kind as one that is read."""
    kind = block.get("part_kind") if is_object(block) else None
    if not is_object(block) or kind is None:
        return foreign_block(block)
    named = {key: value for key, value in block.items() if key != "part_kind"}
    type_ = _PART_KINDS.get(word(kind), word(kind))
    content = named.pop("content", None)
    if type_ == "tool-call":
        call = {"type": "tool_use", "id": named.get("tool_call_id")}
        return {**call, "name": named.get("tool_name"), "input": content}
    if type_ == "thinking":
        return {"type": "thinking", "thinking": content}
    return {**named, "type": type_, "text": content}


def _error(payload: Payload, time: str | None) -> Event:
    said = [render_value(payload.get(key)) for key in ("error_type", "message", "traceback")]
    head = ": ".join(filter(None, said[:2]))
    return Event(EventKind.ERROR, "\n".join(filter(None, (head, said[2]))), timestamp=time)


def _note(type_: str, payload: Payload, time: str | None) -> Event:
    """A hook, a pause or a decision: what is said about it, one a line."""
    said = {
        key: value
        for key, value in payload.items()
        if key not in _ENVELOPE and value not in (None, "")
    }
    label = word(payload.get("eventType")) or type_
    failed = word(payload.get("outcome")).lower() in _FAILED or bool(payload.get("error"))
    kind = EventKind.ERROR if failed and type_ != "hook_decision" else EventKind.SYSTEM
    return Event(kind, f"{label}\n{render_input(said)}".rstrip(), timestamp=time)


def _digest(text: str) -> int:
    return hash(text.strip())
