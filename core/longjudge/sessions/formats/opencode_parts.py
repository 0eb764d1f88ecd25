"""What the parts of an OpenCode message tell, and the messages of its later schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping

    Part = Mapping[str, object]

_CHILD = re.compile(r"\b(?:task_id|session_id): (ses_\w+)", re.ASCII)
_ABORTED = "MessageAbortedError"
_BOOKKEEPING = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "finish"})
_KNOWN = _BOOKKEEPING | {
    *("tool", "text", "reasoning", "file", "subtask", "retry", "compaction"),
    *("tool_call", "tool_result"),
}
_WORDS = ("text", "content", "output", "summary")
QUIET_MESSAGES = frozenset({"agent-switched", "model-switched"})


@dataclass(frozen=True, slots=True)
class Author:
    """Whose message a part is in, and when that was sent; a summary stands for what it sums up."""

    role: str = "assistant"
    summary: bool = False
    time: str | None = None

    @property
    def kind(self) -> EventKind:
        """What a text of this message is."""
        if self.summary or self.role not in ("user", "assistant"):
            return EventKind.SYSTEM
        return EventKind.USER_MESSAGE if self.role == "user" else EventKind.ASSISTANT_MESSAGE


def part_events(part: Part, author: Author, more: str = "") -> list[Event] | None:
    """The events of a part, None where its type is unknown; `more` is text that came later."""
    type_ = part.get("type")
    time = _start(part) or author.time
    if type_ == "tool":
        return _tool_events(part, author.time)
    if type_ == "text":
        # What the program put in: to the model it is the user's, to the user it is nobody's.
        made = part.get("synthetic") is True or part.get("ignored") is True
        kind = EventKind.SYSTEM if made else author.kind
        return _said(kind, render_value(part.get("text")) + more, time)
    if type_ == "reasoning":
        return _said(EventKind.THINKING, render_value(part.get("text")) + more, time)
    if type_ == "file":
        return _said(EventKind.SYSTEM, _file(part), time)
    if type_ == "subtask":
        said = (part.get("description"), part.get("prompt"))
        return _said(author.kind, "\n".join(filter(None, map(render_value, said))), time)
    if type_ == "retry":
        return _said(EventKind.ERROR, error_text(part.get("error")), time)
    if type_ == "compaction":
        return _said(EventKind.SYSTEM, "The conversation was compacted.", time)
    if isinstance(type_, str) and type_ in _BOOKKEEPING:
        return []
    if type_ in ("tool_call", "tool_result"):
        return [_old_tool_event(part, type_ == "tool_call", time)]
    text = part.get("text")
    return _said(EventKind.SYSTEM, render_value(text), time) if text else None


def message_error(error: object, time: str | None) -> list[Event]:
    """How a message ended badly: the user stopped it, or it failed."""
    body = error_text(error)
    if not body:
        return []
    if is_object(error) and error.get("name", error.get("type")) == _ABORTED:
        return _said(EventKind.SYSTEM, f"interrupted: {body}", time)
    return _said(EventKind.ERROR, body, time)


def error_text(error: object) -> str:
    """The words of an error, or its name."""
    if not is_object(error):
        return render_value(error)
    data = error.get("data")
    for holder in (data, error):
        if is_object(holder) and (said := holder.get("message")):
            return render_value(said)
    return render_value(error.get("name", error)) if error else ""


def child_session(part: Part) -> str | None:
    """The session of the subagent that a call started, where the part names it."""
    type_ = part.get("type")
    state = part.get("structured" if type_ == "tool_result" else "state")
    if type_ not in ("tool", "tool_result"):
        return None
    metadata = state.get("metadata") if is_object(state) else None
    for holder in (metadata, state if type_ == "tool_result" else part.get("metadata")):
        if is_object(holder):
            for name in ("sessionId", "sessionID", "session_id"):
                if child := text_or_none(holder.get(name)):
                    return child
    output = state.get("output") if is_object(state) and part.get("tool") == "task" else None
    if isinstance(output, str) and (match := _CHILD.search(output[:400] + output[-400:])):
        return match[1]
    return None


def later_message_events(message: Part) -> list[Event] | None:
    """The events of a message of the later schema, which holds its parts; None if unknown."""
    type_ = message.get("type")
    time = created(message)
    if type_ == "user":
        events = _said(EventKind.USER_MESSAGE, render_content(message.get("text", "")), time)
        files = message.get("files")
        for file in files if is_array(files) else []:
            events += _said(EventKind.SYSTEM, _file(file) if is_object(file) else "", time)
        return events
    if type_ in ("synthetic", "system", "skill"):
        return _said(EventKind.SYSTEM, render_content(message.get("text", "")), time)
    if type_ == "compaction":
        if error := error_text(message.get("error")):
            return _said(EventKind.ERROR, error, time)
        body = f"The conversation was compacted:\n{render_value(message.get('summary'))}"
        return _said(EventKind.SYSTEM, body, time)
    if type_ == "shell":
        id_ = text_or_none(message.get("callID", message.get("shellID")))
        command = render_input({"command": message.get("command")})
        ran = Event(EventKind.TOOL_CALL, command, "shell", id_, None, time)
        output = message.get("output", "")
        if not output and message.get("status") == "running":
            return [ran]
        output = render_content(output.get("output", output) if is_object(output) else output)
        return [ran, Event(EventKind.TOOL_RESULT, output, "shell", id_, None, time)]
    if type_ == "assistant":
        events = list[Event]()
        content = message.get("content")
        for part in content if is_array(content) else [content] if content else []:
            if is_object(part):
                events += part_events(_later_part(part), Author(time=time)) or []
            else:
                events += _said(EventKind.ASSISTANT_MESSAGE, render_value(part), time)
        return events + message_error(message.get("error"), time)
    return [] if isinstance(type_, str) and type_ in QUIET_MESSAGES else None


def holds_words(message: Part) -> bool:
    """Whether a message of an unknown type says something that is lost."""
    return any(message.get(name) for name in _WORDS)


def unknown_parts(message: Part) -> list[str]:
    """The types of the parts of a message of the later schema of which nothing is told."""
    content = message.get("content")
    parts = [part for part in (content if is_array(content) else []) if is_object(part)]
    types = [part.get("type") for part in parts if not part.get("text")]
    return [type_ for type_ in types if isinstance(type_, str) and type_ not in _KNOWN]


def created(holder: Part) -> str | None:
    """When something was made, in milliseconds."""
    time = holder.get("time")
    return iso_time(time.get("created"), "ms") if is_object(time) else None


def _later_part(part: Part) -> Part:
    if part.get("type") != "tool":
        return part
    return {"callID": part.get("id"), "tool": part.get("name"), **part}


def _said(kind: EventKind, body: str, time: str | None) -> list[Event]:
    return [Event(kind, body, timestamp=time)] if body else []


def _start(part: Part) -> str | None:
    time = part.get("time")
    return iso_time(time.get("start", time.get("created")), "ms") if is_object(time) else None


def _tool_events(part: Part, sent: str | None) -> list[Event]:
    state = part.get("state")
    state = state if is_object(state) else {}
    tool, id_ = text_or_none(part.get("tool")), text_or_none(part.get("callID"))
    time = state.get("time", part.get("time"))
    time = time if is_object(time) else {}
    began = iso_time(time.get("start", time.get("created")), "ms") or sent
    body = render_input(read_arguments(state.get("input") or state.get("raw") or ""))
    events = [Event(EventKind.TOOL_CALL, body, tool, id_, None, began)]
    status = state.get("status")
    ended = status in ("completed", "error")
    output = _output(state)
    if ended or output:
        failed = status == "error" if ended else None
        when = iso_time(time.get("end", time.get("completed")), "ms") or began
        events.append(Event(EventKind.TOOL_RESULT, output, tool, id_, failed, when))
    return events


def _output(state: Part) -> str:
    texts: list[str] = []
    for name in ("output", "content", "result"):
        value = state.get(name)
        if value and (text := render_content(value)):
            texts.append(text)
            break
    if state.get("error") and (reason := error_text(state["error"])) not in texts:
        texts.append(reason)
    attachments = state.get("attachments")
    texts += [
        _file(each) for each in (attachments if is_array(attachments) else []) if is_object(each)
    ]
    return "\n".join(filter(None, texts))


def _file(part: Part) -> str:
    said = (part.get("filename"), part.get("mime"), part.get("url", part.get("uri")))
    words = " ".join(filter(None, map(render_value, said)))
    return f"attached {words}" if words else ""


def _old_tool_event(part: Part, is_call: bool, time: str | None) -> Event:
    """A call or a result as the first program of that name, and its successor, keep them."""
    tool = text_or_none(part.get("name"))
    if is_call:
        body = render_input(read_arguments(part.get("input") or {}))
        return Event(EventKind.TOOL_CALL, body, tool, text_or_none(part.get("id")), None, time)
    id_ = text_or_none(part.get("tool_call_id"))
    content = part.get("content")
    failed = part.get("is_error")
    body = render_content(content) if content else ""
    if (reason := render_value(part.get("error") or "")) not in body:
        body = f"{body}\n{reason}" if body else reason
    return Event(
        EventKind.TOOL_RESULT,
        body,
        tool,
        id_,
        failed if isinstance(failed, bool) else None,
        time,
    )
