"""What Codex tells its screen (`event_msg`) as events.

Most of it repeats what an item of the conversation says; whether it does is decided by the keeper,
which sees the whole file. Each notice of a tool gives the call and its result, as two events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.codex_items import (
    call,
    call_id,
    image_events,
    item_events,
    mcp_tool,
    result,
    said,
    search_text,
    user_events,
)
from longjudge.sessions.formats.codex_records import (
    Item,
    arguments_text,
    failure,
    image,
    output_text,
    text_blocks,
)
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    Maker = Callable[[Item, str | None], list[Event]]

ITEM_DONE = "item_completed"
_VERDICT_KEYS = ("status", "risk_level", "risk_score", "rationale", "action")
_AGENT_IDS = frozenset(
    {
        *("type", "call_id", "sender_thread_id", "new_thread_id", "receiver_thread_id", "id"),
        *("status", "statuses", "agent_statuses", "model", "reasoning_effort", "tool"),
        *("receiver_thread_ids", "receiver_agents", "agents_states", "started_at_ms"),
        *("completed_at_ms", "occurred_at_ms"),
    }
)


def notice_events(notice: Item, time: str | None) -> list[Event]:
    """The events of a notice, in order."""
    kind = notice.get("type")
    if kind == ITEM_DONE:
        item = notice.get("item")
        return _item_events(item, time) if is_object(item) else []
    maker = _MAKERS.get(kind) if isinstance(kind, str) else None
    return maker(notice, time) if maker else []


def _item_events(item: Item, time: str | None) -> list[Event]:
    kind = item.get("type")
    if not isinstance(kind, str):
        return []
    maker = _ITEM_MAKERS.get(kind.replace("_", "").lower())
    return maker(item, time) if maker else []


def _user_message(notice: Item, time: str | None) -> list[Event]:
    message = notice.get("message", notice.get("content"))
    blocks = text_blocks(message) if message is not None else []
    for key in ("images", "local_images"):
        pictures = notice.get(key)
        blocks += [
            found for each in (pictures if is_array(pictures) else ()) if (found := image(each))
        ]
    return user_events(blocks, time)


def _agent_message(notice: Item, time: str | None) -> list[Event]:
    text = notice.get("message", notice.get("content", notice.get("text")))
    blocks = text_blocks(text) if text is not None else []
    return said(EventKind.ASSISTANT_MESSAGE, "\n".join(blocks), time)


def _reasoning(notice: Item, time: str | None) -> list[Event]:
    if "text" in notice:
        return said(EventKind.THINKING, render_content(notice["text"]), time)
    return item_events({**notice, "type": "reasoning"}, time)


def _plan(item: Item, time: str | None) -> list[Event]:
    return said(EventKind.ASSISTANT_MESSAGE, render_value(item.get("text")), time)


def _task_complete(notice: Item, time: str | None) -> list[Event]:
    last = text_or_none(notice.get("last_agent_message")) or ""
    events = said(EventKind.ASSISTANT_MESSAGE, last, time)
    return events + (_error({"message": notice["error"]}, time) if notice.get("error") else [])


def _error(notice: Item, time: str | None) -> list[Event]:
    message = notice.get("message", notice.get("error"))
    for _ in range(3):
        if is_object(message) and "message" in message:
            message = message["message"]
    return said(EventKind.ERROR, render_value(message), time)


def _note(words: str, *keys: str) -> Maker:
    """A system note: some words, and what these keys add."""

    def make(notice: Item, time: str | None) -> list[Event]:
        more = [render_value(notice[key]) for key in keys if notice.get(key) not in (None, "")]
        return said(EventKind.SYSTEM, ": ".join([words, *more]) if words else "\n".join(more), time)

    return make


def _assessment(notice: Item, time: str | None) -> list[Event]:
    if notice.get("status") == "in_progress":
        return []
    facts = {key: notice[key] for key in _VERDICT_KEYS if notice.get(key) is not None}
    body = f"automatic review of an action\n{render_input(facts)}"
    return [Event(EventKind.SYSTEM, body, timestamp=time)]


def _review_over(notice: Item, time: str | None) -> list[Event]:
    review = notice.get("review_output", notice.get("review"))
    if not review:
        return []
    return said(EventKind.SYSTEM, f"review\n{render_input(review)}", time)


def _command(notice: Item, time: str | None) -> list[Event]:
    facts = {"command": notice.get("command"), "workdir": notice.get("cwd")}
    body = render_input({key: value for key, value in facts.items() if value is not None})
    output = _first_text(notice, "aggregated_output", "formatted_output")
    if not output:
        output = "\n".join(filter(None, (_first_text(notice, k) for k in ("stdout", "stderr"))))
    id_ = call_id(notice)
    done = render_value(output) or text_or_none(notice.get("status")) or ""
    return [call("exec_command", body, id_, time), result(done, failure(notice), id_, time)]


def _patch(notice: Item, time: str | None) -> list[Event]:
    id_ = call_id(notice)
    failed = failure(notice)
    if failed is None and notice.get("status") in ("failed", "declined"):
        failed = True
    done = "\n".join(filter(None, (_first_text(notice, key) for key in ("stdout", "stderr"))))
    return [
        call("apply_patch", _changes(notice.get("changes")), id_, time),
        result(done or text_or_none(notice.get("status")) or "", failed, id_, time),
    ]


def _changes(changes: object) -> str:
    """File by file what was changed: the diff, or the content of a new file."""
    if not is_object(changes):
        return render_input(changes)
    parts: list[str] = []
    for path, change in changes.items():
        if not is_object(change):
            parts.append(f"{path}: {render_value(change)}")
            continue
        text = _first_text(change, "unified_diff", "content", "diff")
        moved = text_or_none(change.get("move_path"))
        parts.append(
            f"{render_value(change.get('type'))} {path}" + (f" to {moved}" if moved else "")
        )
        if text:
            parts.append(render_value(text))
    return "\n".join(parts)


def _mcp(notice: Item, time: str | None) -> list[Event]:
    asked = notice.get("invocation")
    asked = asked if is_object(asked) else notice
    id_ = call_id(notice)
    tool = mcp_tool(asked.get("server"), asked.get("tool"))
    events = [call(tool, arguments_text(asked.get("arguments")), id_, time)]
    outcome, failed = notice.get("result"), None
    if is_object(outcome) and ("Ok" in outcome or "Err" in outcome):
        failed = True if "Err" in outcome else None
        outcome = outcome.get("Err", outcome.get("Ok"))
    if error := notice.get("error"):
        outcome, failed = error, True
    if outcome is not None:
        body, told = output_text(outcome)
        events.append(result(body, told if failed is None else failed, id_, time))
    return events


def _web_search(notice: Item, time: str | None) -> list[Event]:
    id_ = call_id(notice)
    events = [call("web_search", search_text(notice), id_, time)]
    if found := notice.get("results"):
        events.append(result(render_value(found), None, id_, time))
    return events


def _extension(item: Item, time: str | None) -> list[Event]:
    """A tool that an extension provides; `kind` names it."""
    if is_object(item.get("action")):
        return _web_search(item, time)
    tool = text_or_none(item.get("kind")) or "extension"
    given = {
        key: value
        for key, value in item.items()
        if key not in ("type", "kind", "id", "results", "result") and value is not None
    }
    id_ = call_id(item)
    events = [call(tool, render_input(given), id_, time)]
    found = item.get("results", item.get("result"))
    if found is not None:
        events.append(result(render_value(found), None, id_, time))
    return events


def _image(notice: Item, time: str | None) -> list[Event]:
    return image_events(notice, call_id(notice), time)


def _view_image(notice: Item, time: str | None) -> list[Event]:
    body = render_input({"path": notice.get("path")})
    return [call("view_image", body, call_id(notice), time)]


def _dynamic_call(notice: Item, time: str | None) -> list[Event]:
    tool = text_or_none(notice.get("tool"))
    return [call(tool, arguments_text(notice.get("arguments")), call_id(notice), time)]


def _dynamic_result(notice: Item, time: str | None) -> list[Event]:
    content = notice.get("content_items", notice.get("contentItems"))
    blocks = text_blocks(content) if content is not None else []
    body = "\n".join(blocks) or render_value(notice.get("error"))
    failed = bool_or_none(notice.get("success"))
    return [result(body, None if failed is None else not failed, call_id(notice), time)]


def _dynamic_tool(notice: Item, time: str | None) -> list[Event]:
    return _dynamic_call(notice, time) + _dynamic_result(notice, time)


def _agent_tool(tool: str) -> Maker:
    """A call that deals with another agent: what it was told, and how it stands."""

    def make(notice: Item, time: str | None) -> list[Event]:
        given = {
            key: value
            for key, value in notice.items()
            if key not in _AGENT_IDS and value not in (None, "")
        }
        id_ = call_id(notice)
        name = tool or text_or_none(notice.get("tool")) or "agent"
        events = [call(name, render_input(given), id_, time)]
        for key in ("status", "agent_statuses", "statuses", "agents_states"):
            if status := notice.get(key):
                events.append(result(render_value(status), None, id_, time))
                break
        return events

    return make


def _first_text(facts: Item, *keys: str) -> str:
    return next((text for key in keys if (text := text_or_none(facts.get(key)))), "")


_MAKERS: dict[str, Maker] = {
    "user_message": _user_message,
    "agent_message": _agent_message,
    "agent_reasoning": _reasoning,
    "agent_reasoning_raw_content": _reasoning,
    "task_complete": _task_complete,
    "turn_complete": _task_complete,
    "error": _error,
    "stream_error": _error,
    "warning": _note("", "message"),
    "guardian_warning": _note("", "message"),
    "turn_aborted": _note("turn aborted", "reason"),
    "thread_rolled_back": _note("turns taken back", "num_turns"),
    "undo_completed": _note("undo", "message"),
    "entered_review_mode": _note("review asked for", "user_facing_hint", "target"),
    "exited_review_mode": _review_over,
    "guardian_assessment": _assessment,
    "exec_command_end": _command,
    "patch_apply_end": _patch,
    "mcp_tool_call_end": _mcp,
    "web_search_end": _web_search,
    "image_generation_end": _image,
    "view_image_tool_call": _view_image,
    "dynamic_tool_call_request": _dynamic_call,
    "dynamic_tool_call_response": _dynamic_result,
    "collab_agent_spawn_end": _agent_tool("spawn_agent"),
    "collab_agent_interaction_end": _agent_tool("send_input"),
    "collab_waiting_end": _agent_tool("wait"),
    "collab_close_end": _agent_tool("close_agent"),
    "collab_resume_end": _agent_tool("resume_agent"),
}
_ITEM_MAKERS: dict[str, Maker] = {
    "usermessage": _user_message,
    "agentmessage": _agent_message,
    "reasoning": _reasoning,
    "plan": _plan,
    "commandexecution": _command,
    "filechange": _patch,
    "mcptoolcall": _mcp,
    "websearch": _web_search,
    "extension": _extension,
    "imagegeneration": _image,
    "imageview": _view_image,
    "dynamictoolcall": _dynamic_tool,
    "collabagenttoolcall": _agent_tool(""),
    "enteredreviewmode": _note("review asked for", "review"),
    "exitedreviewmode": _review_over,
    "hookprompt": _note("", "text", "content"),
    "error": _error,
}
