"""Events of Claude's managed agents, as their interface lists and streams them.

What a client sent comes back in the stream and counts there. Agents of one session work at the
same time, each in a thread; results come in another order than their calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.one_by_one import SessionKeys
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Record = dict[str, object]

METHOD = "method"
"""The entry under which an unpacked line says which call of the interface it is of."""

_STARTS = ("session.", "agent.", "user.", "span.")
_SYSTEM_IDS = frozenset({"id", "type", "processed_at", "tool_use_id", "session_thread_id"})
_NOTED = frozenset({"user.interrupt", "user.tool_confirmation", "user.define_outcome"})


class ManagedAgents(RetoldFormat):
    """Reads the events of a session; `[method, object]` lines are unpacked before."""

    name = "claude-managed-agents"
    lists = ("data", "events")

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """The share of its events, whatever wraps them."""
        events = [event for record in head for event in _unwrapped(record)]
        if not any("processed_at" in event for event in events):
            return 0.0
        return sum(any(map(_fits, _unwrapped(each))) or METHOD in each for each in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Two passes: what came back from the server, then each event once."""
        known = {key for _, event in _all(records) if (key := _sent(event, came_back=True))}
        keys, session = SessionKeys(), ""
        firsts: dict[str, str] = {}
        seen: set[str] = set()
        for given, event in _all(records):
            if _fits(event) and _sent(event, came_back=False) not in known:
                id_ = text_or_none(event.get("id"))
                if id_ and id_ in seen:
                    telling.note("events that were streamed and listed", given.number)
                    continue
                seen.update(filter(None, (id_,)))
                thread = text_or_none(event.get("session_thread_id"))
                if thread:
                    firsts.setdefault(session, thread)
                main = thread in (None, firsts.get(session))
                place = MAIN_THREAD if main else f"agent-{thread}"
                with passing_over(telling, given.number):
                    _tell(event, given.number, session, place, telling)
            elif event.get("type") == "session":
                id_, title = text_or_none(event.get("id")), text_or_none(event.get("title"))
                session = keys.of(id_)
                telling.facts(session=session, id=id_, title=title)


def _unwrapped(record: Record) -> Iterator[Record]:
    """The events in a record: its own, those that a client sends, or what a wrapper keeps raw."""
    raw = record.get("raw")
    if is_object(raw) and "type" in raw:
        yield raw
        return
    body = record.get("body", record)
    sent = body.get("events") if is_object(body) else None
    if is_array(sent):
        yield from filter(is_object, sent)
    elif is_object(body):
        yield body


def _all(records: Records) -> Iterator[tuple[Given, Record]]:
    for given in records:
        for event in _unwrapped(given.value):
            yield given, event


def _fits(event: Record) -> bool:
    return word(event.get("type")).startswith(_STARTS)


def _sent(event: Record, *, came_back: bool) -> int | None:
    """What an event of the user says, as a key: of one that came back, or of one that will."""
    if not word(event.get("type")).startswith("user.") or ("id" in event) is not came_back:
        return None
    try:
        content = render_content(event.get("content"))
        return hash((word(event.get("type")), word(event.get("tool_use_id")), content))
    except RecursionError:
        return None


def _tell(event: Record, number: int, session: str, thread: str, telling: Telling) -> None:
    events = event_events(event)
    for each in events:
        telling.event(each, number, session=session, thread=thread)
    if not events:
        telling.note(f"{kind_name(event.get('type'))} events, without content", number)


def event_events(event: Record) -> list[Event]:
    """The events of one event."""
    type_, time = word(event.get("type")), text_or_none(event.get("processed_at"))
    if type_ in ("user.message", "agent.message"):
        role = "user" if type_ == "user.message" else "assistant"
        return message_events({"role": role, "content": event.get("content")}, time)
    if type_ == "agent.thinking":
        said = event.get("thinking") or event.get("content")
        body = render_content(said) if said else ""
        return [Event(EventKind.THINKING, body, timestamp=time)] if body else []
    if type_.endswith("tool_use"):
        tool, call_id = text_or_none(event.get("name")), text_or_none(event.get("id"))
        given = render_input(event.get("input"))
        return [Event(EventKind.TOOL_CALL, given, tool, call_id, None, time)]
    if type_.endswith("tool_result"):
        return [_result(event, time)]
    if type_ in _NOTED:
        said = {key: value for key, value in event.items() if key not in _SYSTEM_IDS and value}
        body = f"{type_}\n{render_input(said)}".rstrip()
        return [Event(EventKind.SYSTEM, body, timestamp=time)]
    if type_ == "session.error":
        error = event.get("error", event.get("message"))
        body = render_content(error) if error else type_
        return [Event(EventKind.ERROR, body, timestamp=time)]
    return []


def _result(event: Record, time: str | None) -> Event:
    ids = (value for key, value in event.items() if key.endswith("tool_use_id"))
    call_id = next(filter(None, map(text_or_none, ids)), None)
    content = event.get("content")
    body = render_content(content) if content is not None else ""
    failed = bool_or_none(event.get("is_error"))
    return Event(EventKind.TOOL_RESULT, body, None, call_id, failed, time)
