"""One request of a VS Code chat and its response, whose texts, calls and outputs stand apart."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.trace_events import call_event, result_event
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Item = dict[str, object]

_CALL = "toolInvocationSerialized"
_TEXT_KINDS = frozenset({None, "markdownContent", "markdownVuln"})
_QUIET = frozenset(
    {
        *("prepareToolInvocation", "undoStop", "codeblockUri", "textEditGroup", "progressMessage"),
        *("progressTask", "progressTaskSerialized", "mcpServersStarting", "notebookEditGroup"),
        *("command", "references", "usedContext", "codeCitation", "confirmation", "treeData"),
        *("autoModeResolution", "hook", "workspaceEdit", "multiDiffData"),
    }
)
_REDACTED = "[redacted]"
_FENCES = "\n```\n\n```\n"
_MAX_NODES = 100_000


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """An event, its thread, and the id of the call that started that thread."""

    event: Event
    thread: str = MAIN_THREAD
    starter: str | None = None


@dataclass(slots=True)
class Turn:
    """What is known while a response is read: its text so far, and the calls' other halves."""

    note: Callable[[str], None]
    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    hidden: bool = False
    agents: dict[str, str] = field(default_factory=dict[str, str])
    calls: deque[Item] = field(default_factory=deque["Item"])
    by_id: dict[str, Item] = field(default_factory=dict[str, "Item"])
    results: Item = field(default_factory=dict[str, object])
    in_order: bool = False


def request_events(request: Item, turn: Turn) -> Iterator[ToldEvent]:
    """What was asked, and what came of it."""
    time = iso_time(request.get("timestamp"), "ms")
    said = request.get("message")
    text = said.get("text") if is_object(said) else said
    if isinstance(text, str) and text:
        yield ToldEvent(Event(EventKind.USER_MESSAGE, render_value(text), timestamp=time))
    response = request.get("response")
    items = [item for item in (response if is_array(response) else []) if is_object(item)]
    result = request.get("result")
    _learn(result if is_object(result) else {}, items, turn)
    for item in items:
        yield from _item_events(item, turn)
    yield from _flush(turn)
    details = result.get("errorDetails") if is_object(result) else None
    if is_object(details) and (message := text_or_none(details.get("message"))):
        yield ToldEvent(Event(EventKind.ERROR, render_value(message)))
    if request.get("isCanceled") is True:
        yield ToldEvent(Event(EventKind.SYSTEM, "the request was canceled"))


def _learn(result: Item, items: list[Item], turn: Turn) -> None:
    """Inputs and outputs of the calls, which stand beside the response."""
    metadata = result.get("metadata")
    if not is_object(metadata):
        return
    rounds, results = metadata.get("toolCallRounds"), metadata.get("toolCallResults")
    for each in rounds if is_array(rounds) else []:
        calls = each.get("toolCalls") if is_object(each) else None
        turn.calls += [call for call in (calls if is_array(calls) else []) if is_object(call)]
    turn.by_id = {str(call.get("id")): call for call in turn.calls}
    turn.results = results if is_object(results) else {}
    # Their ids differ in most versions; what stands in the same place is the same call.
    shown = [item for item in items if item.get("kind") == _CALL and not _starter(item)]
    turn.in_order = len(shown) == len(turn.calls)


def _item_events(item: Item, turn: Turn) -> Iterator[ToldEvent]:
    named = item.get("kind")
    kind = named if isinstance(named, str | None) else str(named)
    if kind == "thinking":
        yield from _flush_text(turn)
        value = item.get("value")
        parts = value if is_array(value) else [value]
        turn.thoughts += [part for part in parts if isinstance(part, str)]
        turn.hidden = turn.hidden or bool(item.get("id"))
        return
    if kind in _TEXT_KINDS:
        content = item.get("content")
        value = content.get("value") if is_object(content) else item.get("value")
        if isinstance(value, str):
            yield from _flush_thoughts(turn)
            turn.texts.append(value)
    elif kind == "inlineReference":
        turn.texts.append(_reference(item))
    elif kind == _CALL:
        yield from _flush(turn)
        yield from _call_events(item, turn)
    elif kind == "warning" or kind == "errorDetails":
        yield from _flush(turn)
        yield ToldEvent(Event(EventKind.SYSTEM, _message(item.get("content", item))))
    elif kind not in _QUIET:
        turn.note(f"response parts of kind {str(kind)[:60]}")


def _flush(turn: Turn) -> Iterator[ToldEvent]:
    yield from _flush_thoughts(turn)
    yield from _flush_text(turn)


def _flush_thoughts(turn: Turn) -> Iterator[ToldEvent]:
    """The thought that came in pieces; one whose text is kept from us is said to be one."""
    body = "".join(turn.thoughts) or (_REDACTED if turn.hidden else "")
    turn.thoughts.clear()
    turn.hidden = False
    if body:
        yield ToldEvent(Event(EventKind.THINKING, render_value(body)))


