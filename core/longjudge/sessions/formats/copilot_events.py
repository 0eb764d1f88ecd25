"""What single records of a Copilot CLI session tell, by their type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import media_placeholder, render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, object]
    Data = dict[str, object]

_PERSON = frozenset({"user", "human", "cli"})
_QUIET = (
    *("session.", "hook.", "assistant.", "tool.", "subagent.", "permission.", "user_input."),
    *("elicitation.", "sampling.", "mcp.", "mcp_app.", "command.", "commands.", "external_tool."),
    *("capabilities.", "exit_plan_mode.", "auto_mode_switch.", "session_limits_exhausted."),
    *("pending_messages.", "model.", "model_call.", "extensions.", "canvas.", "factory."),
    *("binary_asset.", "background_tasks.", "tool_search.", "ui.", "system."),
)


def type_of(record: Record) -> str:
    """The type of a record, empty where it has none."""
    type_ = record.get("type")
    return type_ if isinstance(type_, str) else ""


def data_of(record: Record) -> Data:
    """What a record holds."""
    data = record.get("data")
    return data if is_object(data) else {}


def time_of(record: Record) -> str | None:
    """When a record was written."""
    return iso_time(record.get("timestamp"), "ms")


def plain_events(record: Record) -> list[Event] | None:
    """The events of a record that needs no other one; None for an unknown type."""
    type_, data, time = type_of(record), data_of(record), time_of(record)
    if type_ == "user.message":
        return _user_events(data, time)
    rendered = _SYSTEM.get(type_)
    if rendered is not None:
        body = rendered(data)
        return [Event(EventKind.SYSTEM, body, timestamp=time)] if body else []
    if type_ in _ERRORS:
        body = _text(data.get("message", data.get("error", data.get("errorReason"))))
        return [Event(EventKind.ERROR, body, timestamp=time)] if body else []
    if type_.startswith(_QUIET) or type_ == "result":
        return []
    return None


def result_event(record: Record) -> Event:
    """What a tool gave back: what the model was sent, not the longer form for the screen."""
    data = data_of(record)
    result, error = data.get("result"), data.get("error")
    succeeded = bool_or_none(data.get("success"))
    texts: list[str] = []
    if is_object(result):
        for name in ("content", "text_result_for_llm", "textResultForLlm", "detailedContent"):
            if body := _text(result.get(name)):
                texts.append(body)
                break
        else:
            texts.append(_text(result.get("contents")))
        outcome = result.get("result_type", result.get("resultType"))
        if succeeded is None and isinstance(outcome, str):
            succeeded = outcome == "success"
    else:
        texts.append(_text(result))
    # A failure is often told twice.
    if (reason := _text(error)) and reason not in texts:
        texts.append(reason)
    return Event(
        EventKind.TOOL_RESULT,
        "\n".join(filter(None, texts)),
        text_or_none(data.get("toolName")),
        text_or_none(data.get("toolCallId")),
        None if succeeded is None else not succeeded,
        time_of(record),
    )


def _user_events(data: Data, time: str | None) -> list[Event]:
    body = _text(data.get("content"))
    source = data.get("source")
    person = not source or source == "" or (isinstance(source, str) and source in _PERSON)
    kind = EventKind.USER_MESSAGE if person else EventKind.SYSTEM
    events = [Event(kind, body, timestamp=time)] if body else []
    attachments = data.get("attachments")
    attached = [
        _attachment(each) for each in (attachments if is_array(attachments) else []) if each
    ]
    if attached:
        events.append(Event(EventKind.SYSTEM, "\n".join(attached), timestamp=time))
    return events


def _attachment(attachment: object) -> str:
    if not is_object(attachment):
        return render_value(attachment)
    if placeholder := media_placeholder(attachment):
        return placeholder
    said = {name: value for name, value in attachment.items() if name != "displayName"}
    return "attached " + render_input(said)


def _text(value: object) -> str:
    if is_object(value):
        message = value.get("message")
        return render_value(message) if isinstance(message, str) else render_content(value)
    return render_content(value) if value else ""


def _content(data: Data) -> str:
    return _text(data.get("content"))


def _message(data: Data) -> str:
    return _text(data.get("message"))


def _aborted(data: Data) -> str:
    return f"aborted: {_text(data.get('reason')) or 'no reason given'}"


def _compacted(data: Data) -> str:
    if summary := _text(data.get("summaryContent")):
        return f"The conversation was compacted:\n{summary}"
    if error := _text(data.get("error")):
        return f"The conversation could not be compacted: {error}"
    return "The conversation was compacted."


def _truncated(data: Data) -> str:
    removed = data.get("messagesRemovedDuringTruncation")
    return f"The oldest messages were left out of the context: {render_value(removed)}"


def _hook_failed(data: Data) -> str:
    error = _text(data.get("error"))
    return f"hook {_text(data.get('hookType'))}: {error}" if error else ""


def _handed_off(data: Data) -> str:
    return "\n".join(filter(None, [_text(data.get("summary")), _text(data.get("context"))]))


_SYSTEM: dict[str, Callable[[Data], str]] = {
    "system.message": _content,
    "system.notification": _content,
    "session.info": _message,
    "session.warning": _message,
    "session.compaction_complete": _compacted,
    "session.truncation": _truncated,
    "session.handoff": _handed_off,
    "skill.invoked": _content,
    "hook.end": _hook_failed,
    "abort": _aborted,
}
_ERRORS = frozenset({"session.error", "subagent.failed", "session.shutdown", "model.call_failure"})
