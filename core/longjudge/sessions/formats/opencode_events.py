"""The events of OpenCode's server, brought to items: the earlier kind and the later one.

Earlier events hold the state of a message or a part (`message.part.updated`). Later ones say what
happened (`session.next.text.ended`, and without `next` since): a text in pieces and then whole, a
call with its input and its result one after the other. Some servers send both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats.opencode_items import Item, What, item_of, text_of
from longjudge.sessions.formats.opencode_parts import error_text
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.sessions.formats.opencode_items import Value

_EVENTS = (
    *("session.", "message.", "server.", "file.", "storage.", "permission.", "lsp.", "todo."),
    *("installation.", "ide.", "pty.", "tui.", "vcs.", "project.", "mcp.", "question."),
    *("command.", "worktree.", "global.", "workspace.", "plugin.", "catalog."),
)
_VERSION = re.compile(r"\.\d+$", re.ASCII)
_LATER = "session.next."
_QUIET = (
    *("agent.", "model.", "moved", "deleted", "idle", "status", "diff", "compacted"),
    *("step.started", "step.ended", "text.started", "reasoning.started", "tool.input.delta"),
    *("execution.started", "execution.succeeded", "usage.", "instructions.", "input.promoted"),
    *("input.queued", "input.steered", "compaction.started", "compaction.delta", "worker."),
    *("compaction.admitted", "revert.cleared", "shadow.", "workflow.", "tenant.", "rls."),
    *("audit.", "release.", "todo", "permission", "question"),
)
_WORDS = ("text", "output", "content", "prompt", "message", "delta")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event: its type without a version, what it holds, its id and when it was sent."""

    type: str
    properties: Value
    id: str
    time: object
    later: bool

    @property
    def session(self) -> str:
        """The session that it is about."""
        return text_of(self.properties.get("sessionID"))


def server_event(value: Value) -> ServerEvent | None:
    """The event that a record is, however it is wrapped; None where it is none."""
    for holder in (value, value.get("event"), value.get("payload")):
        if not is_object(holder):
            continue
        type_ = holder.get("type")
        if not isinstance(type_, str) or not type_.startswith(_EVENTS):
            continue
        properties, data = holder.get("properties"), holder.get("data")
        if is_object(properties):
            held, later = properties, type_.startswith(_LATER)
        elif is_object(data) and _is_stated(type_, data, holder):
            held, later = data, type_.startswith("session.")
        else:
            continue
        sent = holder.get("created", holder.get("timestamp", value.get("timestamp")))
        time = held.get("timestamp", sent) if later else value.get("timestamp")
        return ServerEvent(_VERSION.sub("", type_), held, text_of(holder.get("id")), time, later)
    return None


def _is_stated(type_: str, data: Value, holder: Value) -> bool:
    """Whether an event that holds `data` is one of this server: others have such types too."""
    if type_.startswith(_LATER) or (type_.startswith("server.") and not data):
        return True
    if not isinstance(data.get("sessionID"), str):
        return False
    name = _VERSION.sub("", type_).removeprefix("session.")
    known = not type_.startswith("session.") or name in _TOLD or name.startswith(_QUIET)
    return known or is_object(holder.get("durable"))


def event_items(value: Value) -> list[Item]:
    """What an event says; bookkeeping says nothing."""
    event = server_event(value)
    if event is None:
        return []
    return _later_items(event) if event.later else _earlier_items(event)


def _earlier_items(event: ServerEvent) -> list[Item]:
    type_, properties, session = event.type, event.properties, event.session
    ids = text_of(properties.get("messageID")), text_of(properties.get("partID"))
    if type_ == "message.part.delta":
        # By far the most of a log.
        said = properties.get("field") == "text"
        return [Item(What.PIECE, properties, session, *ids)] if said else []
    time = iso_time(event.time, "ms")
    info, part = properties.get("info"), properties.get("part")
    if type_ in ("session.created", "session.updated") and is_object(info):
        return [item_of(What.SESSION, info, time)]
    if type_ == "message.updated" and is_object(info):
        return [item_of(What.MESSAGE, info, time)]
    if type_ == "message.part.updated" and is_object(part):
        return [item_of(What.PART, part, time)]
    if type_ == "session.error":
        return [Item(What.ERROR, properties, session=session, time=time)]
    if type_ in ("message.removed", "message.part.removed"):
        return [Item(What.REMOVED, properties, session, *ids, time)]
    return []


