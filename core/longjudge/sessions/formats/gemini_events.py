"""What one message of a Gemini CLI session tells: thoughts, texts, calls and their results.

A message is a record of the CLI (`type`, `content`, `thoughts`, `toolCalls`) or a `Content` of
the model's interface (`role`, `parts`). Calls and results may stand in both ways at once, so that
`Paired` remembers which ones a record of calls has told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import (
    media_placeholder,
    render_block,
    render_content,
    render_input,
    render_value,
)
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    Message = dict[str, object]

MODEL_TYPES = frozenset({"gemini", "model", "qwen", "assistant"})
"""What the model's messages are called, by the CLI, its interface and its descendants."""

NOTICE_TYPES = frozenset({"info", "warning", "error"})

MASKED = "<tool_output_masked>"
"""Begins an output that the CLI took out of the session to save room."""

_CONTEXT = (
    "<session_context>",
    "<hook_context>",
    "<state_snapshot>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "System: Please continue.",
)
_ACKNOWLEDGED = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
_FILES = "--- Content from referenced files ---"
_MILLISECONDS = 100_000_000_000


class Paired:
    """The calls and results that were told, and ids for calls that have none."""

    def __init__(self) -> None:
        self.called: set[str] = set()
        self.answered: set[str] = set()
        self._waiting: dict[str, list[str]] = {}
        self._made = 0

    def call_id(self, part: Message, tool: str | None) -> str:
        """The id of a call; a made one is given to the next result of the same tool."""
        known = text_or_none(part.get("id"))
        if known:
            return known
        self._made += 1
        made = f"call {self._made}"
        self._waiting.setdefault(tool or "", []).append(made)
        return made

    def result_id(self, part: Message, tool: str | None) -> str | None:
        """The id of a result: its own, or that of the first call of its tool that waits."""
        known = text_or_none(part.get("id"))
        waiting = self._waiting.get(tool or "")
        if known or not waiting:
            return known
        return waiting.pop(0)


def message_events(message: Message, paired: Paired) -> list[Event]:
    """The events of a message, in the order that they happened."""
    time = _time(message.get("timestamp", message.get("ts")))
    kind = kind_of(message)
    if kind in NOTICE_TYPES:
        error = EventKind.ERROR if kind == "error" else EventKind.SYSTEM
        body = render_parts(_content(message))
        return [Event(error, body, timestamp=time)] if body else []
    calls = message.get("toolCalls")
    calls = [call for call in calls if is_object(call)] if is_array(calls) else []
    paired.called.update(id_ for call in calls if (id_ := text_or_none(call.get("id"))))
    if kind in MODEL_TYPES:
        events = _thoughts(message.get("thoughts"), time)
        named = {text_or_none(call.get("name")) for call in calls}
        events += _model_events(_content(message), time, paired, named, bool(events))
    elif kind in ("user", "function", "tool"):
        events = _user_events(message, time, paired)
    else:
        body = render_parts(_content(message))
        events = [Event(EventKind.SYSTEM, body, timestamp=time)] if body else []
    for call in calls:
        events += _recorded_call(call, time, paired)
    return events


def started_agents(message: Message) -> list[tuple[str, str]]:
    """The subagents that a message's calls started: each one's id, and the call's."""
    calls = message.get("toolCalls")
    found = [
        (text_or_none(call.get("agentId")), text_or_none(call.get("id")))
        for call in (calls if is_array(calls) else [])
        if is_object(call)
    ]
    return [(agent, call) for agent, call in found if agent and call]


def kind_of(message: Message) -> str:
    """What a message calls itself: its type, or whose it is."""
    kind = message.get("type", message.get("role"))
    return kind if isinstance(kind, str) else ""


def render_parts(content: object) -> str:
    """The text of a message's content: a string, a part, or a list of both."""
    parts = content if is_array(content) else [content]
    return "\n".join(filter(None, map(_part_text, parts)))


def _content(message: Message) -> object:
    content = message.get("content")
    return message.get("parts") if content is None or content in ("", []) else content


