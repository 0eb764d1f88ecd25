"""The items of a Codex conversation as events: what went to the model, and what came from it."""

from __future__ import annotations

from longjudge.sessions.formats.codex_records import (
    Item,
    arguments_text,
    output_text,
    split_injected,
    text_blocks,
)
from longjudge.sessions.model import Event, EventKind, lengthen
from longjudge.sessions.render import media_placeholder, render_input, render_value
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none

_CALLS = frozenset({"function_call", "custom_tool_call", "tool_call"})
_SPEAKERS = {
    "user": EventKind.USER_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
}


def item_events(item: Item, time: str | None) -> list[Event]:
    """The events of an item, in order."""
    kind = item.get("type")
    kind = kind if isinstance(kind, str) else "message"
    if kind == "message":
        return _message_events(item, time)
    if kind == "reasoning":
        return said(EventKind.THINKING, "\n\n".join(reasoning_parts(item)), time)
    if kind == "agent_message":
        return _agent_message(item, time)
    if kind in _CALLS:
        name = tool_name(item)
        given = item.get("arguments", item.get("input"))
        return [call(name, arguments_text(given), call_id(item), time)]
    if kind.endswith(("_output", "_result")):
        return [_result(item, time)]
    if kind.endswith("_call"):
        return _other_call(item, kind.removesuffix("_call"), time)
    return []


def said(kind: EventKind, text: str, time: str | None) -> list[Event]:
    """A text as an event, no event for no text."""
    return [Event(kind, text, timestamp=time)] if text.strip() else []


def user_events(blocks: list[str], time: str | None) -> list[Event]:
    """A message under the user's name: what the program put before it is no user's."""
    events: list[Event] = []
    more: dict[int, list[str]] = {}
    for block in blocks:
        injected, own = split_injected(block)
        for kind, text in ((EventKind.SYSTEM, injected), (EventKind.USER_MESSAGE, own)):
            if not text.strip():
                continue
            if events and events[-1].kind is kind:
                more.setdefault(len(events) - 1, []).append(text)
            else:
                events.append(Event(kind, text, timestamp=time))
    return lengthen(events, more)


def call(tool: str | None, body: str, id_: str | None, time: str | None) -> Event:
    """A tool call."""
    return Event(EventKind.TOOL_CALL, body, tool, id_, None, time)


def result(body: str, failed: bool | None, id_: str | None, time: str | None) -> Event:
    """The result of a call."""
    return Event(EventKind.TOOL_RESULT, body, None, id_, failed, time)


def call_id(item: Item) -> str | None:
    """The id that a call and its result share."""
    for key in ("call_id", "callId", "id"):
        if found := text_or_none(item.get(key)):
            return found
    return None


def tool_name(item: Item) -> str | None:
    """The tool of a call; one of an MCP server goes by the server's name too."""
    function = item.get("function")
    name = text_or_none(item.get("name")) or text_or_none(item.get("tool"))
    if name is None and is_object(function):
        name = text_or_none(function.get("name"))
    server = text_or_none(item.get("namespace"))
    if name and server and server.startswith("mcp"):
        return f"{server.removesuffix('__')}__{name}"
    return name


def mcp_tool(server: object, tool: object) -> str:
    """The name by which a tool of an MCP server is called."""
    return f"mcp__{text_or_none(server) or ''}__{text_or_none(tool) or ''}"


def reasoning_parts(item: Item) -> list[str]:
    """What a reasoning item says in plain words; the encrypted rest says nothing to a reader."""
    parts: dict[str, None] = {}
    for key in ("summary", "summary_text", "content", "raw_content"):
        if (value := item.get(key)) is not None:
            parts.update(dict.fromkeys(text_blocks(value)))
    return list(parts)


def _message_events(item: Item, time: str | None) -> list[Event]:
    content = item.get("content")
    if content is None:
        content = item.get("message", item.get("text"))
    blocks = text_blocks(content) if content is not None else []
    role = item.get("role")
    if role == "user":
        return user_events(blocks, time)
    kind = _SPEAKERS.get(role, EventKind.SYSTEM) if isinstance(role, str) else EventKind.SYSTEM
    return said(kind, "\n".join(blocks), time)


def _agent_message(item: Item, time: str | None) -> list[Event]:
    """What one agent wrote to another: no user typed it, and the model did not answer with it."""
    text = "\n".join(text_blocks(item.get("content")))
    if not text.strip():
        return []
    author, recipient = (render_value(item.get(key)) for key in ("author", "recipient"))
    return said(EventKind.SYSTEM, f"message from {author} to {recipient}\n{text}", time)


def _result(item: Item, time: str | None) -> Event:
    for key in ("output", "result", "content", "tools"):
        if (value := item.get(key)) is not None:
            break
    else:
        value = item.get("error")
    if is_array(value) and item.get("type") == "tool_search_output":
        body, failed = render_value(value), None
    else:
        body, failed = output_text(value)
    if failed is None:
        failed = bool_or_none(item.get("is_error"))
    name = tool_name(item)
    id_ = text_or_none(item.get("call_id")) or text_or_none(item.get("tool_call_id"))
    return Event(EventKind.TOOL_RESULT, body, name, id_, failed, time)


def _other_call(item: Item, tool: str, time: str | None) -> list[Event]:
    """Calls of the model's own tools, some of which carry their result."""
    id_ = call_id(item)
    action = item.get("action")
    if tool == "local_shell" and is_object(action):
        facts = {key: value for key, value in action.items() if value is not None}
        facts.pop("type", None)
        return [call(tool, render_input(facts), id_, time)]
    if tool == "web_search":
        return [call(tool, search_text(item), id_, time)]
    if tool == "image_generation":
        return image_events(item, id_, time)
    if tool == "mcp":
        name = mcp_tool(item.get("server_label", item.get("server")), item.get("name"))
        made = [call(name, arguments_text(item.get("arguments")), id_, time)]
        outcome = item.get("output")
        if outcome is not None or item.get("error"):
            body, failed = output_text(item.get("error") or outcome)
            made.append(result(body, True if item.get("error") else failed, id_, time))
        return made
    given = item.get("arguments", item.get("input", action))
    return [call(tool_name(item) or tool, arguments_text(given), id_, time)]


def search_text(item: Item) -> str:
    """What a web search looked for, the same for each way to record it."""
    action = item.get("action")
    if not is_object(action):
        return render_input({"query": item["query"]} if item.get("query") else {})
    return render_input({key: value for key, value in action.items() if value is not None})


def image_events(item: Item, id_: str | None, time: str | None) -> list[Event]:
    """A picture that was made: the prompt, and a placeholder for the picture."""
    events = [call("image_generation", render_value(item.get("revised_prompt")), id_, time)]
    if encoded := text_or_none(item.get("result")):
        picture = media_placeholder({"mimeType": "image/png", "blob": encoded}) or ""
        if saved := text_or_none(item.get("saved_path")):
            picture += f"\nsaved as {saved}"
        events.append(result(picture, None, id_, time))
    return events