def _later_items(event: ServerEvent) -> list[Item]:
    name = event.type.removeprefix(_LATER).removeprefix("session.")
    told = _TOLD.get(name)
    if told is not None:
        return told(event)
    if name.startswith(_QUIET):
        return []
    lost = any(event.properties.get(word) for word in _WORDS)
    return [_noted(f"events of type {event.type}", lost=lost)]


def _noted(reason: str, *, lost: bool = False) -> Item:
    return Item(What.NOTED, {"reason": reason, "lost": lost})


def _in_message(
    event: ServerEvent, what: What, value: Value, id_: str, role: str, *, message: str = ""
) -> Item:
    """An item of a message; what names none is one of its own."""
    properties = event.properties
    for name in ("assistantMessageID", "messageID", "inputID"):
        message = message or text_of(properties.get(name))
    message = message or event.id
    time = iso_time(event.time, "ms")
    # Without a message that it is in, no id can be trusted to differ.
    return Item(what, value, event.session, message, id_ if message else "", time, role)


def _part(event: ServerEvent, value: Value, id_: str, role: str, *, message: str = "") -> Item:
    made = {**value, "time": {"start": event.time}}
    return _in_message(event, What.PART, made, id_, role, message=message)


def _prompt(event: ServerEvent) -> list[Item]:
    """What the user asked; said when it is taken and again when its turn comes."""
    prompt, role = event.properties.get("prompt"), "user"
    if not is_object(prompt):
        said = event.properties.get("input")
        prompt = said.get("data") if is_object(said) else None
        role = "user" if is_object(said) and said.get("type") == "user" else "system"
    if not is_object(prompt):
        return []
    parts: list[Value] = [{"type": "text", "text": prompt.get("text")}]
    files = prompt.get("files")
    for file in files if is_array(files) else []:
        if is_object(file):
            where = file.get("uri", file.get("url"))
            named = {"filename": file.get("name"), "url": where}
            parts.append({"type": "file", "mime": file.get("mime"), **named})
    return [_part(event, part, f"prompt {n}", role) for n, part in enumerate(parts)]


def _put_in(event: ServerEvent) -> list[Item]:
    text = {"type": "text", "text": event.properties.get("text")}
    return [_part(event, text, "text", "system")]


def _spoken(event: ServerEvent, type_: str) -> list[Item]:
    """A text or a thought: a piece of it, or all of it."""
    properties = event.properties
    number = properties.get(f"{type_}ID", properties.get("ordinal"))
    id_ = f"{type_} {number}" if isinstance(number, str | int) else ""
    if event.type.endswith(".delta"):
        piece = {"type": type_, "delta": properties.get("delta")}
        if not id_ or not properties.get("assistantMessageID"):
            return [_noted("pieces of text that do not say what they belong to")]
        return [_in_message(event, What.PIECE, piece, id_, "assistant")]
    if "text" not in properties:
        # All of it came in pieces.
        return []
    return [_part(event, {"type": type_, "text": properties["text"]}, id_, "assistant")]


def _call_id(event: ServerEvent) -> str:
    return text_of(event.properties.get("callID")) or text_of(event.properties.get("id"))


def _called(event: ServerEvent) -> list[Item]:
    """A call: begun, with its input as it was written, and at last run."""
    properties, id_ = event.properties, _call_id(event)
    made: Value = {
        "type": "tool_call",
        "id": id_,
        "name": properties.get("tool", properties.get("name")),
        "input": properties.get("input", properties.get("text")),
    }
    return [_part(event, made, id_ and f"call {id_}", "assistant")]