def _part_text(part: object) -> str:
    if not is_object(part):
        return render_value(part)
    text = part.get("text")
    if isinstance(text, str):
        return render_value(text)
    inline = part.get("inlineData", part.get("inline_data"))
    if is_object(inline):
        return media_placeholder(inline) or render_block(inline)
    file = part.get("fileData", part.get("file_data"))
    if is_object(file):
        kind = file.get("mimeType", file.get("mime_type"))
        where = file.get("fileUri", file.get("file_uri"))
        return f"[file {render_value(kind)} {render_value(where)}]"
    kept = {name: value for name, value in part.items() if name != "thoughtSignature"}
    return render_block(kept) if kept else ""


def _thoughts(value: object, time: str | None) -> list[Event]:
    events: list[Event] = []
    for thought in value if is_array(value) else []:
        if is_object(thought):
            said = (thought.get("subject"), thought.get("description"))
            body = "\n".join(filter(None, map(render_value, said)))
            when = _time(thought.get("timestamp")) or time
        else:
            body, when = render_value(thought), time
        if body:
            events.append(Event(EventKind.THINKING, body, timestamp=when))
    return events


def _model_events(
    content: object, time: str | None, paired: Paired, recorded: set[str | None], thought: bool
) -> list[Event]:
    """Texts one below the other, and what stands between them.

    `recorded` names the tools whose calls the message records beside its content, and `thought`
    says that its thoughts are.
    """
    events: list[Event] = []
    texts: list[str] = []

    def end_text() -> None:
        body = "\n".join(texts)
        if body:
            # What the CLI lets the model answer to the context that it sets up.
            said = EventKind.SYSTEM if body in _ACKNOWLEDGED else EventKind.ASSISTANT_MESSAGE
            events.append(Event(said, body, timestamp=time))
        texts.clear()

    for part in content if is_array(content) else [content]:
        if is_object(part) and part.get("thought") is True:
            body = "" if thought else _part_text(part)
            if body:
                end_text()
                events.append(Event(EventKind.THINKING, body, timestamp=time))
        elif is_object(part) and (own := _own_event(part, time, paired, recorded)) is not None:
            end_text()
            events += own
        elif text := _part_text(part):
            texts.append(text)
    end_text()
    return events


def _user_events(message: Message, time: str | None, paired: Paired) -> list[Event]:
    """What the user typed, what was put beside it, and results sent back in the user's name."""
    said: list[str] = []
    context: list[str] = []
    results: list[Event] = []
    attached = False
    content = _content(message)
    for part in content if is_array(content) else [content]:
        if (
            is_object(part)
            and (own := _own_event(part, time, paired, set[str | None]())) is not None
        ):
            results += own
            continue
        text = _part_text(part)
        typed, mark, files = text.partition(_FILES)
        if attached or text.lstrip().startswith(_CONTEXT):
            context.append(text)
        else:
            said.append(typed.rstrip() if mark else text)
            context.append(mark + files)
            attached = bool(mark)
    body = "\n".join(filter(None, said))
    beside = "\n".join(filter(None, context))
    shown = render_parts(message.get("displayContent"))
    if shown and body and shown != body:
        # The CLI sent more than was typed: a command's prompt, the files that were named.
        beside = "\n".join(filter(None, [body, beside]))
        body = shown
    events = [Event(EventKind.SYSTEM, beside, timestamp=time)] if beside else []
    if body:
        events.insert(0, Event(EventKind.USER_MESSAGE, body, timestamp=time))
    return results + events