def _flush_text(turn: Turn) -> Iterator[ToldEvent]:
    # An edit that was applied leaves its empty fences behind.
    text = "".join(turn.texts).replace(_FENCES, "\n")
    turn.texts.clear()
    if text.strip():
        yield ToldEvent(Event(EventKind.ASSISTANT_MESSAGE, render_value(text)))


def _call_events(item: Item, turn: Turn) -> Iterator[ToldEvent]:
    starter = _starter(item)
    call_id = text_or_none(item.get("toolCallId"))
    placed = turn.calls.popleft() if turn.in_order and not starter else None
    known = turn.by_id.get(call_id or "", placed)
    tool = text_or_none(item.get("toolId")) or _text(known, "name") or "tool"
    data = item.get("toolSpecificData")
    if is_object(data) and data.get("kind") == "subagent" and call_id:
        turn.agents[call_id] = text_or_none(data.get("agentName")) or "subagent"
    thread = MAIN_THREAD
    if starter:
        thread = f"{turn.agents.get(starter, 'subagent')} {starter}"
    given = read_arguments(known.get("arguments")) if known else _shown_input(item)
    yield ToldEvent(call_event(tool, call_id, given, None), thread, starter)
    output = _output(turn.results.get(_text(known, "id") or call_id or ""), item)
    result = result_event(tool, call_id, output, _refusal(item.get("isConfirmed")), None)
    if result is not None:
        yield ToldEvent(result, thread, starter)


def _starter(item: Item) -> str | None:
    """The call that runs the subagent which this call belongs to."""
    data = item.get("toolSpecificData")
    runs_one = item.get("toolId") == "runSubagent" or (
        is_object(data) and data.get("kind") == "subagent"
    )
    return None if runs_one else text_or_none(item.get("subAgentInvocationId"))


def _refusal(confirmed: object) -> str | None:
    """Why a call was not run, if a person said so."""
    if confirmed is False:
        return "denied"
    kind = confirmed.get("type") if is_object(confirmed) else None
    return {0: "denied", 5: "skipped"}.get(kind) if isinstance(kind, int) else None


def _shown_input(item: Item) -> object:
    """What is shown of a call's input where the input itself was not kept."""
    data = item.get("toolSpecificData")
    if is_object(data):
        line = data.get("commandLine")
        command = line.get("original") if is_object(line) else data.get("command")
        if isinstance(command, str):
            return {"command": command}
        if data.get("rawInput") is not None:
            return data["rawInput"]
        if isinstance(prompt := data.get("prompt"), str):
            return {"prompt": prompt}
    details = item.get("resultDetails")
    if is_object(details) and details.get("input") is not None:
        return read_arguments(details["input"])
    return _message(item.get("invocationMessage"))


def _output(result: object, item: Item) -> str | None:
    """What a call gave back: a text, or the texts of a tree."""
    content = result.get("content") if is_object(result) else None
    texts: list[str] = []
    for part in content if is_array(content) else []:
        value = part.get("value") if is_object(part) else part
        texts.append(value if isinstance(value, str) else _tree_text(value))
    if texts:
        return "\n".join(texts)
    details, data = item.get("resultDetails"), item.get("toolSpecificData")
    output = details.get("output") if is_object(details) else None
    if output is None and is_object(data):
        terminal = data.get("terminalCommandOutput")
        output = terminal.get("text") if is_object(terminal) else data.get("result")
    if isinstance(output, str):
        return output
    if is_array(output):
        found = [_text(part, "value") for part in output if is_object(part)]
        return "\n".join(filter(None, found)) or None
    return None


def _tree_text(value: object) -> str:
    """The texts of a rendered tree, in order."""
    node = value.get("node") if is_object(value) else None
    pieces: list[str] = []
    pending: list[object] = [node]
    count = 0
    while pending and count < _MAX_NODES:
        count += 1
        node = pending.pop()
        if not is_object(node):
            continue
        if isinstance(text := node.get("text"), str):
            lead = "\n" if node.get("lineBreakBefore") and pieces else ""
            pieces.append(lead + text)
        children = node.get("children")
        pending += reversed(children if is_array(children) else [])
    return "".join(pieces) or ("" if node is None else render_value(value))


def _reference(item: Item) -> str:
    """A file or symbol in the text, by its name."""
    name = text_or_none(item.get("name"))
    target = item.get("inlineReference")
    if name is None and is_object(target):
        inner = target.get("uri", target.get("location"))
        place = inner if is_object(inner) else target
        name = text_or_none(target.get("name")) or text_or_none(place.get("path"))
        name = name.rpartition("/")[2] if name else None
    return f"`{name}`" if name else ""


def _message(value: object) -> str:
    text = value.get("value") if is_object(value) else value
    return render_value(text)


def _text(source: Item | None, key: str) -> str | None:
    return text_or_none(source.get(key)) if source else None