def _answered(event: ServerEvent) -> list[Item]:
    """What a call gave back, or has so far."""
    properties, id_ = event.properties, _call_id(event)
    structured, content = properties.get("structured"), properties.get("content")
    output = content or properties.get("result") or structured or properties.get("output")
    failed: bool | None = None
    if not event.type.endswith(".progress"):
        failed = event.type.endswith(".failed")
    elif not output:
        return []
    reason = error_text(properties.get("error"))
    made: Value = {
        "type": "tool_result",
        "tool_call_id": id_,
        "content": output,
        "error": reason,
        "is_error": failed,
        "structured": structured,
    }
    return [_part(event, made, id_ and f"result {id_}", "assistant")]


def _shell(event: ServerEvent) -> list[Item]:
    """A command that the user ran."""
    properties = event.properties
    shell = properties.get("shell")
    shell = shell if is_object(shell) else properties
    id_ = text_of(properties.get("callID")) or text_of(shell.get("id"))
    message = f"shell {id_}" if id_ else ""
    if event.type.endswith(".started"):
        command = {"command": shell.get("command")}
        call: Value = {"type": "tool_call", "id": id_, "name": "shell", "input": command}
        return [_part(event, call, "call", "user", message=message)]
    output = properties.get("output")
    output = output.get("output", output) if is_object(output) else output
    made: Value = {"type": "tool_result", "tool_call_id": id_, "name": "shell", "content": output}
    return [_part(event, made, "result", "user", message=message)]


def _failed_step(event: ServerEvent) -> list[Item]:
    value: Value = {"role": "assistant", "error": event.properties.get("error")}
    return [_in_message(event, What.MESSAGE, value, "", "assistant")]


def _error(event: ServerEvent) -> list[Item]:
    time = iso_time(event.time, "ms")
    return [Item(What.ERROR, event.properties, session=event.session, time=time)]


def _interrupted(event: ServerEvent) -> list[Item]:
    error = {"name": "MessageAbortedError", "message": event.properties.get("reason")}
    time = iso_time(event.time, "ms")
    return [Item(What.ERROR, {"error": error}, session=event.session, time=time)]


def _compacted(event: ServerEvent) -> list[Item]:
    value: Value = {
        "type": "compaction",
        "summary": event.properties.get("text"),
        "time": {"created": event.time},
    }
    return [_in_message(event, What.LATER, value, "", "system")]


def _about_session(event: ServerEvent, **said: object) -> list[Item]:
    info = event.properties.get("info")
    value = {"id": event.session, **(info if is_object(info) else {}), **said}
    return [item_of(What.SESSION, value)]


def _updated(event: ServerEvent) -> list[Item]:
    return _about_session(event) if is_object(event.properties.get("info")) else []


def _begun(event: ServerEvent) -> list[Item]:
    properties = event.properties
    about = {name: properties[name] for name in ("title", "parentID") if name in properties}
    return _about_session(event, **{"time": {"created": event.time}, **about})


_TOLD: dict[str, Callable[[ServerEvent], list[Item]]] = {
    "created": _begun,
    "updated": _updated,
    "renamed": lambda event: _about_session(event, title=event.properties.get("title")),
    "forked": lambda event: [_noted("a session that goes on from a copy of another one")],
    "prompted": _prompt,
    "prompt.admitted": _prompt,
    "input.admitted": _prompt,
    "input.cancelled": lambda event: [_in_message(event, What.REMOVED, {}, "", "user")],
    "context.updated": _put_in,
    "synthetic": _put_in,
    "skill.activated": _put_in,
    "text.delta": lambda event: _spoken(event, "text"),
    "text.ended": lambda event: _spoken(event, "text"),
    "reasoning.delta": lambda event: _spoken(event, "reasoning"),
    "reasoning.ended": lambda event: _spoken(event, "reasoning"),
    "tool.input.started": _called,
    "tool.input.ended": _called,
    "tool.called": _called,
    "tool.progress": _answered,
    "tool.success": _answered,
    "tool.failed": _answered,
    "shell.started": _shell,
    "shell.ended": _shell,
    "step.failed": _failed_step,
    "execution.failed": _error,
    "execution.interrupted": _interrupted,
    "error": _error,
    "retried": _error,
    "retry.scheduled": _error,
    "compaction.ended": _compacted,
    "compaction.failed": _error,
    "revert.staged": lambda event: _about_session(event, revert=True),
    "revert.committed": lambda event: _about_session(event, revert=True),
}