def _own_event(
    part: Message, time: str | None, paired: Paired, recorded: set[str | None]
) -> list[Event] | None:
    """The events of a part that is a call or a result, None for any other part."""
    call = part.get("functionCall", part.get("function_call"))
    if is_object(call):
        tool = text_or_none(call.get("name"))
        id_ = text_or_none(call.get("id"))
        if id_ in paired.called or (id_ is None and tool in recorded):
            return []
        body = render_input(read_arguments(call.get("args", {})))
        return [Event(EventKind.TOOL_CALL, body, tool, paired.call_id(call, tool), None, time)]
    answer = part.get("functionResponse", part.get("function_response"))
    if is_object(answer):
        if text_or_none(answer.get("id")) in paired.answered:
            return []
        tool = text_or_none(answer.get("name"))
        body, failed = _response(answer.get("response"))
        body = "\n".join(filter(None, [body, render_parts(answer.get("parts"))]))
        id_ = paired.result_id(answer, tool)
        return [Event(EventKind.TOOL_RESULT, body, tool, id_, failed or None, time)]
    code = part.get("executableCode", part.get("executable_code"))
    if is_object(code):
        id_ = paired.call_id({}, "code_execution")
        return [Event(EventKind.TOOL_CALL, render_input(code), "code_execution", id_, None, time)]
    ran = part.get("codeExecutionResult", part.get("code_execution_result"))
    if is_object(ran):
        id_ = paired.result_id({}, "code_execution")
        failed = ran.get("outcome") not in (None, "OUTCOME_OK")
        body = render_value(ran.get("output"))
        return [Event(EventKind.TOOL_RESULT, body, "code_execution", id_, failed, time)]
    return None


def _recorded_call(call: Message, time: str | None, paired: Paired) -> list[Event]:
    """A call that the CLI recorded, with its result where there is one."""
    tool = text_or_none(call.get("name"))
    when = _time(call.get("timestamp")) or time
    id_ = text_or_none(call.get("id")) or paired.call_id({}, None)
    body = render_input(read_arguments(call.get("args", {})))
    events = [Event(EventKind.TOOL_CALL, body, tool, id_, None, when)]
    output, failed = _recorded_output(call)
    if output is not None:
        paired.answered.add(id_)
        events.append(Event(EventKind.TOOL_RESULT, output, tool, id_, failed, when))
    return events


def _recorded_output(call: Message) -> tuple[str | None, bool | None]:
    """What a recorded call gave back, None where that is not known yet, and whether it failed."""
    status = call.get("status")
    failed = True if status == "error" else False if status == "success" else None
    result = call.get("result")
    texts: list[str] = []
    for part in result if is_array(result) else [] if result is None else [result]:
        answer = part.get("functionResponse") if is_object(part) else None
        if is_object(answer):
            body, error = _response(answer.get("response"))
            texts += [body, render_parts(answer.get("parts"))]
            failed = failed or error or failed
        else:
            texts.append(_part_text(part))
    body = "\n".join(filter(None, texts))
    if body or (is_array(result) and result):
        return body, failed
    if shown := _shown(call.get("resultDisplay")):
        return shown, failed
    if status in ("error", "cancelled"):
        return str(status), failed
    return None, failed


def _shown(display: object) -> str:
    """What the user saw of a result: a text, the lines of a terminal, or a change to a file."""
    if is_object(display):
        return render_value(display.get("fileDiff", display))
    if not is_array(display):
        return render_value(display)
    lines = [line if is_array(line) else [line] for line in display]
    return "\n".join("".join(map(_part_text, line)) for line in lines)


def _response(response: object) -> tuple[str, bool]:
    """The text of a function's response, and whether it is an error."""
    if not is_object(response):
        return render_value(response), False
    error = response.get("error")
    for value in (response.get("output"), error):
        if value and len(response) == 1:
            return render_content(value), value is error
    return render_input(response) if response else "", bool(error)


def _time(value: object) -> str | None:
    seconds = isinstance(value, int | float) and value < _MILLISECONDS
    return iso_time(value, "s" if seconds else "ms")


def elements(events: Sequence[Event]) -> list[int]:
    """Marks of what a message says, by which a copy of it under another id is known again.

    Thoughts are written anew in each copy and count only where there is nothing else.
    """
    spoken = [event for event in events if event.kind is not EventKind.THINKING]
    return [hash((event.kind, event.tool, event.body)) for event in spoken or events]
